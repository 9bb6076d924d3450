"""Snapshots and polls of real servers: complete, partial with the GRANT that completes it, and cheap."""

from __future__ import annotations

import json
import re
import time
from itertools import pairwise
from typing import Any

import pytest

from advisor.mysql import series
from advisor.mysql.rates import Gap, GapReason, Interval, between
from advisor.mysql.snapshot import ProbeState, RemedyKind, Snapshot
from collector import redaction
from collector.collect import read_poll, read_snapshot
from collector.connection import connect
from collector.errors import Restarting
from collector.plan import FastPlan, Second
from collector.reports import check_connection
from collector.secret import Secret
from collector.target import Target, from_url
from tests.servers import DISTRIBUTION_SERVER, ClientUser, RunningServer, start_server
from tests.servers.fixtures import server_params

#: The distribution's own in the quick run, three in ./check --ci, all nine in ./check --all.
EVERY_SERVER = server_params()
#: Where the age is in the status variables, one statement is all there is.
ONE_STATEMENT = {"mysql-8.0.33", "mysql-9.7", "mariadb-10.5", "mariadb-10.11", "mariadb-11.4.5", "mariadb-11.8"}
NEVER = re.compile(
    r"\b(SET\s+(GLOBAL|PERSIST|@@GLOBAL)|FLUSH|KILL|RESET|INNODB_BUFFER_PAGE|information_schema\.(TABLES|COLUMNS|PARTITIONS|STATISTICS)"
    r"|CHECKSUM|ANALYZE|LOAD|HANDLER\s|LOCK\s+TABLES|SHOW\s+TABLE\s+STATUS|PROCESSLIST)\b",
    re.IGNORECASE,
)


def target(server: RunningServer | ClientUser, port: int | None = None) -> Target:
    return Target(
        user=server.user,
        password=Secret(server.password),
        host="127.0.0.1",
        port=port if port is not None else server.port,  # type: ignore[union-attr]
        unrestricted=True,
    )


@pytest.mark.parametrize("name", EVERY_SERVER)
def test_with_all_grants_every_probe_answers_and_a_poll_is_one_or_two_statements(name: str) -> None:
    options = {"performance_schema": "ON", "general_log": "ON"}
    with start_server(name, options=options) as server, connect(target(server)) as connection:
        snapshot = read_snapshot(connection)
        for probe in snapshot.probes:
            if probe.state is not ProbeState.OK:
                assert probe.state is ProbeState.SKIPPED, probe
                assert probe.name in {"innodb_status", "variable_origins"}, probe
                assert probe.remedy is None or probe.remedy.kind is RemedyKind.VERSION, probe
        assert snapshot.identity.version.flavor.value == server.flavor
        assert snapshot.identity.port == server.port
        assert snapshot.identity.role in {"standalone", "unknown"}
        assert {series.CHECKPOINT_AGE, series.PRESSURE, series.CAPACITY, series.MAXIMUM_AGE, series.LSN} <= set(
            snapshot.derived
        )
        assert {series.TRANSACTIONS, series.DIRTY_PERCENT} <= set(snapshot.derived)
        assert snapshot.metrics
        assert snapshot.performance_schema["enabled"] is True
        assert snapshot.performance_schema["consumers"]["global_instrumentation"] is True
        assert Snapshot.from_dict(json.loads(json.dumps(snapshot.as_dict()))) == snapshot

        plan = FastPlan.of(snapshot)
        assert plan.fits(connection)
        assert (plan.second is Second.NONE) == (name in ONE_STATEMENT)
        expected = 1 if plan.second is Second.NONE else 2
        before = _questions(connection)
        poll = read_poll(connection, plan)
        assert _questions(connection) - before - 1 == expected
        assert {series.CHECKPOINT_AGE, series.PRESSURE, series.TRANSACTIONS, "Questions", "Com_commit"} <= set(
            poll.values
        )
        assert 40 <= len(plan.names) <= 60

        asked = [line for line in server.general_log().splitlines() if "/* tidemark */" in line]
        assert len(asked) == connection.cost.statements
        assert [line for line in asked if NEVER.search(line)] == []
        assert connection.cost.statements <= 3 + 12 + 4


