"""Did a change help? Two windows of a server's history, one before it and one after it had settled.

**The rule.** Every metric (``verdict_metrics``) is told before and after with an interval (``verdict_figures``). A
change is *worse* if a metric certainly got worse, else *improved* if one that it was meant for certainly got better,
else there is *no difference*. Worse outweighs better: what is hurt is not paid for with what is helped unless a person
says so.

**The load.** Nothing keeps clients from doing more work after a change than before. So the work and the redo written
per second are compared first, and from 25 % on the load is another one; what depends on it more than in proportion (the
checkpoint age) it may explain already from 10 % on. A different load explains what it pushes into its own direction:
more load raises the pressure, less load lowers it. It does not explain the opposite: pressure that fell while *more*
was written was not lowered by the load. That is how a log which was too small is told from a load which went away,
although both change the throughput. Where a difference is explained, or the load is another one and no difference
remains, the verdict is *cannot tell*, with the factor.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from advisor.engine.verdict_course import Course
from advisor.engine.verdict_figures import Figure, figure
from advisor.engine.verdict_metrics import METRICS, REDO, WORK, Metric, Scale
from advisor.engine.verdict_windows import ENOUGH_POLLS, LEAST_COVERED, Windows

#: From this factor on (either way) the load is another one ...
LOAD_CHANGED = 1.25
#: ... and from this one on it may explain what rises faster than the load does.
LOAD_EXPLAINS = 1.10
_MOST_POWER = 3.0


class Verdict(StrEnum):
    """What a change did, as far as can be said."""

    IMPROVED = "improved"
    NO_DIFFERENCE = "no_difference"
    WORSE = "worse"
    CANNOT_TELL = "cannot_tell"


class Why(StrEnum):
    """Why nothing can be told."""

    TOO_LITTLE = "too_little"
    GAPS = "gaps"
    RESTART = "restart"
    RESIZE = "resize"
    SETTINGS = "settings"
    IDLE = "idle"
    LOAD = "load"
    UNMEASURED = "unmeasured"


@dataclass(frozen=True)
class Judged:
    """One row of the table. ``aim``: the change was meant to make this better. ``explained``: it moved, and the load,
    which changed, may be why.
    """

    figure: Figure
    aim: bool
    explained: bool

    @property
    def word(self) -> str:
        """better, worse, explained, same."""
        if not self.figure.judged:
            return "same"
        if self.explained:
            return "explained"
        return "better" if self.figure.judged > 0 else "worse"


@dataclass(frozen=True)
class Judgement:
    """The verdict and everything it rests on. ``why`` is "" unless nothing can be told; ``load`` are the work and the
    redo per second; ``settings`` are other system variables that were changed inside the windows.
    """

    verdict: Verdict
    why: str
    windows: Windows | None
    load: tuple[Figure, ...] = ()
    rows: tuple[Judged, ...] = ()
    settings: tuple[str, ...] = ()
    work_kind: str = ""

    @property
    def deciding(self) -> tuple[Judged, ...]:
        """The rows that the verdict rests on, what the change was meant to do first."""
        wanted = {Verdict.IMPROVED: "better", Verdict.WORSE: "worse", Verdict.CANNOT_TELL: "explained"}
        word = wanted.get(self.verdict)
        found = sorted((row for row in self.rows if row.word == word), key=lambda row: not row.aim)
        return tuple(row for row in found if row.aim == found[0].aim or self.verdict is not Verdict.IMPROVED)


def judge(
    windows: Windows | None, *, aims: Sequence[Metric] = (), restart: bool = False, settings: Iterable[str] = ()
) -> Judgement:
    """What the change did. ``aims``: what it was meant to make better (``verdict_metrics.aims_of``). ``restart``: the
    change itself took one, between the windows. ``settings``: names of others that were changed inside the windows.
    """
    others = tuple(settings)
    if windows is None:
        return Judgement(Verdict.CANNOT_TELL, Why.TOO_LITTLE, None)
    why = _in_the_way(windows, restart=restart)
    if not why and others:
        why = Why.SETTINGS
    if why:
        return Judgement(Verdict.CANNOT_TELL, why, windows, settings=others, work_kind=windows.after.work_kind)
    load = tuple(found for metric in (WORK, REDO) if (found := _figure(metric, windows)) is not None)
    rows = []
    aimed = {metric.id for metric in aims}
    for metric in METRICS:
        found = _figure(metric, windows)
        if found is not None:
            counts = metric.guard or metric.id in aimed
            explained = bool(found.judged) and _explained(found, load)
            rows.append(Judged(found if counts else _only_shown(found), metric.id in aimed, counts and explained))
    verdict, why = _verdict(rows, load, unmeasured=bool(aims) and not any(row.aim for row in rows))
    return Judgement(verdict, why, windows, load, tuple(rows), others, windows.after.work_kind)


def _figure(metric: Metric, windows: Windows) -> Figure | None:
    return figure(metric, windows.before, windows.after, windows.earlier)


def _only_shown(found: Figure) -> Figure:
    return Figure(found.metric, found.before, found.after, found.change, found.low, found.high, 0)


def _verdict(rows: Sequence[Judged], load: Sequence[Figure], *, unmeasured: bool) -> tuple[Verdict, str]:
    words = {row.word for row in rows}
    another_load = any(_pushed(one, LOAD_CHANGED) for one in load)
    if "worse" in words:
        return Verdict.WORSE, ""
    # Where it is known what a change is for, that has to be better; a guard that fell besides is a windfall. Where it
    # is not known, a guard may say it, of the same load.
    aimed = [row for row in rows if row.aim]
    better = any(row.word == "better" for row in aimed or rows)
    if better and (aimed or not another_load):
        return Verdict.IMPROVED, ""
    if "explained" in words or another_load:
        return Verdict.CANNOT_TELL, Why.LOAD
    if unmeasured:
        return Verdict.CANNOT_TELL, Why.UNMEASURED
    return Verdict.NO_DIFFERENCE, ""


def _explained(found: Figure, load: Sequence[Figure]) -> bool:
    """Whether another load may be why the metric moved the way it did."""
    drawn = found.metric.with_load
    if not drawn:
        return False
    return any(_pushed(one, LOAD_EXPLAINS) * drawn == found.moved and _far_enough(one, found) for one in load)


def _far_enough(load: Figure, found: Figure) -> bool:
    """A load that is higher by a tenth makes no figure four times as large: it explains up to the third power of its
    own factor. A share has no factor, and is explained by any other load.
    """
    if load.change is None or found.change is None or found.metric.scale is Scale.SHARE:
        return True
    return abs(math.log(found.change)) <= _MOST_POWER * abs(math.log(load.change))


def _pushed(load: Figure, factor: float) -> int:
    """+1 where the load is higher by more than this factor, -1 where it is lower, 0 where it is about the same."""
    change = load.change
    if change is None:
        return 0 if load.before == load.after else (1 if load.after > load.before else -1)
    return 1 if change > factor else -1 if change < 1 / factor else 0


def _in_the_way(windows: Windows, *, restart: bool) -> str:
    """Why these windows cannot be compared at all; empty where they can."""
    both: tuple[Course, Course] = (windows.before, windows.after)
    if any(len(one.processes) > 1 for one in both):
        return Why.RESTART
    if not restart and abs(next(iter(both[0].processes)) - next(iter(both[1].processes))) > 30:
        return Why.RESTART
    if any(len(one.capacities) > 1 for one in both):
        return Why.RESIZE
    if any(one.count < ENOUGH_POLLS for one in both):
        return Why.TOO_LITTLE
    if any(one.seconds.sum() < LEAST_COVERED * (one.ended_at - one.started_at) for one in both):
        return Why.GAPS
    lengths = sorted(one.ended_at - one.started_at for one in both)
    if lengths[0] < LEAST_COVERED * lengths[1]:
        return Why.GAPS
    return "" if both[0].work_kind else Why.IDLE
