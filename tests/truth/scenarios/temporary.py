"""Internal temporary tables: squeezed, unequal, forced to disk, and in the wrong engine."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from tests.servers import RunningServer
from tests.truth.exceptions import except_on
from tests.truth.scenario import EVERY, MARIADB, MYSQL, Options, Scenario
from tests.truth.sessions import prepared, sessions

_IN_HEAP = tuple(name for name in EVERY if name in MARIADB or name == "mysql-5.7.22")
#: Servers whose TempTable keeps BLOB columns and can map files by a limit of its own.
_TEMPTABLE = ("mysql-8.0.33", "mysql-9.7")
_MYSQL_8 = tuple(name for name in MYSQL if name != "mysql-5.7.22")
_WITHOUT_MAPS = tuple(name for name in EVERY if name not in _TEMPTABLE)

_UNEQUAL = "temporary.temporary-table-limits-unequal"
_OVERSIZED = "temporary.temporary-table-limit-oversized"


def _rows(server: RunningServer) -> None:
    """4,096 rows of some 120 bytes, with a TEXT column."""
    digits = "SELECT 0 d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 "
    digits += "UNION SELECT 7"
    prepared(
        server,
        "CREATE DATABASE tm_temporary",
        "CREATE TABLE tm_temporary.t (id INT PRIMARY KEY, kind INT NOT NULL, name VARCHAR(100) NOT NULL, words TEXT) "
        "ENGINE=InnoDB",
        "INSERT INTO tm_temporary.t SELECT a.d * 512 + b.d * 64 + c.d * 8 + e.d, b.d, "
        "REPEAT(CHAR(97 + (a.d * 8 + c.d) % 26), 90), REPEAT('w', 20) "
        f"FROM ({digits}) a, ({digits}) b, ({digits}) c, ({digits}) e",
    )


def _grouping(cursor: Any, number: int) -> None:
    # Some 3 MB: MySQL 8.0.33 counts no disk table where the limit is below TempTable's first block of 1 MiB.
    cursor.execute(
        f"SELECT a.id * 2 + b.id + {number} AS n, REPEAT(a.name, 4) AS longer, a.words, COUNT(*) "
        "FROM tm_temporary.t a JOIN tm_temporary.t b WHERE b.id < 2 GROUP BY n, longer, words ORDER BY NULL LIMIT 1"
    )
    cursor.fetchall()


def _in_memory(cursor: Any, _number: int) -> None:
    cursor.execute("SELECT kind, COUNT(*) FROM tm_temporary.t WHERE id < 64 GROUP BY kind ORDER BY NULL")
    cursor.fetchall()


def _sorting(cursor: Any, _number: int) -> None:
    cursor.execute("SELECT id, kind, name FROM tm_temporary.t ORDER BY name DESC, kind, id LIMIT 3000, 1000")
    cursor.fetchall()


def grouping_and_sorting(server: RunningServer) -> AbstractContextManager[object]:
    """Two sessions that group into large temporary tables and sort what does not fit."""
    return sessions(server, _grouping, _grouping, _sorting, _sorting)


def grouping(server: RunningServer) -> AbstractContextManager[object]:
    """Three sessions that group into large temporary tables."""
    return sessions(server, _grouping, _grouping, _grouping)


def grouping_little(server: RunningServer) -> AbstractContextManager[object]:
    """A session that groups into small temporary tables."""
    return sessions(server, _in_memory, pause=0.02)


def _forced(server: str) -> Options:
    """Every temporary table on disk, and limits that invite trouble."""
    options: dict[str, str | None] = {"big_tables": "ON", "tmp_table_size": "512M", "max_heap_table_size": "512M"}
    if server in _TEMPTABLE:
        options["temptable_max_mmap"] = "8G"
    return options


_SQUEEZED: Options = {"tmp_table_size": "2M", "max_heap_table_size": "2M", "sort_buffer_size": "32768"}

SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        name="temporary-tables-squeezed",
        what="Temporary tables stop at 2 MiB and sorts at 32 KiB: both go to disk, and the limits rise by what counts",
        options=_SQUEEZED,
        setup=_rows,
        load=grouping_and_sorting,
        warm_seconds=1,
        fires=frozenset({"temporary.temporary-tables-on-disk", "temporary.temporary-files-many"}),
        passes=frozenset(
            {
                "temporary.big-tables-forced",
                "temporary.temporary-table-limits-unequal",
                "temporary.temporary-table-limit-oversized",
                "temporary.temptable-maps-files",
            }
        ),
        but=except_on(
            (_MYSQL_8, "TempTable bounds all of them together", (_UNEQUAL, _OVERSIZED)),
            (_WITHOUT_MAPS, "maps no files, or without a limit of its own", ("temporary.temptable-maps-files",)),
        ),
    ),
    Scenario(
        name="temporary-limits-unequal",
        what="tmp_table_size was raised alone: the other limit counts, and one voice says so",
        servers=_IN_HEAP,
        elsewhere="MySQL 8 keeps temporary tables in TempTable, for which max_heap_table_size does not count",
        options={"tmp_table_size": "64M", "max_heap_table_size": "16384"},
        setup=_rows,
        load=grouping,
        warm_seconds=1,
        fires=frozenset({"temporary.temporary-table-limits-unequal"}),
        passes=frozenset({"temporary.temporary-tables-on-disk"}),
    ),
    Scenario(
        name="temporary-tables-forced",
        what="Every temporary table is made on disk at once, and one may take half a gigabyte",
        options=_forced,
        setup=_rows,
        load=grouping_little,
        fires=frozenset(
            {
                "temporary.big-tables-forced",
                "temporary.temporary-table-limit-oversized",
                "temporary.temptable-maps-files",
            }
        ),
        passes=frozenset({"temporary.temporary-tables-on-disk", "temporary.temporary-files-many"}),
        but=except_on(
            (_MYSQL_8, "TempTable bounds all of them together", (_OVERSIZED,)),
            (_WITHOUT_MAPS, "maps no files, or without a limit of its own", ("temporary.temptable-maps-files",)),
        ),
    ),
    Scenario(
        name="temporary-tables-in-the-memory-engine",
        what="MySQL 8 with the old engine for temporary tables, which sends TEXT columns to disk",
        servers=_TEMPTABLE,
        elsewhere="no choice of the engine, or a TempTable that keeps no TEXT columns",
        options={"internal_tmp_mem_storage_engine": "MEMORY"},
        setup=_rows,
        load=grouping,
        warm_seconds=1,
        fires=frozenset({"temporary.memory-engine-for-temporary-tables"}),
        passes=frozenset({"temporary.temporary-tables-on-disk"}),
    ),
    Scenario(
        name="temporary-tables-share-two-megabytes",
        what="MySQL 9 tells that the memory all temporary tables share was used up",
        servers=("mysql-9.7",),
        elsewhere="no counter tells it before MySQL 9",
        options={"temptable_max_ram": "2097152", "tmp_table_size": "16M"},
        setup=_rows,
        load=grouping,
        warm_seconds=1,
        fires=frozenset({"temporary.temptable-memory-exhausted"}),
        passes=frozenset({"temporary.temporary-tables-on-disk", "temporary.memory-engine-for-temporary-tables"}),
    ),
    Scenario(
        name="temporary-tables-with-room",
        what="The same temporary tables in the memory that MySQL 9 gives them by default",
        servers=("mysql-9.7",),
        elsewhere="no counter tells it before MySQL 9",
        setup=_rows,
        load=grouping_little,
        passes=frozenset({"temporary.temptable-memory-exhausted", "temporary.temporary-tables-on-disk"}),
    ),
)
