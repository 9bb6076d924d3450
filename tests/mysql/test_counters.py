"""Counters know what they are, and transactions are counted by what can be trusted."""

from __future__ import annotations

import pytest

from advisor.mysql import series
from advisor.mysql.counters import (
    AUTOCOMMIT_WRITES,
    BINLOG_COMMITS,
    EXPLICIT_COMMITS,
    FAST_METRIC_NAMES,
    INNODB_COMMITS,
    INNODB_WRITE_COMMITS,
    METHODS,
    Kind,
    enabled_counts,
    fast_status_names,
    kind,
    transactions_method,
)
from advisor.mysql.derived import derive
from advisor.mysql.snapshot import Metric
from advisor.mysql.version import identify

MYSQL_5_7 = identify("5.7.22", "MySQL Community Server (GPL)")
MYSQL_8 = identify("8.0.33", "MySQL Community Server - GPL")
MARIADB = identify("10.11.18-MariaDB", "Debian 12")
MARIADB_10_2 = identify("10.2.11-MariaDB", "MariaDB Server")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Questions", Kind.COUNTER),
        ("Com_commit", Kind.COUNTER),
        ("Innodb_buffer_pool_pages_flushed", Kind.COUNTER),
        ("Innodb_buffer_pool_wait_free", Kind.COUNTER),
        ("Innodb_buffer_pool_read_requests", Kind.COUNTER),
        ("Connections", Kind.COUNTER),
        ("Opened_tables", Kind.COUNTER),
        ("buffer_flush_adaptive_total_pages", Kind.COUNTER),
        ("buffer_flush_sync_total_pages", Kind.COUNTER),
        ("buffer_flush_sync_waits", Kind.COUNTER),
        ("trx_rw_commits", Kind.COUNTER),
        (series.TRANSACTIONS, Kind.COUNTER),
        ("Threads_created", Kind.COUNTER),
        ("Threads_running", Kind.GAUGE),
        ("Uptime", Kind.GAUGE),
        ("Uptime_since_flush_status", Kind.GAUGE),
        ("Open_tables", Kind.GAUGE),
        ("Max_used_connections", Kind.GAUGE),
        ("Innodb_buffer_pool_pages_dirty", Kind.GAUGE),
        ("Innodb_buffer_pool_bytes_dirty", Kind.GAUGE),
        ("Innodb_row_lock_current_waits", Kind.GAUGE),
        ("Innodb_data_pending_fsyncs", Kind.GAUGE),
        ("Innodb_checkpoint_age", Kind.GAUGE),
        ("Innodb_redo_log_logical_size", Kind.GAUGE),
        ("trx_rseg_history_len", Kind.GAUGE),
        ("buffer_flush_pct_for_lsn", Kind.GAUGE),
        ("log_max_modified_age_sync", Kind.GAUGE),
        (series.PRESSURE, Kind.GAUGE),
        (series.TRANSACTIONS_METHOD, Kind.GAUGE),
        ("Innodb_redo_log_current_lsn", Kind.POSITION),
        ("Innodb_lsn_last_checkpoint", Kind.POSITION),
        (series.LSN, Kind.POSITION),
    ],
)
def test_each_number_is_a_counter_a_gauge_or_a_position(name: str, expected: Kind) -> None:
    assert kind(name) is expected


def test_the_fast_poll_stays_small_and_reads_the_age_where_the_status_has_it() -> None:
    for server in (MYSQL_5_7, MYSQL_8, MARIADB, MARIADB_10_2):
        names = fast_status_names(server)
        assert len(names) == len(set(names)) <= 60
    assert "Innodb_redo_log_checkpoint_lsn" in fast_status_names(MYSQL_8)
    assert "Innodb_checkpoint_age" in fast_status_names(MARIADB)
    assert "Binlog_commits" not in fast_status_names(MYSQL_8)
    assert len(FAST_METRIC_NAMES) == len(set(FAST_METRIC_NAMES))


def test_counters_that_are_off_are_not_taken_for_zero() -> None:
    metrics = {"trx_rw_commits": Metric("transaction", False, 7), "log_checkpoints": Metric("log", True, 0)}
    assert enabled_counts(metrics) == {"log_checkpoints": 0}


