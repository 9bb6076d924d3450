"""What steers flushing, for the flushing that was seen: innodb_io_capacity, its maximum and the low-water mark of dirty
pages. One answer for all rules that want them.

MySQL and MariaDB up to 10.4 scale innodb_io_capacity by the age and stop at the maximum; the factor is the
*integer* quotient of the two, so that the maximum is kept a multiple. On MariaDB 10.5+ a round is (io_capacity +
average + pages by age) / 3, whose steady state is io_capacity itself: it has to be what the load needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from advisor.engine.facts.flushing import AT_MAXIMUM, DirtyPages, IoCapacity
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Unit, round_up
from advisor.mysql.proposal import SetVariable

#: No server takes less, and flushing slower than this keeps up with nothing.
LOWEST_PAGES = 200


@dataclass(frozen=True)
class IoThresholds(Thresholds):
    """How much above the flushing that was seen innodb_io_capacity is proposed."""

    room_ratio: float = threshold(
        1.2, unit=Unit.RATIO, meaning="proposed pages a second as a multiple of what was flushed"
    )


@dataclass(frozen=True)
class LowWaterThresholds(Thresholds):
    """Which low-water mark of dirty pages is proposed."""

    highest_low_water_percent: float = threshold(
        20, unit=Unit.COUNT, meaning="the highest low-water mark that is proposed, in percent: higher ones flush early"
    )


class Flushed(Protocol):
    """Rates of flushing in pages per second, of a window or of a longer history."""

    @property
    def median(self) -> float: ...
    @property
    def p95(self) -> float: ...
    @property
    def p95_polls(self) -> float: ...


def wanted_capacity(io: IoCapacity, flushing: Flushed, p: IoThresholds) -> tuple[int, int]:
    """(innodb_io_capacity, innodb_io_capacity_max) for this load, as if nothing was set yet, in hundreds of pages.

    MySQL: the capacity follows the median minute, and at least a quarter of the 95th percentile of the minutes; the
    maximum is a multiple of it that the busiest twentieth of minutes and polls stays below. A single poll, such as one
    checkpoint, sizes neither. MariaDB 10.5+: the 95th percentile of the minutes, and twice that.
    """
    if io.enters_linearly:
        capacity = max(LOWEST_PAGES, round_up(p.room_ratio * flushing.p95, 100))
        return capacity, 2 * capacity
    capacity = max(
        LOWEST_PAGES,
        round_up(p.room_ratio * flushing.median, 100),
        round_up(p.room_ratio * flushing.p95 / AT_MAXIMUM / 4, 100),
    )
    highest = p.room_ratio * max(flushing.p95, flushing.p95_polls) / AT_MAXIMUM
    return capacity, capacity * max(2, int(-(-highest // capacity)))


def raised_capacity(io: IoCapacity, flushing: Flushed, p: IoThresholds) -> tuple[int, int]:
    """The wanted values, neither below the present ones nor, where they rise, above what the device may be asked for.

    Where the factor counts, the capacity is at most half of the device, so that there is a factor at all. The maximum
    is an integer multiple as far as both bounds leave one.
    """
    wanted, wanted_maximum = wanted_capacity(io, flushing, p)
    most = io.device_pages_per_second
    capacity = max(io.pages_per_second, min(wanted, most if io.enters_linearly else most // 2))
    maximum = max(io.maximum_pages_per_second, min(wanted_maximum, most), capacity)
    if (capacity, maximum) == (io.pages_per_second, io.maximum_pages_per_second):
        # Nothing has to rise: a maximum that is no multiple by itself is no reason to touch it.
        return capacity, maximum
    above, below = round_up(maximum, capacity), maximum // capacity * capacity
    if above <= most:
        return capacity, above
    return capacity, below if below >= io.maximum_pages_per_second else maximum


def low_water_percent(dirty: DirtyPages, p: LowWaterThresholds) -> float:
    """The low-water mark from which on MariaDB 10.5+ flushes by the age, in percent: half of what is dirty usually."""
    return float(min(p.highest_low_water_percent, max(1, int(dirty.median_percent / 2))))


def changes(io: IoCapacity, capacity: int, maximum: int) -> tuple[SetVariable, ...]:
    """What to set, the maximum first as servers want it, leaving out what is so already."""
    wanted = (
        SetVariable("innodb_io_capacity_max", maximum) if maximum != io.maximum_pages_per_second else None,
        SetVariable("innodb_io_capacity", capacity) if capacity != io.pages_per_second else None,
    )
    return tuple(change for change in wanted if change is not None)
