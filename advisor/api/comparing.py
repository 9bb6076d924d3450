"""Every number of a server by its name, and two windows compared."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.http import HttpRequest
from django.utils import timezone
from ninja import Query, Router, Schema
from pydantic import Field

from advisor.api import instants
from advisor.api.operation import Id, answers, server_of
from advisor.api.problems import Problem
from advisor.api.schemas import Open
from advisor.engine.compare_settings import differing
from advisor.mysql.meanings import meaning, series_unit
from advisor.recommendations.comparing import LONGEST_SECONDS, SHORTEST_SECONDS, Window, compare_windows
from advisor.recommendations.comparison_document import as_document
from collector.settings_history import variables_at
from collector.store import store

router = Router()
_INSTANT = "now, now-2h, unix seconds or milliseconds, or ISO 8601"


class CounterOut(Schema):
    """One number that the server tells, by the name that getSeries takes."""

    name: str
    kind: Literal["counter", "gauge"]
    unit: str = Field(description="of the value; getSeries tells counters per second")
    meaning: str | None = Field(description="a sentence; null where no description is known")
    last: float


class CounterList(Schema):
    """All names of the newest full snapshot; ``next`` is always null, since there is one page."""

    items: list[CounterOut]
    next: str | None


class FactorOut(Schema):
    """A figure before and after; ``ratio`` is null where either is zero, the bounds where no interval can be told."""

    before: float
    after: float
    ratio: float | None
    low: float | None
    high: float | None


class ChangeOut(Schema):
    """One counter or gauge in both windows, per second (a gauge: its mean) and per unit of work."""

    name: str
    also: list[str] = Field(description="names that count the same")
    kind: str
    unit: str
    grown_before: float | None
    grown_after: float | None
    per_second: FactorOut
    per_work: FactorOut | None
    score: float
    unusual: bool | None = Field(description="null where the windows are too short to judge")


class ComparisonOut(Open):
    """Two windows against each other, the most unusual change first."""

    before: dict[str, Any]
    after: dict[str, Any]
    work: dict[str, Any] | None
    ordered_by: Literal["second", "work"]
    judged: bool
    restarted_between_at: int | None
    changes: list[ChangeOut]
    settings: list[dict[str, Any]] | None


class ComparisonAnswer(Schema):
    """``comparison`` is null where either window has no two snapshots of the running server."""

    comparison: ComparisonOut | None


@router.get(
    "/servers/{id}/counters", operation_id="listCounters", response=answers(200, CounterList, 404), tags=["servers"]
)
def list_counters(request: HttpRequest, id: Id) -> dict[str, Any]:
    """Every name of the newest full snapshot: status variables, and innodb_metrics as ``metrics.<name>``."""
    found, _ = server_of(request, id)
    items = []
    for one in store().counter_names(found.pk):
        known = meaning(one.name)
        items.append(
            {
                "name": one.name,
                "kind": one.kind,
                "unit": series_unit(one.name, rate=False),
                "meaning": None if known is None else str(known),
                "last": one.last,
            }
        )
    return {"items": items, "next": None}


@router.get(
    "/servers/{id}/comparison",
    operation_id="compareWindows",
    response=answers(200, ComparisonAnswer, 404),
    tags=["servers"],
)
def compare(
    request: HttpRequest,
    id: Id,
    a_from: Annotated[str, Query(max_length=40, description=_INSTANT)] = "now-2h",
    a_to: Annotated[str, Query(max_length=40, description=_INSTANT)] = "now-1h",
    b_from: Annotated[str, Query(max_length=40, description=_INSTANT)] = "now-1h",
    b_to: Annotated[str, Query(max_length=40, description=_INSTANT)] = "now",
    other: Annotated[str | None, Query(max_length=64, description="id of another server for the second window")] = None,
) -> dict[str, Any]:
    """Every counter in two windows of a server, or of two, in the order of how unusual its change is, and the settings
    that differ at their ends. 5 s to 31 days each.
    """
    found, _ = server_of(request, id)
    second = server_of(request, other)[0] if other else found
    now = timezone.now().timestamp()
    asked = {"a_from": a_from, "a_to": a_to, "b_from": b_from, "b_to": b_to}
    ends = {name: instants.read(text, now=now, parameter=name) for name, text in asked.items()}
    for side in ("a", "b"):
        if not SHORTEST_SECONDS <= ends[f"{side}_to"] - ends[f"{side}_from"] <= LONGEST_SECONDS:
            raise Problem(422, "bad-range", f"'{side}_from' has to lie before '{side}_to', by 5 s to 31 days.")
    comparison = compare_windows(
        Window(found, ends["a_from"], ends["a_to"]), Window(second, ends["b_from"], ends["b_to"])
    )
    if comparison is None:
        return {"comparison": None}
    by_work = comparison.per_work
    before, after = variables_at(found.pk, ends["a_to"]), variables_at(second.pk, ends["b_to"])
    one_server = found.pk == second.pk
    settings = None if before is None or after is None else differing(before, after, one_server=one_server)
    changes = [change for change in comparison.ordered(per_work=by_work) if not change.still]
    return {"comparison": as_document(comparison, changes, settings, by_work=by_work)}
