"""Columns that count upwards: the next value and the largest one that their type holds."""

from __future__ import annotations

import re

from collector.inspections.batches import MOST_TABLES, batches
from collector.inspections.question import Inspecting, Question, Stopped, all_tables

SQL = (
    "SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, COLUMN_TYPE FROM information_schema.COLUMNS "
    "WHERE {where} AND EXTRA LIKE '%auto_increment%' LIMIT {limit}"
)

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
    chosen = batches(inspecting)
    if inspecting.counting is None:
        raise Stopped("The tables could not be read, so that the next values are not known.")
    following = {(schema, name): value for schema, name, value in inspecting.counting}
    rows = []
    for where in chosen.conditions if following else ():
        for schema, table, column, kind in inspecting.ask(SQL.format(where=where, limit=MOST_TABLES)).rows:
            value = following.get((schema or "", table or ""))
            if value is not None:
                rows.append((schema, table, column, kind, value, maximum(kind or "")))
    if chosen.remark:
        inspecting.remark("auto_increments", chosen.remark)
    return inspecting.keep("auto_increments", rows)


QUESTION = Question("auto_increments", "auto-increment columns", read, all_tables)