def test_transactions_are_counted_by_innodb_where_it_counts_them() -> None:
    values = {"trx_rw_commits": 40, "trx_ro_commits": 2, "Binlog_commits": 41, "Com_commit": 1}
    on = {"trx_rw_commits", "trx_ro_commits"}
    assert transactions_method(values, enabled_metrics=on, log_bin=True) is INNODB_COMMITS
    assert INNODB_COMMITS.total(values) == 42
    assert transactions_method(values, enabled_metrics={"trx_rw_commits"}) is INNODB_WRITE_COMMITS


def test_transactions_are_counted_by_the_binary_log_where_that_is_written() -> None:
    values = {"Binlog_commits": 41, "Com_commit": 40, "Com_rollback": 0}
    assert transactions_method(values, log_bin=True) is BINLOG_COMMITS
    assert transactions_method(values, log_bin=False) is EXPLICIT_COMMITS


def test_writes_outside_of_transactions_are_counted_where_commits_are_rare() -> None:
    autocommit = {"Com_insert": 1_000, "Com_commit": 3, "Com_begin": 3, "Com_rollback": 0}
    explicit = {"Com_insert": 2_000, "Com_commit": 500, "Com_begin": 500, "Com_rollback": 10}
    assert transactions_method(autocommit) is AUTOCOMMIT_WRITES
    assert transactions_method(explicit) is EXPLICIT_COMMITS
    assert EXPLICIT_COMMITS.total(explicit) == 510
    assert AUTOCOMMIT_WRITES.total(autocommit) is None, "a counter of the sum is missing"
    everything = dict.fromkeys(AUTOCOMMIT_WRITES.names, 0) | autocommit
    assert AUTOCOMMIT_WRITES.total(everything) == 1_003


def test_handler_commit_is_never_taken_for_transactions() -> None:
    assert all("Handler_commit" not in method.names for method in METHODS.values())
    assert sorted(METHODS) == [1, 2, 3, 4, 5]


STATUS = {
    "Innodb_redo_log_current_lsn": 200_000_000,
    "Innodb_redo_log_checkpoint_lsn": 150_000_000,
    "Innodb_redo_log_capacity_resized": 104_857_600,
    "Innodb_buffer_pool_pages_dirty": 250,
    "Innodb_buffer_pool_pages_data": 900,
    "Innodb_buffer_pool_pages_free": 100,
    "Com_commit": 70,
    "Com_rollback": 5,
}
VARIABLES = {"innodb_redo_log_capacity": "104857600", "innodb_page_size": "16384", "innodb_thread_concurrency": "0"}


def test_derived_series_follow_from_one_reading() -> None:
    derived = derive(MYSQL_8, variables=VARIABLES, status=STATUS)
    assert derived[series.CHECKPOINT_AGE] == 50_000_000
    assert derived[series.SYNC_POINT] == 87_086_592
    assert derived[series.PRESSURE] == pytest.approx(50_000_000 / derived[series.EFFECTIVE_SYNC_POINT])
    assert derived[series.CAPACITY] == 104_857_600
    assert derived[series.LIMITS_REPORTED] == 0.0
    assert derived[series.TRANSACTIONS] == 75
    assert derived[series.TRANSACTIONS_METHOD] == EXPLICIT_COMMITS.code
    assert derived[series.DIRTY_PERCENT] == 25.0
    assert set(derived) <= set(series.DERIVED)


def test_what_cannot_be_derived_is_left_out() -> None:
    assert derive(MYSQL_5_7, variables={}, status={"Uptime": 5}) == {}
    aurora = identify("8.0.32", "Source distribution", variables={"aurora_version": "3.05.2"})
    derived = derive(aurora, variables=VARIABLES, status={"Com_commit": 1, "Com_rollback": 0})
    assert set(derived) == {series.TRANSACTIONS, series.TRANSACTIONS_METHOD}


def test_mariadb_has_no_sync_point_among_its_series() -> None:
    variables = {"innodb_log_file_size": "100663296", "innodb_page_size": "16384"}
    status = {"Innodb_lsn_current": 900, "Innodb_lsn_last_checkpoint": 884, "Innodb_checkpoint_max_age": 80_819_529}
    derived = derive(MARIADB, variables=variables, status=status)
    assert series.SYNC_POINT not in derived
    assert derived[series.MAXIMUM_AGE] == derived[series.EFFECTIVE_SYNC_POINT] == 80_819_529
    assert derived[series.LIMITS_REPORTED] == 1.0
