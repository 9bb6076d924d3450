"""Judging one watched server: what is known of it is gathered, judged by the pure rooms, and applied to what lasts."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.db import IntegrityError
from django.db.models import F, Q
from django.utils import timezone

from advisor.engine.advice import advice_document
from advisor.engine.evaluation import judge
from advisor.engine.observation import HostFact, HostFacts, Observation
from advisor.engine.outcome import Severity
from advisor.mysql import series
from advisor.mysql.rates import Interval
from advisor.mysql.snapshot import Snapshot
from advisor.recommendations import fleet, rule_settings, services
from advisor.recommendations.models import Judgement, Recommendation
from advisor.recommendations.states import LIVING
from advisor.recommendations.verdict import Found, Verdict
from advisor.rules import all_rules
from collector import inspecting, snapshots
from collector.models import Server
from collector.store import store

log = logging.getLogger(__name__)

#: What recent harm is judged from; longer windows are told from the digests. Two polls more are read: the intervals
#: between the polls of exactly an hour cover less than an hour, and facts that want one would hold or not by chance.
WINDOW_SECONDS = 3600
FURTHER_POLLS = 2
DIGEST_SECONDS = 8 * 86_400
#: What an inspection found is judged for so long: a week's habit of asking, and a day.
INSPECTION_COUNTS_SECONDS = 8 * 86_400
#: Of the full snapshots of that window so many are looked at: intervals of ten minutes.
COUNTED_POLLS = 7
#: So long after a server came or its settings changed it is judged between full snapshots, too: waiting for the next
#: one would double the time to a first recommendation, and to the end of one that was acted on.
YOUNG_SECONDS = 300
EARLY_EVERY_SECONDS = 15
#: A server whose judgement lags this far behind its newest snapshot was left behind.
LEFT_BEHIND_SECONDS = 30

#: Variables whose change ends the window: what was observed before belongs to other values. The redo capacity is not
#: among them, since its history is kept as a series and facts know where a resize was.
_CAPACITY = frozenset({"innodb_redo_log_capacity", "innodb_log_file_size", "innodb_log_files_in_group"})
_ALSO = frozenset({"sync_binlog", "log_bin", "max_connections", "performance_schema"})
#: These change by themselves, or by being read.
_VOLATILE = ("innodb_buffer_pool_load", "innodb_buffer_pool_dump", "innodb_monitor_", "innodb_redo_log_archive")


def judge_server(*, server_id: str, early: bool = False) -> services.Changes | None:
    """Judges a server by its newest snapshot and history; None where there is nothing to judge yet.

    ``early``: the snapshot is not new, only the polls since then are.
    """
    server = Server.objects.filter(pk=server_id).first()
    newest = snapshots.latest_with_slot(server_id) if server is not None else None
    if server is None or newest is None:
        return None
    slot, snapshot = newest
    began = time.perf_counter()
    known = Judgement.objects.filter(server=server).first()
    configuration, settings = configuration_of(snapshot), configuration_of(snapshot, with_capacity=True)
    configured_at = changed_at = float(slot)
    if known is not None and known.configuration == configuration:
        configured_at = known.configured_at
    if known is not None and known.settings == settings:
        changed_at = known.changed_at
    seen = observe(server, snapshot, slot, since=configured_at, early=early)
    if early and _was_resized_since(snapshot, seen.intervals):
        return None
    open_ones = Recommendation.objects.filter(server=server, state__in=LIVING)
    holding = {key: Severity(severity) for keys, severity in open_ones.values_list("keys", "severity") for key in keys}
    chosen = rule_settings.effective(server)
    judged = judge(seen, all_rules(), thresholds=chosen.thresholds, off=chosen.off, holding=holding)
    for defect in judged.defects:
        log.error("The rule %s is faulty on server %s: %s %s", defect.rule, server_id, defect.what, defect.where)
    advice = advice_document(judged, seen, persisted=snapshot.persisted)
    verdict = Verdict(
        slot=slot,
        found=[
            Found(key=one.key, keys=one.keys, document=_with_notes(document, chosen.notes(one.rules)))
            for one, document in zip(judged.recommendations, advice["recommendations"], strict=True)
        ],
        outcomes=advice["outcomes"],
        milliseconds=(time.perf_counter() - began) * 1000,
        configuration=configuration,
        configured_at=configured_at,
        settings=settings,
        changed_at=changed_at,
        variables=snapshot.variables,
        switched_off=frozenset(chosen.off),
    )
    try:
        changes = services.apply_verdict(server=server, verdict=verdict, now=timezone.now())
        identity = snapshot.identity
        fleet.after_judgement(
            server_id=server_id,
            version=str(identity.version),
            role=identity.role,
            flavor=identity.version.flavor.value,
        )
    except services.Outdated:
        return None
    except IntegrityError:
        if Server.objects.filter(pk=server_id).exists():
            raise
        return None  # It was deleted while it was judged.
    return changes


def _with_notes(document: dict[str, Any], notes: list[str]) -> dict[str, Any]:
    return {**document, "notes": [*document["notes"], *notes]} if notes else document


#: What moves when the redo log is resized. Some servers tell the capacity only as a variable, which polls do not read.
_MOVED_BY_RESIZE = (series.CAPACITY, series.MAXIMUM_AGE, series.EFFECTIVE_SYNC_POINT)


def _was_resized_since(snapshot: Snapshot, intervals: Sequence[Interval]) -> bool:
    """Whether the newest poll belongs to another redo capacity than the snapshot: then the next snapshot is waited
    for.
    """
    if not intervals:
        return False
    pairs = [(intervals[-1].last(name), snapshot.derived.get(name)) for name in _MOVED_BY_RESIZE]
    return any(seen is not None and known is not None and seen != known for seen, known in pairs)


def configuration_of(snapshot: Snapshot, *, with_capacity: bool = False) -> str:
    """A digest of the variables whose change ends the window; ``with_capacity``: of the redo capacity's, too."""
    lines = sorted(
        f"{name}={value}"
        for name, value in snapshot.variables.items()
        if name in _ALSO
        or (name.startswith("innodb_") and not name.startswith(_VOLATILE) and (with_capacity or name not in _CAPACITY))
    )
    return hashlib.sha256("\n".join(lines).encode("utf-8", errors="replace")).hexdigest()


