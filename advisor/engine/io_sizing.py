"""What innodb_io_capacity and its maximum should be for the flushing that was seen: one answer for all rules that
want them.

MySQL and MariaDB up to 10.4 scale innodb_io_capacity by the age and stop at the maximum; the factor is the
*integer* quotient of the two, so that the maximum is kept a multiple. On MariaDB 10.5+ a round is (io_capacity +
average + pages by age) / 3, whose steady state is io_capacity itself: it has to be what the load needs.
"""

from __future__ import annotations

from advisor.engine.facts.flushing import AT_MAXIMUM, Flushing, IoCapacity
from advisor.engine.units import round_up
from advisor.mysql.proposal import SetVariable

#: Room above what was seen, so that the same load does not reach the new value.
ROOM = 1.2
#: No server takes less, and flushing slower than this keeps up with nothing.
LOWEST_PAGES = 200


def wanted_capacity(io: IoCapacity, flushing: Flushing) -> tuple[int, int]:
    """(innodb_io_capacity, innodb_io_capacity_max) for this load, as if nothing was set yet, in hundreds of pages."""
    if io.enters_linearly:
        capacity = max(LOWEST_PAGES, round_up(ROOM * flushing.p95, 100))
        return capacity, 2 * capacity
    highest = ROOM * max(flushing.p95, flushing.highest) / AT_MAXIMUM
    capacity = max(LOWEST_PAGES, round_up(ROOM * flushing.median, 100), round_up(highest / 4, 100))
    return capacity, capacity * max(2, int(-(-highest // capacity)))


def raised_capacity(io: IoCapacity, flushing: Flushing) -> tuple[int, int]:
    """The wanted values, neither below the present ones, the maximum an integer multiple, both within what the
    device may get.
    """
    wanted, wanted_maximum = wanted_capacity(io, flushing)
    capacity = max(io.pages_per_second, min(wanted, io.device_pages_per_second))
    maximum = max(io.maximum_pages_per_second, min(wanted_maximum, 2 * io.device_pages_per_second))
    if (capacity, maximum) == (io.pages_per_second, io.maximum_pages_per_second):
        # Nothing has to rise: a maximum that is no multiple by itself is no reason to touch it.
        return capacity, maximum
    return capacity, round_up(maximum, capacity)


def changes(io: IoCapacity, capacity: int, maximum: int) -> tuple[SetVariable, ...]:
    """What to set, the maximum first as servers want it, leaving out what is so already."""
    wanted = (
        SetVariable("innodb_io_capacity_max", maximum) if maximum != io.maximum_pages_per_second else None,
        SetVariable("innodb_io_capacity", capacity) if capacity != io.pages_per_second else None,
    )
    return tuple(change for change in wanted if change is not None)
