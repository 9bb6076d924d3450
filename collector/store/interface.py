"""What the rest of the product may ask of the sample history, whichever engine keeps it.

The history has two tiers. The *fast* one holds polls: some fifty series each ten seconds. The *full* one holds every
number that a full snapshot reads, once a minute: status variables under the server's own names, the innodb_metrics
counters that are switched on as ``metrics.<name>``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from advisor.mysql.digest import HourlyDigest
from advisor.mysql.rates import Interval
from advisor.mysql.snapshot import Number, Poll, Snapshot


class SeriesKind(StrEnum):
    """How a series is told: a gauge as it was read, a counter or position as change per second."""

    GAUGE = "gauge"
    RATE = "rate"


#: (unix milliseconds, least, greatest, last) of one bucket.
Point = tuple[int, float, float, float]


@dataclass(frozen=True)
class Series:
    """One series in buckets: three arrays, one entry for each instant of ``Buckets.at``; NaN where nothing is."""

    kind: SeriesKind
    least: npt.NDArray[np.float64]
    greatest: npt.NDArray[np.float64]
    last: npt.NDArray[np.float64]


@dataclass(frozen=True)
class Buckets:
    """Several series of one server over one time, sharing their instants.

    ``start`` and ``end`` are unix seconds as they were asked for, ``step_seconds`` is the width of a bucket. ``at``
    holds unix milliseconds, rising: the time of the last poll of each bucket that has polls, and one instant in the
    middle of each hole, where every series is NaN, so that a line drawn through the points breaks there. A series is
    NaN at other instants where it alone has no value (a counter over a restart).
    """

    start: float
    end: float
    step_seconds: int
    at: npt.NDArray[np.int64]
    series: dict[str, Series]

    def points(self, name: str) -> list[Point | None]:
        """The series as the API gives it: at most the asked number of points; None where the line breaks."""
        one = self.series[name]
        rows = zip(self.at.tolist(), one.least.tolist(), one.greatest.tolist(), one.last.tolist(), strict=True)
        return [None if least != least else (at, least, greatest, last) for at, least, greatest, last in rows]


@dataclass(frozen=True)
class PressureTimes:
    """For how many seconds of a range the redo pressure was where; only time with a known pressure counts.

    ``histogram`` has the cells of ``HourlyDigest.pressure_histogram``. ``above_async_seconds`` is the time at or above
    the async point that acts, ``at_limit_seconds`` the time at the age at which writers are slowed.
    """

    histogram: tuple[float, ...]
    above_async_seconds: float
    at_limit_seconds: float

    @property
    def seconds(self) -> float:
        return sum(self.histogram)


@dataclass(frozen=True)
class CounterName:
    """A name of the full tier, whether it is a counter (told per second) or a gauge, and its newest value."""

    name: str
    kind: Literal["counter", "gauge"]
    last: Number


@dataclass(frozen=True)
class Readings:
    """The full tier's snapshots of a range, oldest first, as arrays with one entry a snapshot.

    ``at`` is our unix seconds, ``server_clock`` the server's own, ``uptime_seconds`` its seconds since start.
    ``values`` holds what was read, as it was read (counters since the server's start), NaN where a snapshot lacks it;
    integers above 2^53 are rounded. ``seconds`` is the server's time since the snapshot before, NaN for the first one
    and where nothing can be said of the time between two (a restart, another server, a clock that jumped, missed
    snapshots).
    ``restarts`` are the instants of ``at`` that are the first after a restart, or of another server.
    """

    at: npt.NDArray[np.float64]
    server_clock: npt.NDArray[np.float64]
    uptime_seconds: npt.NDArray[np.float64]
    seconds: npt.NDArray[np.float64]
    values: dict[str, npt.NDArray[np.float64]]
    restarts: tuple[float, ...]

    def __len__(self) -> int:
        return int(self.at.size)


@dataclass(frozen=True)
class RecordedGap:
    """A time without samples and why, in unix seconds; ``ended_at`` is None while it lasts."""

    started_at: float
    ended_at: float | None
    why: str


class SampleStore(Protocol):
    """The history of polls. Instants are unix seconds; a range holds its start and not its end."""

    def append(self, server_id: str, slot: int, poll: Poll) -> bool:
        """Stores a poll as the one of that slot. True if it is new.

        A slot is written once: a second poll for it, and one for a sealed hour, change nothing (False). Call it inside
        the transaction that records the rest of what happened at that slot.
        """

    def buckets(self, server_id: str, names: Sequence[str], start: float, end: float, points: int) -> Buckets:
        """The named series with at most ``points`` points each (at least 2): least, greatest and last of each bucket.

        Counters and positions come as change per second by the server's own clock, never negative; names that were
        never stored come with NaN throughout. A name that the range's polls do not have is looked for in the full tier,
        and then no bucket is narrower than the full tier's spacing.
        """

    def append_counters(self, server_id: str, slot: int, snapshot: Snapshot) -> bool:
        """Stores the numbers of a full snapshot as those of that slot. True if they are new; else as ``append``."""

    def counter_names(self, server_id: str) -> list[CounterName]:
        """Every name of the newest full snapshot, in alphabetical order; empty where there is none yet."""

    def readings(self, server_id: str, start: float, end: float, names: Sequence[str] | None = None) -> Readings:
        """The full tier of a range; ``names`` None takes all there are. A name never stored is NaN throughout."""

    def reading_at(self, server_id: str, instant: float) -> Poll | None:
        """The newest snapshot at or before ``instant`` with all its numbers exactly, None where there is none.

        Its ``at`` is the slot; it may be long before the instant where the server was not watched.
        """

    def pressure_times(self, server_id: str, start: float, end: float) -> PressureTimes:
        """How long the pressure was where, from every poll of the range and not from the points of a chart."""

    def intervals(self, server_id: str, start: float, end: float) -> list[Interval]:
        """The intervals between consecutive polls of the range, gaps left out, oldest first."""

    def digests(self, server_id: str, start: float, end: float) -> list[HourlyDigest]:
        """The digests of closed hours that began in the range, oldest first."""

    def gaps(self, server_id: str, start: float, end: float) -> list[RecordedGap]:
        """The recorded gaps that overlap the range, oldest first."""

    def latest(self, server_id: str) -> Poll | None:
        """The newest poll, None where there is none."""

    def delete_older_than(self, instant: float, *, limit: int = 500) -> int:
        """Deletes samples and gaps from before ``instant``, a bounded batch of them; returns how many rows went.

        Digests stay three years longer: they are small, and trends over seasons are told from them. Engines that keep
        their own retention do nothing here.
        """
