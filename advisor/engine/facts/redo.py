"""Facts about the redo log: how big it is, how fast it is written, and how close the checkpoint age comes to its
limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Self

from advisor.engine import reading
from advisor.engine.declared import Settings
from advisor.engine.evidence import (
    HIGH_COVERAGE,
    covered_seconds,
    is_loaded,
    is_long,
    loaded_polls,
    require_history,
    require_load,
    settled_digests,
    window_of,
    with_capacity,
)
from advisor.engine.fact import Basis, Fact, Harm
from advisor.engine.observation import Observation
from advisor.engine.outcome import Inapplicable, Measured, Message, Missing, Window
from advisor.engine.statistics import percentile, weighted_percentile
from advisor.engine.units import DAY, HOUR, MINUTE, WEEK, Unit
from advisor.engine.wording import seconds_text
from advisor.mysql import redo, series
from advisor.mysql.digest import PRESSURE_STEP, HourlyDigest
from advisor.mysql.proposal import SetVariable
from advisor.mysql.rates import Interval
from advisor.mysql.snapshot import Remedy, RemedyKind
from advisor.mysql.version import ServerVersion

#: A poll counts as "at the limit" a little below it: polls see the age at one instant, and InnoDB's own reading is
#: older.
AT_LIMIT = 0.99

#: Counters that rise only while user threads wait for redo space, with what each is called in a sentence.
STALL_COUNTERS = ("log_on_file_space_waits", "buffer_flush_sync_waits")


@dataclass(frozen=True)
class OwnRedoLog(Fact):
    """That the server writes a redo log and its pages itself: the question of rules that need none of its figures."""

    @classmethod
    def read(cls, seen: Observation) -> Self:
        if not redo.has_redo_log(seen.server):
            raise Inapplicable(Message("Amazon Aurora has no redo log of its own: its storage writes the log."))
        return cls()


@dataclass(frozen=True)
class RedoLog(Fact):
    """The redo log's capacity in force, the ages that matter, and how this server's capacity is changed.

    All sizes in bytes. ``limit_bytes`` is where writers are slowed: the effective sync point, on MariaDB 10.5+ the
    maximum age. ``self_sized``: innodb_dedicated_server chooses the capacity on a managed server, where it cannot
    be set. ``unverified``: no server confirmed the limits' formula for this version. ``on_trial``: the capacity is
    one that is tried, not the one in force.
    """

    reads: ClassVar[tuple[str, ...]] = (
        "innodb_redo_log_capacity, Innodb_redo_log_capacity_resized (MySQL 8.0.30+)",
        "innodb_log_file_size, innodb_log_files_in_group (others)",
        "innodb_page_size, innodb_thread_concurrency",
    )

    capacity_bytes: int
    variable: str
    async_bytes: int
    limit_bytes: int
    limits_origin: str
    has_sync_point: bool
    smallest_bytes: int
    largest_bytes: int
    resizable_online: bool
    self_sized: bool
    free_disk_bytes: int | None
    storage: str | None
    unverified: bool
    on_trial: bool
    _server: ServerVersion = field(repr=False)
    _variables: Mapping[str, str] = field(repr=False)

    @classmethod
    def read(cls, seen: Observation) -> Self:
        server = seen.server
        if not redo.has_redo_log(server):
            raise Inapplicable(Message("Amazon Aurora has no redo log of its own: its storage writes the log."))
        variables = reading.variables(seen)
        status = seen.snapshot.status
        metrics = {name: metric.count for name, metric in seen.snapshot.metrics.items() if metric.enabled}
        try:
            present = redo.capacity_in_force(server, seen.snapshot.variables, status)
            capacity = redo.capacity_after(server, seen.snapshot.variables, status, dict(seen.proposed))
            limits = redo.limits_in_force(
                server, variables, status, metrics, capacity_bytes=None if capacity == present else capacity
            )
            smallest, largest = redo.capacity_bounds(server, variables)
        except redo.RedoUnknown as reason:
            raise Missing(Remedy(RemedyKind.VERSION, "redo capacity", str(reason))) from reason
        disk, storage = seen.host.free_disk_bytes, seen.host.storage
        return cls(
            capacity_bytes=capacity,
            variable=redo.capacity_variable(server),
            async_bytes=limits.effective_async_bytes,
            limit_bytes=limits.effective_sync_bytes,
            limits_origin=limits.origin,
            has_sync_point=limits.sync_point_bytes is not None,
            smallest_bytes=smallest,
            largest_bytes=largest,
            resizable_online=redo.resizable_online(server),
            self_sized=server.distribution.managed and reading.is_on(seen, "innodb_dedicated_server", default=False),
            free_disk_bytes=None if disk is None else int(disk.value),
            storage=None if storage is None else str(storage.value),
            unverified=not limits.verified,
            on_trial=capacity != present,
            _server=server,
            _variables=variables,
        )

    def change_to(self, capacity_bytes: int) -> tuple[SetVariable, ...]:
        """What to set so that the capacity becomes this, kept inside the bounds of this server and rounded up to
        MiB.
        """
        changes = redo.variable_changes_for_capacity(self._server, self._variables, capacity_bytes)
        return tuple(SetVariable(name, value) for name, value in changes.items())

    def capacity_by(self, changes: tuple[SetVariable, ...]) -> int:
        """The capacity that these changes would give, in bytes."""
        return redo.capacity_after(
            self._server, self._variables, None, {change.name: change.value for change in changes if change.value}
        )

    def measured(self) -> tuple[Measured, ...]:
        """The capacity and the limit, as evidence."""
        return (
            Measured("redo log capacity", self.capacity_bytes, Unit.BYTES, None, self.variable),
            Measured(
                "checkpoint age at which writers are slowed",
                self.limit_bytes,
                Unit.BYTES,
                None,
                f"{self.limits_origin} for this server",
            ),
        )


@dataclass(frozen=True)
class RedoLoad(Fact):
    """How much redo the server writes, from the growth of its log sequence number.

    ``peak_bytes_per_second`` is the 99th percentile of one-minute averages (a shorter window: its own average).
    ``busiest_hour_bytes`` is measured where an hour was seen but for a twentieth of it (``hour_measured``); with more
    than a week of hours their 95th percentile, so that one import does not size the log for ever; else the window's
    average carried on for an hour, or what a part of an hour wrote where that is more.
    """

    basis: ClassVar[Basis] = Basis.WINDOW
    reads: ClassVar[tuple[str, ...]] = ("log sequence number (status, innodb_metrics or SHOW ENGINE INNODB STATUS)",)

    window: Window
    mean_bytes_per_second: float
    peak_bytes_per_second: float
    busiest_hour_bytes: float
    hour_measured: bool
    observed_seconds: float

    @classmethod
    def read(cls, seen: Observation) -> Self:
        intervals = intervals_with_redo(seen)
        written = reading.grown(intervals, series.LSN) or 0.0
        seconds = covered_seconds(intervals)
        mean = written / seconds
        peaks = reading.minute_rates(intervals, series.LSN)
        whole = [digest for digest in seen.digests if digest.seconds >= HIGH_COVERAGE * HOUR]
        hours = [digest.redo_written_bytes * HOUR / digest.seconds for digest in whole]
        if is_long(intervals):
            hours.append(mean * HOUR)
        peaks += [digest.busiest_minute_bytes / MINUTE for digest in seen.digests]
        if hours:
            busiest = percentile(hours, 0.95 if len(hours) > 7 * DAY / HOUR else 1.0)
        else:
            busiest = max([mean * HOUR, *(float(digest.redo_written_bytes) for digest in seen.digests)])
        return cls(
            window=window_of(intervals),
            mean_bytes_per_second=mean,
            peak_bytes_per_second=percentile(peaks, 0.99),
            busiest_hour_bytes=busiest,
            hour_measured=bool(hours),
            observed_seconds=max(seconds, sum(digest.seconds for digest in seen.digests)),
        )

    @property
    def busy_bytes_per_second(self) -> float:
        """The rate of the busiest hour, where an hour was seen and it is above the window's own."""
        return max(self.mean_bytes_per_second, self.busiest_hour_bytes / HOUR)

    def measured(self) -> tuple[Measured, ...]:
        """The rates, as evidence."""
        hour = "redo written in the busiest hour" if self.hour_measured else "redo written in an hour at this rate"
        source = "log sequence number"
        return (
            Measured("redo written per second", self.mean_bytes_per_second, Unit.BYTES_PER_SECOND, self.window, source),
            Measured(
                "redo written per second in the busiest minute",
                self.peak_bytes_per_second,
                Unit.BYTES_PER_SECOND,
                self.window,
                source,
            ),
            Measured(hour, round(self.busiest_hour_bytes), Unit.BYTES, self.window, source),
        )


