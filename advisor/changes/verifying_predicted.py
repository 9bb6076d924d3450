"""What was to be expected of a change, stated before anybody looks at what came of it.

For the size of the redo log that is what the model of the redo page says of the writes of the hours before the change;
for the rest it is the recommendation's own sentence.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from advisor.changes.models import WantedChange
from advisor.changes.verifying_history import Applied
from advisor.engine.units import DAY
from advisor.mysql import redo
from advisor.recommendations import redo_sizing
from advisor.whatif.sizing import CannotTell, Range, Size
from collector import snapshots
from collector.models import StoredSnapshot

_CAPACITY = frozenset({"innodb_redo_log_capacity", "innodb_log_file_size", "innodb_log_files_in_group"})


def predicted(done: Applied) -> list[dict[str, Any]]:
    """``[{"id": metric, "low", "high"}]``: the bands of the model; empty where it says nothing."""
    if not _CAPACITY & set(done.variables):
        return []
    size = _simulated(done)
    if size is None:
        return []
    return [
        _band("pressure_p95", size.p95),
        _band("above_async", size.above_async),
        _band("at_limit", size.waiting),
    ]


def expected(request_id: str, server_id: str) -> list[dict[str, Any]]:
    """What the recommendations behind the change promised, as stored messages."""
    wanted = WantedChange.objects.filter(request=request_id, server=server_id).select_related("recommendation")
    found = []
    for row in wanted:
        words = (row.recommendation.document or {}).get("words", {}) if row.recommendation else {}
        if words.get("expected") and words["expected"] not in found:
            found.append(words["expected"])
    return found


def _simulated(done: Applied) -> Size | None:
    """What the writes of the day before the change make of the size that was set."""
    before = _snapshot(done, before=True)
    after = _snapshot(done, before=False)
    if before is None or after is None:
        return None
    try:
        capacity = redo.capacity_in_force(after.identity.version, after.variables, after.status)
        found = redo_sizing.record(done.server, before, done.began_at - DAY, done.began_at)
        if found.refusal is not None:
            return None
        # The recommendation is applied by now, and no longer the one that proposes a size: this is the size.
        found = replace(found, proposed=redo_sizing.Proposed(None, capacity))  # type: ignore[arg-type]
        sizing = redo_sizing.size(found)
    except (CannotTell, redo.RedoUnknown):
        return None
    return next((one for one in sizing.sizes if one.capacity_bytes == capacity), None)


def _snapshot(done: Applied, *, before: bool) -> Any:
    rows = StoredSnapshot.objects.filter(server=done.server)
    if before:
        row = rows.filter(slot__lt=done.began_at).order_by("-slot").first()
    else:
        row = rows.filter(slot__gt=done.ended_at).order_by("slot").first()
    return None if row is None else snapshots.unpack(bytes(row.payload))


def _band(metric: str, band: Range) -> dict[str, Any]:
    return {"id": metric, "low": round(band.low, 4), "high": round(band.high, 4)}