def observe(server: Server, snapshot: Snapshot, slot: int, *, since: float = 0.0, early: bool = False) -> Observation:
    """Everything that is known of the server now. ``since``: unix seconds from which on its configuration is the
    present one.

    A snapshot's own poll belongs to it, so polls up to its slot are used; early judging takes also those that came
    later.
    """
    history = store()
    end = time.time() if early else float(slot)
    start = max(end - WINDOW_SECONDS - FURTHER_POLLS * server.fast_interval_seconds, since)
    ours = ("", snapshot.identity.fingerprint)
    return Observation(
        snapshot=snapshot,
        # Another server behind the same address (a failover, a swapped address) tells nothing of this one.
        intervals=tuple(one for one in history.intervals(server.pk, start, end + 1) if one.current.identity in ours),
        digests=tuple(history.digests(server.pk, end - DIGEST_SECONDS, end)),
        counted=counted(server.pk, start=max(slot - WINDOW_SECONDS, since), end=slot, identity=ours),
        inspection=inspecting.latest(
            server.pk, identity=snapshot.identity.fingerprint, since=end - INSPECTION_COUNTS_SECONDS
        ),
        host=host_facts(server.host_facts),
        configured_at=since,
        today=timezone.now().date().isoformat(),
    )


def counted(server_id: str, *, start: float, end: float, identity: Sequence[str]) -> tuple[Interval, ...]:
    """The intervals between some of the full snapshots of a range (unix seconds), in which every counter is known.

    A restart or another server in between ends an interval, as everywhere.
    """
    polls = snapshots.polls(server_id, start=start, end=end, count=COUNTED_POLLS)
    return tuple(one for one in snapshots.counted(polls) if one.current.identity in identity)


def host_facts(stored: Mapping[str, Any]) -> HostFacts:
    """Host facts as a server's row holds them; one without a value is unknown."""

    def fact(name: str) -> HostFact | None:
        known = stored.get(name)
        if not isinstance(known, Mapping) or known.get("value") in (None, ""):
            return None
        return HostFact(known["value"], str(known.get("origin") or "stated"))

    return HostFacts(
        memory_bytes=fact("memory_bytes"),
        cpus=fact("cpus"),
        storage=fact("storage"),
        free_disk_bytes=fact("free_disk_bytes"),
        write_latency_microseconds=fact("write_latency_microseconds"),
    )


def wants_early(*, server_id: str) -> bool:
    """Whether it is worth judging before the next full snapshot: the server is new, or somebody just changed its
    settings and waits to see what comes of it.
    """
    known = Judgement.objects.filter(server_id=server_id).only("changed_at", "judged_at").first()
    return (
        known is not None
        and time.time() - known.changed_at < YOUNG_SECONDS
        and (timezone.now() - known.judged_at).total_seconds() >= EARLY_EVERY_SECONDS
    )


def left_behind() -> list[str]:
    """Servers whose newest snapshot is younger than their judgement, though there was time to judge it.

    Told by the collector's state row, since the newest of a table full of snapshots would be searched for every minute.
    """
    waiting = Server.objects.filter(
        state__last_snapshot_at__lt=timezone.now() - timedelta(seconds=LEFT_BEHIND_SECONDS)
    ).filter(Q(judgement__isnull=True) | Q(judgement__judged_at__lt=F("state__last_snapshot_at")))
    return list(waiting.order_by("pk").values_list("pk", flat=True))


def judge_left_behind() -> int:
    """Judges what was left behind (the broker was away, a worker died); how many servers."""
    waiting = left_behind()
    for server_id in waiting:
        try:
            judge_server(server_id=server_id)
        except Exception:  # One server must not keep the others from being judged.
            log.exception("Server %s could not be judged", server_id)
    return len(waiting)
