"""InnoDB tables without a key of their own, whose rows InnoDB clusters by an id that nobody sees."""

from __future__ import annotations

from collector.inspections import dictionary
from collector.inspections.gathering import gather
from collector.inspections.question import Inspecting, Question, Refused, process

MOST_TABLES = 5_000
#: A sequence of MariaDB's is stored as a table without a key: eight columns, and the three that InnoDB adds.
_COLUMNS_OF_A_SEQUENCE = "11"

#: The clustered index that InnoDB makes for itself has this name.
SQL = (
    "SELECT t.NAME, t.N_COLS, t.TABLE_ID FROM information_schema.{indexes} i "
    "JOIN information_schema.{tables} t ON t.TABLE_ID = i.TABLE_ID WHERE i.NAME = 'GEN_CLUST_INDEX'"
)
SEQUENCES = "SELECT TABLE_ID FROM information_schema.INNODB_SYS_COLUMNS WHERE NAME = 'next_not_cached_value' LIMIT 5000"


def read(inspecting: Inspecting) -> int:
    loads = dictionary.loads_each_table(inspecting)
    found = _told_by_keys(inspecting) if loads and _sees_keys(inspecting) else _told_by_innodb(inspecting, loads)
    if len(found) > MOST_TABLES:
        inspecting.remark("keyless_tables", f"Of {len(found):,} tables without a key {MOST_TABLES:,} were kept.")
    return inspecting.keep("keyless_tables", sorted(found)[:MOST_TABLES])


def _sees_keys(inspecting: Inspecting) -> bool:
    """Whether INFORMATION_SCHEMA shows the keys of all tables, generated invisible primary keys included."""
    try:
        inspecting.wants_all_tables()
    except Refused:
        return False
    shown = inspecting.snapshot.variables.get("show_gipk_in_create_table_and_information_schema", "ON")
    return shown.upper() == "ON"


def _told_by_keys(inspecting: Inspecting) -> set[tuple[str, str]]:
    """Tables without a primary key, and without a unique one of whole columns that are all NOT NULL: InnoDB clusters by
    neither an expression nor the beginning of a column.
    """
    gathered = gather(inspecting)
    if gathered.remark:
        inspecting.remark("keyless_tables", gathered.remark)
    usable: dict[tuple[str, str, str], bool] = {}
    for schema, table, index, _, column, prefix, _, non_unique, _, _, nullable in gathered.statistics:
        whole = prefix is None and not (column or "(").startswith("(")
        name = (schema or "", table or "", index or "")
        usable[name] = usable.get(name, True) and non_unique == "0" and whole and nullable != "YES"
    keyed = {name[:2] for name, clusters in usable.items() if clusters}
    tables = {(row[0] or "", row[1] or "") for row in gathered.tables if (row[2] or "").upper() == "INNODB"}
    return tables - keyed


def _told_by_innodb(inspecting: Inspecting, loads: bool) -> set[tuple[str, str]]:
    """By the name of the clustered index. Raises Refused where that is dear, and another grant would make it cheap."""
    count = dictionary.check_size(inspecting)
    shared = inspecting.snapshot.variables.get("innodb_file_per_table", "").upper() != "ON"
    if loads and (count > dictionary.MOST_LOADED_TABLES or shared):
        raise Refused(
            "REFERENCES",
            "With many tables MySQL takes seconds to read InnoDB's dictionary; INFORMATION_SCHEMA tells the same "
            "quickly to an account that sees all tables.",
        )
    tables, indexes = ("INNODB_TABLES", "INNODB_INDEXES") if loads else ("INNODB_SYS_TABLES", "INNODB_SYS_INDEXES")
    rows = inspecting.ask(SQL.format(tables=tables, indexes=indexes), max_rows=dictionary.MOST_DICTIONARY_TABLES).rows
    sequences: set[str | None] = set()
    if inspecting.server.is_mariadb and any(row[1] == _COLUMNS_OF_A_SEQUENCE for row in rows):
        sequences = {row[0] for row in inspecting.ask(SEQUENCES).rows}
    split = (dictionary.split(row[0]) for row in rows if row[2] not in sequences)
    return {table[:2] for table in split if table is not None}


QUESTION = Question("keyless_tables", "tables without a key", read, process)