#: Whose redo log's writes performance_schema measures: MariaDB does no more since 10.6.
REDO_MEASURED = {"mysql-5.7.22", "mysql-8.0.12", "mysql-8.0.33", "mysql-9.7", "mariadb-10.2.11", "mariadb-10.5"}


@pytest.mark.parametrize("name", EVERY_SERVER)
def test_fsyncs_of_both_logs_are_counted_and_timed_by_the_server(name: str) -> None:
    options = {
        "performance_schema": "ON", "log_bin": "binlog", "sync_binlog": "1", "innodb_flush_log_at_trx_commit": "1",
    }  # fmt: skip
    with start_server(name, options=options) as server, connect(target(server)) as connection:
        server.sql("CREATE DATABASE shop")
        server.sql("CREATE TABLE shop.t (id INT AUTO_INCREMENT PRIMARY KEY) ENGINE=InnoDB")
        before = read_snapshot(connection).performance_schema["fsyncs"]
        for _ in range(50):
            server.sql("INSERT INTO shop.t VALUES ()")
        after = read_snapshot(connection).performance_schema["fsyncs"]
        assert set(after) == ({"redo", "binlog"} if name in REDO_MEASURED else {"binlog"})
        for log, (count, microseconds) in after.items():
            grown = count - before[log][0]
            # A commit is one fsync of each; the redo log may join some, and is flushed for checkpoints, too.
            assert grown >= 25 if log == "redo" else grown == 50, (log, grown)
            assert 0 < microseconds - before[log][1] < 60_000_000


def _questions(connection: Any) -> int:
    return int(connection.query("SHOW GLOBAL STATUS LIKE 'Questions'").rows[0][1])


@pytest.mark.parametrize("name", EVERY_SERVER)
def test_without_grants_the_snapshot_is_partial_and_the_printed_grants_complete_it(name: str) -> None:
    with start_server(name, options={"performance_schema": "ON"}) as server:
        limited = server.client_user("limited")
        one = target(limited, server.port)
        with connect(one) as connection:
            partial = read_snapshot(connection)
        assert partial.variables
        assert partial.status
        failed = {probe.name for probe in partial.probes if probe.state is ProbeState.FAILED}
        assert {"innodb_metrics", "performance_schema"} <= failed
        grants = [probe.remedy for probe in partial.probes if probe.state is ProbeState.FAILED]
        assert all(remedy is not None and remedy.kind is RemedyKind.GRANT for remedy in grants)
        report = check_connection(one)
        assert report.reachable
        assert not report.complete
        for remedy in report.missing:
            if remedy.kind is RemedyKind.GRANT:
                server.sql(remedy.text)
        with connect(one) as connection:
            complete = read_snapshot(connection)
        assert [probe for probe in complete.probes if probe.state is ProbeState.FAILED] == []
        assert check_connection(one).complete


@pytest.mark.parametrize("name", EVERY_SERVER)
def test_the_printed_account_is_accepted_and_reads_everything(name: str) -> None:
    with start_server(name, options={"performance_schema": "ON"}) as server:
        report = check_connection(target(server))
        ((title, statements),) = report.account_statements
        assert title == str(report.identity.version if report.identity else "")
        for statement in statements:
            # The password is left to the person, the account was ours already.
            server.sql(statement.replace("<password>", "made.by-hand-7").replace("tidemark", "observer"))
        made = Target(
            user="observer", password=Secret("made.by-hand-7"), host="127.0.0.1", port=server.port, unrestricted=True
        )
        assert check_connection(made).complete


def test_performance_schema_that_is_off_is_said_with_what_to_do() -> None:
    with start_server(DISTRIBUTION_SERVER) as server, connect(target(server)) as connection:
        snapshot = read_snapshot(connection)
    probe = snapshot.probe("performance_schema")
    assert probe is not None
    assert probe.state is ProbeState.SKIPPED
    assert probe.remedy is not None
    assert probe.remedy.kind is RemedyKind.ENABLE
    assert "performance_schema = ON" in probe.remedy.text
    assert snapshot.performance_schema == {"enabled": False}


