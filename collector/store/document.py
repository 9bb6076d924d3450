"""The buckets of some series as plain JSON values: what getSeries answers, and every page that offers the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from advisor.mysql.meanings import series_unit
from collector.store.interface import Buckets, RecordedGap, SeriesKind


def as_document(buckets: Buckets, wanted: Sequence[str], gaps: Sequence[RecordedGap]) -> dict[str, Any]:
    """Instants in unix milliseconds; points are [instant, least, greatest, last], None where the line breaks."""
    return {
        "from": round(buckets.start * 1000),
        "to": round(buckets.end * 1000),
        "step_seconds": buckets.step_seconds,
        "series": [
            {
                "name": name,
                "unit": series_unit(name, rate=buckets.series[name].kind is SeriesKind.RATE),
                "kind": buckets.series[name].kind.value,
                "points": buckets.points(name),
            }
            for name in wanted
        ],
        "gaps": [
            {
                "from": round(gap.started_at * 1000),
                "to": None if gap.ended_at is None else round(gap.ended_at * 1000),
                "why": gap.why,
            }
            for gap in gaps
        ],
    }
