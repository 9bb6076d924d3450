"""What the redo page says about sizes, in words: the verdict, why there is none, and how the rule's proposal fits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.utils.translation import gettext as _

from advisor.recommendations.redo_sizing import Proposed
from advisor.ui import quantities
from advisor.ui.quantities import duration, percent, size
from advisor.whatif.sizing import CannotTell, Objective, Point, Range, Sizing, Verdict, Why

#: The objectives that the address may name, the strictest first.
GOALS: dict[str, Objective] = {
    "async-99.9": Objective(Point.ASYNC, 0.999),
    "async-99": Objective(Point.ASYNC, 0.99),
    "sync-99.9": Objective(Point.SYNC, 0.999),
    "sync-99": Objective(Point.SYNC, 0.99),
}
_DOMINATED = 0.01


@dataclass(frozen=True)
class Said:
    """The page's first sentence: its state (critical, warning, watch, calm, stale), the facts behind it, and the one
    next step with its address (empty: none).
    """

    state: str
    sentence: str
    facts: tuple[str, ...] = ()
    step: str = ""
    address: str = ""


def goal_name(objective: Objective) -> str:
    """The objective as the address names it."""
    return next(name for name, one in GOALS.items() if one == objective)


def goal_words(objective: Objective) -> str:
    """The objective as a person says it."""
    share = percent(objective.share)
    if objective.point is Point.ASYNC:
        return _("age below the async point %(share)s of the time") % {"share": share}
    return _("writers do not wait %(share)s of the time") % {"share": share}


def goal_brief(objective: Objective) -> str:
    """The same in as few words as a row of links has room for."""
    share = percent(objective.share)
    if objective.point is Point.ASYNC:
        return _("below async %(share)s") % {"share": share}
    return _("no waits %(share)s") % {"share": share}


def between(found: Range, form: Callable[[float], str]) -> str:
    """A band, its unit once: ``31 – 44 %``; one figure where both ends read alike."""
    low, high = form(found.low), form(found.high)
    if low == high:
        return low
    unit = low.rpartition(" ")[2]
    if low.count(" ") == 1 and high.count(" ") == 1 and high.endswith(f" {unit}"):
        low = low.removesuffix(f" {unit}")
    return f"{low} – {high}"


def rounded_percent(value: float) -> str:
    """Whole percents from ten on: a simulation has no tenths."""
    return percent(round(value, 2) if value >= 0.1 else value)


def recovery(seconds: float) -> str:
    """An estimate is told in no finer steps than its two ends differ by."""
    return duration(max(round(seconds / 60) * 60 if seconds >= 120 else round(seconds), 1))


def told(sizing: Sizing) -> Said:
    """The verdict in one sentence."""
    present, smallest = sizing.present, sizing.smallest
    assert present is not None
    now = size(present.capacity_bytes)
    facts = _facts((present.p95.high, present.above_async.high, present.waiting.high))
    goal = goal_words(sizing.objective)
    harmed = "critical" if present.waiting.high >= _DOMINATED else "warning"
    if smallest is None:
        if sizing.by_design and sizing.objective.point is Point.ASYNC:
            sentence = _("At any size the age rises to the async point: innodb_max_dirty_pages_pct_lwm is 0")
            return Said("watch", sentence, tuple(facts), _("Judge by waits instead"), "?goal=sync-99.9")
        perhaps = sizing.perhaps
        if perhaps is not None and perhaps.capacity_bytes > present.capacity_bytes:
            sentence = _("A redo log of %(now)s is too small; %(size)s may be enough, but no size is sure to be")
            more = _("with %(size)s between %(share)s") % {
                "size": size(perhaps.capacity_bytes),
                "share": between(perhaps.p95, rounded_percent),
            }
            wanted = {"now": now, "size": size(perhaps.capacity_bytes)}
            return Said(harmed, sentence % wanted, (*facts, more), _("How to set it"), "#set")
        largest = size(sizing.sizes[-1].capacity_bytes)
        sentence = _("No size up to %(largest)s is sure to keep the objective: flushing is what holds it back") % {
            "largest": largest
        }
        return Said(harmed, sentence, tuple(facts), _("How it flushes"), "#flushing")
    wanted = {"now": now, "smallest": size(smallest.capacity_bytes), "goal": goal}
    if smallest.capacity_bytes > present.capacity_bytes:
        facts.append(
            _("with %(smallest)s below %(share)s")
            % {"smallest": wanted["smallest"], "share": rounded_percent(smallest.p95.high)}
        )
        sentence = _("A redo log of %(now)s is too small: %(smallest)s is the smallest that holds the objective")
        return Said(harmed, sentence % wanted, tuple(facts), _("How to set it"), "#set")
    if smallest.capacity_bytes < present.capacity_bytes:
        sentence = _("The redo log of %(now)s is big enough; these writes would fit into %(smallest)s")
        return Said("calm", sentence % wanted, tuple(facts))
    return Said("calm", _("The redo log of %(now)s is big enough, and the smallest that is") % wanted, tuple(facts))


def _facts(measured: tuple[float, float, float]) -> list[str]:
    """The three facts behind every verdict: the age, its time above the async point, and the waits."""
    p95, above, waiting = (percent(one) for one in measured)
    return [
        _("95 %% of the time the age is below %(share)s of its limit") % {"share": p95},
        _("above the async point %(share)s of the time") % {"share": above},
        _("writers waited %(share)s of the time") % {"share": waiting},
    ]


def awaited(measured: tuple[float, float, float] | None) -> Said:
    """What stands there while the sizes are simulated: what was measured."""
    return Said(
        "unknown",
        _("Replaying what was written against other sizes of the log …"),
        tuple(_facts(measured)) if measured is not None else (_("this takes a moment"),),
    )


def refused(reason: CannotTell, measured: tuple[float, float, float] | None = None) -> Said:
    """Why there is no table, and what would change that; what was measured is said all the same."""
    words, step, address = _("I cannot tell how big the redo log should be"), "", ""
    if reason.why is Why.NO_SAMPLES:
        fact = _("this range holds no samples to replay")
        step, address = _("Look at 24 h"), "?range=24h"
    elif reason.why is Why.LITTLE_LOAD:
        fact = _("it wrote redo for %(seen)s of this range; the model needs %(wanted)s, %(more)s more") % {
            "seen": duration(round(reason.seen)),
            "wanted": duration(round(reason.wanted)),
            "more": duration(round(reason.wanted - reason.seen)),
        }
        step, address = _("Look at 24 h"), "?range=24h"
    elif reason.why is Why.GAPS:
        fact = _("%(seen)s of this range was not watched; at most %(wanted)s may be missing") % {
            "seen": percent(reason.seen),
            "wanted": percent(reason.wanted),
        }
        step, address = _("Look at 1 h"), "?range=1h"
    elif reason.why is Why.NO_PEAK:
        fact = _("the busiest hour of this range wrote %(seen)s/s, the busiest of the last week %(wanted)s/s") % {
            "seen": size(reason.seen),
            "wanted": size(reason.wanted),
        }
        step, address = _("Look at 7 d"), "?range=7d"
    elif reason.why is Why.BACK_TEST:
        fact = _("tried on what was recorded, the model is off by %(seen)s of the limit; %(wanted)s is allowed") % {
            "seen": percent(reason.seen),
            "wanted": percent(reason.wanted),
        }
    elif reason.why is Why.AGES:
        fact = _("tried on what was recorded, the simulated ages are off by %(seen)s on average") % {
            "seen": percent(reason.seen)
        }
    else:
        fact = _("no page was written while it was under load, so that nothing tells how it flushes")
    return Said("unknown", words, (fact, *(_facts(measured) if measured is not None else ())), step, address)


def agreement(sizing: Sizing, proposed: Proposed | None) -> str:
    """How the open recommendation's size and the smallest that holds (or may hold) the objective fit together."""
    smallest, present = sizing.smallest or sizing.perhaps, sizing.present
    assert present is not None
    if proposed is None:
        if smallest is not None and smallest.capacity_bytes > present.capacity_bytes:
            return _(
                "No recommendation asks for more: rules act on harm that was seen, this table on the objective above."
            )
        return ""
    words = {"proposed": size(proposed.capacity_bytes)}
    if smallest is not None and proposed.capacity_bytes == smallest.capacity_bytes:
        return _("The open recommendation proposes the same size, %(proposed)s.") % words
    if proposed.capacity_bytes < present.capacity_bytes:
        return _("The open recommendation proposes %(proposed)s: over a week this log was hardly used.") % words
    if smallest is not None and proposed.capacity_bytes > smallest.capacity_bytes:
        return (
            _(
                "The open recommendation proposes %(proposed)s: beyond this range's writes it keeps room for twenty "
                "minutes of the peak rate or for the busiest hour."
            )
            % words
        )
    return (
        _(
            "The open recommendation proposes %(proposed)s, as far as its evidence and the free disk allow; the "
            "objective above asks for more than ending the harm."
        )
        % words
    )


def verdict_words(verdict: Verdict, *, measured: bool) -> tuple[str, str]:
    """(state, words) of a row's verdict; the present size beyond what is needed is not called diminishing."""
    if measured and verdict is Verdict.MORE:
        return "calm", _("enough")
    return {
        Verdict.TOO_SMALL: ("critical", _("too small")),
        Verdict.UNSURE: ("watch", _("may do")),
        Verdict.SMALLEST: ("calm", _("smallest that holds it")),
        Verdict.MORE: ("", _("diminishing")),
        Verdict.NO_ROOM: ("warning", _("not enough disk")),
    }[verdict]


def disk(more: int) -> str:
    """The difference to the present size."""
    if more == 0:
        return quantities.NOTHING
    return f"{'+' if more > 0 else '−'}{size(abs(more))}"
