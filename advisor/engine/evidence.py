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
from advisor.engine.outcome import Confidence, Missing, Window
from advisor.engine.units import DAY, HOUR, KIB, MINUTE
from advisor.engine.wording import seconds_text
from advisor.mysql import series
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

#: From here on a window is long enough to speak of rates and percentiles with medium confidence.
LONG_SECONDS = HOUR
LONG_INTERVALS = 60
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
    """At least an hour and 60 intervals: no longer a snapshot of one moment."""
    return covered_seconds(intervals) >= LONG_SECONDS and len(intervals) >= LONG_INTERVALS


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


def confidence_in(seen: Observation, kinds: Iterable[type[Fact]], *, unverified: bool = False) -> Confidence:
    """How good the evidence is. Settings alone are certain. What was seen happening: high from a day without gaps
    and as much uptime, medium from an hour with 60 intervals and as much uptime, low below. ``unverified``: the
    facts about this version were confirmed on no server, so that nothing built on them is more than low.
    """
    if unverified:
        return Confidence.LOW
    if all(kind.basis is Basis.SETTING for kind in kinds):
        return Confidence.HIGH
    uptime = seen.snapshot.uptime_seconds
    digests = sum(digest.seconds for digest in seen.digests)
    span = seen.digests[-1].hour_at - seen.digests[0].hour_at + HOUR if seen.digests else 0
    if digests >= HIGH_COVERAGE * max(HIGH_SECONDS, span) and uptime >= HIGH_SECONDS:
        return Confidence.HIGH
    if uptime >= LONG_SECONDS and (is_long(seen.intervals) or digests >= LONG_SECONDS):
        return Confidence.MEDIUM
    return Confidence.LOW


@dataclass(frozen=True)
class LongWindow(Fact):
    """An hour of observation in 60 intervals under load: for claims that a deliberate minute cannot prove."""

    basis: ClassVar[Basis] = Basis.WINDOW

    window: Window

    @classmethod
    def read(cls, seen: Observation) -> Self:
        if not is_long(seen.intervals) or loaded_polls(seen.intervals) < len(seen.intervals) / 2:
            raise Missing(
                Remedy(
                    RemedyKind.WINDOW,
                    "an hour under write load",
                    "Needs an hour in 60 intervals, half of them under write load; so far "
                    f"{seconds_text(covered_seconds(seen.intervals))} with {loaded_polls(seen.intervals)} of them.",
                )
            )
        return cls(window_of(seen.intervals))
