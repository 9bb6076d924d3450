"""The counters of the fast poll, what kind of number each is, and how transactions are counted on a server.

A *counter* only grows, a *gauge* is momentary, a *position* is an address in the redo log: its change per second means
something, its sum does not. Names are those of SHOW GLOBAL STATUS and of INFORMATION_SCHEMA.INNODB_METRICS.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from advisor.mysql import gauges, series
from advisor.mysql.snapshot import Metric
from advisor.mysql.version import ServerVersion

Number = int | float


class Kind(StrEnum):
    """What a number is, and so what may be done with two of them."""

    COUNTER = "counter"
    GAUGE = "gauge"
    POSITION = "position"


_POSITIONS = frozenset(
    {
        series.LSN,
        series.CHECKPOINT_LSN,
        "Innodb_redo_log_current_lsn",
        "Innodb_redo_log_flushed_to_disk_lsn",
        "Innodb_redo_log_checkpoint_lsn",
        "Innodb_lsn_current",
        "Innodb_lsn_flushed",
        "Innodb_lsn_last_checkpoint",
        "log_lsn_current",
        "log_lsn_last_flush",
        "log_lsn_last_checkpoint",
        "log_lsn_buf_dirty_pages_added",
    }
)

_GAUGES = frozenset(
    {
        "Innodb_buffer_pool_pages_data",
        "Innodb_buffer_pool_pages_dirty",
        "Innodb_buffer_pool_pages_free",
        "Innodb_buffer_pool_pages_latched",
        "Innodb_buffer_pool_pages_misc",
        "Innodb_buffer_pool_pages_old",
        "Innodb_buffer_pool_pages_total",
        "Innodb_checkpoint_age",
        "Innodb_checkpoint_max_age",
        "Innodb_history_list_length",
        "Innodb_num_open_files",
        "Innodb_page_size",
        "Innodb_redo_log_capacity_resized",
        "Innodb_redo_log_logical_size",
        "Innodb_redo_log_physical_size",
        "Innodb_row_lock_time_avg",
        "Innodb_row_lock_time_max",
        "Prepared_stmt_count",
        "Key_blocks_not_flushed",
        "Key_blocks_unused",
        "Key_blocks_used",
        "Ongoing_anonymous_transaction_count",
        "Slave_open_temp_tables",
        "Replica_open_temp_tables",
        "log_lsn_checkpoint_age",
        "log_max_modified_age_async",
        "log_max_modified_age_sync",
        "log_concurrency_margin",
        "log_free_space",
        "trx_rseg_history_len",
        "trx_rseg_current_size",
        "trx_active_transactions",
        "lock_row_lock_current_waits",
        "buffer_pool_size",
        series.CHECKPOINT_AGE,
        series.ASYNC_POINT,
        series.SYNC_POINT,
        series.MAXIMUM_AGE,
        series.EFFECTIVE_ASYNC_POINT,
        series.EFFECTIVE_SYNC_POINT,
        series.PRESSURE,
        series.CAPACITY,
        series.DIRTY_PERCENT,
        series.LIMITS_REPORTED,
        series.TRANSACTIONS_METHOD,
    }
)
_GAUGE_STARTS = (
    "Uptime",
    "Threads_connected",
    "Threads_running",
    "Threads_cached",
    "Open_",
    "Max_used_",
    "Max_memory_used",
    "Max_tmp_space_used",
    "cpu_",
    "Memory_used",
    "Qcache_free",
    "Qcache_queries_in_cache",
    "Qcache_total",
    "Innodb_buffer_pool_bytes",
    "buffer_pool_pages_",
    "buffer_pool_bytes_",
    "buffer_flush_pct_",
    "buffer_flush_avg_",
    "buffer_flush_n_to_flush",
    "buffer_flush_adaptive_avg",
)
_GAUGE_PARTS = ("_current_waits", "_pending_", "_pct_for_", "_avg_")


#: What the names of innodb_metrics counters begin with where they stand beside status variables, of which some have the
#: same names.
METRICS_PREFIX = "metrics."


@lru_cache(maxsize=4096)
def kind(name: str) -> Kind:
    """What the number of that name is. Unknown names are counters, as almost all of the servers' numbers are.

    innodb_metrics counters may be spelled with ``METRICS_PREFIX`` or without.
    """
    name = name.removeprefix(METRICS_PREFIX)
    if name in _POSITIONS or name in gauges.POSITIONS:
        return Kind.POSITION
    if name in _GAUGES or name.startswith(_GAUGE_STARTS) or any(part in name for part in _GAUGE_PARTS):
        return Kind.GAUGE
    return Kind.GAUGE if gauges.is_gauge(name) else Kind.COUNTER


#: Counters that FLUSH STATUS zeroes or folds on some servers (5 to 11 of them fell on the servers that were tried); the
#: Innodb_, Com_ and Handler_ counters and Questions never do.
RESET_BY_FLUSH_STATUS = frozenset(
    {
        "Aborted_clients",
        "Aborted_connects",
        "Created_tmp_files",
        "Created_tmp_disk_tables",
        "Created_tmp_tables",
        "Table_locks_immediate",
        "Table_locks_waited",
        "Slow_launch_threads",
        "Slow_queries",
    }
)
_RESET_STARTS = ("Key_", "Binlog_cache_", "Binlog_stmt_cache_", "Qcache_", "Ssl_", "Max_used_", "Connection_errors_")


def reset_by_flush_status(name: str) -> bool:
    """Whether FLUSH STATUS may have set this counter back, so that an interval with one in it says nothing of it."""
    return name in RESET_BY_FLUSH_STATUS or name.startswith(_RESET_STARTS)


#: What the fast poll reads everywhere; a name that a server does not have costs nothing and gives nothing.
FAST_STATUS_NAMES: tuple[str, ...] = (
    # The clock of all rates, and what tells that counters were set back.
    "Uptime",
    "Uptime_since_flush_status",
    # Load and transactions.
    "Questions",
    "Connections",
    "Threads_connected",
    "Threads_running",
    "Com_begin",
    "Com_commit",
    "Com_rollback",
    "Com_xa_commit",
    "Com_select",
    "Com_insert",
    "Com_insert_select",
    "Com_update",
    "Com_update_multi",
    "Com_delete",
    "Com_delete_multi",
    "Com_replace",
    "Com_replace_select",
    "Com_load",
    "Handler_commit",
    "Handler_write",
    "Handler_update",
    "Handler_delete",
    # Redo log.
    "Innodb_os_log_written",
    "Innodb_log_waits",
    "Innodb_log_writes",
    "Innodb_log_write_requests",
    # Flushing and the buffer pool.
    "Innodb_buffer_pool_pages_data",
    "Innodb_buffer_pool_pages_dirty",
    "Innodb_buffer_pool_pages_free",
    "Innodb_buffer_pool_pages_total",
    "Innodb_buffer_pool_pages_flushed",
    "Innodb_buffer_pool_wait_free",
    "Innodb_buffer_pool_read_requests",
    "Innodb_buffer_pool_reads",
    "Innodb_pages_read",
    "Innodb_pages_written",
    "Innodb_data_fsyncs",
    "Innodb_data_reads",
    "Innodb_data_writes",
    "Innodb_data_written",
    # Waiting.
    "Innodb_row_lock_waits",
    "Innodb_row_lock_time",
)

_FAST_MYSQL = (
    "Innodb_os_log_fsyncs",
    "Innodb_rows_inserted",
    "Innodb_rows_updated",
    "Innodb_rows_deleted",
    "Innodb_rows_read",
)
_FAST_MYSQL_8_0_30 = (
    "Innodb_redo_log_current_lsn",
    "Innodb_redo_log_flushed_to_disk_lsn",
    "Innodb_redo_log_checkpoint_lsn",
    "Innodb_redo_log_capacity_resized",
)
#: MariaDB 10.5+, and Percona Server, which had them before.
_FAST_LSN = (
    "Innodb_lsn_current",
    "Innodb_lsn_flushed",
    "Innodb_lsn_last_checkpoint",
    "Innodb_checkpoint_age",
    "Innodb_checkpoint_max_age",
)
_FAST_MARIADB = (
    "Binlog_commits",
    "Innodb_history_list_length",
    "Innodb_buffer_pool_pages_lru_flushed",
    "Rows_read",
)


def fast_status_names(server: ServerVersion) -> tuple[str, ...]:
    """The status variables of the fast poll on this server: about 50, enough for all charts and for harm."""
    names = FAST_STATUS_NAMES
    if server.is_mariadb:
        names += _FAST_MARIADB + (_FAST_LSN if server.number >= (10, 3, 0) else _FAST_MYSQL)
    elif server.number >= (8, 0, 30):
        names += _FAST_MYSQL + _FAST_MYSQL_8_0_30
    else:
        names += _FAST_MYSQL + _FAST_LSN
    return names


#: innodb_metrics counters that the second statement of the fast poll reads, where they are switched on.
FAST_METRIC_NAMES: tuple[str, ...] = (
    "log_lsn_current",
    "log_lsn_last_checkpoint",
    "log_lsn_checkpoint_age",
    "log_max_modified_age_async",
    "log_max_modified_age_sync",
    "log_concurrency_margin",
    "log_on_file_space_waits",
    "log_checkpoints",
    "buffer_flush_adaptive_total_pages",
    "buffer_flush_background_total_pages",
    "buffer_flush_sync_total_pages",
    "buffer_flush_neighbor_total_pages",
    "buffer_flush_sync_waits",
    "buffer_LRU_batch_flush_total_pages",
    "trx_rw_commits",
    "trx_ro_commits",
    "trx_rseg_history_len",
)

#: What tells pages flushed by reason, one counter a reason.
FLUSHED_BY_REASON: Mapping[str, str] = {
    "adaptive": "buffer_flush_adaptive_total_pages",
    "background": "buffer_flush_background_total_pages",
    "sync": "buffer_flush_sync_total_pages",
    "neighbor": "buffer_flush_neighbor_total_pages",
    "lru": "buffer_LRU_batch_flush_total_pages",
}


def enabled_counts(metrics: Mapping[str, Metric]) -> dict[str, int]:
    """The counts of the innodb_metrics counters that are switched on; those of others are stale and say nothing."""
    return {name: metric.count for name, metric in metrics.items() if metric.enabled}


@dataclass(frozen=True)
class TransactionsMethod:
    """How transactions are counted on a server: the sum of ``names``. ``code`` is stored beside the sums, since sums by
    two methods must never be subtracted from each other.
    """

    code: int
    id: str
    title: str
    names: tuple[str, ...]

    def total(self, values: Mapping[str, Number]) -> int | None:
        """Transactions since the server's start by this method; None where one of its counters is missing."""
        if any(name not in values for name in self.names):
            return None
        return sum(int(values[name]) for name in self.names)


