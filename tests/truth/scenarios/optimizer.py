"""Statements that read too much, wait, fail or are asked too often, and settings that make the optimizer blind."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import Any

from MySQLdb import Error

from tests.servers import RunningServer
from tests.truth.exceptions import except_on
from tests.truth.scenario import MARIADB, MYSQL, Options, Scenario
from tests.truth.sessions import prepared, sessions

_DIGITS = "(SELECT 0 d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 "
_DIGITS += "UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)"
_WITHOUT_DIVES = ("mariadb-10.2.11",)
_OLD_MARIADB = ("mariadb-10.2.11",)
_WITH_MEMCACHED = ("mysql-8.0.33",)
_BEFORE_83 = ("mysql-5.7.22", "mysql-8.0.12", "mysql-8.0.33")

_STATEMENTS = frozenset(
    {
        "optimizer.statements-scan-tables",
        "optimizer.statements-join-without-index",
        "optimizer.statements-examine-much",
        "optimizer.statements-page-by-offset",
        "optimizer.statements-return-much",
        "optimizer.statements-spill-temporary-tables",
        "optimizer.statements-sort-much",
        "optimizer.statements-fail",
        "optimizer.statements-wait-for-locks",
    }
)
_DIVES_FEW = "optimizer.index-dives-few"
_DIVES_ALL = "optimizer.index-dives-unlimited"
_TABLE_STATISTICS = "optimizer.table-statistics-ignored"
_SELECTIVITY = "optimizer.condition-selectivity-ignored"
_RANGE_MEMORY = "optimizer.range-memory-low"
_MEMCACHED = "optimizer.memcached-plugin-blocks-upgrade"
_BUFFER = "optimizer.multi-range-read-buffer-small"
_LOOK_UPS = "optimizer.look-ups-by-key-dominate"
_RANGES = "optimizer.multi-range-read-candidate"
_BATCHES = "optimizer.batched-key-access-candidate"
_PARTITIONS = "schema.many-partitions"


def _numbers(digits: int) -> str:
    """The numbers of so many digits as ``n`` of a derived table."""
    letters = "abcdefg"[:digits]
    value = " + ".join(f"{one}.d * {10**place}" for place, one in enumerate(letters))
    return f"(SELECT {value} AS n FROM {', '.join(f'{_DIGITS} {one}' for one in letters)}) numbers"


# --- settings -----------------------------------------------------------------------------------------------------


def _misfit(server: str) -> Options:
    options: dict[str, str | None] = {"optimizer_switch": "derived_merge=off,index_condition_pushdown=off"}
    if server not in _WITHOUT_DIVES:
        options["eq_range_index_dive_limit"] = "10"
    if server in MARIADB:
        options |= {"use_stat_tables": "NEVER", "optimizer_use_condition_selectivity": "1"}
    else:
        options["range_optimizer_max_mem_size"] = "1048576"
    if server in _WITH_MEMCACHED:
        # No port at all; the account is for where the tests run as root.
        options["loose_daemon_memcached_option"] = "-p0 -U0 -uroot"
    return options


def _plugged(server: RunningServer) -> None:
    if server.name in _WITH_MEMCACHED:
        # Without tables of its own it has nothing to serve: it is there anyway.
        prepared(server, "INSTALL PLUGIN daemon_memcached SONAME 'libmemcached.so'")


# --- statements ---------------------------------------------------------------------------------------------------


def _items(server: RunningServer) -> None:
    """11,000 items of ten colours without an index on their note, some codes, and a MyISAM table."""
    prepared(
        server,
        "CREATE DATABASE tm_optimizer DEFAULT CHARACTER SET utf8mb4",
        "USE tm_optimizer",
        "CREATE TABLE items (id INT PRIMARY KEY, colour INT NOT NULL, size INT NOT NULL, code INT NOT NULL, note TEXT, "
        "KEY (colour)) ENGINE=InnoDB",
        "INSERT INTO items SELECT n, n % 10, n DIV 10, n % 997, CONCAT('note ', n * 7919 % 11003) "
        f"FROM {_numbers(5)} WHERE n < 11000",
        "CREATE TABLE codes (id INT PRIMARY KEY, code INT NOT NULL) ENGINE=InnoDB",
        f"INSERT INTO codes SELECT n, n FROM {_numbers(2)}",
        "CREATE TABLE counters (id INT PRIMARY KEY, n INT NOT NULL) ENGINE=MyISAM",
        "INSERT INTO counters VALUES (1, 0), (2, 0)",
        "ANALYZE TABLE items, codes",
    )


def _badly(cursor: Any, number: int) -> None:
    """Each of the faults once."""
    colour, size = number % 10, number % 1000
    for statement in (
        f"SELECT id FROM items WHERE note = 'note {size}'",
        f"SELECT c.id, i.id FROM codes c STRAIGHT_JOIN items i ON i.code = c.code + {size} WHERE c.id < 5 AND i.size "
        "< 3",
        f"SELECT id FROM items FORCE INDEX (colour) WHERE colour = {colour} AND size = {size}",
        f"SELECT id, code FROM items WHERE id >= {number % 100}",
        f"SELECT id, size FROM items WHERE id >= 0 ORDER BY id LIMIT {5000 + size}, 10",
        f"SELECT note, COUNT(*) FROM items WHERE id < {200 + colour} GROUP BY note",
        f"SELECT id FROM items ORDER BY code DESC, size, id LIMIT {10_900 + colour}, 5",
    ):
        cursor.execute(statement)
        cursor.fetchall()
    with suppress(Error):
        cursor.execute("INSERT INTO codes VALUES (1, 1)")


def _holding(cursor: Any, _number: int) -> None:
    cursor.execute("UPDATE counters SET n = n + 1 WHERE id = 1 AND SLEEP(0.03) = 0")


def _waiting(cursor: Any, _number: int) -> None:
    cursor.execute("UPDATE counters SET n = n + 2 WHERE id = 2")


def _within(*turns: Callable[[Any, int], None]) -> tuple[Callable[[Any, int], None], ...]:
    """The turns in the schema of these scenarios."""

    def inside(turn: Callable[[Any, int], None]) -> Callable[[Any, int], None]:
        def one(cursor: Any, number: int) -> None:
            if number == 0:
                cursor.execute("USE tm_optimizer")
            turn(cursor, number)

        return one

    return tuple(inside(turn) for turn in turns)


def badly_written(server: RunningServer) -> AbstractContextManager[object]:
    """Two sessions with every bad statement, one that holds a table and three that wait for it."""
    return sessions(server, *_within(_badly, _badly, _holding, _waiting, _waiting, _waiting))


def _well(cursor: Any, number: int) -> None:
    """Statements with nothing to say of them, at leisure."""
    for statement in (
        f"SELECT note FROM items WHERE id = {number % 11_000}",
        f"SELECT id, note FROM items WHERE colour = {number % 10} LIMIT 20",
        f"SELECT i.note FROM codes c JOIN items i ON i.id = c.code WHERE c.id = {number % 100}",
    ):
        cursor.execute(statement)
        cursor.fetchall()
    if number % 20 == 0:
        cursor.execute(f"UPDATE items SET size = size + 1 WHERE id = {number % 11_000}")
    time.sleep(0.03)


def well_written(server: RunningServer) -> AbstractContextManager[object]:
    """A session that asks for what it needs."""
    return sessions(server, *_within(_well))


# --- scattered reads ----------------------------------------------------------------------------------------------


def _scattered(server: RunningServer) -> None:
    """Rows in the order of their ids whose index over the day scatters them, more than the buffer pool holds; the same
    with a long key; and a table of 150 partitions.
    """
    partitions = ", ".join(f"PARTITION p{number} VALUES LESS THAN ({number + 1})" for number in range(150))
    prepared(
        server,
        "CREATE DATABASE tm_optimizer DEFAULT CHARACTER SET utf8mb4",
        "USE tm_optimizer",
        "CREATE TABLE orders (id INT PRIMARY KEY, sold INT NOT NULL, item INT NOT NULL, pad CHAR(250) NOT NULL, "
        "KEY (sold)) ENGINE=InnoDB DEFAULT CHARACTER SET latin1",
        f"INSERT INTO orders SELECT n, n * 7919 % 1000, n * 104729 % 40000, 'x' FROM {_numbers(5)} WHERE n < 40000",
        "CREATE TABLE named (name CHAR(40) PRIMARY KEY, sold INT NOT NULL, pad CHAR(100) NOT NULL, KEY (sold)) "
        "ENGINE=InnoDB",
        f"INSERT INTO named SELECT CONCAT('name ', n * 7919 % 10007), n % 10, 'x' FROM {_numbers(4)}",
        "CREATE TABLE visits (id INT NOT NULL, seen INT NOT NULL, member INT NOT NULL, PRIMARY KEY (id, seen), "
        f"KEY (member)) ENGINE=InnoDB PARTITION BY RANGE (seen) ({partitions})",
        f"INSERT INTO visits SELECT n, n % 150, n DIV 40 FROM {_numbers(4)}",
    )
    server.restart({"innodb_buffer_pool_size": "14M"})


def _scattering(server: str) -> Options:
    # Reads are to be many and cheap: they come from the machine's own cache.
    options: dict[str, str | None] = {
        "performance_schema": "ON",
        "innodb_flush_method": "fsync",
        "innodb_flush_log_at_trx_commit": "2",
    }
    if server in MARIADB:
        options["mrr_buffer_size"] = "8192"
    return options


def _range(cursor: Any, number: int) -> None:
    first = number * 37 % 900
    cursor.execute(
        f"SELECT SUM(LENGTH(pad)) FROM orders FORCE INDEX (sold) WHERE sold BETWEEN {first} AND {first + 25}"
    )
    cursor.fetchall()
    time.sleep(0.02)


def _join(cursor: Any, number: int) -> None:
    first = number * 1999 % 38_000
    cursor.execute(
        "SELECT SUM(LENGTH(i.pad)) FROM orders o STRAIGHT_JOIN orders i ON i.id = o.item "
        f"WHERE o.id BETWEEN {first} AND {first + 1000}"
    )
    cursor.fetchall()


def _many(cursor: Any, number: int) -> None:
    cursor.execute(f"SELECT * FROM visits WHERE member = {number % 250} ORDER BY seen DESC LIMIT 10")
    cursor.fetchall()
    time.sleep(0.03)


def _sorted_reads(cursor: Any, number: int) -> None:
    if number == 0:
        cursor.execute("SET optimizer_switch = 'mrr=on,mrr_cost_based=off'")
    cursor.execute(f"SELECT SUM(LENGTH(pad)) FROM named FORCE INDEX (sold) WHERE sold BETWEEN {number % 8} AND 9")
    cursor.fetchall()
    time.sleep(0.5)


def scattered_reads(server: RunningServer) -> AbstractContextManager[object]:
    """A range and joins over scattered rows, look-ups in every partition; on MariaDB multi-range reads, too."""
    turns = [_range, _join, _join, _many]
    if server.name in MARIADB:
        turns.append(_sorted_reads)
    return sessions(server, *_within(*turns))


# --- look-ups -----------------------------------------------------------------------------------------------------

_AT_ONCE = 50


def _tokens(server: RunningServer) -> None:
    prepared(
        server,
        "CREATE DATABASE tm_optimizer DEFAULT CHARACTER SET utf8mb4",
        "USE tm_optimizer",
        "CREATE TABLE tokens (id INT PRIMARY KEY, word VARCHAR(40) NOT NULL, used INT NOT NULL) ENGINE=InnoDB",
        f"INSERT INTO tokens SELECT n, HEX(n * 7919), 0 FROM {_numbers(4)}",
    )


def _look_up(cursor: Any, number: int) -> None:
    """Many look-ups in one go, so that it is the server that works and not the tests."""
    keys = (number * _AT_ONCE * 7 + one * 13 for one in range(_AT_ONCE))
    cursor.execute(";".join(f"SELECT word FROM tokens WHERE id = {key % 10_000}" for key in keys))
    while cursor.nextset() is not None:
        pass
    cursor.execute(f"SELECT used FROM tokens WHERE id = {number % 10_000} AND used < 3")
    cursor.fetchall()
    cursor.execute(f"SELECT id, word FROM tokens WHERE id BETWEEN {number % 9_000} AND {number % 9_000 + 1}")
    cursor.fetchall()


def look_ups(server: RunningServer) -> AbstractContextManager[object]:
    """Two sessions that ask for one token after the other."""
    return sessions(server, *_within(_look_up, _look_up))


def _bad_options(server: str) -> Options:
    options: dict[str, str | None] = {"performance_schema": "ON"}
    if server not in _WITHOUT_DIVES:
        options["eq_range_index_dive_limit"] = "0"
    if server in MYSQL and server != "mysql-5.7.22":
        # TempTable would keep the long texts in memory.
        options["internal_tmp_mem_storage_engine"] = "MEMORY"
    return options


_WATCHED: Options = {"performance_schema": "ON"}
_NOT_MARIADB = (MARIADB, "is another flavor", (_RANGE_MEMORY, _MEMCACHED))
_NOT_MYSQL = (MYSQL, "is another flavor", (_TABLE_STATISTICS, _SELECTIVITY, _BUFFER))
_TOO_OLD = (
    _OLD_MARIADB,
    "has other defaults, or no such variable",
    (_TABLE_STATISTICS, _SELECTIVITY, _DIVES_FEW, _DIVES_ALL),
)

_SCANS = "optimizer.statements-scan-tables"
_EXAMINE = "optimizer.statements-examine-much"
_PAGES = "optimizer.statements-page-by-offset"


def _uncounted(*rules: str) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    return ("mariadb-10.2.11",), "counts no rows that statements examine", rules


SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        name="optimizer-misconfigured",
        what="Settings of the optimizer that were carried over from old versions or changed for one statement",
        options=_misfit,
        setup=_plugged,
        seconds=2,
        interval=1,
        fires=frozenset(
            {
                "optimizer.switch-changed-from-default",
                _DIVES_FEW,
                _TABLE_STATISTICS,
                _SELECTIVITY,
                _RANGE_MEMORY,
                _MEMCACHED,
            }
        ),
        but=except_on(
            _NOT_MARIADB,
            (MYSQL, "is another flavor", (_TABLE_STATISTICS, _SELECTIVITY)),
            (_OLD_MARIADB, "has other defaults, or no such variable", (_TABLE_STATISTICS, _SELECTIVITY, _DIVES_FEW)),
            (tuple(one for one in MYSQL if one not in _WITH_MEMCACHED), "comes without the plugin", (_MEMCACHED,)),
        ),
        quick=True,
    ),
    Scenario(
        name="optimizer-statements-bad",
        what="One statement for each fault that digests tell of",
        options=_bad_options,
        setup=_items,
        load=badly_written,
        warm_seconds=1.5,
        inspect=True,
        fires=_STATEMENTS | {_DIVES_ALL, "optimizer.one-statement-dominates"},
        passes=frozenset({_PARTITIONS, _LOOK_UPS}),
        but=except_on(
            (_OLD_MARIADB, _TOO_OLD[1], (_DIVES_ALL,)), _uncounted(_PAGES, _SCANS, _EXAMINE, _PARTITIONS, _LOOK_UPS)
        ),
        quick=True,
    ),
    Scenario(
        name="optimizer-statements-good",
        what="Statements that ask for what they need, under the defaults: nothing is said of them",
        options=_WATCHED,
        setup=_items,
        load=well_written,
        warm_seconds=1.5,
        inspect=True,
        passes=_STATEMENTS
        | {
            "optimizer.switch-changed-from-default",
            "optimizer.one-statement-dominates",
            _DIVES_FEW,
            _DIVES_ALL,
            _TABLE_STATISTICS,
            _SELECTIVITY,
            _RANGE_MEMORY,
            _MEMCACHED,
            _RANGES,
            _BATCHES,
            _BUFFER,
        },
        but=except_on(
            _NOT_MARIADB,
            _NOT_MYSQL,
            _TOO_OLD,
            (tuple(one for one in MYSQL if one not in _BEFORE_83), "never had the plugin", (_MEMCACHED,)),
            _uncounted(_PAGES, _SCANS, _EXAMINE, _RANGES, _BATCHES),
        ),
    ),
    Scenario(
        name="optimizer-reads-scattered",
        what="Ranges, joins and 150 partitions that read scattered pages from disk",
        options=_scattering,
        setup=_scattered,
        load=scattered_reads,
        warm_seconds=2,
        seconds=11,
        inspect=True,
        fires=frozenset({_RANGES, _BATCHES, _BUFFER, _PARTITIONS}),
        passes=frozenset({"optimizer.statements-fail"}),
        but=except_on(
            _uncounted(_RANGES, _BATCHES, _PARTITIONS),
            (MYSQL, "counts no fillings of the buffer", (_BUFFER,)),
            (("mysql-5.7.22",), "reads too few pages for each row of this mix in some runs", (_RANGES,)),
        ),
    ),
    Scenario(
        name="optimizer-look-ups-by-key",
        what="Thousands of look-ups of single rows a second",
        options=_WATCHED,
        setup=_tokens,
        load=look_ups,
        warm_seconds=1.5,
        inspect=True,
        fires=frozenset({_LOOK_UPS}),
        passes=frozenset({_RANGES, _BATCHES, "optimizer.statements-scan-tables"}),
        but=except_on(_uncounted(_RANGES, _BATCHES, _SCANS, _LOOK_UPS)),
    ),
)
