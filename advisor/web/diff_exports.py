"""Before and after as files: CSV, JSON, and a table of plain text for a ticket. Names and units no language changes."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from advisor.engine.compare import Change, Comparison, Side
from advisor.engine.compare_factors import Factor
from advisor.engine.compare_settings import SettingDifference
from advisor.mysql.counters import Kind
from advisor.mysql.meanings import series_unit
from advisor.web.diff_page import row

COLUMNS = (
    "name", "kind", "unit", "grown_before", "grown_after", "before", "after", "ratio", "low", "high",
    "before_per_work", "after_per_work", "ratio_per_work", "low_per_work", "high_per_work", "score", "unusual",
)  # fmt: skip
#: So many rows stand in the text: a ticket is read by people.
_TEXT_ROWS = 40


def as_csv(changes: Sequence[Change], *, by_work: bool) -> str:
    """One row for each counter, in the page's order; rates are per second, gauges as their mean."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for change in changes:
        work = change.per_work
        writer.writerow(
            "" if value is None else value
            for value in (
                change.name, change.kind.value, series_unit(change.name, rate=change.kind is not Kind.GAUGE),
                change.grown_before, change.grown_after, *_factor(change.per_second),
                *(_factor(work) if work is not None else (None,) * 5),
                round(change.score(per_work=by_work), 2), change.unusual(per_work=by_work),
            )
        )  # fmt: skip
    return text.getvalue()


def _factor(factor: Factor) -> tuple[float | None, ...]:
    return factor.before, factor.after, factor.ratio, factor.low, factor.high


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
    return dict(zip(("before", "after", "ratio", "low", "high"), _factor(factor), strict=True))


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


def as_text(
    title: str,
    load: str,
    found: Comparison,
    changes: Sequence[Change],
    settings: Sequence[SettingDifference] | None,
    *,
    by_work: bool,
    unit: str,
) -> str:
    """An aligned table that reads the same in a ticket, a mail and a terminal."""
    lines = [title, f"A {_span(found.before)}", f"B {_span(found.after)}", load]
    if found.restarted_at is not None:
        lines.append(
            f"restarted between A and B: {datetime.fromtimestamp(found.restarted_at, UTC):%Y-%m-%d %H:%M:%S} UTC"
        )
    lines.append("")
    heads = ("", "A", "B", f"B/A per {unit}" if by_work else "B/A per second", "95 %")
    rows = [heads]
    for change in changes[:_TEXT_ROWS]:
        shown = row(change, by_work)
        told = by_work and change.per_work is not None
        before, after = (shown.before_work, shown.after_work) if told else (shown.before, shown.after)
        rows.append((change.name, before, after, shown.factor, shown.interval))
    lines += aligned(rows)
    if len(changes) > _TEXT_ROWS:
        lines.append(f"... {len(changes) - _TEXT_ROWS} more")
    if settings:
        lines += ["", *aligned([("setting", "A", "B"), *((s.name, s.before or "-", s.after or "-") for s in settings)])]
    return "\n".join(lines)


def _span(side: Side) -> str:
    begun, until = (datetime.fromtimestamp(at, UTC) for at in (side.started_at, side.ended_at))
    restarts = f", restarts: {len(side.restarts)}" if side.restarts else ""
    return f"{begun:%Y-%m-%d %H:%M:%S} - {until:%Y-%m-%d %H:%M:%S} UTC{restarts}"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns as wide as their widest cell, the first to the left, others to the right; Korean counts double."""
    widths = [max(_width(one[column]) for one in rows) for column in range(len(rows[0]))]
    lines = []
    for one in rows:
        cells = [one[0] + " " * (widths[0] - _width(one[0]))]
        cells += [" " * (width - _width(cell)) + cell for cell, width in zip(one[1:], widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return lines


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