INNODB_COMMITS = TransactionsMethod(
    1, "innodb_commits", "InnoDB commits (trx_rw_commits + trx_ro_commits)", ("trx_rw_commits", "trx_ro_commits")
)
INNODB_WRITE_COMMITS = TransactionsMethod(
    2, "innodb_write_commits", "InnoDB commits that wrote (trx_rw_commits)", ("trx_rw_commits",)
)
BINLOG_COMMITS = TransactionsMethod(
    3, "binlog_commits", "commits written to the binary log (Binlog_commits)", ("Binlog_commits",)
)
EXPLICIT_COMMITS = TransactionsMethod(
    4, "explicit_commits", "COMMIT and ROLLBACK statements (Com_commit + Com_rollback)", ("Com_commit", "Com_rollback")
)
_AUTOCOMMIT_WRITES = (
    "Com_insert",
    "Com_insert_select",
    "Com_update",
    "Com_update_multi",
    "Com_delete",
    "Com_delete_multi",
    "Com_replace",
    "Com_replace_select",
)
AUTOCOMMIT_WRITES = TransactionsMethod(
    5,
    "autocommit_writes",
    "writing statements and COMMITs (Com_insert, _update, _delete, _replace, _commit): most commit on their own",
    ("Com_commit", "Com_rollback", *_AUTOCOMMIT_WRITES),
)


