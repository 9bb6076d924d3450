"""Facts about connections: how many are admitted, how many there were, what they do and where they come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from advisor.engine import reading
from advisor.engine.declared import Rates, Settings, Status, inspected, number
from advisor.engine.evidence import covered_seconds, window_of
from advisor.engine.fact import Basis, Fact
from advisor.engine.facts.memory import MemoryUse
from advisor.engine.observation import Observation
from advisor.engine.outcome import Inapplicable, Measured, Message, Missing, Window
from advisor.engine.statistics import percentile
from advisor.engine.units import Unit, round_up
from advisor.engine.wording import seconds_text
from advisor.mysql.snapshot import Remedy, RemedyKind

REFUSED = "Connection_errors_max_connections"
#: No server takes more.
MOST_CONNECTIONS = 100_000
#: The default everywhere: nobody gains from less.
USUAL_CONNECTIONS = 151
#: Room above the most there ever were at once.
RAISED_RATIO = 1.3
#: Less room than this would leave the limit as near as it was.
ENOUGH_RATIO = 1.27
LOWERED_RATIO = 3
#: The share of the host's memory that all admitted connections together may fill before no more are proposed.
PLANNED_MEMORY_RATIO = 0.95


@dataclass(frozen=True)
class ConnectionLimit(Fact):
    """How many connections are admitted, how many there ever were at once, and how many there is room for.

    ``used`` is the high-water mark since the start; where clients were refused meanwhile it is the limit itself.
    ``room`` is what open files (two for each table that may be open beside them) and, where it is known, the host's
    memory allow. All rules that propose max_connections take ``raised`` or ``lowered``, so that they agree.
    """

    reads: ClassVar[tuple[str, ...]] = (
        "max_connections, open_files_limit, table_open_cache",
        "Max_used_connections, Threads_connected, Connection_errors_max_connections",
        "the host's memory, where it is stated",
    )

    maximum: int
    used: int
    connected: int
    room: int
    uptime_seconds: int

    @classmethod
    def read(cls, seen: Observation) -> Self:
        maximum = reading.integer(seen, "max_connections")
        used = reading.status_number(seen, "Max_used_connections")
        if used is None:
            raise Missing(Remedy(RemedyKind.VERSION, "Max_used_connections", f"{seen.server} does not show it."))
        if reading.grown(seen.counted, REFUSED):
            used = max(used, float(seen.snapshot.variables.get("max_connections", maximum)))
        return cls(
            maximum=maximum,
            used=int(used),
            connected=int(reading.status_number(seen, "Threads_connected") or 0),
            room=min(MOST_CONNECTIONS, _files(seen), _memory(seen)),
            uptime_seconds=seen.snapshot.uptime_seconds,
        )

    @property
    def used_ratio(self) -> float:
        """The most that there ever were at once as a share of the limit."""
        return self.used / max(1, self.maximum)

    @property
    def connected_ratio(self) -> float:
        """Those connected now as a share of the limit."""
        return self.connected / max(1, self.maximum)

    @property
    def needed(self) -> int:
        """A limit with a third of room above the most there ever were."""
        return round_up(RAISED_RATIO * self.used, 10)

    @property
    def raised(self) -> int:
        """The limit to propose where it was nearly reached: the present one where there is no room for enough more."""
        within = min(self.needed, self.room)
        return within if within > max(self.maximum, ENOUGH_RATIO * self.used) else self.maximum

    def lowered(self, room: int = MOST_CONNECTIONS) -> int:
        """The limit to propose where it is too high: three times what was used if there is room, never less than what
        is needed or usual.
        """
        generous = max(USUAL_CONNECTIONS, round_up(LOWERED_RATIO * self.used, 10))
        return max(USUAL_CONNECTIONS, self.needed, min(generous, room))

    def measured(self) -> tuple[Measured, ...]:
        """The limit, and how near it was, as evidence."""
        return (
            Measured("max_connections", self.maximum, Unit.COUNT, None, "system variable"),
            Measured("most connections at once", self.used, Unit.COUNT, None, "Max_used_connections"),
            Measured("connections now", self.connected, Unit.COUNT, None, "Threads_connected"),
        )


def _files(seen: Observation) -> int:
    """How many connections open_files_limit leaves room for beside two files for each table that may be open."""
    limit, tables = reading.variable(seen, "open_files_limit"), reading.variable(seen, "table_open_cache")
    if limit is None or tables is None or int(limit) == 0:
        return MOST_CONNECTIONS
    return int(limit) - 10 - 2 * int(tables)


def _memory(seen: Observation) -> int:
    """How many connections the host's memory has room for, where it is known."""
    memory = seen.host.memory_bytes
    if memory is None:
        return MOST_CONNECTIONS
    pool = reading.integer(seen, "innodb_buffer_pool_size")
    return MemoryUse.read(seen).need.connections_within(PLANNED_MEMORY_RATIO * int(memory.value), pool)


