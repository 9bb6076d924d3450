"""What happened between two polls: an interval with rates, or a gap with its reason.

Rates use the server's own clock. A restart, another server behind the address or a clock that jumped make a gap; a
counter that was set back has no rate in that interval, and never a negative one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from advisor.mysql import series
from advisor.mysql.counters import Kind, kind, reset_by_flush_status
from advisor.mysql.snapshot import Number, Poll


class GapReason(StrEnum):
    """Why nothing can be said of the time between two polls."""

    RESTART = "restart"
    IDENTITY = "identity"
    CLOCK = "clock"
    MISSED = "missed"


@dataclass(frozen=True)
class Gap:
    """The time between two polls of which nothing can be said; instants are our unix seconds."""

    reason: GapReason
    text: str
    started_at: float
    ended_at: float


@dataclass(frozen=True)
class Interval:
    """The time between two polls of one running server: ``seconds`` long by the server's own clock, always above 0.

    ``started_at`` and ``ended_at`` are our unix seconds.
    """

    previous: Poll
    current: Poll
    seconds: float

    @property
    def started_at(self) -> float:
        return self.previous.at

    @property
    def ended_at(self) -> float:
        return self.current.at

    def delta(self, name: str) -> Number | None:
        """By how much a counter or position grew.

        None where it cannot be told: it was not read, is a gauge, or fell (set back, or wrapped around), or FLUSH
        STATUS ran and may have set it back, or transactions were counted in two ways.
        """
        before, after = self.previous.values.get(name), self.current.values.get(name)
        if before is None or after is None or kind(name) is Kind.GAUGE or after < before:
            return None
        if reset_by_flush_status(name) and self._status_flushed:
            return None
        if name == series.TRANSACTIONS and self._changed(series.TRANSACTIONS_METHOD):
            return None
        return after - before

    def per_second(self, name: str) -> float | None:
        """How fast a counter or position grew, per second of the server's clock; None as ``delta``."""
        grown = self.delta(name)
        return None if grown is None else grown / self.seconds

    def last(self, name: str) -> Number | None:
        """The value at the interval's end; None if it was not read."""
        return self.current.values.get(name)

    @property
    def _status_flushed(self) -> bool:
        name = "Uptime_since_flush_status"
        before, after = self.previous.values.get(name), self.current.values.get(name)
        # It grows by the interval, give or take the second it is rounded to; a smaller step means it began anew.
        return before is not None and after is not None and after - before < self.seconds - 2

    def _changed(self, name: str) -> bool:
        return self.previous.values.get(name) != self.current.values.get(name)


#: Uptime is whole seconds, so that two of them are wrong by up to this much; longer intervals get a tenth of their
#: length.
_UPTIME_TOLERANCE_SECONDS = 2.0
#: Our clock may differ from the server's by the jitter of a slot; beyond this and beyond twice as much, a clock jumped.
_CLOCK_TOLERANCE_SECONDS = 30.0


def between(previous: Poll, current: Poll, *, longest_seconds: float | None = None) -> Interval | Gap:
    """The interval between two polls, or the gap that is there instead.

    ``longest_seconds``: a longer interval is a gap, since nobody looked at the server meanwhile; None takes any.
    """

    def gap(reason: GapReason, text: str) -> Gap:
        return Gap(reason, text, previous.at, current.at)

    if previous.identity and current.identity and previous.identity != current.identity:
        return gap(GapReason.IDENTITY, "Another server answers at this address: its counters have nothing in common.")
    # A server that was up for some seconds only and restarts at once has about the same uptime again; but nothing
    # else than a restart takes both of these back.
    began_anew = all(_fell(name, previous, current) for name in ("Questions", "Connections"))
    if current.uptime_seconds < previous.uptime_seconds or began_anew:
        return gap(GapReason.RESTART, "The server was restarted: its counters began anew.")
    seconds = current.server_clock - previous.server_clock
    if seconds <= 0:
        return gap(GapReason.CLOCK, "The server's clock did not advance between the two polls.")
    tolerance = max(_UPTIME_TOLERANCE_SECONDS, 0.1 * seconds)
    grown = current.uptime_seconds - previous.uptime_seconds
    if grown < seconds - tolerance:
        return gap(GapReason.RESTART, "The server was restarted: it is up for less time than has passed.")
    ours = current.at - previous.at
    if grown > seconds + tolerance or abs(seconds - ours) > max(_CLOCK_TOLERANCE_SECONDS, min(seconds, ours)):
        return gap(GapReason.CLOCK, "The server's clock jumped between the two polls, so that no rate can be told.")
    if longest_seconds is not None and seconds > longest_seconds:
        return gap(GapReason.MISSED, f"The server was not polled for {seconds:.0f} s.")
    return Interval(previous, current, seconds)


def _fell(name: str, previous: Poll, current: Poll) -> bool:
    before, after = previous.values.get(name), current.values.get(name)
    return before is not None and after is not None and after < before


def intervals(polls: Iterable[Poll], *, longest_seconds: float | None = None) -> list[Interval | Gap]:
    """What lies between each two of consecutive polls, oldest first."""
    result: list[Interval | Gap] = []
    previous: Poll | None = None
    for poll in polls:
        if previous is not None:
            result.append(between(previous, poll, longest_seconds=longest_seconds))
        previous = poll
    return result
