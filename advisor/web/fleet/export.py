"""The filtered list as a file: every server that the address leaves, in the order of the page."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

from advisor.recommendations.models import FleetRow
from advisor.ui import messages
from advisor.web.fleet import listing
from advisor.web.fleet.filters import Filters

#: Rows fetched at once, so that a fleet of any size needs the memory of a few.
_BATCH = 500
#: A cell that begins with one of these is a formula to a spreadsheet.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
COLUMNS = (
    "id", "name", "team", "address", "state", "state_since_at", "condition", "flavor", "version", "role", "group",
    "tags", "pressure_ratio", "async_ratio", "headroom_seconds", "transactions_per_second", "dirty_ratio",
    "redo_bytes_per_second", "trouble_seconds_24h", "open_recommendations", "worst_severity", "why", "newest_sample_at",
)  # fmt: skip


def records(team_ids: Sequence[str], filters: Filters) -> Iterator[dict[str, Any]]:
    """One record for each server, with the names and units of the columns."""
    ids = list(listing.look(team_ids, filters).every)
    for start in range(0, len(ids), _BATCH):
        for row in listing.fetch(ids[start : start + _BATCH]):
            yield _record(row)


def _record(row: FleetRow) -> dict[str, Any]:
    server = row.server
    measured = row.state == row.condition and row.state != "calm"
    said = messages.text_of(row.headline) if row.headline else ""
    return {
        "id": row.server_id,
        "name": server.name,
        "team": row.team_id,
        "address": server.address,
        "state": row.state,
        "state_since_at": row.state_since.isoformat() if row.state_since else None,
        "condition": row.condition,
        "flavor": row.flavor,
        "version": row.version,
        "role": row.role,
        "group": row.group,
        "tags": server.tags,
        "pressure_ratio": row.pressure,
        "async_ratio": row.async_ratio,
        "headroom_seconds": row.headroom_seconds,
        "transactions_per_second": row.transactions_per_second,
        "dirty_ratio": None if row.dirty_percent is None else round(row.dirty_percent / 100, 6),
        "redo_bytes_per_second": row.redo_bytes_per_second,
        "trouble_seconds_24h": row.trouble_seconds,
        "open_recommendations": row.open_recommendations,
        "worst_severity": row.worst_severity,
        "why": said if measured or not row.worst_title else row.worst_title,
        "newest_sample_at": row.newest_sample_at.isoformat() if row.newest_sample_at else None,
    }


def as_csv(found: Iterator[dict[str, Any]]) -> Iterator[str]:
    """Lines of a CSV file with a head."""
    yield _line(COLUMNS)
    for record in found:
        yield _line([_cell(record[name]) for name in COLUMNS])


def as_json(found: Iterator[dict[str, Any]]) -> Iterator[str]:
    """One document: ``{"items": [...]}``."""
    yield '{"items": ['
    for number, record in enumerate(found):
        yield ("," if number else "") + "\n" + json.dumps(record, ensure_ascii=False)
    yield "\n]}\n"


def _line(cells: Sequence[object]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(cells)
    return text.getvalue()


def _cell(value: Any) -> object:
    """Text that a spreadsheet takes for text: an apostrophe stands before what it would compute."""
    if isinstance(value, list):
        value = " ".join(str(one) for one in value)
    if isinstance(value, str) and value.lstrip().startswith(_FORMULA):
        return f"'{value}"
    return "" if value is None else value
