"""Indexes with their columns, and how often each was read where performance_schema counts that."""

from __future__ import annotations

from collector.errors import USABLE
from collector.inspections.gathering import gather
from collector.inspections.question import NOT_PEOPLES, Inspecting, Question, all_tables

MOST_INDEXES = 20_000

#: Whether reads of indexes are counted at all.
COUNTED = (
    "SELECT (SELECT COUNT(*) FROM performance_schema.setup_instruments "
    "WHERE NAME = 'wait/io/table/sql/handler' AND ENABLED = 'YES') * "
    "(SELECT COUNT(*) FROM performance_schema.setup_consumers "
    "WHERE NAME = 'global_instrumentation' AND ENABLED = 'YES')"
)
READS = (
    "SELECT OBJECT_SCHEMA, OBJECT_NAME, INDEX_NAME, COUNT_READ "
    "FROM performance_schema.table_io_waits_summary_by_index_usage "
    f"WHERE INDEX_NAME IS NOT NULL AND OBJECT_SCHEMA NOT IN {NOT_PEOPLES} LIMIT {MOST_INDEXES}"
)
#: Where one of these is not zero, some indexes have no counter, and nobody knows which.
_LOST = ("Performance_schema_index_stat_lost", "Performance_schema_table_instances_lost")

Name = tuple[str, str, str]


def read(inspecting: Inspecting) -> int:
    gathered = gather(inspecting)
    parts: dict[Name, list[tuple[int, str]]] = {}
    about: dict[Name, tuple[str, str | None, str | None]] = {}
    stopped = False
    for schema, table, index, position, of, prefix, order, non_unique, seen, kind, _ in gathered.statistics:
        name = (schema or "", table or "", index or "")
        if name not in parts and len(parts) >= MOST_INDEXES:
            stopped = True
            continue
        text = f"{of or ''}({prefix})" if prefix is not None else of or ""
        parts.setdefault(name, []).append((int(position or 0), f"{text} DESC" if order == "D" else text))
        about[name] = ("0" if non_unique == "1" else "1", seen, kind)
    if gathered.remark:
        inspecting.remark("indexes", gathered.remark)
    if stopped:
        inspecting.remark("indexes", f"Only {len(parts):,} indexes were read.")
    counted = _reads(inspecting)
    uptime = str(inspecting.snapshot.uptime_seconds)
    rows = []
    for name, columns in parts.items():
        unique, seen, kind = about[name]
        # An index that is not among the counted ones belongs to a table that nobody opened since the server started.
        reads = None if counted is None else counted.get(name, "0")
        listed = ",".join(text for _, text in sorted(columns))
        rows.append((*name, listed, unique, seen, kind, reads, None if reads is None else uptime))
    return inspecting.keep("indexes", rows)


def _reads(inspecting: Inspecting) -> dict[Name, str] | None:
    """Reads by index since the server started; None where they are not counted, or not all of them."""
    if inspecting.snapshot.variables.get("performance_schema", "").upper() != "ON":
        return None
    if any(inspecting.snapshot.status.get(name, "0") != "0" for name in _LOST):
        inspecting.remark("indexes", "performance_schema has not enough room to count reads of every index.")
        return None
    try:
        if inspecting.ask(COUNTED).rows[0][0] != "1":
            return None
        rows = inspecting.ask(READS, max_rows=MOST_INDEXES).rows
    except USABLE as error:
        inspecting.remark("indexes", f"Reads of indexes could not be read. {error.sentence}")
        return None
    if len(rows) == MOST_INDEXES:
        return None
    return {(schema or "", table or "", index or ""): reads or "0" for schema, table, index, reads in rows}


QUESTION = Question("indexes", "indexes", read, all_tables)
