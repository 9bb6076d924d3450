"""What is said of servers that may lose commits, store something else than was sent, or cannot be restored."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

from tests.servers import RunningServer
from tests.truth.exceptions import only_on
from tests.truth.scenario import EVERY, MARIADB, MYSQL, Options, Scenario

_OLD_MYSQL = "mysql-5.7.22"
_OLD_MARIADB = "mariadb-10.2.11"
_MODERN_MYSQL = tuple(name for name in MYSQL if name != _OLD_MYSQL)
#: MariaDB with innodb_snapshot_isolation (10.6.18 and later).
_WITH_SNAPSHOTS = tuple(name for name in MARIADB if name not in (_OLD_MARIADB, "mariadb-10.5"))


def _careless(server: str) -> Options:
    """As much as a server starts with that makes a crash or a mistake worse than it has to be."""
    options: dict[str, str | None] = {
        "log_bin": "binlog",
        "binlog_format": "STATEMENT",
        "sync_binlog": "0",
        "innodb_autoinc_lock_mode": "2",
        "innodb_doublewrite": "OFF",
        "innodb_flush_log_at_trx_commit": "2",
        "innodb_flush_log_at_timeout": "30",
        "innodb_fast_shutdown": "2",
        "innodb_strict_mode": "OFF",
        "delay_key_write": "ALL",
        "sql_mode": "",
    }
    if server in MYSQL or server in (_OLD_MARIADB, "mariadb-10.5"):
        options["innodb_checksum_algorithm"] = "none"
    if server in (*MYSQL, _OLD_MARIADB):
        options["innodb_log_checksums"] = "OFF"
    if server not in _MODERN_MYSQL:
        options |= {"sync_frm": "OFF", "innodb_force_recovery": "1"}
    if server in (_OLD_MYSQL, _OLD_MARIADB):
        options["innodb_locks_unsafe_for_binlog"] = "ON"
    return options


def _careful(server: str) -> Options:
    """A server that keeps what it acknowledged, and can be restored."""
    options: dict[str, str | None] = {"log_bin": "binlog", "binlog_format": "ROW", "sync_binlog": "1"}
    if server in _WITH_SNAPSHOTS:
        options["innodb_snapshot_isolation"] = "ON"
    return options


def _without_log(server: str) -> Options:
    """What MariaDB and MySQL 5.7 are by default, for all of them."""
    options: dict[str, str | None] = {"skip_log_bin": None} if server in _MODERN_MYSQL else {}
    if server in _WITH_SNAPSHOTS:
        options["innodb_snapshot_isolation"] = "OFF"
    return options


@contextmanager
def contended_writes(server: RunningServer) -> Iterator[None]:
    """Two sessions that change one row in turns, some twenty times a second, for a minute at most."""
    with closing(server.connect()) as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE DATABASE IF NOT EXISTS shop")
        cursor.execute("CREATE TABLE IF NOT EXISTS shop.stock (id INT PRIMARY KEY, pieces INT) ENGINE=InnoDB")
        cursor.execute("REPLACE INTO shop.stock VALUES (1, 0)")
        connection.commit()
    ended = threading.Event()
    until = time.monotonic() + 60

    def change() -> None:
        with closing(server.connect()) as session:
            own = session.cursor()
            while not ended.is_set() and time.monotonic() < until:
                own.execute("BEGIN")
                own.execute("UPDATE shop.stock SET pieces = pieces + 1 WHERE id = 1")
                time.sleep(0.04)
                own.execute("COMMIT")

    threads = [threading.Thread(target=change, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join(10)


def _redo_off(server: RunningServer) -> None:
    if server.name in ("mysql-8.0.33", "mysql-9.7"):
        server.sql("ALTER INSTANCE DISABLE INNODB REDO_LOG")


_MODES = frozenset(
    {
        "durability.commit-not-durable",
        "durability.flush-timeout-long",
        "durability.doublewrite-off",
        "durability.fast-shutdown-skips-flush",
        "durability.innodb-strict-mode-off",
        "durability.key-writes-delayed",
        "durability.strict-sql-mode-off",
        "durability.engine-substitution-allowed",
        "durability.foreign-key-checks-off",
        "durability.unique-checks-off",
        "durability.autocommit-off",
        "durability.dirty-reads-by-default",
        "durability.auto-increment-unsafe-for-statements",
    }
)
#: Rules about what only some versions have, each with the servers that have it.
_PARTLY: dict[str, tuple[str, ...]] = {
    "durability.page-checksums-off": (*MYSQL, _OLD_MARIADB, "mariadb-10.5"),
    "durability.log-checksums-off": (*MYSQL, _OLD_MARIADB),
    "durability.table-definitions-not-synced": (_OLD_MYSQL, *MARIADB),
    "durability.force-recovery-set": (_OLD_MYSQL, *MARIADB),
    "durability.locks-unsafe-for-binary-log": (_OLD_MYSQL, _OLD_MARIADB),
}
_HERE_NOT = "this version does not have it, or does not work with it"


SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        name="careless-about-crashes",
        what="Every setting that trades safety for speed or convenience, on one server",
        options=_careless,
        setup=(
            "SET GLOBAL foreign_key_checks = OFF",
            "SET GLOBAL unique_checks = OFF",
            "SET GLOBAL autocommit = OFF",
            "SET GLOBAL TRANSACTION ISOLATION LEVEL READ UNCOMMITTED",
        ),
        seconds=3,
        interval=1,
        fires=_MODES | frozenset(_PARTLY),
        severity={
            "durability.doublewrite-off": "critical",
            "durability.force-recovery-set": "critical",
            "durability.locks-unsafe-for-binary-log": "warning",
        },
        but=only_on(_PARTLY, _HERE_NOT),
        quick=True,
    ),
    Scenario(
        name="careful-about-crashes",
        what="Durable commits, rows in the binary log and the modes as they come: nothing of it is found",
        options=_careful,
        load=contended_writes,
        passes=_MODES
        | frozenset(_PARTLY)
        | {"durability.binary-log-off", "durability.snapshot-isolation-off", "durability.redo-log-disabled"}
        # Of another topic, and here since it is judged over ten seconds, too.
        | {"security.logins-refused"},
        but=only_on(
            {
                "security.logins-refused": MARIADB,
                **_PARTLY,
                "durability.page-checksums-off": EVERY,
                "durability.force-recovery-set": EVERY,
                "durability.snapshot-isolation-off": _WITH_SNAPSHOTS,
                "durability.redo-log-disabled": ("mysql-8.0.33", "mysql-9.7"),
            },
            _HERE_NOT,
        ),
        quick=True,
    ),
    Scenario(
        name="nothing-to-restore-from",
        what="Rows are written without a binary log, by transactions after one row, and without redo where that can be",
        options=_without_log,
        setup=_redo_off,
        load=contended_writes,
        fires=frozenset(
            {"durability.binary-log-off", "durability.snapshot-isolation-off", "durability.redo-log-disabled"}
        ),
        severity={"durability.binary-log-off": "notice", "durability.redo-log-disabled": "critical"},
        but=only_on(
            {
                "durability.snapshot-isolation-off": _WITH_SNAPSHOTS,
                "durability.redo-log-disabled": ("mysql-8.0.33", "mysql-9.7"),
            },
            _HERE_NOT,
        ),
        quick=True,
    ),
)
