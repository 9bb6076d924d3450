"""Which statements write the redo, where an inspection knows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from advisor.engine.facts.digests import Statements
from advisor.engine.observation import Observation
from advisor.engine.outcome import Inapplicable, Missing
from advisor.engine.units import DAY
from advisor.mysql.snapshot import Snapshot
from collector import inspecting
from collector.models import Server

#: For so long an inspection is judged by.
_INSPECTED_SECONDS = 8 * DAY
_WRITERS = 5


@dataclass(frozen=True)
class Writer:
    """A statement behind the redo: its share of the changed rows, rows per second, and its text."""

    share: float
    rows_per_second: float
    text: str


def read(server: Server, snapshot: Snapshot) -> dict[str, Any]:
    """Part of the template's context: the first five writers, else what would tell them."""
    inspection = inspecting.latest(
        server.pk, identity=snapshot.identity.fingerprint, since=timezone.now().timestamp() - _INSPECTED_SECONDS
    )
    if inspection is None:
        return {"writers": [], "writers_remedy": None, "inspected": False}
    try:
        statements = Statements.read(Observation(snapshot=snapshot, inspection=inspection))
    except Missing as missing:
        return {"writers": [], "writers_remedy": missing.remedies[0], "inspected": True}
    except Inapplicable:
        return {"writers": [], "writers_remedy": None, "inspected": True}
    found = statements.where(lambda one: not one.is_read and one.rows_affected > 0)
    rows = sum(one.rows_affected for one in found)
    ordered = sorted(found, key=lambda one: -one.rows_affected)[:_WRITERS]
    return {
        "writers": [Writer(one.rows_affected / rows, one.per_second(one.rows_affected), one.place) for one in ordered],
        "writers_remedy": None,
        "inspected": True,
    }
