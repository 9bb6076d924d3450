"""InnoDB's own dictionary, which PROCESS opens: it knows every InnoDB table, whatever the account may see elsewhere.

MySQL 5.7 and MariaDB read it at once (3,000 tables in 0.1 s). MySQL 8 loads each table for it, for seconds, and does
not mind its own time limit meanwhile: there the list of tablespaces, which costs nothing, stands in for the names.
"""

from __future__ import annotations

import re

from collector.inspections.question import SYSTEM_SCHEMAS, Inspecting, Stopped

#: Beyond so many tables reading them costs the server too much to be worth it.
MOST_DICTIONARY_TABLES = 20_000
#: What MySQL 8 takes two seconds for on a loaded machine, coming from disk.
MOST_LOADED_TABLES = 1_000

COUNT = "SELECT COUNT(*) FROM information_schema.{names}"

_ESCAPED = re.compile(r"@([0-9a-f]{4})")
_PARTITION = re.compile(r"#(?:p|sp)#", re.IGNORECASE)


def loads_each_table(inspecting: Inspecting) -> bool:
    """Whether this server's dictionary is read by loading every table of it."""
    return inspecting.server.is_mysql and inspecting.server.number >= (8, 0, 0)


def names(inspecting: Inspecting) -> str:
    """The table that lists the InnoDB tables and partitions of this server."""
    return "INNODB_TABLESPACES_BRIEF" if loads_each_table(inspecting) else "INNODB_SYS_TABLES"


def check_size(inspecting: Inspecting) -> int:
    """How many tables InnoDB has, the server's own and partitions included. Raises Stopped where it is too many."""
    if inspecting.dictionary_count is None:
        counted = inspecting.ask(COUNT.format(names=names(inspecting))).rows
        inspecting.dictionary_count = int(counted[0][0] or 0)
    if inspecting.dictionary_count > MOST_DICTIONARY_TABLES:
        raise too_many(inspecting.dictionary_count)
    return inspecting.dictionary_count


def too_many(count: int) -> Stopped:
    return Stopped(
        f"The server has {count:,} tables. The inspection stopped here, since reading more than "
        f"{MOST_DICTIONARY_TABLES:,} would burden it."
    )


def of_file(path: str | None) -> str:
    """The name of a table as the dictionary writes it, from the path of its file (or from that name itself)."""
    parts = (path or "").replace("\\", "/").removesuffix(".ibd").split("/")
    return "/".join(parts[-2:])


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