METHODS: Mapping[int, TransactionsMethod] = {
    method.code: method
    for method in (INNODB_COMMITS, INNODB_WRITE_COMMITS, BINLOG_COMMITS, EXPLICIT_COMMITS, AUTOCOMMIT_WRITES)
}


def transactions_method(
    values: Mapping[str, Number], *, enabled_metrics: Collection[str] = (), log_bin: bool = False
) -> TransactionsMethod:
    """The most trustworthy way to count transactions with what was read from a server.

    In order: InnoDB's own count of commits; commits in MariaDB's binary log (writes only); COMMIT statements; and where
    those are few beside the writing statements, these too, since most then commit on their own. ``Handler_commit`` is
    no count of transactions: it counts statement ends, reads among them, by a factor of 0.5 to 4.
    ``values`` are status variables, ``enabled_metrics`` the innodb_metrics counters that are on and were read.
    """
    if "trx_rw_commits" in enabled_metrics and "trx_rw_commits" in values:
        if "trx_ro_commits" in enabled_metrics and "trx_ro_commits" in values:
            return INNODB_COMMITS
        return INNODB_WRITE_COMMITS
    if log_bin and "Binlog_commits" in values:
        return BINLOG_COMMITS
    explicit = values.get("Com_begin", 0) + values.get("Com_commit", 0)
    writes = sum(values.get(name, 0) for name in _AUTOCOMMIT_WRITES)
    return EXPLICIT_COMMITS if explicit * 10 >= writes else AUTOCOMMIT_WRITES
