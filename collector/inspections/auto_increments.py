"""Columns that count upwards: the next value and the largest one that their type holds."""

from __future__ import annotations

import re

from collector.inspections.gathering import gather
from collector.inspections.question import Inspecting, Question, all_tables

_BITS = {"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "integer": 32, "bigint": 64}
_TYPE = re.compile(r"^(?P<name>[a-z]+)")


def maximum(column_type: str) -> str | None:
    """The largest value of an integer type as the server prints it (``int(10) unsigned``); None for other types."""
    match = _TYPE.match(column_type.lower())
    bits = _BITS.get(match["name"]) if match else None
    if bits is None:
        return None
    return str((1 << bits) - 1 if "unsigned" in column_type.lower() else (1 << (bits - 1)) - 1)


def read(inspecting: Inspecting) -> int:
    gathered = gather(inspecting)
    following = {(row[0], row[1]): row[9] for row in gathered.tables}
    if gathered.remark:
        inspecting.remark("auto_increments", gathered.remark)
    return inspecting.keep(
        "auto_increments",
        [
            (schema, table, column, kind, following[schema, table], maximum(kind or ""))
            for schema, table, column, kind in gathered.columns
        ],
    )


QUESTION = Question("auto_increments", "auto-increment columns", read, all_tables)
