"""Facts about the buffer pool and the memory below it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

from advisor.engine import reading
from advisor.engine.declared import Settings, inspected, number
from advisor.engine.evidence import covered_seconds, is_long, long_intervals, window_of
from advisor.engine.fact import Basis, Fact, Harm
from advisor.engine.memory import MemoryNeed, memory_need
from advisor.engine.observation import Observation
from advisor.engine.outcome import Inapplicable, Measured, Message, Missing, Window
from advisor.engine.statistics import percentile
from advisor.engine.units import DAY, GIB, MIB, MINUTE, WEEK, Unit, round_up
from advisor.engine.wording import seconds_text
from advisor.mysql.buffer_pool import ceiling, rounded_pool_size, size_step
from advisor.mysql.proposal import SetVariable
from advisor.mysql.rates import Interval
from advisor.mysql.snapshot import Remedy, RemedyKind
from advisor.mysql.version import ServerVersion

#: Reads of pages from disk, read-ahead included (Innodb_buffer_pool_reads leaves read-ahead out).
PAGES_READ = "Innodb_pages_read"
WAIT_FREE = "Innodb_buffer_pool_wait_free"
#: How many free pages InnoDB keeps ready in each instance of a pool that is full: up to it pages are evicted, by MySQL
#: once a second, by MariaDB 10.5+ as soon as half of them are left.
KEPT_FREE = "innodb_lru_scan_depth"
#: Pages that it keeps free by default in the newest versions; less is never proposed.
USUAL_DEPTH = 1536
INSTANCES = "innodb_buffer_pool_instances"

#: A pool has to have been filled by its own load before it is judged: a day, or ten minutes where a person says "now".
WARM_SECONDS = DAY
DELIBERATE_WARM_SECONDS = 10 * MINUTE


#: innodb_buffer_pool_size_max is rounded down to multiples of this.
CEILING_STEP = 8 * MIB
#: As much of the host's memory as a pool may ever be given without a restart: address space, which costs nothing.
CEILING_RATIO = 0.8


def ceiling_for(memory_bytes: int, size_bytes: int) -> int:
    """The innodb_buffer_pool_size_max for a host of this memory: the same one whoever proposes it."""
    return max(int(CEILING_RATIO * memory_bytes) // CEILING_STEP * CEILING_STEP, round_up(size_bytes, CEILING_STEP))


@dataclass(frozen=True)
class BufferPool(Fact):
    """The buffer pool's size in bytes, what sizes are rounded to, and up to where it grows without a restart."""

    reads: ClassVar[tuple[str, ...]] = ("innodb_buffer_pool_size",)

    size_bytes: int
    step_bytes: int
    ceiling_bytes: int | None
    _server: ServerVersion = field(repr=False)
    _variables: Mapping[str, str] = field(repr=False)

    @classmethod
    def read(cls, seen: Observation) -> Self:
        variables = reading.variables(seen)
        return cls(
            size_bytes=reading.integer(seen, "innodb_buffer_pool_size"),
            step_bytes=size_step(seen.server, variables),
            ceiling_bytes=ceiling(variables),
            _server=seen.server,
            _variables=variables,
        )

    @property
    def lowest_bytes(self) -> int:
        """The smallest size that is taken while the server runs: a pool of several instances has to keep 1 GiB."""
        several = int(self._variables.get(INSTANCES, "1") or 1) > 1
        one = self._server.is_mariadb and self._server.number >= (10, 5, 0)
        return max(self.step_bytes, round_up(GIB, self.step_bytes) if several and not one else 0)

    def grown_to(self, size_bytes: float, at_most_bytes: float) -> int:
        """The size the server will show after being set to this one, rounded down to stay within ``at_most_bytes``.

        It is above that where the server takes nothing smaller.
        """
        size = max(rounded_pool_size(self._server, self._variables, int(size_bytes)), self.lowest_bytes)
        while size > at_most_bytes and size - self.step_bytes >= self.lowest_bytes:
            size -= self.step_bytes
        return size

    def change_to(self, size_bytes: int, memory_bytes: int) -> tuple[SetVariable, ...]:
        """What to set for this size on a host of this memory: where it is above the ceiling of MariaDB 11.8, the
        ceiling with it; where it gets so small that innodb_lru_scan_depth would keep a quarter of it empty, that, too.
        """
        changes = [SetVariable("innodb_buffer_pool_size", size_bytes)]
        if self.ceiling_bytes is not None and size_bytes > self.ceiling_bytes:
            changes.append(SetVariable("innodb_buffer_pool_size_max", ceiling_for(memory_bytes, size_bytes)))
        depth = int(self._variables.get(KEPT_FREE, "0") or 0)
        instances = max(1, int(self._variables.get(INSTANCES, "1") or 1))
        pages = size_bytes // max(1, int(self._variables.get("innodb_page_size", "16384") or 16384))
        if size_bytes < self.size_bytes and depth > USUAL_DEPTH and depth * instances > pages // 4:
            changes.append(SetVariable(KEPT_FREE, max(USUAL_DEPTH, pages // 8 // instances // 128 * 128)))
        return tuple(changes)

    def measured(self) -> tuple[Measured, ...]:
        """The size, as evidence."""
        return (Measured("innodb_buffer_pool_size", self.size_bytes, Unit.BYTES, None, "system variable"),)


@dataclass(frozen=True)
class PoolMisses(Harm):
    """What the buffer pool could not hold: pages read from disk per second, waits for a free page, and how full it is.

    ``free_pages`` are the fewest that were free at any poll, of ``total_pages``. ``kept_free_pages`` is how many InnoDB
    keeps free by itself once the pool is full: innodb_lru_scan_depth in each instance, of which MariaDB has one since
    10.5. Ratios of hits are not used: they count page accesses, which scans flatter.
    """

    reads: ClassVar[tuple[str, ...]] = (
        PAGES_READ,
        WAIT_FREE,
        "Innodb_buffer_pool_pages_free, _total",
        f"{KEPT_FREE}, {INSTANCES}",
    )

    window: Window
    median_reads: float
    p95_reads: float
    wait_free_intervals: int
    intervals: int
    free_pages: float
    total_pages: float
    kept_free_pages: int

    @classmethod
    def read(cls, seen: Observation) -> Self:
        intervals = tuple(one for one in seen.intervals if one.delta(PAGES_READ) is not None)
        _require_warm(seen, intervals)
        each = reading.rates(intervals, PAGES_READ)
        free = reading.gauges(intervals, "Innodb_buffer_pool_pages_free")
        total = reading.gauges(intervals, "Innodb_buffer_pool_pages_total")
        if not free or not total:
            raise Missing(Remedy(RemedyKind.VERSION, "free pages", f"{seen.server} does not show its free pages."))
        return cls(
            window=window_of(intervals),
            median_reads=percentile(each, 0.5),
            p95_reads=percentile(each, 0.95),
            wait_free_intervals=reading.rises(intervals, WAIT_FREE),
            intervals=len(intervals),
            free_pages=min(free),
            total_pages=max(*total, 1.0),
            kept_free_pages=_kept_free_pages(seen),
        )

    @property
    def free_ratio(self) -> float:
        """The fewest free pages as a share of the pool."""
        return self.free_pages / self.total_pages

    def is_full(self, *, share: float, kept: float) -> bool:
        """Whether no more pages were free than ``share`` of the pool, or ``kept`` times what InnoDB keeps free itself.

        The latter counts in a small pool: of 128 MiB (8,192 pages) a server keeps 1,024 to 1,536 free, however much
        is read (real servers of 5.7 to 11.8 under load: 961 to 1,497).
        """
        return self.free_pages <= max(share * self.total_pages, kept * self.kept_free_pages)

    def withheld(self) -> Self:
        return replace(self, median_reads=0.0, p95_reads=0.0, wait_free_intervals=0)

    def measured(self) -> tuple[Measured, ...]:
        """Reads, waits and free pages, as evidence."""
        return (
            Measured(
                "pages read from disk per second, median",
                self.median_reads,
                Unit.PAGES_PER_SECOND,
                self.window,
                PAGES_READ,
            ),
            Measured(
                "pages read from disk per second, 95th percentile",
                self.p95_reads,
                Unit.PAGES_PER_SECOND,
                self.window,
                PAGES_READ,
            ),
            Measured(
                "intervals with waits for a free page", self.wait_free_intervals, Unit.COUNT, self.window, WAIT_FREE
            ),
            Measured(
                "fewest free pages",
                self.free_ratio,
                Unit.RATIO,
                self.window,
                "Innodb_buffer_pool_pages_free",
                lower_is_worse=True,
            ),
        )


def _kept_free_pages(seen: Observation) -> int:
    """innodb_lru_scan_depth in every instance of the pool; 0 where a server does not show it."""
    if reading.variable(seen, KEPT_FREE) is None:
        return 0
    one_instance = seen.server.is_mariadb and seen.server.number >= (10, 5, 0)
    many = not one_instance and reading.variable(seen, INSTANCES) is not None
    return reading.integer(seen, KEPT_FREE) * (max(1, reading.integer(seen, INSTANCES)) if many else 1)


def _require_warm(seen: Observation, intervals: tuple[Interval, ...]) -> None:
    """Raises Missing(window) unless the pool was filled by its own load and watched for long enough."""
    uptime = seen.snapshot.uptime_seconds
    wanted = DELIBERATE_WARM_SECONDS if seen.deliberate else WARM_SECONDS
    if uptime < wanted:
        text = f"The server is up for {seconds_text(uptime)}; a buffer pool is judged after {seconds_text(wanted)}."
    elif not seen.deliberate and not is_long(intervals):
        text = (
            f"Needs an hour of observation in {long_intervals(intervals)} intervals; so far "
            f"{seconds_text(covered_seconds(intervals))} in {len(intervals)}."
        )
    elif len(intervals) < 3:
        text = "Needs three intervals between polls; observe the server longer."
    else:
        return
    raise Missing(Remedy(RemedyKind.WINDOW, "reads of a warm buffer pool", text))


@dataclass(frozen=True)
class FreePages(Fact):
    """How much of a pool that has had a week to fill was never needed, as a share of it: the fewest free pages there
    were, for the size on trial.

    A free page is one that nothing was ever read into: InnoDB gives none back but where tables are dropped.
    """

    reads: ClassVar[tuple[str, ...]] = ("Innodb_buffer_pool_pages_free, _total", "innodb_buffer_pool_size")

    free_ratio: float
    used_bytes: int
    window: Window | None

    @classmethod
    def read(cls, seen: Observation) -> Self:
        uptime = seen.snapshot.uptime_seconds
        if uptime < WEEK:
            raise Missing(
                Remedy(
                    RemedyKind.WINDOW,
                    "free pages after a week",
                    f"The server is up for {seconds_text(uptime)}; what a pool never needs shows after a week.",
                )
            )
        free = reading.status_number(seen, "Innodb_buffer_pool_pages_free")
        total = reading.status_number(seen, "Innodb_buffer_pool_pages_total")
        if free is None or not total:
            raise Missing(Remedy(RemedyKind.VERSION, "free pages", f"{seen.server} does not show its free pages."))
        shares = [free / total]
        shares += [one.free_pages_ratio_min for one in seen.digests if one.free_pages_ratio_min is not None]
        present = int(seen.snapshot.variables.get("innodb_buffer_pool_size", "0"))
        used = round((1 - min(shares)) * present)
        # Of a larger pool than there is nobody knows how much would be used.
        size = min(present, reading.integer(seen, "innodb_buffer_pool_size"))
        ended_at = seen.snapshot.taken_at
        return cls(max(0.0, 1 - used / size), used, Window(ended_at - WEEK, ended_at))

    def measured(self) -> tuple[Measured, ...]:
        """The share that was free all the time, as evidence: the less of it is used, the truer the finding."""
        return (
            Measured("pages never used", self.free_ratio, Unit.RATIO, self.window, "Innodb_buffer_pool_pages_free"),
        )


@dataclass(frozen=True)
class MemoryUse(Fact):
    """What the server is expected to use besides its pool: global buffers and the connections that were really used."""

    reads: ClassVar[tuple[str, ...]] = (
        "innodb_log_buffer_size, key_buffer_size, aria_pagecache_buffer_size, query_cache_size, performance_schema",
        "table_open_cache; sort_, join_, read_ and read_rnd_buffer_size",
        "Max_used_connections, Threads_running; performance_schema's own memory, where an inspection read it",
    )

    need: MemoryNeed

    @classmethod
    def read(cls, seen: Observation) -> Self:
        used = reading.status_number(seen, "Max_used_connections") or 0
        running = reading.gauges(seen.intervals, "Threads_running")
        return cls(
            memory_need(
                reading.variables(seen),
                int(used),
                performance_schema_bytes=_performance_schema_bytes(seen),
                threads_running=int(max(running, default=0)),
            )
        )

    def measured(self, pool_bytes: int) -> tuple[Measured, ...]:
        """The budget line by line with a pool of this size, as evidence."""
        return tuple(
            Measured(f"of it {item.name}", item.bytes, Unit.BYTES, None, item.how)
            for item in self.need.budget(pool_bytes)
        )


def _performance_schema_bytes(seen: Observation) -> int | None:
    """What performance_schema says that it takes; None where nobody had the server inspected or it did not say."""
    rows = seen.inspection.rowsets.get("performance_schema_memory", ()) if seen.inspection is not None else ()
    told = [int(number(row, "bytes")) for row in rows]
    return told[0] if told and told[0] > 0 else None


@dataclass(frozen=True)
class ExpectedUse(MemoryUse):
    """The same where it is the claim itself: a formula's upper bound, and no figure that anybody saw."""

    basis: ClassVar[Basis] = Basis.ESTIMATE


@dataclass(frozen=True)
class HostMemory(Fact):
    """The memory of the machine (or of the container's limit) in bytes: stated by a person or read, never guessed."""

    reads: ClassVar[tuple[str, ...]] = ("the host's memory, as stated",)

    bytes: int
    origin: str

    @classmethod
    def read(cls, seen: Observation) -> Self:
        fact = seen.host.memory_bytes
        if fact is None:
            raise Missing(
                Remedy(
                    RemedyKind.HOST_FACT,
                    "memory of the host",
                    "State it on the server's page, or with --host-memory 8G for the advise command.",
                )
            )
        return cls(int(fact.value), fact.origin)

    def measured(self) -> tuple[Measured, ...]:
        """The memory and who said so, as evidence."""
        return (Measured("memory of the host", self.bytes, Unit.BYTES, None, self.origin),)


@dataclass(frozen=True)
class MemoryCeiling(Fact):
    """The host's memory in bytes where it is known, for rules that can say something without it."""

    reads: ClassVar[tuple[str, ...]] = ("the host's memory, where it is stated",)

    bytes: int | None

    @classmethod
    def read(cls, seen: Observation) -> Self:
        fact = seen.host.memory_bytes
        return cls(None if fact is None else int(fact.value))

    def measured(self) -> tuple[Measured, ...]:
        """The memory where it is known, as evidence."""
        if self.bytes is None:
            return ()
        return (Measured("memory of the host", self.bytes, Unit.BYTES, None, "stated"),)

    def share(self, ratio: float, *, otherwise: int) -> int:
        """So much of the memory in bytes, ``otherwise`` where it is not known."""
        return otherwise if self.bytes is None else int(ratio * self.bytes)


@dataclass(frozen=True)
class HostCpus(Fact):
    """How many CPUs the machine (or the container's limit) has: stated by a person or read, never guessed."""

    reads: ClassVar[tuple[str, ...]] = ("the host's CPUs, as stated",)

    count: int
    origin: str

    @classmethod
    def read(cls, seen: Observation) -> Self:
        fact = seen.host.cpus
        if fact is None:
            raise Missing(
                Remedy(
                    RemedyKind.HOST_FACT,
                    "CPUs of the host",
                    "State them on the server's page, or with --host-cpus 8 for the advise command.",
                )
            )
        return cls(max(1, int(fact.value)), fact.origin)

    def measured(self) -> tuple[Measured, ...]:
        """The CPUs and who said so, as evidence."""
        return (Measured("CPUs of the host", self.count, Unit.COUNT, None, self.origin),)


@dataclass(frozen=True)
class PoolLayout(Fact):
    """How the buffer pool is laid out where it is made of chunks and instances: sizes in bytes.

    Not there (NotApplicable) on servers that choose it themselves: MariaDB whose chunk size is 0 or that has
    innodb_buffer_pool_size_max. MariaDB 10.5 shows instances and has one.
    """

    reads: ClassVar[tuple[str, ...]] = (
        "innodb_buffer_pool_size",
        "innodb_buffer_pool_chunk_size",
        "innodb_buffer_pool_instances",
    )

    size_bytes: int
    chunk_bytes: int
    instances: int

    @classmethod
    def read(cls, seen: Observation) -> Self:
        size = reading.integer(seen, "innodb_buffer_pool_size")
        chunk = int(reading.variable(seen, "innodb_buffer_pool_chunk_size") or 0)
        if chunk == 0 or reading.variable(seen, "innodb_buffer_pool_size_max") is not None:
            raise Inapplicable(Message("This server lays its buffer pool out by itself."))
        one = seen.server.is_mariadb and seen.server.number >= (10, 5, 0)
        instances = 1 if one else int(reading.variable(seen, INSTANCES) or 1)
        return cls(size, chunk, max(1, instances))

    @property
    def chunks(self) -> float:
        """How many chunks the pool is made of."""
        return self.size_bytes / self.chunk_bytes

    @property
    def instance_bytes(self) -> float:
        """The size of one instance."""
        return self.size_bytes / self.instances

    def measured(self) -> tuple[Measured, ...]:
        """Size, chunk and instances, as evidence."""
        return (
            Measured("innodb_buffer_pool_size", self.size_bytes, Unit.BYTES, None, "system variable"),
            Measured("innodb_buffer_pool_chunk_size", self.chunk_bytes, Unit.BYTES, None, "system variable"),
            Measured("innodb_buffer_pool_instances", self.instances, Unit.COUNT, None, "system variable"),
        )


@dataclass(frozen=True)
class DedicatedServer(Fact):
    """Whether the server sizes itself by the machine's memory, and which of those sizes are set all the same."""

    reads: ClassVar[tuple[str, ...]] = ("innodb_dedicated_server", "where the values that it decides were set")

    on: bool
    set_anyway: tuple[str, ...]

    @classmethod
    def read(cls, seen: Observation) -> Self:
        if reading.variable(seen, "innodb_dedicated_server") is None and seen.snapshot.variables:
            raise Inapplicable(Message("This server has no innodb_dedicated_server."))
        on = reading.is_on(seen, "innodb_dedicated_server")
        if on and not seen.snapshot.origins:
            raise Missing(reading.grant(seen, "SELECT ON performance_schema.*", "where variables were set"))
        own = [
            name
            for name in ("innodb_buffer_pool_size", "innodb_redo_log_capacity", "innodb_log_file_size")
            if (origin := seen.snapshot.origins.get(name)) is not None and origin.kind != "compiled"
        ]
        return cls(on, tuple(own))

    def measured(self) -> tuple[Measured, ...]:
        """The switch and what is set beside it, as evidence."""
        return (
            Measured("innodb_dedicated_server", "ON" if self.on else "OFF", Unit.TEXT, None, "system variable"),
            Measured("set all the same", ", ".join(self.set_anyway) or "nothing", Unit.TEXT, None, "variables_info"),
        )


@dataclass(frozen=True)
class PerformanceSchemaMemory(Harm):
    """What performance_schema itself takes, in bytes, as an inspection read it."""

    basis: ClassVar[Basis] = Basis.INSPECTED
    reads: ClassVar[tuple[str, ...]] = ("SHOW ENGINE PERFORMANCE_SCHEMA STATUS, on inspection",)

    bytes: int

    @classmethod
    def read(cls, seen: Observation) -> Self:
        rows = inspected(seen, "performance_schema_memory")
        if not rows or number(rows[0], "bytes") <= 0:
            raise Inapplicable(Message("performance_schema is off and takes no memory."))
        return cls(int(number(rows[0], "bytes")))

    def withheld(self) -> Self:
        return replace(self, bytes=0)

    def measured(self) -> tuple[Measured, ...]:
        """What it takes, as evidence."""
        return (Measured("memory of performance_schema", self.bytes, Unit.BYTES, None, "performance_schema.memory"),)


@dataclass(frozen=True)
class KeyBuffer(Settings):
    """The key buffer, and the size of its blocks, in bytes."""

    key_buffer_size: int
    key_cache_block_size: int = 1024


@dataclass(frozen=True)
class AriaCache(Settings):
    """The page cache of Aria, and the size of its pages, in bytes."""

    aria_pagecache_buffer_size: int
    aria_block_size: int = 8192
