"""What a reading of a server leaves behind. Each function is one transaction, and none of them talks to a server.

Each names the slot that it found due and the lease it works under. Where the slot was dealt with by somebody else, or
the lease is lost, nothing is written: the same reading delivered twice changes nothing twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from django.db import transaction

from advisor.journal.services import record
from advisor.mysql.rates import Gap as Break
from advisor.mysql.rates import GapReason, between
from advisor.mysql.snapshot import Poll, Snapshot
from collector import settings_history, snapshots
from collector.models import Gap, Server, ServerState, StoredSnapshot
from collector.schedule import AT_ONCE, Lease, next_slot, pause_seconds
from collector.store import store

#: An event names at most this many changed variables; how many there were stands beside them.
_MOST_CHANGES = 40
_LONGEST_VALUE = 200
_LONGEST_WHY = 200
#: Who changed a variable: somebody else than Tidemark.
_FOREIGN = "foreign"


class SlotTaken(Exception):
    """The slot was dealt with meanwhile: by a successor, by an earlier delivery, or a person asked for a new try."""


def record_poll(
    *,
    lease: Lease,
    server: Server,
    due: int,
    slot: int,
    poll: Poll,
    previous: Poll | None,
    now: float,
    cost: Mapping[str, Any],
) -> ServerState:
    """Stores the poll that was read for ``slot``, whose time it bears; ``due`` is what the state named (or AT_ONCE).

    ``previous`` is the poll before it, where there is one. A restart in between is told, and makes everything due.
    Returns the state as it is now. Raises SlotTaken and LeaseLost.
    """
    at = datetime.fromtimestamp(now, UTC)
    with transaction.atomic():
        state = _claim(lease, server, fast_slot=due)
        store().append(server.pk, slot, poll)
        pair = None if previous is None else between(previous, poll)
        broken = pair if isinstance(pair, Break) else None
        was_open = _close_gap(server.pk, slot)
        if broken is not None and not was_open:
            Gap.objects.create(
                server_id=server.pk, started_at=broken.started_at, ended_at=float(slot), why=broken.text[:_LONGEST_WHY]
            )
        elif previous is not None and due == AT_ONCE and not was_open:
            # Nothing was due meanwhile, so nothing was missed: it was paused, or its address was changed.
            if slot - previous.at > 2 * server.fast_interval_seconds:
                Gap.objects.create(
                    server_id=server.pk, started_at=previous.at, ended_at=float(slot), why="It was not watched."
                )
        if broken is not None and broken.reason is GapReason.RESTART:
            _tell(server, "server.restarted", at, {"uptime_seconds": poll.uptime_seconds})
            # Options may have changed with the restart: everything is read again at once.
            state.full_slot = AT_ONCE
        if state.failures:
            silent = None if state.error_since is None else round((at - state.error_since).total_seconds())
            _tell(server, "server.recovered", at, {"kind": state.error_kind, "seconds": silent})
        interval = server.fast_interval_seconds
        # A reading at once lies between two slots: the next one has to keep some distance, or rates mean little.
        state.fast_slot = next_slot(server.pk, interval, slot + (interval // 2 if due == AT_ONCE else 0))
        state.failures = 0
        state.error_kind = state.error = ""
        state.error_since = None
        state.retry_at = 0
        state.last_poll_at = at
        # How late it is stored is noted beside what it cost: whether Tidemark keeps up is told by that.
        state.cost = {**state.cost, "poll": {**cost, "late_seconds": round(max(now - slot, 0.0), 3)}}
        state.save()
    return state


def record_snapshot(
    *,
    lease: Lease,
    server: Server,
    due: int,
    slot: int,
    snapshot: Snapshot,
    previous: Snapshot | None,
    now: float,
    cost: Mapping[str, Any],
) -> tuple[ServerState, bool]:
    """Stores the snapshot that was read for ``slot``; ``due`` is what the state named (or AT_ONCE).

    Who the server is, its version and its variables are held against ``previous``. Returns the state as it is now and
    whether the snapshot is new. Raises SlotTaken and LeaseLost.
    """
    at = datetime.fromtimestamp(now, UTC)
    with transaction.atomic():
        state = _claim(lease, server, full_slot=due)
        _, created = StoredSnapshot.objects.get_or_create(
            server_id=server.pk,
            slot=slot,
            defaults={
                "taken_at": datetime.fromtimestamp(snapshot.taken_at, UTC),
                "payload": snapshots.pack(snapshot),
            },
        )
        store().append_counters(server.pk, slot, snapshot)
        changed = settings_history.record(server_id=server.pk, slot=slot, snapshot=snapshot, previous=previous)
        if previous is not None:
            _tell_changes(server, at, previous, snapshot, changed)
        identity = snapshot.identity
        state.identity = {
            **snapshot.as_dict()["identity"],
            "flavor": identity.version.flavor.value,
            "distribution": identity.version.distribution.value,
            "fingerprint": identity.fingerprint,
        }
        state.full_slot = next_slot(server.pk, server.full_interval_seconds, slot)
        state.last_snapshot_at = at
        state.cost = {**state.cost, "snapshot": dict(cost)}
        state.save()
    return state, created


def record_failure(
    *, lease: Lease, server: Server, due: int, slot: int, kind: str, sentence: str, next_step: str, now: float
) -> ServerState:
    """Notes that the server could not be read at ``slot`` and why, and when it is tried again.

    Returns the state as it is now. Raises SlotTaken and LeaseLost.
    """
    at = datetime.fromtimestamp(now, UTC)
    with transaction.atomic():
        state = _claim(lease, server, fast_slot=due)
        if state.failures == 0:
            state.error_since = at
        if state.failures == 0 or state.error_kind != kind:
            _tell(server, "server.unreadable", at, {"kind": kind, "sentence": sentence})
            # One gap for one cause: the words may differ from try to try, by a number of seconds for instance.
            _close_gap(server.pk, slot)
        if not Gap.objects.filter(server_id=server.pk, ended_at=None).exists():
            Gap.objects.create(server_id=server.pk, started_at=float(slot), why=sentence[:_LONGEST_WHY])
        state.failures += 1
        state.error_kind = kind
        interval = server.fast_interval_seconds
        pause = pause_seconds(state.failures, kind, interval)
        later = f"It is tried again in {pause // 3600} h, or at once if you ask for it." if pause >= 3600 else ""
        state.error = " ".join(part for part in (sentence, next_step, later) if part)
        # The reading itself took time, and a try by hand lies between two slots: the pause ends after both.
        state.fast_slot = next_slot(server.pk, interval, max(slot + pause - interval, now))
        state.retry_at = state.fast_slot
        state.save()
    return state


def record_missed(*, lease: Lease, server: Server, due: int, following: int, why: str) -> None:
    """Gives up the slots from ``due`` to before ``following``, which becomes the one due.

    Raises SlotTaken and LeaseLost.
    """
    with transaction.atomic():
        state = _claim(lease, server, fast_slot=due)
        state.fast_slot = following
        state.save(update_fields=["fast_slot"])
        if Gap.objects.filter(server_id=server.pk, ended_at=None).exists():
            return
        # One gap for what was missed in a row, not one for each time that somebody noticed.
        why = why[:_LONGEST_WHY]
        extended = Gap.objects.filter(server_id=server.pk, ended_at=float(due), why=why).update(
            ended_at=float(following)
        )
        if not extended:
            Gap.objects.create(server_id=server.pk, started_at=float(due), ended_at=float(following), why=why)


def _claim(lease: Lease, server: Server, **due: int) -> ServerState:
    """The server's state, locked, if it still names the slot that was read and the lease is still held."""
    state = ServerState.objects.select_for_update().filter(server_id=server.pk, **due).first()
    if state is None:
        raise SlotTaken(f"{due} of server {server.pk} was dealt with already")
    lease.check()
    return state


