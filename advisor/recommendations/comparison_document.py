"""A comparison of two windows as plain JSON values: what compareWindows answers, and the page's JSON file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from advisor.engine.compare import Change, Comparison, Side
from advisor.engine.compare_factors import Factor
from advisor.engine.compare_settings import SettingDifference
from advisor.mysql.counters import Kind
from advisor.mysql.meanings import series_unit


def as_document(
    found: Comparison, changes: Sequence[Change], settings: Sequence[SettingDifference] | None, *, by_work: bool
) -> dict[str, Any]:
    """The comparison as plain JSON values; ``settings`` is null where they are not known at both moments."""
    work = found.work
    return {
        "before": _side(found.before),
        "after": _side(found.after),
        "work": None
        if work is None
        else {
            "kind": work.kind,
            "method": work.method,
            "before_per_second": work.before,
            "after_per_second": work.after,
            "ratio": work.ratio,
            "changed": work.changed,
        },
        "ordered_by": "work" if by_work else "second",
        "judged": found.judged,
        "restarted_between_at": None if found.restarted_at is None else round(found.restarted_at * 1000),
        "changes": [
            {
                "name": change.name,
                "also": list(change.also),
                "kind": change.kind.value,
                "unit": series_unit(change.name, rate=change.kind is not Kind.GAUGE),
                "grown_before": change.grown_before,
                "grown_after": change.grown_after,
                "per_second": _factor_document(change.per_second),
                "per_work": None if change.per_work is None else _factor_document(change.per_work),
                "score": round(change.score(per_work=by_work), 2),
                "unusual": change.unusual(per_work=by_work),
            }
            for change in changes
        ],
        "settings": None
        if settings is None
        else [{"name": one.name, "before": one.before, "after": one.after} for one in settings],
    }


def _factor_document(factor: Factor) -> dict[str, Any]:
    return dict(zip(("before", "after", "ratio", "low", "high"), figures(factor), strict=True))


def _side(side: Side) -> dict[str, Any]:
    return {
        "from": round(side.started_at * 1000),
        "to": round(side.ended_at * 1000),
        "measured_seconds": side.measured_seconds,
        "left_out_seconds": side.left_out_seconds,
        "readings": side.readings,
        "blocks": side.blocks,
        "block_seconds": side.block_seconds,
        "restarts": [round(at * 1000) for at in side.restarts],
    }


def figures(factor: Factor) -> tuple[float | None, ...]:
    """Before, after, ratio, and the bounds of its interval."""
    return factor.before, factor.after, factor.ratio, factor.low, factor.high