@dataclass(frozen=True)
class RedoPressure(Harm):
    """How close the checkpoint age came to its limit while the server wrote, with the capacity that is in force now.

    Percentiles are of age / limit over the loaded polls (a MariaDB that idles keeps a high age, which is no harm);
    ``at_limit_ratio`` is the share of all observed time at the limit while loaded, ``at_limit_polls`` the polls
    behind it. ``stalled_intervals`` counts intervals in which a counter of waits for redo space rose, None where no
    such counter is on. ``high_age_is_normal``: MariaDB 10.5+ with innodb_max_dirty_pages_pct_lwm = 0 lets the age
    rise up to the async point under any load, so that only time at the limit tells of harm there.
    """

    reads: ClassVar[tuple[str, ...]] = (
        "checkpoint age and its limits",
        "log_on_file_space_waits, buffer_flush_sync_waits (where they are on)",
    )

    window: Window
    p50: float
    p95: float
    p99: float
    highest: float
    above_async_ratio: float
    at_limit_ratio: float
    at_limit_polls: int
    loaded_polls: int
    stalled_intervals: int | None
    high_age_is_normal: bool
    observed_seconds: float

    @classmethod
    def read(cls, seen: Observation) -> Self:
        log = RedoLog.read(seen)
        intervals = intervals_with_redo(seen)
        if not log.on_trial:
            # With a capacity on trial all of them count: what is asked then is what the same load would do.
            intervals = with_capacity(intervals, log.capacity_bytes)
        digests = settled_digests(seen, log.capacity_bytes)
        if sum(digest.seconds for digest in digests) < HIGH_COVERAGE * DAY:
            digests = ()
            require_load(seen, intervals)
        loaded = [interval for interval in intervals if is_loaded(interval)]
        samples = [_pressure(interval, log) for interval in loaded]
        at_limit = [interval for interval, sample in zip(loaded, samples, strict=True) if sample >= AT_LIMIT]
        asynchronous = log.async_bytes / log.limit_bytes
        above = [interval for interval, sample in zip(loaded, samples, strict=True) if sample >= asynchronous]
        seconds = covered_seconds(intervals)
        stalls = [
            reading.rises(intervals, name)
            for name in STALL_COUNTERS
            if any(interval.delta(name) is not None for interval in intervals)
        ]
        pressure = cls(
            window=window_of(intervals) if intervals else _window_of_digests(digests),
            p50=percentile(samples, 0.5) if samples else 0.0,
            p95=_high(samples),
            p99=percentile(samples, 0.99) if samples else 0.0,
            highest=max(samples, default=0.0),
            above_async_ratio=covered_seconds(above) / seconds if seconds else 0.0,
            at_limit_ratio=covered_seconds(at_limit) / seconds if seconds else 0.0,
            at_limit_polls=len(at_limit),
            loaded_polls=loaded_polls(intervals),
            stalled_intervals=max(stalls) if stalls else None,
            high_age_is_normal=not log.has_sync_point and reading.real(seen, "innodb_max_dirty_pages_pct_lwm") == 0,
            observed_seconds=seconds,
        )
        poll_seconds = seconds / len(intervals) if intervals else 10.0
        return pressure._with_history(digests, poll_seconds=poll_seconds, asynchronous=asynchronous)

    def _with_history(self, digests: tuple[HourlyDigest, ...], *, poll_seconds: float, asynchronous: float) -> Self:
        """A day or more of history beside the recent window: the worse of the two shares, the percentiles of the
        history. Without digests the window alone.

        A histogram tells percentiles to half a cell. The seconds above the async point and at the limit are exact,
        so that with more than a twentieth of the time above one of them the 95th percentile is not below it either.
        """
        if not digests:
            return self
        cells = _cells(digests)
        seconds = sum(digest.seconds for digest in digests)
        at_limit = sum(digest.seconds_at_limit for digest in digests)
        above_async = sum(digest.seconds_above_async for digest in digests)
        known = [AT_LIMIT] * (at_limit > 0.05 * seconds) + [asynchronous] * (above_async > 0.05 * seconds)
        return replace(
            self,
            window=Window(digests[0].hour_at, self.window.ended_at, self.window.intervals),
            p50=weighted_percentile(cells, PRESSURE_STEP, 0.5),
            p95=max(weighted_percentile(cells, PRESSURE_STEP, 0.95), self.p95, *known),
            p99=max(weighted_percentile(cells, PRESSURE_STEP, 0.99), self.p99),
            above_async_ratio=max(self.above_async_ratio, above_async / seconds),
            at_limit_ratio=max(self.at_limit_ratio, at_limit / seconds),
            at_limit_polls=max(self.at_limit_polls, int(at_limit // poll_seconds)),
            observed_seconds=seconds,
        )

    def withheld(self) -> Self:
        return replace(
            self,
            p50=0.0,
            p95=0.0,
            p99=0.0,
            highest=0.0,
            above_async_ratio=0.0,
            at_limit_ratio=0.0,
            at_limit_polls=0,
            stalled_intervals=0 if self.stalled_intervals is not None else None,
        )

    @cached_property
    def stalls_proven(self) -> bool:
        """Writers were seen at the limit twice, or a counter of their waits rose in two intervals: once may be
        chance.
        """
        return self.at_limit_polls >= 2 or (self.stalled_intervals or 0) >= 2

    def measured(self) -> tuple[Measured, ...]:
        """The percentiles and shares, as evidence."""
        source = "checkpoint age / its limit"
        figures = [
            Measured("checkpoint age against its limit, median", self.p50, Unit.RATIO, self.window, source),
            Measured("checkpoint age against its limit, 95th percentile", self.p95, Unit.RATIO, self.window, source),
            Measured("time at the limit", self.at_limit_ratio, Unit.RATIO, self.window, source),
            Measured("polls under write load", self.loaded_polls, Unit.COUNT, self.window, "log sequence number"),
        ]
        if self.stalled_intervals is not None:
            figures.append(
                Measured(
                    "intervals with waits for redo space",
                    self.stalled_intervals,
                    Unit.COUNT,
                    self.window,
                    ", ".join(STALL_COUNTERS),
                )
            )
        return tuple(figures)


def intervals_with_redo(seen: Observation) -> tuple[Interval, ...]:
    """The intervals in which the log sequence number could be read.

    Raises Missing: the grant that makes it readable, or the wait for two polls.
    """
    if not redo.has_redo_log(seen.server):
        raise Inapplicable(Message("Amazon Aurora has no redo log of its own: its storage writes the log."))
    known = tuple(interval for interval in seen.intervals if interval.delta(series.LSN) is not None)
    if known:
        return known
    if series.LSN not in seen.snapshot.derived:
        raise Missing(reading.grant(seen, "PROCESS", "checkpoint age"))
    raise Missing(
        Remedy(
            RemedyKind.WINDOW, "rate of redo written", "Needs two polls of the running server; observe it for a minute."
        )
    )


def _cells(digests: tuple[HourlyDigest, ...]) -> list[float]:
    """The histograms of all hours together."""
    return [sum(cell) for cell in zip(*(digest.pressure_histogram for digest in digests), strict=True)]


def _window_of_digests(digests: tuple[HourlyDigest, ...]) -> Window:
    return Window(digests[0].hour_at, digests[-1].hour_at + HOUR, 0)


def _high(samples: list[float]) -> float:
    """The 95th percentile; of fewer than 20 polls the second highest, so that a single poll never decides."""
    if len(samples) >= 20:
        return percentile(samples, 0.95)
    return sorted(samples)[-2] if len(samples) > 1 else 0.0


def _pressure(interval: Interval, log: RedoLog) -> float:
    stored = interval.last(series.PRESSURE)
    if stored is not None and not log.on_trial:
        return float(stored)
    return float(interval.last(series.CHECKPOINT_AGE) or 0) / log.limit_bytes


@dataclass(frozen=True)
class LongPressure(Fact):
    """How high the age got in the last seven days, from the hourly digests: for claims that only a long time can
    prove.
    """

    basis: ClassVar[Basis] = Basis.WINDOW
    reads: ClassVar[tuple[str, ...]] = ("hourly digests of seven days",)

    window: Window
    p99_age_bytes: float
    at_limit_ratio: float

    @classmethod
    def read(cls, seen: Observation) -> Self:
        require_history(seen, WEEK, "a week of the redo log")
        log = RedoLog.read(replace(seen, proposed={}))
        same = settled_digests(seen, log.capacity_bytes)
        if sum(digest.seconds for digest in same) < 0.9 * sum(digest.seconds for digest in seen.digests):
            raise Missing(
                Remedy(
                    RemedyKind.WINDOW,
                    "a week of the redo log",
                    "The redo log was resized or InnoDB was set otherwise within the last week; wait until a week "
                    "with the present values is over.",
                )
            )
        return cls(
            window=Window(same[0].hour_at, same[-1].hour_at + HOUR, 0),
            p99_age_bytes=weighted_percentile(_cells(same), PRESSURE_STEP, 0.99) * log.limit_bytes,
            at_limit_ratio=sum(digest.seconds_at_limit for digest in same) / sum(digest.seconds for digest in same),
        )

    def p99_ratio(self, log: RedoLog) -> float:
        """The 99th percentile of the age as a share of this log's limit."""
        return self.p99_age_bytes / log.limit_bytes

    def measured(self) -> tuple[Measured, ...]:
        """Age and time at the limit, as evidence."""
        source = "hourly digests"
        return (
            Measured("checkpoint age, 99th percentile", round(self.p99_age_bytes), Unit.BYTES, self.window, source),
            Measured("time at the limit", self.at_limit_ratio, Unit.RATIO, self.window, source),
        )


@dataclass(frozen=True)
class Concurrency(Fact):
    """How many threads worked at the same time, at the polls: the one that asked is among them.

    Raises Missing(window) before an hour was watched (for ``advise``: ten seconds).
    """

    basis: ClassVar[Basis] = Basis.WINDOW
    reads: ClassVar[tuple[str, ...]] = ("Threads_running",)

    window: Window
    p95: float
    highest: float

    @classmethod
    def read(cls, seen: Observation) -> Self:
        known = tuple(one for one in seen.intervals if one.last("Threads_running") is not None)
        wanted, covered = 10 if seen.deliberate else HOUR, covered_seconds(known)
        if not known or covered < HIGH_COVERAGE * wanted:
            raise Missing(
                Remedy(
                    RemedyKind.WINDOW,
                    "threads that run at the same time",
                    f"Needs {seconds_text(wanted)} of observation; so far {seconds_text(covered)}.",
                )
            )
        running = reading.gauges(known, "Threads_running")
        return cls(window_of(known), percentile(running, 0.95), max(running))

    def measured(self) -> tuple[Measured, ...]:
        """The percentile, as evidence."""
        return (Measured("threads running, 95th percentile", self.p95, Unit.COUNT, self.window, "Threads_running"),)


@dataclass(frozen=True)
class LogBuffer(Settings):
    """The redo log buffer, in bytes."""

    innodb_log_buffer_size: int