def test_secrets_are_redacted_and_odd_values_kept_apart() -> None:
    with start_server(DISTRIBUTION_SERVER) as server:
        server.sql("SET GLOBAL init_connect = CONCAT('SELECT \"canary-', REPEAT('x', 4000), '\"')")
        server.sql("SET GLOBAL wsrep_sst_auth = 'user:canary'")
        server.sql("SET GLOBAL ft_boolean_syntax = '+ -><()~*:\"\"&|'")
        with connect(target(server)) as connection:
            snapshot = read_snapshot(connection)
    assert snapshot.variables["init_connect"] == redaction.REDACTED
    assert "canary" not in json.dumps(snapshot.as_dict())


def test_rates_over_a_restart_are_a_gap_and_never_negative() -> None:
    with start_server(DISTRIBUTION_SERVER) as server:
        with connect(target(server)) as connection:
            plan = FastPlan.of(read_snapshot(connection))
            first = read_poll(connection, plan)
            for _ in range(5):
                server.sql("SELECT 1")
            time.sleep(1.1)
            second = read_poll(connection, plan)
            server.restart()
            with pytest.raises(Restarting):
                read_poll(connection, plan)
        with connect(target(server)) as connection:
            assert plan.fits(connection)
            third = read_poll(connection, plan)
            time.sleep(1.1)
            fourth = read_poll(connection, plan)
    before = between(first, second)
    assert isinstance(before, Interval)
    assert 1.0 < before.seconds < 20
    assert (before.per_second("Questions") or 0) > 0
    across = between(second, third)
    assert isinstance(across, Gap)
    assert across.reason is GapReason.RESTART
    after = between(third, fourth)
    assert isinstance(after, Interval)
    assert all((after.delta(name) or 0) >= 0 for name in fourth.values)


def test_the_server_s_clock_is_told_between_the_seconds_of_its_uptime() -> None:
    with start_server(DISTRIBUTION_SERVER) as server, connect(target(server)) as connection:
        plan = FastPlan.of(read_snapshot(connection))
        polls = []
        for _ in range(6):
            polls.append(read_poll(connection, plan))
            time.sleep(0.35)

        def off_by() -> float:
            now = float(connection.query("SELECT UNIX_TIMESTAMP(SYSDATE(6))").rows[0][0] or 0)
            return abs(now - connection.server_clock(time.monotonic()))

        # The best of some looks: on a busy machine there is time between the server's reading of it and ours.
        assert min(off_by() for _ in range(10)) < 0.2
    steps = [later.server_clock - earlier.server_clock for earlier, later in pairwise(polls)]
    assert all(step > 0.3 for step in steps)
    # Uptime counts whole seconds: the clock minus it stays within one second of one instant, the server's start.
    starts = [poll.server_clock - poll.uptime_seconds for poll in polls]
    assert max(starts) - min(starts) < 1.5


def test_a_second_statement_is_asked_once_the_counters_are_worth_it_and_not_before() -> None:
    with start_server(DISTRIBUTION_SERVER) as server, connect(target(server)) as connection:
        assert FastPlan.of(read_snapshot(connection)).second is Second.NONE
        server.sql("SET GLOBAL innodb_monitor_enable = 'buffer_flush_adaptive_total_pages'")
        plan = FastPlan.of(read_snapshot(connection))
        assert plan.second is Second.METRICS
        assert "buffer_flush_adaptive_total_pages" in read_poll(connection, plan).values
        server.sql("SET GLOBAL innodb_monitor_disable = 'buffer_flush_adaptive_total_pages'")
        # Switched off meanwhile, it is not read as if it stood still.
        assert "buffer_flush_adaptive_total_pages" not in read_poll(connection, plan).values


def test_checking_says_what_is_wrong_and_how_to_make_an_account_for_either_flavor() -> None:
    report = check_connection(from_url("mysql://watch@127.0.0.1:1", unrestricted=True))
    assert not report.reachable
    assert report.failure is not None
    assert report.failure.kind == "refused"
    titles = [title for title, _ in report.account_statements]
    assert titles == ["MySQL", "MariaDB 10.5.9 and later", "MariaDB before 10.5.9"]
    assert "BINLOG MONITOR" in "".join(report.account_statements[1][1])
    assert "'watch'@'%'" in report.account_statements[0][1][0]
