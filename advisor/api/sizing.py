"""How big the redo log of a server should be, from what was recorded."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.http import HttpRequest
from django.utils import timezone
from ninja import Query, Router, Schema
from pydantic import Field

from advisor.api import instants
from advisor.api.operation import Id, answers, server_of
from advisor.api.problems import Problem
from advisor.mysql import redo
from advisor.recommendations import redo_sizing
from advisor.whatif.sizing import Objective, Point, Range, Size
from collector import snapshots

router = Router()
_SHORTEST_SECONDS, _LONGEST_SECONDS = 60.0, 31 * 86_400.0


class BandOut(Schema):
    """The better and the worse end of a figure; both are the same where it was measured."""

    low: float
    high: float


class RedoSizeOut(Schema):
    """What the recorded writes make of a redo log of one size."""

    capacity_bytes: int
    age_p95_ratio: BandOut = Field(description="95th percentile of the checkpoint age, of the limit of that size")
    above_async_ratio: BandOut = Field(description="share of the time at or above the async point")
    waiting_ratio: BandOut = Field(description="share of the time in which writers wait")
    recovery_seconds: BandOut
    disk_bytes: int = Field(description="more than now; negative is less")
    measured: bool = Field(description="true for the present size, whose figures were recorded and not simulated")
    verdict: Literal["too_small", "unsure", "smallest", "more", "no_room"]


class BackTestOut(Schema):
    """How well the model told the second half of the window after being fitted on the first."""

    p95_simulated_ratio: float
    p95_recorded_ratio: float
    mape_ratio: float = Field(description="mean distance of the ages, of the mean recorded age")


class RedoSizingOut(Schema):
    """``sizes`` is empty and ``cannot_tell`` says why where the model refuses."""

    started_at: float = Field(description="unix seconds")
    ended_at: float = Field(description="unix seconds")
    read_seconds: float
    gap_ratio: float
    objective: str = Field(description="async or sync, and the share of the time: async-0.999")
    sizes: list[RedoSizeOut]
    smallest_bytes: int | None = Field(description="the smallest that meets the objective; null where none surely does")
    proposed_bytes: int | None = Field(description="what the open recommendation proposes")
    back_test: BackTestOut | None
    cannot_tell: str | None


@router.get(
    "/servers/{id}/redo-sizing",
    operation_id="getRedoSizing",
    response=answers(200, RedoSizingOut, 404),
    tags=["servers"],
    by_alias=True,
)
def get_redo_sizing(
    request: HttpRequest,
    id: Id,
    from_: Annotated[str, Query(alias="from", max_length=40)] = "now-24h",
    to: Annotated[str, Query(max_length=40)] = "now",
    point: Annotated[Point | None, Query(description="default: async; sync where the age rises by design")] = None,
    share: Annotated[float, Query(gt=0, lt=1)] = 0.999,
) -> dict[str, Any]:
    """Redo log sizes compared: the recorded writes replayed against this server's flushing, and which size is enough.

    A size is the smallest that meets the objective where the worse end of its band does. Ranges up to a day are
    replayed poll by poll, longer ones (31 days at most) by their hours.
    """
    found, _ = server_of(request, id)
    now = timezone.now().timestamp()
    start, end = instants.read(from_, now=now, parameter="from"), instants.read(to, now=now, parameter="to")
    if not _SHORTEST_SECONDS <= end - start <= _LONGEST_SECONDS:
        raise Problem(422, "bad-range", "'from' has to lie before 'to', by a minute at least and 31 days at most.")
    snapshot = snapshots.latest(found.pk)
    empty = _document(start, end, 0.0, 1.0, f"{point or Point.ASYNC}-{share:g}")
    if snapshot is None:
        return {**empty, "cannot_tell": "no_snapshot"}
    objective = None if point is None and share == Objective().share else Objective(point or Point.ASYNC, share)
    try:
        read = redo_sizing.read(found, snapshot, start, end, objective)
    except redo.RedoUnknown:
        return {**empty, "cannot_tell": "no_redo_log"}
    document = _document(start, end, read.recorded.read_seconds, read.recorded.gap_ratio, empty["objective"])
    document["proposed_bytes"] = None if read.proposed is None else read.proposed.capacity_bytes
    if read.sizing is None:
        return {**document, "cannot_tell": str(read.refusal.why) if read.refusal is not None else None}
    test, smallest = read.sizing.back_test, read.sizing.smallest
    return {
        **document,
        "objective": f"{read.sizing.objective.point}-{read.sizing.objective.share:g}",
        "sizes": [_size(one) for one in read.sizing.sizes],
        "smallest_bytes": None if smallest is None else smallest.capacity_bytes,
        "back_test": {
            "p95_simulated_ratio": test.p95_simulated,
            "p95_recorded_ratio": test.p95_recorded,
            "mape_ratio": test.mape,
        },
    }


def _document(start: float, end: float, read_seconds: float, gap_ratio: float, objective: str) -> dict[str, Any]:
    return {
        "started_at": start,
        "ended_at": end,
        "read_seconds": read_seconds,
        "gap_ratio": gap_ratio,
        "objective": objective,
        "sizes": [],
        "smallest_bytes": None,
        "proposed_bytes": None,
        "back_test": None,
        "cannot_tell": None,
    }


def _size(one: Size) -> dict[str, Any]:
    def band(found: Range) -> dict[str, float]:
        return {"low": found.low, "high": found.high}

    return {
        "capacity_bytes": one.capacity_bytes,
        "age_p95_ratio": band(one.p95),
        "above_async_ratio": band(one.above_async),
        "waiting_ratio": band(one.waiting),
        "recovery_seconds": band(one.recovery_seconds),
        "disk_bytes": one.disk_bytes,
        "measured": one.measured,
        "verdict": str(one.verdict),
    }
