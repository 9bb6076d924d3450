"""INFORMATION_SCHEMA in pieces: a schema at a time, so that no statement opens more tables than it has to.

On MySQL 5.7 and MariaDB every table that is asked about is opened, one that is named by its schema without a look at
the others.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.mysql.snapshot import Remedy, RemedyKind
from collector.inspections import dictionary
from collector.inspections.question import NOT_PEOPLES, Inspecting, literal
from collector.probes.probe import Skipped

MOST_TABLES = 5_000
#: With more schemas than this all are asked about at once.
MOST_STATEMENTS = 40

#: Names alone: nothing is opened for them.
COUNTS = (
    f"SELECT TABLE_SCHEMA, COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA NOT IN {NOT_PEOPLES} "
    "GROUP BY TABLE_SCHEMA"
)


@dataclass(frozen=True)
class Batches:
    """Conditions on TABLE_SCHEMA to ask with one after the other; ``remark`` says what they leave out."""

    conditions: tuple[str, ...]
    remark: str = ""


def batches(inspecting: Inspecting) -> Batches:
    """Raises Refused where the account does not see all tables, Stopped where there are too many, and Skipped where
    looking at them would make the server count them anew.
    """
    inspecting.wants_all_tables()
    if inspecting.snapshot.variables.get("innodb_stats_on_metadata", "").upper() == "ON":
        raise Skipped(
            "With innodb_stats_on_metadata every look at a table makes the server compute its statistics anew.",
            Remedy(RemedyKind.ENABLE, "tables", "SET GLOBAL innodb_stats_on_metadata = OFF"),
        )
    if (inspecting.dictionary_count or 0) > dictionary.MOST_DICTIONARY_TABLES:
        raise dictionary.too_many(inspecting.dictionary_count or 0)
    if inspecting.table_counts is None:
        rows = inspecting.ask(COUNTS, max_rows=dictionary.MOST_DICTIONARY_TABLES).rows
        inspecting.table_counts = {schema or "": int(count or 0) for schema, count in rows}
    counts = inspecting.table_counts
    total = sum(counts.values())
    if total > dictionary.MOST_DICTIONARY_TABLES:
        raise dictionary.too_many(total)
    if len(counts) > MOST_STATEMENTS and total <= MOST_TABLES:
        return Batches((f"TABLE_SCHEMA NOT IN {NOT_PEOPLES}",))
    chosen: list[str] = []
    read = 0
    for schema in sorted(counts):
        if chosen and (read + counts[schema] > MOST_TABLES or len(chosen) >= MOST_STATEMENTS):
            continue
        chosen.append(schema)
        read += counts[schema]
    remark = (
        "" if read == total else f"Of {total:,} tables those of {len(chosen):,} schemas were read, {read:,} in all."
    )
    return Batches(tuple(f"TABLE_SCHEMA = {literal(schema)}" for schema in chosen), remark)
