"""Before and after as files: CSV, and a table of plain text for a ticket. No language changes their names and units."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime

from advisor.engine.compare import Change, Comparison, Side
from advisor.engine.compare_settings import SettingDifference
from advisor.mysql.counters import Kind
from advisor.mysql.meanings import series_unit
from advisor.recommendations.comparison_document import figures
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
                change.grown_before, change.grown_after, *figures(change.per_second),
                *(figures(work) if work is not None else (None,) * 5),
                round(change.score(per_work=by_work), 2), change.unusual(per_work=by_work),
            )
        )  # fmt: skip
    return text.getvalue()


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
