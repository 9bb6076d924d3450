"""The holder of a shard: reads its servers side by side while it holds the lease.

One thread looks at what is due and renews the lease; each reading runs in a thread of its own, so that a server that
hangs delays no other. A reading talks to the server first and only then opens a transaction, in which the lease is
checked once more: whoever lost it writes nothing.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from django.db import Error as DatabaseError
from django.db import close_old_connections
from django.db.models import Max
from django.dispatch import Signal

from advisor.mysql.snapshot import Poll, Snapshot
from collector import results, schedule, signals, snapshots
from collector.collect import POLL_SECONDS, SNAPSHOT_SECONDS, read_poll, read_snapshot
from collector.connection import Connection, connect
from collector.errors import Restarting, TargetError
from collector.models import Server, ServerState
from collector.plan import FastPlan
from collector.results import SlotTaken
from collector.schedule import RENEW_SECONDS, Lease, LeaseLost
from collector.servers import SERVERS_PER_SHARD, target_of
from collector.store import store
from collector.threads import Pool
from collector.vault import VaultError

log = logging.getLogger(__name__)
Stored = TypeVar("Stored", Poll, Snapshot)
_FAULT = (
    "Tidemark stumbled over what this server says: that is a fault of Tidemark.",
    "The log of its worker has the details; please report them.",
)

#: How often the holder looks for servers that were added, changed or are to be tried at once.
REFRESH_SECONDS = 2.0
#: How long readings that are under way may go on when the holder ends.
_LAST_WAIT_SECONDS = 3.0
_CONNECT_SECONDS = 6.0
#: A server keeps our connection for three intervals without a question, then it ends it by itself.
_IDLE_INTERVALS = 3
_SHORTEST_IDLE_SECONDS = 15


@dataclass
class Watched:
    """One server as its holder knows it. While ``busy``, all but ``busy`` and ``gone`` belong to the reading."""

    server: Server
    place: tuple[Any, ...]
    fast_slot: int
    full_slot: int
    failing: bool
    busy: bool = False
    #: The server left the shard, or is reached another way now: its connection is closed when the reading ends.
    gone: bool = False
    connection: Connection | None = None
    plan: FastPlan | None = None
    poll: Poll | None = None
    snapshot: Snapshot | None = None
    #: Why slots before the present one may have been missed.
    excuse: str = ""
    #: Counts readings, so that what was asked of the database before one ended is not taken for newer.
    readings: int = 0
    #: The fault of ours that was logged last, so that one which lasts is logged once.
    fault: str = ""
    #: Of the failure it is in, "" while it answers.
    error_kind: str = ""

    def close(self) -> None:
        connection, self.connection = self.connection, None
        if connection is not None:
            connection.close()

    def take(self, state: ServerState) -> None:
        self.fast_slot, self.full_slot, self.failing = state.fast_slot, state.full_slot, state.failures > 0
        self.error_kind = state.error_kind


class Watch:
    """Reads the servers of one shard until the lease is lost, ``stop`` is set or ``seconds`` have passed."""

    def __init__(self, lease: Lease, stop: threading.Event) -> None:
        self._lease = lease
        self._stop = stop
        self._lost = threading.Event()
        self._awake = threading.Event()
        self._watched: dict[str, Watched] = {}
        self._pool = Pool(f"shard-{lease.shard}", SERVERS_PER_SHARD)
        self._renewing = threading.Lock()
        #: Held where it is decided who closes a connection: the reading that ends, or who drops the server.
        self._parting = threading.Lock()

    def run(self, seconds: float) -> bool:
        """Returns False where the lease was lost; otherwise it was released."""
        until = time.monotonic() + seconds
        renew_at = refresh_at = 0.0
        try:
            while not self._stop.is_set() and not self._lost.is_set() and time.monotonic() < until:
                now = time.monotonic()
                if not self._lease.is_fresh():
                    log.warning("Watching shard %s ends: its lease could not be renewed in time.", self._lease.shard)
                    self._lost.set()
                    break
                if now >= renew_at:
                    # In a thread, since a busy product database may keep a writer waiting while slots come due.
                    if self._renewing.acquire(blocking=False):
                        self._pool.submit(self._renew)
                    renew_at = now + RENEW_SECONDS
                if now >= refresh_at:
                    try:
                        self._refresh()
                    except DatabaseError as error:
                        log.warning("The product database does not answer: %s", error)
                        close_old_connections()
                    refresh_at = now + REFRESH_SECONDS
                self._start_due()
                self._sleep(min(renew_at, refresh_at, until))
        finally:
            held = not self._lost.is_set()
            self._end()
        return held

    def _renew(self) -> None:
        try:
            self._lease.renew()
        except LeaseLost as lost:
            if not self._lost.is_set():
                log.warning("Watching ends: %s.", lost)
            self._lost.set()
            self._awake.set()
        except DatabaseError as error:
            # It is restarting or busy. The lease decides for how long that may last.
            log.warning("The lease of shard %s could not be renewed: %s", self._lease.shard, error)
        finally:
            self._renewing.release()

    def _end(self) -> None:
        # The lease goes first: a server that hangs must not keep the shard from a successor. What is still read then is
        # refused at its transaction.
        try:
            if not self._lost.is_set():
                self._lease.release()
        except DatabaseError:
            log.warning("Shard %s could not be released; its lease runs out by itself.", self._lease.shard)
        self._lost.set()
        for watched in list(self._watched.values()):
            watched.gone = True
        if not self._pool.close(_LAST_WAIT_SECONDS):
            busy = sorted(watched.server.name for watched in self._watched.values() if watched.busy)
            log.warning("Not waited for, since they do not answer: %s", ", ".join(busy))
        for watched in self._watched.values():
            # Closing a connection that another thread reads from would pull it away under the driver.
            if not watched.busy:
                watched.close()

    # --- what is there and what is due -----------------------------------------------------------------------------

    def _refresh(self) -> None:
        """Brings the list of servers up to the database, and what is due to what stands there."""
        before = {key: watched.readings for key, watched in self._watched.items()}
        servers = (
            Server.objects.filter(shard_id=self._lease.shard, enabled=True)
            .annotate(credential_changed_at=Max("credentials__changed_at"))
            .order_by("pk")
        )
        found = {server.pk: server for server in servers}
        states = {state.server_id: state for state in ServerState.objects.filter(server_id__in=found)}
        for key in self._watched.keys() - found.keys():
            self._drop(self._watched.pop(key))
        for key, server in found.items():
            place = (
                server.host,
                server.port,
                server.socket,
                server.user,
                server.tls_mode,
                server.tls_ca,
                server.unrestricted,
                server.credential_changed_at,
            )
            known = self._watched.get(key)
            if known is not None and known.place != place:
                # Reached another way now: the old connection would answer for the old place.
                self._drop(self._watched.pop(key))
                known = None
            if known is None:
                state = states.get(key) or schedule.ensure_state(key)
                self._watched[key] = self._meet(server, place, state)
            elif not known.busy and known.readings == before[key]:
                known.server = server
                if key in states:
                    known.take(states[key])

    def _meet(self, server: Server, place: tuple[Any, ...], state: ServerState) -> Watched:
        watched = Watched(server, place, state.fast_slot, state.full_slot, state.failures > 0)
        watched.take(state)
        watched.poll = _readable(server, "poll", lambda: store().latest(server.pk))
        watched.snapshot = _readable(server, "snapshot", lambda: snapshots.latest(server.pk))
        if watched.snapshot is not None:
            watched.plan = FastPlan.of(watched.snapshot)
        watched.excuse = "No worker watched this server: the one before it ended, or there was none."
        return watched

    def _drop(self, watched: Watched) -> None:
        with self._parting:
            watched.gone = True
            idle = not watched.busy
        if idle:
            watched.close()

    def _start_due(self) -> None:
        now = time.time()
        for watched in self._watched.values():
            if watched.busy:
                continue
            interval = watched.server.fast_interval_seconds
            if watched.fast_slot > now + schedule.longest_pause_seconds(watched.error_kind, interval) + 2 * interval:
                # The clock was set back: what lies that far ahead was planned by another time.
                watched.fast_slot = self._replan(watched, now)
            if now >= watched.fast_slot or (now >= watched.full_slot and not watched.failing):
                watched.busy = True
                self._pool.submit(_Reading(self, watched))

    def _replan(self, watched: Watched, now: float) -> int:
        following = schedule.next_slot(watched.server.pk, watched.server.fast_interval_seconds, now)
        changed = ServerState.objects.filter(server_id=watched.server.pk, fast_slot=watched.fast_slot).update(
            fast_slot=following,
            full_slot=schedule.next_slot(watched.server.pk, watched.server.full_interval_seconds, now),
        )
        return following if changed else watched.fast_slot

    def _sleep(self, until: float) -> None:
        now = time.time()
        due = min(
            (
                watched.fast_slot if watched.failing else min(watched.fast_slot, watched.full_slot)
                for watched in self._watched.values()
                if not watched.busy
            ),
            default=now + REFRESH_SECONDS,
        )
        # Bounded below, so that nothing can make this loop spin, and above, so that the end of the worker is noticed.
        self._awake.wait(min(max(min(due - now, until - time.monotonic()), 0.01), 0.5))
        self._awake.clear()

    # --- one reading -----------------------------------------------------------------------------------------------

    def _may_read(self, watched: Watched) -> bool:
        return not (self._lost.is_set() or watched.gone) and self._lease.is_fresh()

    def _announce(self, signal: Signal, **what: Any) -> None:
        # In a thread of its own: a listener that waits for a broker which is away must not make a server's slots late.
        self._pool.submit(partial(_send, signal, what))

    def _ended(self, watched: Watched) -> None:
        watched.readings += 1
        with self._parting:
            over = not self._may_read(watched)
            if not over:
                # From here on whoever drops the server sees that nobody reads it, and closes its connection.
                watched.busy = False
        if over:
            watched.close()
            watched.busy = False
        self._awake.set()


class _Reading:
    """What is due of one server, read and written. Runs in a thread of the holder's pool."""

    def __init__(self, watch: Watch, watched: Watched) -> None:
        self._watch = watch
        self._watched = watched
        self._lease = watch._lease

    def __call__(self) -> None:
        watched = self._watched
        try:
            if self._watch._may_read(watched):
                # Asked before each reading, so that a lease that was taken away costs the server no question more.
                self._lease.check()
                self._read()
        except LeaseLost as lost:
            log.warning("A reading of %s was thrown away: %s.", watched.server.name, lost)
            self._watch._lost.set()
        except SlotTaken:
            self._reload()
        except DatabaseError as error:
            # Not acknowledged, so it is read again for the same slot while there is time.
            log.warning("A reading of %s could not be stored: %s", watched.server.name, error)
            self._watch._stop.wait(1.0)
        except Exception as error:
            self._fault(error)
            self._watch._stop.wait(1.0)
        finally:
            self._watch._ended(watched)

    def _read(self) -> None:
        watched = self._watched
        if time.time() >= watched.fast_slot:
            slot = self._readable_slot()
            if slot is None:
                return
            try:
                self._poll(slot)
            except TargetError as error:
                self._failed(slot, error.kind, error.sentence, error.next_step)
                return
            except VaultError as error:
                self._failed(slot, "credential", str(error), "")
                return
            except (LeaseLost, SlotTaken, DatabaseError):
                raise
            except Exception as error:
                # Without this the slot would stay due, and the server be asked again at once and for ever.
                self._fault(error)
                self._failed(slot, "fault", *_FAULT)
                return
        if time.time() >= watched.full_slot and not watched.failing and self._watch._may_read(watched):
            try:
                self._collect(self._connected())
            except (TargetError, VaultError) as error:
                # Whether the server is to be had at all is told by the polls, the next of which is seconds away.
                log.info("%s could not be collected: %s", watched.server.name, error)
                self._give_up_full()
            except (LeaseLost, SlotTaken, DatabaseError):
                raise
            except Exception as error:
                self._fault(error)
                self._give_up_full()

    def _readable_slot(self) -> int | None:
        """The slot to read now; None where the one that was due is too late and the next one is not due yet."""
        watched = self._watched
        now = time.time()
        due = watched.fast_slot
        if due == schedule.AT_ONCE:
            return int(now)
        following = schedule.next_readable(watched.server.pk, watched.server.fast_interval_seconds, due, now)
        if following == due:
            return due
        why = watched.excuse or "Reading this server took longer than its interval."
        results.record_missed(lease=self._lease, server=watched.server, due=due, following=following, why=why)
        watched.fast_slot = following
        return following if following <= now else None

    def _poll(self, slot: int) -> None:
        watched = self._watched
        kept = watched.connection is not None and watched.connection.is_open
        try:
            poll, cost = self._ask(slot)
        except Restarting:
            if not kept:
                raise
            # The server may have ended a connection that was not used for a while: that says nothing of the server.
            watched.close()
            poll, cost = self._ask(slot)
        state = results.record_poll(
            lease=self._lease,
            server=watched.server,
            due=watched.fast_slot,
            slot=slot,
            poll=poll,
            previous=watched.poll,
            now=time.time(),
            cost=cost,
        )
        watched.poll, watched.excuse = poll, ""
        watched.take(state)
        self._watch._announce(signals.poll_stored, server_id=watched.server.pk, slot=slot)

    def _ask(self, slot: int) -> tuple[Poll, dict[str, float]]:
        """A poll, stamped with its slot, and what it cost the server."""
        watched = self._watched
        connection = self._connected()
        if watched.plan is None or not watched.plan.fits(connection):
            # A server that is met for the first time, or another one, or another version, than before.
            self._collect(connection)
        assert watched.plan is not None
        before = replace(connection.cost)
        # Shorter than the interval, so that a slow server is late by one slot at most.
        limit = min(POLL_SECONDS, max(2.0, schedule.LATEST_RATIO * watched.server.fast_interval_seconds))
        poll = read_poll(connection, watched.plan, deadline_seconds=limit)
        return replace(poll, at=float(slot)), _cost(before, connection)

    def _collect(self, connection: Connection) -> None:
        """A full snapshot, stored: for the slot that is due, or for this second where that is long past or to come."""
        watched = self._watched
        before = replace(connection.cost)
        snapshot = read_snapshot(connection, deadline_seconds=SNAPSHOT_SECONDS)
        now, due = time.time(), watched.full_slot
        slot = due if due <= now <= schedule.latest_start(due, watched.server.full_interval_seconds) else int(now)
        state, new = results.record_snapshot(
            lease=self._lease,
            server=watched.server,
            due=due,
            slot=slot,
            snapshot=snapshot,
            previous=watched.snapshot,
            now=now,
            cost=_cost(before, connection),
        )
        watched.snapshot = snapshot
        watched.plan = FastPlan.of(snapshot)
        watched.full_slot = state.full_slot
        watched.fault = ""
        if new:
            self._watch._announce(signals.snapshot_stored, server_id=watched.server.pk, slot=slot)

    def _give_up_full(self) -> None:
        """The full collection that was due is not made: the next one is due in an interval."""
        watched = self._watched
        watched.close()
        following = schedule.next_slot(watched.server.pk, watched.server.full_interval_seconds, time.time())
        changed = ServerState.objects.filter(server_id=watched.server.pk, full_slot=watched.full_slot).update(
            full_slot=following
        )
        if changed:
            watched.full_slot = following

    def _fault(self, error: Exception) -> None:
        """What nobody thought of: it is logged in full, once for as long as it stays the same."""
        watched = self._watched
        watched.close()
        fault = f"{type(error).__name__}: {error}"
        if fault != watched.fault:
            log.error("A fault of Tidemark while %s was read", watched.server.name, exc_info=error)
        watched.fault = fault

    def _connected(self) -> Connection:
        watched = self._watched
        if watched.connection is not None and watched.connection.is_open:
            return watched.connection
        idle = max(_SHORTEST_IDLE_SECONDS, _IDLE_INTERVALS * watched.server.fast_interval_seconds)
        watched.connection = connect(target_of(watched.server), deadline_seconds=_CONNECT_SECONDS, idle_seconds=idle)
        return watched.connection

    def _failed(self, slot: int, kind: str, sentence: str, next_step: str) -> None:
        watched = self._watched
        watched.close()
        state = results.record_failure(
            lease=self._lease,
            server=watched.server,
            due=watched.fast_slot,
            slot=slot,
            kind=kind,
            sentence=sentence,
            next_step=next_step,
            now=time.time(),
        )
        if state.failures == 1:
            log.info("%s cannot be read: %s %s", watched.server.name, sentence, next_step)
        watched.take(state)
        watched.excuse = ""
        self._watch._announce(signals.server_failed, server_id=watched.server.pk)

    def _reload(self) -> None:
        """Somebody else dealt with the slot: what is due now stands in the database."""
        state = ServerState.objects.filter(server_id=self._watched.server.pk).first()
        if state is None:
            self._watched.gone = True
        else:
            self._watched.take(state)


def _readable(server: Server, what: str, read: Callable[[], Stored | None]) -> Stored | None:
    """What is stored, or None where it cannot be read: one damaged row must not stop the servers beside this one."""
    try:
        return read()
    except DatabaseError:
        raise
    except Exception as error:
        log.warning("The newest stored %s of %s cannot be read and is left out: %s", what, server.name, error)
        return None


def _cost(before: Any, connection: Connection) -> dict[str, float]:
    """What was asked of the server since ``before``."""
    after = connection.cost
    return {
        "statements": after.statements - before.statements,
        "rows": after.rows - before.rows,
        "bytes": after.size_bytes - before.size_bytes,
        "sent_bytes": after.sent_bytes - before.sent_bytes,
        "milliseconds": round(after.milliseconds - before.milliseconds, 3),
    }


def _send(signal: Signal, what: dict[str, Any]) -> None:
    """Tells whoever listens. A listener's fault is its own: Django logs it, and the collecting goes on."""
    signal.send_robust(sender=Watch, **what)
