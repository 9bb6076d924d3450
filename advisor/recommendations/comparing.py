"""Two windows of the sample history, read and compared (``advisor.engine.compare``).

Long windows are read a day at a time: all numbers of a week at once would take hundreds of megabytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from advisor.engine.compare import Comparison, compare
from advisor.engine.compare_blocks import Blocks, cut, joined, width_of
from advisor.engine.units import DAY
from collector.models import Server
from collector.store import Readings, store

#: What two moments or windows may span: shorter than the one there is nothing to subtract, longer than the other the
#: answer would take longer than a page may.
SHORTEST_SECONDS, LONGEST_SECONDS = 5, 31 * DAY


@dataclass(frozen=True)
class Window:
    """A time of one server; instants are unix seconds, both ends belong to it."""

    server: Server
    started: float
    ended: float

    @property
    def seconds(self) -> float:
        return self.ended - self.started


def compare_windows(before: Window, after: Window) -> Comparison | None:
    """Both windows against each other; None where either has no two readings of one running server."""
    return compare(_blocks(before), _blocks(after), one_server=before.server.pk == after.server.pk)


def _blocks(window: Window) -> Blocks:
    if window.seconds <= DAY:
        return cut(store().readings(window.server.pk, window.started, window.ended + 1))
    width = width_of(window.seconds)
    return joined([cut(part, width=width) for part in _days(window)])


def _days(window: Window) -> Iterator[Readings]:
    """The readings day by day; each day but the first begins with the last reading of the day before, so that the
    interval across midnight is in one of them.
    """
    begin, last = window.started, window.started
    while begin <= window.ended:
        finish = min(begin + DAY, window.ended + 1)
        part = store().readings(window.server.pk, last, finish)
        if len(part):
            last = float(part.at[-1])
        yield part
        begin = finish


def has_readings(server: Server, started: float, ended: float) -> bool:
    """Whether the server was read in this time at all."""
    newest = store().reading_at(server.pk, ended)
    return newest is not None and newest.at >= started
