"""What is due and who may read it: slots of servers, and leases on shards of them.

All of it are rows that are changed by naming the old value, so that whatever the broker delivers twice, late or not at
all changes nothing twice. The broker only hints.
"""

from __future__ import annotations

import time
import zlib
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q, QuerySet

from collector import process
from collector.errors import Hostile, WrongPassword
from collector.models import Server, ServerState, Shard

#: How long a lease lasts without being renewed. A holder that is gone is noticed at once on its own machine, and after
#: this time from elsewhere. Longer than a busy product database keeps a writer waiting (20 s).
LEASE_SECONDS = 30.0
RENEW_SECONDS = 5.0
#: In place of a slot: due at once, and whoever reads it makes the second in which that is done its slot.
AT_ONCE = 0
#: A slot may be read this share of its interval late. Later, the next slot's reading would follow too closely.
LATEST_RATIO = 0.8
#: However long the interval: polls are stored before their hour may be sealed.
LATEST_SECONDS = 120.0
#: The longest pause between two tries of a server that fails, in intervals.
LONGEST_BACK_OFF = 15
QUARANTINE_SECONDS = 86_400
WRONG_PASSWORD_SECONDS = 3600
#: So many logins with a wrong password are tried with the usual pauses.
_QUICK_LOGINS = 3


# --- slots ----------------------------------------------------------------------------------------------------------


def next_slot(server_id: str, interval: int, after: float) -> int:
    """The first slot later than ``after`` (unix seconds).

    Slots are ``interval`` seconds apart. A hash of the server's id spreads servers over the interval; it is the same
    for all intervals, so that a full collection falls on a fast poll's slot where its interval is a multiple.
    """
    offset = zlib.crc32(server_id.encode()) % interval
    return (int(after) - offset) // interval * interval + interval + offset


def latest_start(slot: int, interval: int) -> float:
    """Until when (unix seconds) the slot may be read; afterwards it is missed."""
    return slot + min(LATEST_RATIO * interval, LATEST_SECONDS)


def next_readable(server_id: str, interval: int, slot: int, now: float) -> int:
    """``slot`` if it can still be read, else the first later one that can."""
    if now <= latest_start(slot, interval):
        return slot
    current = next_slot(server_id, interval, now - interval)
    return current if now <= latest_start(current, interval) else next_slot(server_id, interval, now)


def back_off_intervals(failures: int) -> int:
    """Pause after that many failures in a row: 1, 2, 4, 8, then 15 intervals."""
    return min(1 << min(max(failures, 1) - 1, 10), LONGEST_BACK_OFF)


def pause_seconds(failures: int, kind: str, interval: int) -> int:
    """Pause after that many failures in a row, the last of them of that kind.

    What asks for files or passwords is left alone for a day. A password that is wrong three times will be wrong again,
    and servers lock accounts for that: it is tried once an hour. A person can have either tried at once.
    """
    usual = back_off_intervals(failures) * interval
    if kind == Hostile.kind:
        return max(usual, QUARANTINE_SECONDS)
    if kind == WrongPassword.kind and failures > _QUICK_LOGINS:
        return max(usual, WRONG_PASSWORD_SECONDS)
    return usual


def longest_pause_seconds(kind: str, interval: int) -> int:
    """What is planned further ahead than this, plus two intervals, was planned by another clock."""
    longest = {Hostile.kind: QUARANTINE_SECONDS, WrongPassword.kind: WRONG_PASSWORD_SECONDS}
    return max(LONGEST_BACK_OFF * interval, longest.get(kind, 0))


def ensure_state(server_id: str) -> ServerState:
    """The server's state, made where there is none; a new server is due at once, for both tiers."""
    state, _ = ServerState.objects.get_or_create(server_id=server_id)
    return state


def try_now(*, server_id: str) -> bool:
    """Makes a server due at once, whatever back-off it is in; its failures are only forgotten when it answers.

    The holder of its shard notices within two seconds. False where the server does not exist or is not watched.
    """
    if not Server.objects.filter(pk=server_id, enabled=True).exists():
        return False
    with transaction.atomic():
        ensure_state(server_id)
        state = ServerState.objects.select_for_update().get(pk=server_id)
        state.fast_slot = AT_ONCE
        state.retry_at = 0
        state.save(update_fields=["fast_slot", "retry_at"])
    return True


# --- shards ---------------------------------------------------------------------------------------------------------


class LeaseLost(Exception):
    """Another process holds the shard now: what this one has read must not be written."""


