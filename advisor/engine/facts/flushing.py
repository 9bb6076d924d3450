"""Facts about writing dirty pages: what is set, how many pages are written, and for which reason."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product, zip_longest
from typing import ClassVar, Self

from advisor.engine import reading
from advisor.engine.declared import Rates, Settings
from advisor.engine.evidence import HIGH_COVERAGE, require_load, settled_digests, window_of, with_capacity
from advisor.engine.fact import Basis, Fact, Harm
from advisor.engine.facts.redo import intervals_with_redo
from advisor.engine.observation import Observation
from advisor.engine.outcome import Inapplicable, Measured, Message, Missing, Window
from advisor.engine.statistics import median, percentile, weighted_percentile
from advisor.engine.units import DAY, HOUR, Unit
from advisor.engine.wording import seconds_text
from advisor.mysql import redo, series
from advisor.mysql.catalogue import CATALOGUE
from advisor.mysql.counters import FLUSHED_BY_REASON
from advisor.mysql.digest import PRESSURE_STEP
from advisor.mysql.proposal import SetVariable
from advisor.mysql.rates import Interval
from advisor.mysql.snapshot import Remedy, RemedyKind
from advisor.mysql.values import parse_real

PAGES_FLUSHED = "Innodb_buffer_pool_pages_flushed"

#: At this share of innodb_io_capacity_max an interval counts as flushing at the maximum: rounds are not all alike.
AT_MAXIMUM = 0.9
#: What a device may be asked for without knowing it: beyond it the host has to be known (innodb.md 3.5: NVMe
#: 10-20,000).
UNKNOWN_DEVICE_PAGES = 20_000
#: Pages per second that rotating disks write, at the upper end.
HDD_PAGES = 200


def _require_own_flushing(seen: Observation) -> None:
    """Raises Inapplicable on Aurora, whose storage makes pages from the log: what is set about flushing does nothing
    there, whatever the values say.
    """
    if not redo.has_redo_log(seen.server):
        raise Inapplicable(Message("Amazon Aurora writes no pages: its storage makes them from the log."))


@dataclass(frozen=True)
class IoCapacity(Fact):
    """The pages per second that background flushing may write, and what the device can be asked for.

    ``enters_linearly``: MariaDB 10.5+ computes its rounds from innodb_io_capacity alone, where MySQL and older MariaDB
    scale it by the age up to the maximum. ``device_known``: the storage kind was stated or read.
    """

    reads: ClassVar[tuple[str, ...]] = ("innodb_io_capacity", "innodb_io_capacity_max")

    pages_per_second: int
    maximum_pages_per_second: int
    enters_linearly: bool
    device_pages_per_second: int
    device_known: bool

    @classmethod
    def read(cls, seen: Observation) -> Self:
        _require_own_flushing(seen)
        storage = None if seen.host.storage is None else str(seen.host.storage.value)
        return cls(
            pages_per_second=reading.integer(seen, "innodb_io_capacity"),
            maximum_pages_per_second=reading.integer(seen, "innodb_io_capacity_max"),
            enters_linearly=seen.server.is_mariadb and seen.server.number >= (10, 5, 0),
            device_pages_per_second=HDD_PAGES if storage == "hdd" else UNKNOWN_DEVICE_PAGES,
            device_known=storage is not None,
        )

    def measured(self) -> tuple[Measured, ...]:
        """Both settings, as evidence."""
        return (
            Measured("innodb_io_capacity", self.pages_per_second, Unit.PAGES_PER_SECOND, None, "system variable"),
            Measured(
                "innodb_io_capacity_max", self.maximum_pages_per_second, Unit.PAGES_PER_SECOND, None, "system variable"
            ),
        )


@dataclass(frozen=True)
class Flushing(Harm):
    """Pages written out of the buffer pool while the server wrote.

    ``median`` and ``p95`` are of one-minute averages, ``p95_polls`` and ``highest`` of the intervals between polls, in
    pages per second. ``at_maximum_ratio`` is the share of intervals at 90 % of innodb_io_capacity_max or more,
    ``at_maximum_intervals`` their number.
    ``adaptive_ratio`` and ``background_ratio`` are shares of the pages flushed, None where the counters by reason
    are off. ``redo_per_page_bytes`` is how much redo was written for each page flushed.
    """

    reads: ClassVar[tuple[str, ...]] = (
        PAGES_FLUSHED,
        "buffer_flush_adaptive_total_pages, buffer_flush_background_total_pages (where they are on)",
    )

    window: Window
    median: float
    p95: float
    p95_polls: float
    highest: float
    at_maximum_ratio: float
    at_maximum_intervals: int
    adaptive_ratio: float | None
    background_ratio: float | None
    redo_per_page_bytes: float

    @classmethod
    def read(cls, seen: Observation) -> Self:
        capacity = IoCapacity.read(seen)
        intervals = tuple(one for one in intervals_with_redo(seen) if one.delta(PAGES_FLUSHED) is not None)
        if not intervals:
            raise Missing(
                Remedy(RemedyKind.WINDOW, "pages flushed", "Needs two polls of the running server; observe it longer.")
            )
        present = intervals[-1].last(series.CAPACITY)
        if present is not None:
            # A log of another size forced other flushing.
            intervals = with_capacity(intervals, int(present))
        require_load(seen, intervals)
        minutes = reading.minute_rates(intervals, PAGES_FLUSHED)
        each = reading.rates(intervals, PAGES_FLUSHED)
        at_maximum = sum(1 for rate in each if rate >= AT_MAXIMUM * capacity.maximum_pages_per_second)
        flushed = reading.grown(intervals, PAGES_FLUSHED) or 0.0
        return cls(
            window=window_of(intervals),
            median=median(minutes),
            p95=percentile(minutes, 0.95),
            p95_polls=percentile(each, 0.95),
            highest=max(each),
            at_maximum_ratio=at_maximum / len(each),
            at_maximum_intervals=at_maximum,
            adaptive_ratio=_share(intervals, "adaptive", flushed),
            background_ratio=_share(intervals, "background", flushed),
            redo_per_page_bytes=(reading.grown(intervals, series.LSN) or 0.0) / max(flushed, 1.0),
        )

    def withheld(self) -> Self:
        return replace(self, adaptive_ratio=None, background_ratio=None, at_maximum_ratio=0.0, at_maximum_intervals=0)

    def measured(self) -> tuple[Measured, ...]:
        """Rates and shares, as evidence."""
        figures = [
            Measured(
                "pages flushed per second, median minute",
                self.median,
                Unit.PAGES_PER_SECOND,
                self.window,
                PAGES_FLUSHED,
            ),
            Measured(
                "pages flushed per second, 95th percentile", self.p95, Unit.PAGES_PER_SECOND, self.window, PAGES_FLUSHED
            ),
            Measured(
                "intervals flushing at the maximum", self.at_maximum_ratio, Unit.RATIO, self.window, PAGES_FLUSHED
            ),
        ]
        for name, share in (("adaptive", self.adaptive_ratio), ("background", self.background_ratio)):
            if share is not None:
                figures.append(
                    Measured(
                        f"pages flushed by {name} flushing", share, Unit.RATIO, self.window, FLUSHED_BY_REASON[name]
                    )
                )
        return tuple(figures)


@dataclass(frozen=True)
class FlushingHistory(Fact):
    """A day and more of flushing under the present settings, by the hour: for what is claimed of all of it, its peak
    included.

    ``median`` is that of the busiest hour, ``p95`` the highest 95th percentile of any hour, both in pages per second;
    ``p95_pressure`` the 95th percentile of age / limit; ``redo_per_page_bytes`` about how much redo each page carried,
    by the hours' medians.
    """

    basis: ClassVar[Basis] = Basis.WINDOW
    reads: ClassVar[tuple[str, ...]] = (f"{PAGES_FLUSHED}, hour by hour",)

    window: Window
    median: float
    p95: float
    p95_pressure: float
    redo_per_page_bytes: float

    @classmethod
    def read(cls, seen: Observation) -> Self:
        _require_own_flushing(seen)
        hours = settled_digests(seen, None)
        covered = sum(hour.seconds for hour in hours)
        if covered < HIGH_COVERAGE * DAY:
            raise Missing(
                Remedy(
                    RemedyKind.WINDOW,
                    "a day of flushing",
                    "Needs 24 h of observation with these settings, the busiest hours among them; "
                    f"{seconds_text(covered)} are there.",
                )
            )
        cells = [sum(column) for column in zip_longest(*(hour.pressure_histogram for hour in hours), fillvalue=0.0)]
        pages = sum(hour.pages_flushed_median * hour.seconds for hour in hours)
        return cls(
            window=Window(float(hours[0].hour_at), float(hours[-1].hour_at + HOUR), len(hours)),
            median=max(hour.pages_flushed_median for hour in hours),
            p95=max(hour.pages_flushed_p95 for hour in hours),
            p95_pressure=weighted_percentile(cells, PRESSURE_STEP, 0.95),
            redo_per_page_bytes=sum(hour.redo_written_bytes for hour in hours) / max(pages, 1.0),
        )

    @property
    def p95_polls(self) -> float:
        """Hours keep the percentile of polls and none of minutes: one figure serves for both."""
        return self.p95

    def measured(self) -> tuple[Measured, ...]:
        """Rates and pressure, as evidence."""
        return (
            Measured(
                "pages flushed per second in the busiest hour, 95th percentile",
                self.p95,
                Unit.PAGES_PER_SECOND,
                self.window,
                PAGES_FLUSHED,
            ),
            Measured(
                "checkpoint age against its limit, 95th percentile",
                self.p95_pressure,
                Unit.RATIO,
                self.window,
                "hourly digests",
            ),
            Measured("redo for each page flushed", self.redo_per_page_bytes, Unit.BYTES, self.window, "hourly digests"),
        )


#: What a rule answers that would fire if it knew the device.
STATE_LATENCY = Remedy(
    RemedyKind.HOST_FACT,
    "write latency of the device",
    "State it on the server's page, as iostat (w_await) or the volume's metrics show it under load: "
    "the server itself times only the hand-over of its writes.",
)


@dataclass(frozen=True)
class WriteLatency(Fact):
    """How long one write to the data's device takes under load, in seconds, as a person states it; None where nobody
    did, for rules that often can tell without it.
    """

    reads: ClassVar[tuple[str, ...]] = ("the device's write latency, where it is stated",)

    seconds: float | None

    @classmethod
    def read(cls, seen: Observation) -> Self:
        fact = seen.host.write_latency_microseconds
        return cls(None if fact is None else int(fact.value) / 1_000_000)

    def measured(self) -> tuple[Measured, ...]:
        """The latency where it is known, as evidence."""
        if self.seconds is None:
            return ()
        return (Measured("write latency of the device", self.seconds, Unit.SECONDS, None, "stated"),)


def _share(intervals: tuple[Interval, ...], reason: str, flushed: float) -> float | None:
    pages = reading.grown(intervals, FLUSHED_BY_REASON[reason])
    return None if pages is None or flushed <= 0 else min(1.0, pages / flushed)


@dataclass(frozen=True)
class DirtyPageLimits(Fact):
    """innodb_max_dirty_pages_pct and its low-water mark, in percent, and this version's defaults of both.

    ``gates_age``: MariaDB 10.5+ does not let the age steer flushing while fewer pages are dirty than the low-water
    mark; a mark of 0 switches that off, and lets dirty pages drift up to the maximum by design.
    """

    reads: ClassVar[tuple[str, ...]] = ("innodb_max_dirty_pages_pct", "innodb_max_dirty_pages_pct_lwm")

    maximum_percent: float
    low_water_percent: float
    default_maximum_percent: float
    default_low_water_percent: float
    gates_age: bool

    @classmethod
    def read(cls, seen: Observation) -> Self:
        _require_own_flushing(seen)
        return cls(
            maximum_percent=reading.real(seen, "innodb_max_dirty_pages_pct"),
            low_water_percent=reading.real(seen, "innodb_max_dirty_pages_pct_lwm"),
            default_maximum_percent=_default(seen, "innodb_max_dirty_pages_pct"),
            default_low_water_percent=_default(seen, "innodb_max_dirty_pages_pct_lwm"),
            gates_age=seen.server.is_mariadb and seen.server.number >= (10, 5, 0),
        )

    @property
    def age_is_unseen(self) -> bool:
        """Whether nothing steers flushing below the async point and the maximum: see ``gates_age``."""
        return self.gates_age and self.low_water_percent <= 0

    def measured(self) -> tuple[Measured, ...]:
        """Both settings, as evidence."""
        return (
            Measured("innodb_max_dirty_pages_pct", self.maximum_percent / 100, Unit.RATIO, None, "system variable"),
            Measured(
                "innodb_max_dirty_pages_pct_lwm", self.low_water_percent / 100, Unit.RATIO, None, "system variable"
            ),
        )


def _default(seen: Observation, name: str) -> float:
    """The default of a real on this version, by the catalogue. Raises Missing where it is not known."""
    facts = CATALOGUE.find(name, seen.server)
    if facts is None or facts.default is None:
        raise Missing(
            Remedy(
                RemedyKind.VERSION, f"default of {name}", f"This release of Tidemark does not know it on {seen.server}."
            )
        )
    return parse_real(facts.default)


@dataclass(frozen=True)
class DirtyPages(Harm):
    """How much of the buffer pool was dirty, in percent of data and free pages, as InnoDB compares it with its limits.

    ``percents`` holds the share at each poll; ``maximum_percent`` is innodb_max_dirty_pages_pct.
    """

    reads: ClassVar[tuple[str, ...]] = (
        "Innodb_buffer_pool_pages_dirty, _data and _free",
        "innodb_max_dirty_pages_pct",
    )

    window: Window
    percents: tuple[float, ...]
    maximum_percent: float
    is_withheld: bool = False

    @classmethod
    def read(cls, seen: Observation) -> Self:
        limits = DirtyPageLimits.read(seen)
        intervals = intervals_with_redo(seen)
        require_load(seen, intervals)
        percents = reading.gauges(intervals, series.DIRTY_PERCENT)
        if not percents:
            raise Missing(
                Remedy(RemedyKind.VERSION, "dirty pages", f"{seen.server} does not show how many pages are dirty.")
            )
        return cls(window_of(intervals), tuple(percents), limits.maximum_percent)

    @property
    def median_percent(self) -> float:
        return median(self.percents)

    @property
    def p95_percent(self) -> float:
        return percentile(self.percents, 0.95)

    def polls_at_maximum(self, share: float) -> int:
        """How many polls saw at least this share of the maximum."""
        if self.is_withheld:
            return 0
        return sum(1 for percent in self.percents if percent >= share * self.maximum_percent)

    def withheld(self) -> Self:
        return replace(self, is_withheld=True)

    def measured(self, share: float) -> tuple[Measured, ...]:
        """Percentiles, and the polls at this share of the maximum, as evidence."""
        source = "Innodb_buffer_pool_pages_dirty / (_data + _free)"
        at_maximum = self.polls_at_maximum(share) / len(self.percents)
        return (
            Measured("dirty pages, median", self.median_percent / 100, Unit.RATIO, self.window, source),
            Measured("dirty pages, 95th percentile", self.p95_percent / 100, Unit.RATIO, self.window, source),
            Measured("polls at the limit of dirty pages", at_maximum, Unit.RATIO, self.window, source),
        )


#: What a rule answers that would fire if it knew what the data are stored on.
STATE_STORAGE = Remedy(
    RemedyKind.HOST_FACT,
    "storage of the data",
    "State whether the data are on flash or on rotating disks (on the server's page, or --storage ssd or hdd): "
    "the server does not tell.",
)


@dataclass(frozen=True)
class Storage(Fact):
    """What the data are stored on, as a person states it: ``ssd`` or ``hdd``, or empty where nobody did, for rules that
    often can tell without it.
    """

    reads: ClassVar[tuple[str, ...]] = ("the kind of storage, where it is stated",)

    kind: str

    @classmethod
    def read(cls, seen: Observation) -> Self:
        return cls("" if seen.host.storage is None else str(seen.host.storage.value))

    def measured(self) -> tuple[Measured, ...]:
        """The kind where it is known, as evidence."""
        return (Measured("storage", self.kind, Unit.TEXT, None, "stated"),) if self.kind else ()


@dataclass(frozen=True)
class DataFileWrites(Fact):
    """How pages are written into the data files.

    ``method`` is innodb_flush_method in lower case (5.7 shows the default of fsync as empty). ``buffered``: what is
    written goes through the page cache of the operating system, too; ``unsafe``: it may never be synced. MariaDB 11.0
    and later say the former by innodb_data_file_buffering. ``direct`` is what to set so that it is not buffered.
    """

    reads: ClassVar[tuple[str, ...]] = ("innodb_flush_method", "innodb_data_file_buffering (MariaDB 11.0+)")

    method: str
    buffered: bool
    unsafe: bool
    direct: SetVariable
    pool_bytes: int

    @classmethod
    def read(cls, seen: Observation) -> Self:
        _require_own_flushing(seen)
        method = (reading.variable(seen, "innodb_flush_method") or "fsync").lower()
        buffered = method in ("fsync", "o_dsync", "littlesync", "nosync")
        direct = SetVariable("innodb_flush_method", "O_DIRECT")
        if seen.server.is_mariadb and seen.server.number >= (11, 0, 0):
            buffered = reading.is_on(seen, "innodb_data_file_buffering", default=buffered)
            direct = SetVariable("innodb_data_file_buffering", "OFF")
        return cls(
            method=method,
            buffered=buffered,
            unsafe=method in ("littlesync", "nosync"),
            direct=direct,
            pool_bytes=reading.integer(seen, "innodb_buffer_pool_size"),
        )

    def measured(self) -> tuple[Measured, ...]:
        """The method and the pool, as evidence."""
        return (
            Measured("innodb_flush_method", self.method, Unit.TEXT, None, "system variable"),
            Measured(
                "data files through the page cache",
                "yes" if self.buffered else "no",
                Unit.TEXT,
                None,
                ", ".join(type(self).reads),
            ),
            Measured("innodb_buffer_pool_size", self.pool_bytes, Unit.BYTES, None, "system variable"),
        )


WAIT_FREE = "Innodb_buffer_pool_wait_free"


@dataclass(frozen=True)
class FreePageWaits(Harm):
    """How often threads waited until a page of the buffer pool became free, and how fast pages came in meanwhile.

    ``depth`` is innodb_lru_scan_depth, for each of ``instances``: so many pages the page cleaner makes free in a
    second. ``pages`` is how many pages the pool has. ``median_reads`` is in pages per second.
    """

    reads: ClassVar[tuple[str, ...]] = (
        WAIT_FREE,
        "Innodb_pages_read",
        "innodb_lru_scan_depth, innodb_buffer_pool_instances",
    )

    window: Window
    waiting_intervals: int
    intervals: int
    median_reads: float
    depth: int
    instances: int
    pages: int

    @classmethod
    def read(cls, seen: Observation) -> Self:
        _require_own_flushing(seen)
        intervals = tuple(one for one in seen.intervals if one.delta(WAIT_FREE) is not None)
        if len(intervals) < 2:
            raise Missing(
                Remedy(RemedyKind.WINDOW, "waits for free pages", "Needs three polls; observe the server longer.")
            )
        many = not (seen.server.is_mariadb and seen.server.number >= (10, 5, 0))
        page = reading.integer(seen, "innodb_page_size")
        instances = reading.variable(seen, "innodb_buffer_pool_instances")
        return cls(
            window=window_of(intervals),
            waiting_intervals=reading.rises(intervals, WAIT_FREE),
            intervals=len(intervals),
            median_reads=percentile(reading.rates(intervals, "Innodb_pages_read") or [0.0], 0.5),
            depth=reading.integer(seen, "innodb_lru_scan_depth"),
            instances=max(1, int(instances)) if many and instances else 1,
            pages=reading.integer(seen, "innodb_buffer_pool_size") // max(page, 1),
        )

    @property
    def waiting_ratio(self) -> float:
        """The share of intervals in which somebody waited."""
        return self.waiting_intervals / self.intervals

    def withheld(self) -> Self:
        return replace(self, waiting_intervals=0)

    def measured(self) -> tuple[Measured, ...]:
        """Waits, reads and depth, as evidence."""
        return (
            Measured(
                "intervals with waits for a free page", self.waiting_intervals, Unit.COUNT, self.window, WAIT_FREE
            ),
            Measured(
                "pages read from disk per second, median",
                self.median_reads,
                Unit.PAGES_PER_SECOND,
                self.window,
                "Innodb_pages_read",
            ),
            Measured("innodb_lru_scan_depth", self.depth, Unit.COUNT, None, "system variable"),
        )


#: The length of the history, as MariaDB's status variable and as everybody's innodb_metrics counter call it.
HISTORY = ("Innodb_history_list_length", "trx_rseg_history_len")


@dataclass(frozen=True)
class HistoryList(Fact):
    """How many undo logs of committed transactions wait to be purged: at the window's begin and end, and the most."""

    basis: ClassVar[Basis] = Basis.WINDOW
    reads: ClassVar[tuple[str, ...]] = (
        "Innodb_history_list_length (MariaDB)",
        "trx_rseg_history_len of INNODB_METRICS",
    )

    window: Window
    first: float
    last: float
    highest: float

    @classmethod
    def read(cls, seen: Observation) -> Self:
        _require_own_flushing(seen)
        # Where no fast poll reads the counter, full snapshots do.
        for intervals, name in product((seen.intervals, seen.counted), HISTORY):
            known = tuple(one for one in intervals if one.last(name) is not None)
            lengths = reading.gauges(known, name)
            if lengths:
                first = known[0].previous.values.get(name, lengths[0])
                return cls(window_of(known), float(first), lengths[-1], max(float(first), *lengths))
        if not seen.intervals:
            raise Missing(Remedy(RemedyKind.WINDOW, "history list length", "Needs two polls of the running server."))
        if not seen.snapshot.metrics:
            raise Missing(reading.grant(seen, "PROCESS", "history list length"))
        raise Missing(
            Remedy(
                RemedyKind.ENABLE,
                "history list length",
                "SET GLOBAL innodb_monitor_enable = 'trx_rseg_history_len';",
            )
        )

    def measured(self) -> tuple[Measured, ...]:
        """Both ends and the most, as evidence."""
        source = " or ".join(HISTORY)
        return (
            Measured("undo logs waiting for purge", self.last, Unit.COUNT, self.window, source),
            Measured("undo logs waiting for purge when the window began", self.first, Unit.COUNT, self.window, source),
        )


@dataclass(frozen=True)
class Neighbors(Settings):
    """0: only the page itself; 1: dirty neighbours; 2: all dirty pages of the extent."""

    innodb_flush_neighbors: int


@dataclass(frozen=True)
class PagesFlushed(Rates):
    """Pages written, per second."""

    innodb_buffer_pool_pages_flushed: float


@dataclass(frozen=True)
class PurgeLag(Settings):
    """From how many waiting undo logs on changes are delayed, and by how many microseconds at most."""

    innodb_max_purge_lag: int
    innodb_max_purge_lag_delay: int
