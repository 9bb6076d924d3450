"""InnoDB tables without a key of their own, told by the name of the clustered index that InnoDB then makes."""

from __future__ import annotations

from collector.inspections import dictionary
from collector.inspections.question import Inspecting, Question, process

MOST_TABLES = 5_000

SQL = (
    "SELECT t.NAME, t.N_COLS, t.TABLE_ID FROM information_schema.{indexes} i "
    "JOIN information_schema.{tables} t ON t.TABLE_ID = i.TABLE_ID WHERE i.NAME = 'GEN_CLUST_INDEX'"
)
SEQUENCES = "SELECT TABLE_ID FROM information_schema.{columns} WHERE NAME = 'next_not_cached_value' LIMIT 5000"
#: A sequence of MariaDB's is stored as a table without a key: eight columns, and the three that InnoDB adds.
_COLUMNS_OF_A_SEQUENCE = "11"


def read(inspecting: Inspecting) -> int:
    dictionary.check_size(inspecting)
    tables, indexes, columns = dictionary.names(inspecting)
    rows = inspecting.ask(SQL.format(tables=tables, indexes=indexes), max_rows=dictionary.MOST_DICTIONARY_TABLES).rows
    sequences: set[str | None] = set()
    candidates = [row[2] or "" for row in rows if row[1] == _COLUMNS_OF_A_SEQUENCE]
    if inspecting.server.is_mariadb and candidates:
        asked = inspecting.ask(SEQUENCES.format(columns=columns))
        sequences = {row[0] for row in asked.rows}
    split = (dictionary.split(row[0]) for row in rows if row[2] not in sequences)
    found = {table[:2] for table in split if table is not None}
    if len(found) > MOST_TABLES:
        inspecting.remark("keyless_tables", f"Of {len(found):,} tables without a key {MOST_TABLES:,} were kept.")
    return inspecting.keep("keyless_tables", sorted(found)[:MOST_TABLES])


QUESTION = Question("keyless_tables", "tables without a key", read, process)