@dataclass
class Lease:
    """The right to read the servers of one shard. ``renewed`` is by this process's monotonic clock, in seconds."""

    shard: int
    owner: str
    term: int
    renewed: float

    def is_fresh(self) -> bool:
        """Whether nobody else can hold the lease yet, as far as this process can tell without asking.

        The monotonic clock goes on while a process is stopped, so that one which wakes up after a minute knows it.
        """
        return time.monotonic() - self.renewed < LEASE_SECONDS

    def renew(self) -> None:
        """Prolongs the lease. Raises LeaseLost where another process has claimed the shard meanwhile."""
        asked = time.monotonic()
        changed = self._mine().update(lease_until=time.time() + LEASE_SECONDS)
        if changed != 1:
            raise LeaseLost(f"shard {self.shard} was taken over by another process")
        self.renewed = asked

    def release(self) -> None:
        """Gives the shard back, so that another process can take it over at once. Does nothing if the lease is lost."""
        self.renewed = float("-inf")
        self._mine().update(owner="", lease_until=0)

    def check(self) -> None:
        """Raises LeaseLost if it is: call it inside the transaction that writes what was read."""
        if not self._mine().exists():
            raise LeaseLost(f"shard {self.shard} was taken over by another process")

    def _mine(self) -> QuerySet[Shard]:
        return Shard.objects.filter(number=self.shard, owner=self.owner, term=self.term)


def claim(number: int) -> Lease | None:
    """Takes the lease of a shard whose lease ran out or whose holder is provably gone; None if somebody holds it."""
    asked, now = time.monotonic(), time.time()
    shard = Shard.objects.filter(number=number).first()
    if shard is None or not _is_free(shard, now):
        return None
    owner, term = process.own_name(), shard.term + 1
    changed = Shard.objects.filter(number=number, term=shard.term, owner=shard.owner).update(
        owner=owner, term=term, lease_until=now + LEASE_SECONDS
    )
    return Lease(number, owner, term, asked) if changed == 1 else None


def shards_to_hand_out() -> list[int]:
    """Shards with servers to watch that nobody holds."""
    now = time.time()
    watched = Shard.objects.filter(servers__enabled=True).distinct().order_by("number")
    return [shard.number for shard in watched if _is_free(shard, now)]


def release_all() -> None:
    """Gives back whatever this process holds: called when it ends."""
    Shard.objects.filter(owner=process.own_name()).update(owner="", lease_until=0)


def release_dead() -> int:
    """Clears the names of holders that are gone; how many."""
    now = time.time()
    dead = [shard for shard in Shard.objects.exclude(owner="") if _is_free(shard, now)]
    return sum(
        Shard.objects.filter(
            number=shard.number, owner=shard.owner, term=shard.term, lease_until=shard.lease_until
        ).update(owner="", lease_until=0)
        for shard in dead
    )


def _is_free(shard: Shard, now: float) -> bool:
    # A clock that was set back must not keep a shard from everyone: no lease is ever longer than LEASE_SECONDS.
    lives = now < shard.lease_until <= now + 2 * LEASE_SECONDS
    return not shard.owner or not lives or process.is_provably_dead(shard.owner)


# --- how it goes ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Summary:
    """How collecting goes, for the system page. ``latest_seconds`` is how late the most overdue server is."""

    servers: int
    shards: int
    shards_held: int
    holders: tuple[str, ...]
    failing: int
    overdue: int
    latest_seconds: float

    @property
    def sentence(self) -> str:
        if not self.servers:
            return "No server is watched."
        if self.shards_held < self.shards:
            return f"{self.shards - self.shards_held} of {self.shards} groups of servers are read by no worker."
        late = (
            f", {self.overdue} of them late by up to {self.latest_seconds:.0f} s" if self.overdue else ", all on time"
        )
        failing = f"; {self.failing} cannot be read" if self.failing else ""
        return f"{self.servers} servers are watched by {len(self.holders)} worker processes{late}{failing}."


def summary() -> Summary:
    """How collecting goes right now."""
    now = time.time()
    shards = list(Shard.objects.filter(servers__enabled=True).distinct())
    held = [shard for shard in shards if not _is_free(shard, now)]
    states = list(
        ServerState.objects.filter(server__enabled=True).values_list(
            "fast_slot", "failures", "server__fast_interval_seconds"
        )
    )
    late = [now - slot for slot, _, interval in states if slot != AT_ONCE and now > latest_start(slot, interval)]
    return Summary(
        servers=Server.objects.filter(enabled=True).count(),
        shards=len(shards),
        shards_held=len(held),
        holders=tuple(sorted({shard.owner for shard in held})),
        failing=ServerState.objects.filter(Q(failures__gt=0), server__enabled=True).count(),
        overdue=len(late),
        latest_seconds=max(late, default=0.0),
    )
