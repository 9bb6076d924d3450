"""InnoDB's own dictionary, which PROCESS opens: it knows every InnoDB table, whatever the account may see elsewhere."""

from __future__ import annotations

import re

from collector.inspections.question import SYSTEM_SCHEMAS, Inspecting, Stopped

#: Beyond so many tables reading them costs the server too much to be worth it.
MOST_DICTIONARY_TABLES = 20_000

COUNT = "SELECT COUNT(*) FROM information_schema.{tables}"

_ESCAPED = re.compile(r"@([0-9a-f]{4})")
_PARTITION = re.compile(r"#(?:p|sp)#", re.IGNORECASE)


def names(inspecting: Inspecting) -> tuple[str, str, str]:
    """What the dictionary's tables, indexes and columns are called on this server."""
    if inspecting.server.is_mysql and inspecting.server.number >= (8, 0, 0):
        return "INNODB_TABLES", "INNODB_INDEXES", "INNODB_COLUMNS"
    return "INNODB_SYS_TABLES", "INNODB_SYS_INDEXES", "INNODB_SYS_COLUMNS"


def check_size(inspecting: Inspecting) -> None:
    """Raises Stopped where the dictionary is huge."""
    if inspecting.dictionary_count is None:
        counted = inspecting.ask(COUNT.format(tables=names(inspecting)[0])).rows
        inspecting.dictionary_count = int(counted[0][0] or 0)
    if inspecting.dictionary_count > MOST_DICTIONARY_TABLES:
        raise too_many(inspecting.dictionary_count)


def too_many(count: int) -> Stopped:
    return Stopped(
        f"The server has {count:,} tables. The inspection stopped here, since reading more than "
        f"{MOST_DICTIONARY_TABLES:,} would burden it."
    )


def split(name: str | None) -> tuple[str, str, bool] | None:
    """Schema and name of a table, and whether it is a partition of it; None for what is nobody's table.

    The dictionary writes names as the files are called: letters that are none of ASCII, and signs, as @ and the code
    in four digits. (Accented Latin, Greek and Cyrillic letters have shorter codes of their own; they stay as they
    stand.)
    """
    schema, slash, table = (name or "").partition("/")
    table, *partition = _PARTITION.split(table, maxsplit=1)
    if not slash or schema in SYSTEM_SCHEMAS or table.startswith(("#sql", "FTS_")):
        return None
    return _decoded(schema), _decoded(table), bool(partition)


def _decoded(name: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), name)
