"""Before and after: two windows of a server (or of two), every counter per second and per unit of work, in the order of
how unusual its change is.

**What is compared.** The growth of a counter over a window divided by the window's measured seconds, or by the
transactions committed in them. When the load changed, all counters move with it, and only what is left per transaction
says that the *work* changed; so the load is told first. Where hardly any transaction ends (a read-only load), the unit
is the statement. Gauges are compared by their mean over time.

**How the order is made.** A counter moves all by itself, and a week of one-minute readings would make the smallest
difference "significant", so no test is made and no probability is printed. What a person asks is: did this counter move
further than it moves anyhow? The score is that sentence as a number::

    score = |ln(after / before)| / sqrt(swing² + sampling² + counting² + 0.05²)

- ``swing`` is the counter's own spread: both windows are cut into blocks (a minute, five minutes, an hour: the longest
  that leaves ten), and the spread of ln(rate of a block) is 1.4826 x the median absolute deviation from the window's
  own median, of both windows together (root mean square). It does not shrink with longer windows, and one wild block
  does not move it.
- ``sampling`` is the standard error of the ratio of sums, from the blocks' residuals (Cochran, Sampling Techniques,
  6.3). It is what notices a burst: twenty refused connections in a single block are one event, not twenty.
- ``counting`` is 1/E + 1/E', the events that would be expected in each window at one common rate: 0 against 1 event is
  nothing, 0 against 500 is much. (Half an event is added to each window, so that a counter that stood still has a
  logarithm.) For a gauge it is half of 1/mean, as gauges mostly count few things.
- 5 % is the floor: what moves by less is of no use to a person, however steady the counter is.

A change is *unusual* from a score of 3 on, if the interval does not hold 1. The interval of a factor is the middle 95 %
of a circular block bootstrap over the blocks of both windows (``bootstrap``). With fewer than ten blocks in either
window there is no interval and no verdict (``unusual`` is None): then a swing of 30 % is assumed and the order is a
suggestion.

Where the load changed, some counters keep step with the work and others, of background threads, with the clock. Neither
is news, so that the order per unit of work takes the smaller score of both views.

**What it cannot know.** Swings *between* days: compare the same hour of the same weekday, or longer windows. And two
counters that move together are two rows: causes are for people.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from advisor.engine.compare_blocks import F64, Blocks, over
from advisor.engine.compare_factors import Factor, Factors, Sums
from advisor.mysql import counters
from advisor.mysql.counters import METRICS_PREFIX, Kind

#: The load changed where the units of work per second moved by more than a quarter.
LOAD_CHANGED = 1.25
#: Fewer transactions a second than this are the server's own or a tool's, and no unit for its work.
_LEAST_PER_SECOND = 0.2
#: These grow with the time alone, whatever the server does.
_CLOCKS = frozenset({"Uptime", "Uptime_since_flush_status"})
#: Two names that grew by the same numbers in both windows, and by no less than this, count one thing.
_SAME_FROM = 50
#: How far apart the figures of two names may be that count one thing and are read one after the other.
_ABOUT = 0.02


@dataclass(frozen=True)
class Side:
    """One window as it was measured. Instants are unix seconds."""

    started_at: float
    ended_at: float
    measured_seconds: float
    left_out_seconds: float
    readings: int
    blocks: int
    block_seconds: int
    restarts: tuple[float, ...]


@dataclass(frozen=True)
class Work:
    """The unit of work: ``kind`` is transactions or statements, ``method`` how transactions were counted.

    ``ratio`` is after / before of the units per second.
    """

    kind: str
    method: str
    before: float
    after: float
    ratio: float

    @property
    def changed(self) -> bool:
        return not 1 / LOAD_CHANGED <= self.ratio <= LOAD_CHANGED


@dataclass(frozen=True)
class Change:
    """What one counter or gauge did. ``grown_before`` and ``grown_after`` are totals of the windows (None for gauges);
    ``also`` are other names that count the same.
    """

    name: str
    kind: Kind
    grown_before: float | None
    grown_after: float | None
    per_second: Factor
    per_work: Factor | None
    also: tuple[str, ...] = ()

    @property
    def still(self) -> bool:
        """Whether it stood still: a counter that did not grow, a gauge that was and stayed the same."""
        if self.kind is Kind.GAUGE:
            return abs(self.per_second.after - self.per_second.before) <= 1e-9 * abs(self.per_second.before)
        return self.per_second.before == 0 and self.per_second.after == 0

    def score(self, *, per_work: bool) -> float:
        """How unusual the change is; per unit of work it is so only if it kept step with the clock neither."""
        if per_work and self.per_work is not None:
            return min(self.per_work.score, self.per_second.score)
        return self.per_second.score

    def unusual(self, *, per_work: bool) -> bool | None:
        """Whether it moved further than it moves by itself; None where the windows are too short to judge."""
        if per_work and self.per_work is not None and self.per_second.unusual:
            return self.per_work.unusual
        return self.per_second.unusual


@dataclass(frozen=True)
class Comparison:
    """Both windows, the load, and every name that both have.

    ``per_work`` says which view answers more: per unit of work where the load changed. ``judged`` is false where the
    windows are too short to say what is unusual. ``restarted_at`` is when the process of the second window had started,
    if that was after the first window: None where it is the same process. ``missing_before`` and ``missing_after`` are
    names that only the other window has.
    """

    before: Side
    after: Side
    work: Work | None
    per_work: bool
    judged: bool
    restarted_at: float | None
    changes: tuple[Change, ...]
    missing_before: tuple[str, ...]
    missing_after: tuple[str, ...]

    def ordered(self, *, per_work: bool) -> list[Change]:
        """The changes by the one or the other view, the most unusual first."""
        return sorted(self.changes, key=lambda one: (-one.score(per_work=per_work), one.name))


def compare(before: Blocks, after: Blocks, *, one_server: bool = True) -> Comparison | None:
    """Both windows against each other; None where either has no two readings of one running server.

    ``one_server``: whether both are of the same one, so that a later start of its process is a restart.
    """
    if not before.count or not after.count:
        return None
    # The kind of a name that only one window has does not matter: it is not compared.
    names = tuple(sorted({*before.names, *after.names} - _CLOCKS))
    one, other = over(before, names), over(after, names)
    sides = Sums(one), Sums(other)
    work, units = _work(*sides)
    per_second = Factors(*sides, None)
    per_work = None if units is None else Factors(*sides, units)
    told = np.flatnonzero(sides[0].known & sides[1].known)
    changes = []
    for place in told.tolist():
        gauge = one.kinds[place] is Kind.GAUGE
        changes.append(
            Change(
                name=names[place],
                kind=one.kinds[place],
                grown_before=None if gauge else float(sides[0].sums[place]),
                grown_after=None if gauge else float(sides[1].sums[place]),
                per_second=per_second.at(place),
                per_work=None if gauge or per_work is None else per_work.at(place),
            )
        )
    by_work = work is not None and work.changed
    return Comparison(
        before=_told(one),
        after=_told(other),
        work=work,
        per_work=by_work,
        judged=per_second.judged,
        restarted_at=after.up_since if one_server and after.up_since > before.ended_at else None,
        changes=tuple(_folded(changes)),
        missing_before=tuple(names[i] for i in np.flatnonzero(~sides[0].known & sides[1].known)),
        missing_after=tuple(names[i] for i in np.flatnonzero(sides[0].known & ~sides[1].known)),
    )


def _told(blocks: Blocks) -> Side:
    return Side(
        blocks.started_at,
        blocks.ended_at,
        blocks.measured_seconds,
        blocks.left_out_seconds,
        blocks.readings,
        blocks.count,
        blocks.width_seconds,
        blocks.restarts,
    )


def _work(one: Sums, other: Sums) -> tuple[Work | None, tuple[F64, F64] | None]:
    """The unit of work and how many of it fell into each block of both windows: counted alike in both."""
    candidates = [("transactions", method.id, method.names) for method in _methods(one, other)]
    for kind, method, names in (*candidates, ("statements", "", ("Questions",))):
        units = one.total(names), other.total(names)
        if units[0] is None or units[1] is None:
            continue
        rates = units[0].sum() / one.blocks.measured_seconds, units[1].sum() / other.blocks.measured_seconds
        if min(rates) >= _LEAST_PER_SECOND:
            work = Work(kind, method, float(rates[0]), float(rates[1]), float(rates[1] / rates[0]))
            return work, (units[0], units[1])
    return None, None


def _methods(one: Sums, other: Sums) -> list[counters.TransactionsMethod]:
    """How transactions may be counted, best first, judged by what happened in both windows together."""
    grown = {
        name: float(one.sums[place] + other.sums[place])
        for place, name in enumerate(one.blocks.names)
        if one.known[place] and other.known[place]
    }
    plain = {name.removeprefix(METRICS_PREFIX): amount for name, amount in grown.items()}
    best = counters.transactions_method(plain, enabled_metrics=frozenset(plain))
    if any(METRICS_PREFIX + name in grown and name not in grown for name in best.names):
        names = tuple(name if name in grown else METRICS_PREFIX + name for name in best.names)
        best = counters.TransactionsMethod(best.code, best.id, best.title, names)
    return [best, counters.EXPLICIT_COMMITS, counters.AUTOCOMMIT_WRITES]


def _folded(changes: list[Change]) -> list[Change]:
    """One row for names that count the same: with the very same numbers, or an innodb_metrics counter whose name is
    that of a status variable and whose figures are about the same, as both are read some milliseconds apart.
    """
    status = {change.name.casefold(): change for change in changes}
    found: dict[tuple[object, ...], list[Change]] = {}
    for change in changes:
        twin = _twin(change, status)
        found.setdefault(_numbers(twin or change), []).append(change)
    folded = []
    for same in found.values():
        same.sort(key=lambda change: (change.name.startswith(METRICS_PREFIX), change.name))
        others = tuple(change.name for change in same[1:])
        folded.append(replace(same[0], also=others) if others else same[0])
    return folded


def _numbers(change: Change) -> tuple[object, ...]:
    """What tells a counter from others: what it counted, where that is enough to be no coincidence."""
    before, after = change.grown_before, change.grown_after
    if before is None or after is None or before + after < _SAME_FROM:
        return (change.name,)
    return before, after


def _twin(change: Change, status: Mapping[str, Change]) -> Change | None:
    """The status variable that counts the same as this innodb_metrics counter."""
    if not change.name.startswith(METRICS_PREFIX):
        return None
    twin = status.get("innodb_" + change.name.removeprefix(METRICS_PREFIX).removeprefix("lock_").casefold())
    if twin is None:
        return None
    pairs = (
        (change.per_second.before, twin.per_second.before),
        (change.per_second.after, twin.per_second.after),
    )
    return twin if all(abs(one - other) <= _ABOUT * max(one, other) for one, other in pairs) else None