@dataclass(frozen=True)
class RunningThreads(Fact):
    """How many threads were at work in the polls of the window: the median and the 95th percentile."""

    basis: ClassVar[Basis] = Basis.WINDOW
    reads: ClassVar[tuple[str, ...]] = ("Threads_running",)

    window: Window
    median: float
    p95: float

    @classmethod
    def read(cls, seen: Observation) -> Self:
        running = reading.gauges(seen.intervals, "Threads_running")
        covered = covered_seconds(seen.intervals)
        wanted = 10 if seen.deliberate else 600
        if len(running) < 3 or covered < 0.95 * wanted:
            raise Missing(
                Remedy(
                    RemedyKind.WINDOW,
                    "threads at work",
                    f"Needs {seconds_text(wanted)} of observation in three polls; so far {seconds_text(covered)}.",
                )
            )
        return cls(window_of(seen.intervals), percentile(running, 0.5), percentile(running, 0.95))

    def measured(self) -> tuple[Measured, ...]:
        """Both figures, as evidence."""
        return (
            Measured("threads at work, median", self.median, Unit.COUNT, self.window, "Threads_running"),
            Measured("threads at work, 95th percentile", self.p95, Unit.COUNT, self.window, "Threads_running"),
        )


@dataclass(frozen=True)
class Sessions(Fact):
    """The sessions as an inspection found them: all of them, and those that sleep."""

    basis: ClassVar[Basis] = Basis.INSPECTED
    reads: ClassVar[tuple[str, ...]] = ("the processlist by command, on inspection",)

    total: int
    asleep: int
    longest_asleep_seconds: float

    @classmethod
    def read(cls, seen: Observation) -> Self:
        rows = inspected(seen, "sessions")
        # The server's own threads (replication, events) appear beside clients' sessions.
        clients = [row for row in rows if (row.get("command") or "").lower() not in ("daemon", "binlog dump")]
        asleep = [row for row in clients if (row.get("command") or "").lower() == "sleep"]
        return cls(
            total=int(sum(number(row, "count") for row in clients)),
            asleep=int(sum(number(row, "count") for row in asleep)),
            longest_asleep_seconds=max((number(row, "longest_seconds") for row in asleep), default=0.0),
        )

    def measured(self) -> tuple[Measured, ...]:
        """Sessions and sleepers, as evidence."""
        return (
            Measured("sessions", self.total, Unit.COUNT, None, "processlist"),
            Measured("sessions that sleep", self.asleep, Unit.COUNT, None, "processlist"),
            Measured("longest sleep", self.longest_asleep_seconds, Unit.SECONDS, None, "processlist"),
        )


@dataclass(frozen=True)
class NamesOfAccounts(Fact):
    """Hosts of accounts that only a name look-up can match, of all accounts, as an inspection read them.

    An address, %, a pattern of digits and localhost need no look-up of an address: the latter is what the socket is.
    """

    basis: ClassVar[Basis] = Basis.INSPECTED
    reads: ClassVar[tuple[str, ...]] = ("hosts of the accounts, on inspection",)

    accounts: int
    named: int

    @classmethod
    def read(cls, seen: Observation) -> Self:
        rows = [row for row in inspected(seen, "accounts") if row.get("is_role") != "1"]
        if not rows:
            raise Inapplicable(Message("The inspection found no accounts."))
        return cls(len(rows), sum(1 for row in rows if _needs_a_name(row.get("host") or "")))

    def measured(self) -> tuple[Measured, ...]:
        """Accounts, and those that are matched by a name, as evidence."""
        return (
            Measured("accounts", self.accounts, Unit.COUNT, None, "mysql.user"),
            Measured("accounts matched by a host's name", self.named, Unit.COUNT, None, "mysql.user"),
        )


def _needs_a_name(host: str) -> bool:
    """Whether an account's host is (a pattern of) a name, which only a look-up of the address can tell."""
    if host.lower() in ("", "%", "localhost") or ":" in host:
        return False
    return any(letter.isalpha() for letter in host)


@dataclass(frozen=True)
class Arrivals(Rates):
    """Connections made per second."""

    connections: float


@dataclass(frozen=True)
class NameLookups(Settings):
    """Whether names of clients are not looked up."""

    skip_name_resolve: bool


@dataclass(frozen=True)
class MostConnections(Status):
    """The most connections there ever were at once."""

    max_used_connections: int