def _close_gap(server_id: str, slot: int) -> bool:
    return bool(Gap.objects.filter(server_id=server_id, ended_at=None).update(ended_at=float(slot)))


def _tell_changes(
    server: Server, at: datetime, previous: Snapshot, snapshot: Snapshot, changed: Mapping[str, tuple[str | None, ...]]
) -> None:
    """Events for what is different: another server, another version, another role, or else the variables that changed.

    The variables that changed with a version are told with it: an upgrade changes dozens, and that is one thing that
    happened. What was done on a server is ``foreign`` here: what of it was Tidemark's own, the room of changes knows.
    """
    was, now = previous.identity, snapshot.identity
    if was.fingerprint != now.fingerprint:
        _tell(server, "server.replaced", at, {"old": was.fingerprint, "new": now.fingerprint})
        return
    if was.role != now.role and "unknown" not in {was.role, now.role}:
        _tell(server, "server.role_changed", at, {"old": was.role, "new": now.role})
    shown = {name: [_short(value) for value in pair] for name, pair in list(changed.items())[:_MOST_CHANGES]}
    who = _setters(previous, snapshot, shown)
    many = {"changes": shown, "count": len(changed), "source": _FOREIGN, **who}
    if was.version.text != now.version.text:
        _tell(server, "server.version_changed", at, {"old": was.version.text, "new": now.version.text, **many})
    elif len(changed) == 1:
        ((name, (old, new)),) = shown.items()
        _tell(server, "server.variable_changed", at, {"name": name, "old": old, "new": new, "source": _FOREIGN, **who})
    elif changed:
        _tell(server, "server.variables_changed", at, many)


def _setters(previous: Snapshot, snapshot: Snapshot, names: Iterable[str]) -> dict[str, Any]:
    """Who set these since the snapshot before, by name, where the server tells; empty where it tells of none."""
    found = {}
    for name in names:
        origin = snapshot.origins.get(name.lower())
        if origin is not None and origin.set_at is not None and origin.set_at >= previous.server_clock - 1:
            found[name] = {"at": round(origin.set_at, 3), "by": _short(origin.set_by)}
    return {"who": found} if found else {}


def _short(value: str | None) -> str | None:
    return value if value is None or len(value) <= _LONGEST_VALUE else value[: _LONGEST_VALUE - 1] + "…"


def _tell(server: Server, kind: str, at: datetime, data: dict[str, Any]) -> None:
    record(team_id=server.team_id, kind=kind, at=at, server_id=server.pk, data=data)
