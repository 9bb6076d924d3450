"""How much was seen: whether a window is enough to judge, and how sure a finding from it can be.

Harm that happens in the window is judged early, with low confidence; what is claimed for the long run waits for its
window.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from advisor.engine.fact import Basis, Fact
from advisor.engine.observation import Observation
from advisor.engine.outcome import Confidence, Message, Missing, Window
from advisor.engine.statistics import median
from advisor.engine.units import DAY, HOUR, KIB, MINUTE
from advisor.engine.wording import seconds_text
from advisor.mysql import series
from advisor.mysql.digest import HourlyDigest
from advisor.mysql.rates import Interval
from advisor.mysql.snapshot import Remedy, RemedyKind

#: A poll counts as loaded when redo was written at this rate since the one before. Idle servers write some bytes a
#: second (statistics, heartbeats of replication); 64 KiB/s is four pages' worth of changes a second, and takes a
#: day to fill 5 GiB.
LOADED_BYTES_PER_SECOND = 64 * KIB

#: What a watched server must have shown before harm is judged: a minute and six loaded polls (the fast tier's ten
#: seconds).
WATCHED_SECONDS = MINUTE
WATCHED_LOADED_POLLS = 6
#: Who runs ``advise`` says "this window matters": three loaded polls are judged then, so that 20 s at 5 s an
#: interval (four intervals) are enough even when one of them falls into a pause; fewer could not tell a stall from
#: a single checkpoint.
DELIBERATE_SECONDS = 10
DELIBERATE_LOADED_POLLS = 3

#: From here on a window is long enough to speak of rates and percentiles with medium confidence. A hundredth of it may
#: be missing: polls come some milliseconds early or late, and a single missed one is no reason to start again.
LONG_SECONDS = HOUR
LONG_COVERAGE = 0.99
#: How many intervals such a window has: 60, or as many as fit into it where polls are further apart, but not fewer than
#: a server polled every five minutes (the slowest there is) shows. A twentieth of them may have been missed.
LONG_INTERVALS = 60
FEWEST_LONG_INTERVALS = 12
#: A day of digests holds each hour once; a twentieth of it may be gaps.
HIGH_SECONDS = DAY
HIGH_COVERAGE = 0.95


def is_loaded(interval: Interval) -> bool:
    """Whether enough redo was written in it to say anything about redo and flushing."""
    rate = interval.per_second(series.LSN)
    return rate is not None and rate >= LOADED_BYTES_PER_SECOND


def loaded_polls(intervals: Iterable[Interval]) -> int:
    """How many polls ended an interval in which the server wrote."""
    return sum(1 for interval in intervals if is_loaded(interval))


def window_of(intervals: Sequence[Interval]) -> Window:
    """The time that these intervals cover. There has to be one at least."""
    return Window(intervals[0].started_at, intervals[-1].ended_at, len(intervals))


def covered_seconds(intervals: Iterable[Interval]) -> float:
    """Seconds that were observed, gaps left out."""
    return sum(interval.seconds for interval in intervals)


def is_long(intervals: Sequence[Interval]) -> bool:
    """An hour in enough intervals: no longer a snapshot of one moment."""
    return lasts(covered_seconds(intervals), LONG_SECONDS) and len(intervals) >= HIGH_COVERAGE * long_intervals(
        intervals
    )


def long_intervals(intervals: Sequence[Interval]) -> int:
    """How many intervals an hour needs to count as long, by how far apart these polls usually are."""
    usual = median(interval.seconds for interval in intervals) if intervals else MINUTE
    return max(FEWEST_LONG_INTERVALS, min(LONG_INTERVALS, int(LONG_SECONDS // max(usual, 1.0))))


def lasts(covered: float, seconds: float) -> bool:
    """Whether what was covered is these seconds but for the jitter of polls."""
    return covered >= LONG_COVERAGE * seconds


def settled_digests(seen: Observation, capacity_bytes: int | None) -> tuple[HourlyDigest, ...]:
    """The digests that tell of harm under the present settings and this redo capacity (None: it is not known).

    An hour in which settings were changed or the log was resized belongs to both values, and is left out: a digest
    tells the capacity at the hour's end, so that the hour before tells whether it was the same when it began.
    """
    return tuple(
        digest
        for previous, digest in zip((None, *seen.digests), seen.digests, strict=False)
        if digest.hour_at >= seen.configured_at
        and (capacity_bytes is None or digest.capacity_bytes == capacity_bytes)
        and (previous is None or previous.capacity_bytes == digest.capacity_bytes)
    )


def with_capacity(intervals: Iterable[Interval], capacity_bytes: int) -> tuple[Interval, ...]:
    """The intervals that belong to this redo capacity: pressure against another one says nothing of this one."""
    return tuple(
        interval
        for interval in intervals
        if interval.last(series.CAPACITY) in (None, capacity_bytes)
        and interval.previous.values.get(series.CAPACITY) in (None, capacity_bytes)
    )


def require_load(seen: Observation, intervals: Sequence[Interval]) -> None:
    """Raises Missing(window) unless the intervals show enough writes to judge harm: see the constants above."""
    seconds, polls = (
        (DELIBERATE_SECONDS, DELIBERATE_LOADED_POLLS) if seen.deliberate else (WATCHED_SECONDS, WATCHED_LOADED_POLLS)
    )
    covered, loaded = covered_seconds(intervals), loaded_polls(intervals)
    if covered + 0.5 >= seconds and loaded >= polls:
        return
    if loaded == 0 and covered + 0.5 >= seconds:
        advice = f"Less than 64 KiB of redo per second were written in {seconds_text(covered)}: judge it when busy."
    else:
        advice = (
            f"Observe it for {seconds_text(seconds)} and {polls} polls under write load; "
            f"so far {seconds_text(covered)} with {loaded} such polls."
        )
    raise Missing(Remedy(RemedyKind.WINDOW, "write load", advice))


def require_history(seen: Observation, seconds: float, what: str) -> None:
    """Raises Missing(window) unless the digests cover ``seconds`` with at most a twentieth of gaps."""
    covered = sum(digest.seconds for digest in seen.digests)
    if covered < HIGH_COVERAGE * seconds:
        raise Missing(
            Remedy(
                RemedyKind.WINDOW,
                what,
                f"Needs {seconds_text(seconds)} of observation, {seconds_text(covered)} of which are there.",
            )
        )


@dataclass(frozen=True)
class Sureness:
    """How good the evidence is, and the one reason why it is no better (or why it is this good)."""

    confidence: Confidence
    why: Message


def confidence_in(seen: Observation, kinds: Iterable[type[Fact]], *, unverified: Message | None = None) -> Sureness:
    """How good the evidence is. Settings alone are certain; what a formula makes of them is medium. What was seen
    happening: high from a day without gaps and as much uptime, medium from an hour with 60 intervals and as much
    uptime, low below. ``unverified`` says why nothing built on what is known of this server is more than low.
    """
    if unverified is not None:
        return Sureness(Confidence.LOW, unverified)
    bases = {kind.basis for kind in kinds}
    if bases == {Basis.SETTING}:
        return Sureness(Confidence.HIGH, Message("It follows from settings alone."))
    if bases <= {Basis.SETTING, Basis.INSPECTED}:
        return Sureness(Confidence.HIGH, Message("It was read from the server when it was inspected."))
    if Basis.WINDOW not in bases and Basis.COUNTED in bases:
        return _counted(seen)
    if Basis.WINDOW not in bases and Basis.STATISTICS in bases:
        return Sureness(Confidence.MEDIUM, Message("The server's own statistics since they began say so."))
    if Basis.WINDOW not in bases:
        return Sureness(Confidence.MEDIUM, Message("It was computed by a formula; nobody saw it happen."))
    uptime = seen.snapshot.uptime_seconds
    capacity = seen.snapshot.derived.get(series.CAPACITY)
    settled = settled_digests(seen, None if capacity is None else int(capacity))
    intervals = seen.intervals if capacity is None else with_capacity(seen.intervals, int(capacity))
    digests = sum(digest.seconds for digest in settled)
    span = settled[-1].hour_at - settled[0].hour_at + HOUR if settled else 0
    if digests >= HIGH_COVERAGE * max(HIGH_SECONDS, span) and uptime >= HIGH_SECONDS:
        return Sureness(Confidence.HIGH, Message("A day and more was observed."))
    if uptime < LONG_SECONDS:
        return Sureness(
            Confidence.LOW, Message("The server started less than an hour ago: later figures may change it.")
        )
    if is_long(intervals) or lasts(digests, LONG_SECONDS):
        return Sureness(Confidence.MEDIUM, Message("Less than a whole day was observed."))
    return Sureness(Confidence.LOW, Message("The window was short: later figures may change it."))


def _counted(seen: Observation) -> Sureness:
    """What counters grew by: an hour is medium, less is low; a whole day is never kept counter by counter."""
    if seen.snapshot.uptime_seconds < LONG_SECONDS:
        return Sureness(
            Confidence.LOW, Message("The server started less than an hour ago: later figures may change it.")
        )
    # Snapshots are a minute apart, so that those of an hour span up to a minute less.
    if covered_seconds(seen.counted) >= HIGH_COVERAGE * LONG_SECONDS:
        return Sureness(Confidence.MEDIUM, Message("Less than a whole day was observed."))
    return Sureness(Confidence.LOW, Message("The window was short: later figures may change it."))


@dataclass(frozen=True)
class LongWindow(Fact):
    """An hour of observation in 60 intervals (12 where polls are five minutes apart), half of them under load: for
    claims that a deliberate minute cannot prove.
    """

    basis: ClassVar[Basis] = Basis.WINDOW

    window: Window

    @classmethod
    def read(cls, seen: Observation) -> Self:
        count, loaded = len(seen.intervals), loaded_polls(seen.intervals)
        if not is_long(seen.intervals) or loaded < count / 2:
            raise Missing(
                Remedy(
                    RemedyKind.WINDOW,
                    "an hour under write load",
                    f"Needs an hour in {long_intervals(seen.intervals)} intervals, half of them under write load; "
                    f"so far {seconds_text(covered_seconds(seen.intervals))} in {count}, {loaded} under write load.",
                )
            )
        return cls(window_of(seen.intervals))
