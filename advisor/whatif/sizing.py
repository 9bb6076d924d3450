"""What is asked of the sizing model, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from advisor.engine.units import HOUR, WEEK
from advisor.mysql.redo import RedoLimits
from advisor.whatif.calibration import BackTest, Calibrated
from advisor.whatif.history import Recorded


class Point(StrEnum):
    """Which point an objective is about: where flushing is at its full rate, or where writers wait."""

    ASYNC = "async"
    SYNC = "sync"


@dataclass(frozen=True)
class Objective:
    """The age stays below a point for this share of the time (0-1)."""

    point: Point = Point.ASYNC
    share: float = 0.999


@dataclass(frozen=True)
class Evidence:
    """What the model needs before it says anything.

    ``p95_error`` is a share of the limit; ``mape`` is generous, since a saw-tooth that is out of step is far off
    everywhere and still tells the right percentiles. ``peak_ratio`` is the least that the busiest hour of the window
    may be of the busiest that is known.
    """

    loaded_seconds: float = HOUR
    gap_ratio: float = 0.2
    p95_error: float = 0.15
    mape: float = 1.0
    peak_ratio: float = 0.5


class Why(StrEnum):
    """Why the model cannot tell."""

    NO_SAMPLES = "no_samples"
    LITTLE_LOAD = "little_load"
    GAPS = "gaps"
    NO_PEAK = "no_peak"
    UNCALIBRATED = "uncalibrated"
    BACK_TEST = "back_test"
    AGES = "ages"


class CannotTell(Exception):
    """No figure is given. ``seen`` and ``wanted`` are seconds, shares or bytes per second, by ``why``."""

    def __init__(self, why: Why, *, seen: float = 0.0, wanted: float = 0.0, text: str = "") -> None:
        super().__init__(why, text)
        self.why, self.seen, self.wanted, self.text = why, seen, wanted, text


@dataclass(frozen=True)
class Range:
    """The band of a figure: its better and its worse end."""

    low: float
    high: float


class Verdict(StrEnum):
    """What is to be said of a size."""

    TOO_SMALL = "too_small"
    UNSURE = "unsure"
    SMALLEST = "smallest"
    MORE = "more"
    NO_ROOM = "no_room"


@dataclass(frozen=True)
class Candidate:
    """A size that this server takes, with the limits it would have."""

    capacity_bytes: int
    limits: RedoLimits


@dataclass(frozen=True)
class Size:
    """One row: what the recorded writes make of a log of this size.

    ``p95`` is the 95th percentile of the age as a share of the limit, ``above_async`` and ``waiting`` are shares of
    the time, ``recovery_seconds`` is what a crash at that age would take. ``measured``: the present size, whose
    figures were recorded and not simulated.
    """

    capacity_bytes: int
    limits: RedoLimits
    p95: Range
    above_async: Range
    waiting: Range
    recovery_seconds: Range
    disk_bytes: int
    measured: bool
    verdict: Verdict

    @property
    def waiting_hours_per_week(self) -> Range:
        return Range(self.waiting.low * WEEK / HOUR, self.waiting.high * WEEK / HOUR)


@dataclass(frozen=True)
class Sizing:
    """The table, what it rests on, and the smallest size that meets the objective (None: none of these does).

    ``by_design``: this server lets the age rise to the async point at any size, so that only waits tell sizes apart.
    """

    sizes: tuple[Size, ...]
    objective: Objective
    recorded: Recorded
    calibrated: Calibrated
    by_design: bool

    @property
    def smallest(self) -> Size | None:
        return next((one for one in self.sizes if one.verdict is Verdict.SMALLEST), None)

    @property
    def perhaps(self) -> Size | None:
        """The smallest size that meets the objective at the better end of its band."""
        return next((one for one in self.sizes if one.verdict in (Verdict.UNSURE, Verdict.SMALLEST)), None)

    @property
    def present(self) -> Size | None:
        return next((one for one in self.sizes if one.measured), None)

    @property
    def back_test(self) -> BackTest:
        return self.calibrated.back_test
