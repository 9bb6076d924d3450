"""How many partitions InnoDB tables have: each is a table of its own in InnoDB's dictionary."""

from __future__ import annotations

from collections import Counter

from collector.inspections import dictionary
from collector.inspections.question import Inspecting, Question, process

MOST_TABLES = 2_000

SQL = "SELECT {column} FROM information_schema.{names} WHERE {column} LIKE '%#p#%' OR {column} LIKE '%#P#%'"


def read(inspecting: Inspecting) -> int:
    dictionary.check_size(inspecting)
    # MySQL 8 calls a tablespace as people call the table; in its file's name their signs are told from InnoDB's.
    column = "PATH" if dictionary.loads_each_table(inspecting) else "NAME"
    sql = SQL.format(names=dictionary.names(inspecting), column=column)
    rows = inspecting.ask(sql, max_rows=dictionary.MOST_DICTIONARY_TABLES).rows
    split = (dictionary.split(dictionary.of_file(row[0])) for row in rows)
    counted = Counter((table[0], table[1]) for table in split if table is not None and table[2])
    return inspecting.keep(
        "partitioned_tables",
        [(schema, name, str(count)) for (schema, name), count in counted.most_common(MOST_TABLES)],
    )


QUESTION = Question("partitioned_tables", "partitions of InnoDB tables", read, process)
