"""The answer of the model, kept for as long as nothing newer was read of the server: simulating takes a moment, and the
same question is asked again with another size chosen, or by somebody else.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from threading import Lock

from advisor.recommendations import redo_sizing
from advisor.recommendations.redo_sizing import Recording
from advisor.ui.htmx import tag_of
from advisor.ui.period import Period
from advisor.whatif.sizing import CannotTell, Objective, Range, Size, Sizing

#: What one simulation leaves: the table, or why there is none.
Answer = Sizing | CannotTell

#: The newest answers of this process, the one that was asked for last at the end. They are small, and a process that
#: lacks one makes it again, so that nothing has to be shared or thrown away in time.
_kept: OrderedDict[str, Answer] = OrderedDict()
_lock = Lock()
_MOST = 100


def answer(
    found: Recording, period: Period, objective: Objective | None, *, simulate: bool
) -> tuple[Sizing | None, CannotTell | None]:
    """The table or why there is none. Neither, where it would have to be simulated and ``simulate`` is not wanted."""
    if found.refusal is not None:
        return None, found.refusal
    key = _key(found, period, objective)
    with _lock:
        kept = _kept.get(key)
        if kept is not None:
            _kept.move_to_end(key)
    if kept is None and simulate:
        kept = _simulated(found, objective)
        with _lock:
            _kept[key] = kept
            while len(_kept) > _MOST:
                _kept.popitem(last=False)
    return (_with(kept, found), None) if isinstance(kept, Sizing) else (None, kept)


def _simulated(found: Recording, objective: Objective | None) -> Answer:
    """Without the recorded steps: every request reads them anyway, and they are large."""
    try:
        sizing = redo_sizing.size(found, objective)
    except CannotTell as reason:
        return reason.with_traceback(None)
    return replace(sizing, recorded=replace(sizing.recorded, steps=(), advanced=(), pages=(), dirty=()))


def _with(kept: Sizing, found: Recording) -> Sizing:
    """What was measured is told as it was read now, so that it agrees with the samples that its figures lead to."""

    def fresh(one: Size) -> Size:
        if not one.measured or found.measured is None:
            return one
        p95, above, waiting = (Range(value, value) for value in found.measured)
        return replace(one, p95=p95, above_async=above, waiting=waiting)

    return replace(kept, recorded=found.recorded, sizes=tuple(fresh(one) for one in kept.sizes))


def _key(found: Recording, period: Period, objective: Objective | None) -> str:
    at = found.samples.at
    bounds = period.name if period.name and period.moves else f"{period.started}-{period.ended}"
    settings, host = sorted(found.snapshot.variables.items()), found.server.host_facts
    proposed = found.proposed.capacity_bytes if found.proposed is not None else 0
    newest = float(at[-1]) if at.size else 0.0
    parts = (found.server.pk, newest, bounds, objective, settings, host, found.recorded.capacity_bytes, proposed)
    return tag_of(*parts)
