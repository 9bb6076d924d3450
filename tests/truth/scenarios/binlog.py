"""The binary log: set badly, under a load that shows it, and as it should be."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager

from tests.servers import RunningServer
from tests.truth.scenario import EVERY, MARIADB, MYSQL, Load, Options, Scenario

ENFORCED = tuple(name for name in MYSQL if name in ("mysql-8.0.33", "mysql-9.7"))
TIMED = tuple(name for name in EVERY if name not in ("mysql-5.7.22", "mariadb-10.2.11", "mariadb-10.5"))

_SETTINGS = frozenset(
    {"binlog.statement-format", "binlog.checksum-off", "binlog.files-small", "binlog.write-errors-ignored"}
)
_LOADED = frozenset(
    {
        "binlog.transaction-cache-spills",
        "binlog.statement-cache-spills",
        "binlog.group-commit-delay-idle",
        "binlog.volume-uncompressed",
        "binlog.expiry-not-enforced",
        "binlog.retention-short",
    }
)
_MANY_SESSIONS = frozenset({"binlog.cache-oversized"})


def badly(name: str) -> Options:
    """What makes a binary log dangerous or slow."""
    options: dict[str, str | None] = {
        "log_bin": "binlog",
        "binlog_format": "STATEMENT",
        "binlog_checksum": "NONE",
        "max_binlog_size": "1M",
        "binlog_cache_size": "128M",
        "loose_binlog_error_action": "IGNORE_ERROR",
    }
    if name.startswith("mysql-8") or name.startswith("mysql-9"):
        options["binlog_expire_logs_seconds"] = "0"
    return options


def loaded(name: str) -> Options:
    """Small caches, and a wait for company."""
    options: dict[str, str | None] = {
        "log_bin": "binlog",
        "binlog_format": "ROW",
        "binlog_cache_size": "32K",
        "binlog_stmt_cache_size": "32K",
    }
    if name in TIMED:
        options["binlog_expire_logs_seconds"] = "3600"
    if name in ENFORCED:
        options["binlog_expire_logs_auto_purge"] = "OFF"
    if name.startswith("mysql"):
        options["binlog_group_commit_sync_delay"] = "10000"
    else:
        options |= {"binlog_commit_wait_count": "10", "binlog_commit_wait_usec": "20000"}
    return options


def well(name: str) -> Options:
    """As it should be."""
    options: dict[str, str | None] = {
        "log_bin": "binlog",
        "binlog_format": "ROW",
        "binlog_cache_size": "64K",
        "binlog_stmt_cache_size": "64K",
    }
    options["binlog_expire_logs_seconds" if name in TIMED else "expire_logs_days"] = "172800" if name in TIMED else "2"
    return options


@contextmanager
def many_sessions(server: RunningServer) -> Iterator[None]:
    """Twelve sessions at once."""
    with ExitStack() as sessions:
        for _ in range(12):
            sessions.enter_context(closing(server.connect()))
        yield


def writing(bytes_each: int, rows: int) -> Load:
    """A load of some transactions and non-transactional statements a second, of so many rows of so many bytes."""

    @contextmanager
    def load(server: RunningServer) -> Iterator[None]:
        server.sql("CREATE DATABASE shop")
        for engine in ("InnoDB", "MyISAM"):
            server.sql(
                f"CREATE TABLE shop.{engine} (id INT AUTO_INCREMENT PRIMARY KEY, body MEDIUMBLOB) ENGINE = {engine}"
            )
        ended = threading.Event()

        def write() -> None:
            values = ", ".join([f"(REPEAT('x', {bytes_each}))"] * rows)
            with closing(server.connect(db="shop")) as connection:
                cursor = connection.cursor()
                until = time.monotonic() + 60
                while not ended.wait(0.15) and time.monotonic() < until:
                    for engine in ("InnoDB", "MyISAM"):
                        cursor.execute(f"INSERT INTO {engine} (body) VALUES {values}")

        writer = threading.Thread(target=write)
        writer.start()
        try:
            yield
        finally:
            ended.set()
            writer.join()

    return load


def _but(rules_by_server: dict[str, dict[str, str]], asked: frozenset[str]) -> dict[str, dict[str, str]]:
    """Only what is asked for can be left out."""
    return {
        name: {rule: why for rule, why in rules.items() if rule in asked}
        for name, rules in rules_by_server.items()
        if set(rules) & asked
    }


_NOT_THERE = {
    name: {
        **({"binlog.expiry-not-enforced": "MySQL 8.0.29 and later have it"} if name not in ENFORCED else {}),
        **({"binlog.retention-short": "days are the least that this version can be told"} if name not in TIMED else {}),
        **({"binlog.volume-uncompressed": "MySQL does not count what it writes"} if name in MYSQL else {}),
        **({"binlog.write-errors-ignored": "MySQL has it"} if name in MARIADB else {}),
    }
    for name in EVERY
}
_WELL = _SETTINGS | _LOADED | _MANY_SESSIONS | {"binlog.retention-unbounded"}

SCENARIOS = (
    Scenario(
        name="binlog-set-badly",
        what="Kept for ever, in statements, without checksums, in small files, with a huge cache for each session",
        options=badly,
        load=many_sessions,
        seconds=3,
        interval=1,
        fires=_SETTINGS | _MANY_SESSIONS | {"binlog.retention-unbounded"},
        but=_but(_NOT_THERE, _SETTINGS),
        quick=True,
    ),
    Scenario(
        name="binlog-under-load",
        what="Transactions and statements larger than the caches, commits that wait alone, an expiry of an hour",
        options=loaded,
        load=writing(100_000, 5),
        warm_seconds=0.5,
        seconds=11,
        fires=_LOADED,
        but=_but(_NOT_THERE, _LOADED),
        quick=True,
    ),
    Scenario(
        name="binlog-as-it-should-be",
        what="Rows, checksums, two days, caches that suffice",
        options=well,
        load=writing(100, 5),
        warm_seconds=0.5,
        seconds=11,
        passes=_WELL,
        but=_but(_NOT_THERE, _WELL),
        quick=True,
    ),
)
