"""Tables and indexes as years leave them, and as they should be."""

from __future__ import annotations

from contextlib import closing

from tests.servers import RunningServer
from tests.truth.exceptions import except_on
from tests.truth.scenario import EVERY, MARIADB, MYSQL, Options, Scenario
from tests.truth.sessions import prepared

#: Everybody but administrators finds the server nine days older than it is, so that reads of indexes were counted for
#: long enough: the session's own clock decides what Uptime says.
_NINE_DAYS = "SET timestamp = UNIX_TIMESTAMP() + 777600"

#: Servers whose tables can be given a file that is bigger than what is in it.
_AUTOEXTEND = ("mysql-8.0.33", "mysql-9.7")
_INVISIBLE = ("mysql-8.0.12", "mysql-8.0.33", "mysql-9.7")
_IGNORED = tuple(name for name in MARIADB if name not in ("mariadb-10.2.11", "mariadb-10.5"))
_SHOWN_ALWAYS = tuple(name for name in EVERY if name not in _INVISIBLE + _IGNORED)

_FRAGMENTED = "schema.tables-fragmented"
_HIDDEN = "schema.indexes-invisible-forgotten"
_BLACKHOLE = "schema.tables-discard-rows"

_ALL = frozenset(
    {
        "schema.tables-without-primary-key",
        "schema.indexes-redundant",
        "schema.indexes-unused",
        "schema.auto-increment-near-end",
        "schema.non-transactional-tables",
        _FRAGMENTED,
        "schema.character-sets-old",
        "schema.collations-mixed",
        "schema.row-format-old",
        "schema.memory-engine-tables",
        _HIDDEN,
        "schema.indexes-outweigh-data",
        "schema.indexes-too-many",
        _BLACKHOLE,
    }
)


def _options(server: str) -> Options:
    options: dict[str, str | None] = {"performance_schema": "ON", "init_connect": _NINE_DAYS}
    if server in _AUTOEXTEND:
        # A file that grows is not filled with zeros, so that a gibibyte costs nothing.
        options["innodb_extend_and_initialize"] = "OFF"
    return options


def _neglected(server: RunningServer) -> None:
    """One table for each fault. Sizes that would take minutes to write are told by InnoDB's persistent statistics."""
    columns = ", ".join(f"c{number} INT" for number in range(16))
    keys = ", ".join(f"KEY (c{number})" for number in range(16))
    statements = [
        "CREATE DATABASE tm_old DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
        "USE tm_old",
        "CREATE TABLE keyless (a INT, b INT) ENGINE=InnoDB",
        "INSERT INTO keyless VALUES (1, 1), (2, 2)",
        "CREATE TABLE nearly (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, a INT) ENGINE=InnoDB "
        "AUTO_INCREMENT=2000000000",
        "INSERT INTO nearly (a) VALUES (1)",
        "CREATE TABLE isam (id INT PRIMARY KEY, a INT) ENGINE=MyISAM",
        "INSERT INTO isam VALUES (1, 1)",
        "CREATE TABLE three (id INT PRIMARY KEY, name VARCHAR(20)) ENGINE=InnoDB CHARACTER SET utf8",
        "CREATE TABLE other (id INT PRIMARY KEY, name VARCHAR(20)) ENGINE=InnoDB COLLATE utf8mb4_unicode_ci",
        "CREATE TABLE compact (id INT PRIMARY KEY, name VARCHAR(20)) ENGINE=InnoDB ROW_FORMAT=COMPACT",
        "CREATE TABLE lost (id INT PRIMARY KEY, name VARCHAR(20)) ENGINE=MEMORY",
        f"CREATE TABLE many (id INT PRIMARY KEY, {columns}, {keys}) ENGINE=InnoDB",
        "CREATE TABLE heavy (id INT PRIMARY KEY, a INT, b INT, KEY short (a), KEY longer (a, b), KEY unread (b)) "
        "ENGINE=InnoDB STATS_PERSISTENT=1 STATS_AUTO_RECALC=0",
        "INSERT INTO heavy VALUES (1, 1, 1), (2, 2, 2)",
        "UPDATE mysql.innodb_table_stats SET n_rows = 5000000, clustered_index_size = 20000, "
        "sum_of_other_index_sizes = 200000 WHERE database_name = 'tm_old' AND table_name = 'heavy'",
        "FLUSH TABLE heavy",
    ]
    if server.name in _AUTOEXTEND:
        statements.append("CREATE TABLE hollow (id INT PRIMARY KEY) ENGINE=InnoDB AUTOEXTEND_SIZE=1088M")
    if server.name in MYSQL:
        statements.append("CREATE TABLE void (id INT PRIMARY KEY) ENGINE=BLACKHOLE")
    if server.name not in _SHOWN_ALWAYS:
        word = "IGNORED" if server.name in MARIADB else "INVISIBLE"
        statements.append(f"CREATE TABLE hidden (id INT PRIMARY KEY, a INT, KEY (a) {word}) ENGINE=InnoDB")
    prepared(server, *statements)
    if server.name in MARIADB:
        # Newer versions keep a table's statistics until they forget the table.
        server.restart()


def _kept(server: RunningServer) -> None:
    """One table with nothing to say of it, whose index was read."""
    prepared(
        server,
        "CREATE DATABASE tm_kept DEFAULT CHARACTER SET utf8mb4",
        "CREATE TABLE tm_kept.orders (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, customer INT NOT NULL, day DATE, "
        "KEY (customer, day), UNIQUE KEY (day, customer)) ENGINE=InnoDB",
        "INSERT INTO tm_kept.orders (customer, day) VALUES (1, '2026-01-01'), (2, '2026-01-01'), (3, '2026-01-02')",
    )
    with closing(server.connect()) as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT * FROM tm_kept.orders FORCE INDEX (customer) WHERE customer = 2 AND day > '2025-01-01'")
        cursor.fetchall()


_BUT = (
    (_SHOWN_ALWAYS, "its indexes are always visible", (_HIDDEN,)),
    (
        tuple(name for name in EVERY if name not in _AUTOEXTEND),
        "a gibibyte would have to be written and deleted first",
        (_FRAGMENTED,),
    ),
    (MARIADB, "comes without the BLACKHOLE engine", (_BLACKHOLE,)),
)

SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        name="schema-neglected",
        what="A schema with one table for each fault, inspected on a server that is nine days old",
        options=_options,
        setup=_neglected,
        seconds=2,
        interval=1,
        inspect=True,
        fires=_ALL,
        severity={"schema.auto-increment-near-end": "critical"},
        but=except_on(*_BUT),
        quick=True,
    ),
    Scenario(
        name="schema-well-kept",
        what="A schema with nothing to say of it",
        options=_options,
        setup=_kept,
        seconds=2,
        interval=1,
        inspect=True,
        passes=_ALL,
        but=except_on((_SHOWN_ALWAYS, "its indexes are always visible", (_HIDDEN,))),
        quick=True,
    ),
)
