"""A judgement as it is stored: plain values with units, so that it says the same in years when the history is gone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from advisor.changes.verifying_history import Applied
from advisor.engine.verdict import Judged, Judgement
from advisor.engine.verdict_course import Course
from advisor.engine.verdict_figures import SHARE_OF_DRAWS, Figure

SCHEMA = 1


def document(
    found: Judgement, done: Applied, *, settled_at: float | None, predicted: Sequence[dict[str, Any]] = ()
) -> dict[str, Any]:
    """``{"why", "windows", "load", "metrics", ...}``; instants are unix seconds, ``confidence`` the share of draws that
    an interval holds, ``change`` a factor for amounts and a difference for shares.
    """
    chosen = found.windows
    return {
        "schema": SCHEMA,
        "verdict": found.verdict.value,
        "why": str(found.why),
        "began_at": done.began_at,
        "ended_at": done.ended_at,
        "settled_at": settled_at,
        "windows": None
        if chosen is None
        else {"before": _window(chosen.before), "after": _window(chosen.after), "earlier": len(chosen.earlier)},
        "work": found.work_kind,
        "confidence": SHARE_OF_DRAWS,
        "variables": list(done.variables),
        "rules": list(done.rules),
        "load": [_figure(one) for one in found.load],
        "metrics": [_row(one) for one in found.rows],
        "settings": list(found.settings),
        "predicted": list(predicted),
    }


def _window(course: Course) -> dict[str, Any]:
    return {
        "from": course.started_at,
        "to": course.ended_at,
        "seconds": round(float(course.seconds.sum()), 1),
        "polls": course.count,
    }


def _row(row: Judged) -> dict[str, Any]:
    return {**_figure(row.figure), "aim": row.aim, "guard": row.figure.metric.guard, "judged": row.word}


def _figure(one: Figure) -> dict[str, Any]:
    metric = one.metric
    return {
        "id": metric.id,
        "title": metric.title,
        "unit": metric.unit.value,
        "scale": metric.scale.value,
        "better": metric.better,
        "before": _plain(one.before),
        "after": _plain(one.after),
        "change": _plain(one.change),
        "low": _plain(one.low),
        "high": _plain(one.high),
    }


def _plain(value: float | None) -> float | None:
    """Six digits: what is behind them is noise, and JSON knows no infinity."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.6g}")
