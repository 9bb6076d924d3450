"""Transactions are counted right on real servers: known numbers of them are run, and the methods held against them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from advisor.mysql.counters import (
    AUTOCOMMIT_WRITES,
    BINLOG_COMMITS,
    EXPLICIT_COMMITS,
    INNODB_COMMITS,
    TransactionsMethod,
    fast_status_names,
    transactions_method,
)
from advisor.mysql.version import identify
from tests.servers import RunningServer
from tests.servers.fixtures import each_server

target = each_server(options={"log_bin": "binlog", "innodb_stats_auto_recalc": "OFF"})

TABLE = "counted.t"


@pytest.fixture(scope="module")
def table(target: RunningServer) -> str:
    target.sql("CREATE DATABASE IF NOT EXISTS counted")
    target.sql(f"CREATE TABLE IF NOT EXISTS {TABLE} (id INT PRIMARY KEY AUTO_INCREMENT, v INT) ENGINE=InnoDB")
    for name in ("trx_rw_commits", "trx_ro_commits"):
        target.sql(f"SET GLOBAL innodb_monitor_enable = '{name}'")
    return TABLE


def counted(server: RunningServer) -> dict[str, int]:
    """What the fast poll would read."""
    variables = {str(name): str(value) for name, value in server.sql("SHOW GLOBAL VARIABLES")}
    version = identify(variables["version"], variables["version_comment"], variables=variables)
    names = "','".join(fast_status_names(version))
    rows = server.sql(f"SHOW GLOBAL STATUS WHERE Variable_name IN ('{names}')")
    rows += server.sql("SELECT NAME, COUNT FROM information_schema.INNODB_METRICS WHERE NAME LIKE 'trx_r%_commits'")
    return {str(name): int(str(value)) for name, value in rows}


def grown(method: TransactionsMethod, before: Mapping[str, int], after: Mapping[str, int]) -> int:
    first, last = method.total(before), method.total(after)
    assert first is not None
    assert last is not None
    return last - first


def run(server: RunningServer, statements: list[str]) -> None:
    connection = server.connect()
    try:
        cursor = connection.cursor()
        for statement in statements:
            cursor.execute(statement)
    finally:
        connection.close()


def test_explicit_transactions_are_counted_once_each(target: RunningServer, table: str) -> None:
    before = counted(target)
    run(target, ["BEGIN", f"INSERT INTO {table} (v) VALUES (1)", f"UPDATE {table} SET v = 2", "COMMIT"] * 50)
    after = counted(target)
    assert grown(EXPLICIT_COMMITS, before, after) == 50
    assert 50 <= grown(INNODB_COMMITS, before, after) <= 65, "InnoDB commits some of its own"
    if "Binlog_commits" in after:
        assert grown(BINLOG_COMMITS, before, after) == 50
    assert after["Handler_commit"] - before["Handler_commit"] > 75, "what many take for transactions counts statements"


def test_writes_on_their_own_are_counted_once_each(target: RunningServer, table: str) -> None:
    before = counted(target)
    run(target, [f"INSERT INTO {table} (v) VALUES (1)", f"DELETE FROM {table} LIMIT 1"] * 50)
    after = counted(target)
    assert grown(AUTOCOMMIT_WRITES, before, after) == 100
    assert grown(EXPLICIT_COMMITS, before, after) == 0
    assert 100 <= grown(INNODB_COMMITS, before, after) <= 115


def test_reads_on_their_own_are_no_transactions(target: RunningServer, table: str) -> None:
    before = counted(target)
    run(target, [f"SELECT COUNT(*) FROM {table}"] * 100)
    after = counted(target)
    for method in (INNODB_COMMITS, EXPLICIT_COMMITS, AUTOCOMMIT_WRITES):
        assert grown(method, before, after) <= 15
    assert after["Handler_commit"] - before["Handler_commit"] >= 100


def test_the_method_follows_what_the_server_offers(target: RunningServer, table: str) -> None:
    values = counted(target)
    assert transactions_method(values, enabled_metrics={"trx_rw_commits", "trx_ro_commits"}) is INNODB_COMMITS
    without = {name: value for name, value in values.items() if not name.startswith("trx_")}
    expected = BINLOG_COMMITS if "Binlog_commits" in values else EXPLICIT_COMMITS
    assert transactions_method(without, log_bin=True) is expected
