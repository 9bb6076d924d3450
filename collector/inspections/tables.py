"""Tables of people's schemas with their sizes as the server estimates them."""

from __future__ import annotations

from collector.connection import Row
from collector.inspections.batches import MOST_TABLES, batches
from collector.inspections.question import Inspecting, Question, all_tables

SQL = (
    "SELECT TABLE_SCHEMA, TABLE_NAME, ENGINE, ROW_FORMAT, TABLE_ROWS, DATA_LENGTH, INDEX_LENGTH, DATA_FREE, "
    "TABLE_COLLATION, AUTO_INCREMENT, CREATE_OPTIONS FROM information_schema.TABLES "
    "WHERE {where} AND TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') LIMIT {limit}"
)
#: Each subpartition is counted, since each is a tree of its own.
PARTITIONS = (
    "SELECT TABLE_SCHEMA, TABLE_NAME, COUNT(*) FROM information_schema.PARTITIONS "
    "WHERE {where} AND PARTITION_NAME IS NOT NULL GROUP BY TABLE_SCHEMA, TABLE_NAME LIMIT {limit}"
)


def read(inspecting: Inspecting) -> int:
    chosen = batches(inspecting)
    rows: list[Row] = []
    partitions: dict[tuple[str | None, str | None], str | None] = {}
    for where in chosen.conditions:
        found = inspecting.ask(SQL.format(where=where, limit=MOST_TABLES)).rows
        rows += found
        if any("partitioned" in (row[10] or "").lower() for row in found):
            for schema, name, count in inspecting.ask(PARTITIONS.format(where=where, limit=MOST_TABLES)).rows:
                partitions[schema, name] = count
    inspecting.counting = [(row[0] or "", row[1] or "", row[9]) for row in rows if row[9] is not None]
    if chosen.remark:
        inspecting.remark("tables", chosen.remark)
    return inspecting.keep("tables", [(*row[:9], partitions.get((row[0], row[1]), "0")) for row in rows])


QUESTION = Question("tables", "tables", read, all_tables)
