"""What whole and real numbers in system variables count, by the manuals of both vendors: no server says it."""

from __future__ import annotations

import re
from collections.abc import Mapping

#: Names whose ending says something else than `_BY_ENDING` makes of it, and names that no ending covers.
_BY_NAME: Mapping[str, str] = {
    name: unit
    for unit, names in {
        # Rows, entries, threads, characters or buckets: plain numbers, although the name ends in "size" or the like.
        "-": """
            aria_pagecache_file_hash_size binlog_transaction_dependency_history_size delayed_queue_size
            gtid_cleanup_batch_size histogram_size host_cache_size innodb_doublewrite_batch_size
            innodb_ft_max_token_size innodb_ft_min_token_size innodb_sync_array_size key_cache_file_hash_size
            metadata_locks_cache_size ngram_token_size profiling_history_size thread_cache_size thread_pool_size
            wsrep_trx_fragment_size
            """,
        "bytes": """
            analyze_max_length binlog_large_commit_threshold binlog_space_limit column_compression_threshold
            connection_memory_limit connection_memory_status_limit global_connection_memory_limit
            global_connection_memory_status_limit group_concat_max_len innodb_buffer_pool_size_auto_min
            innodb_buffer_pool_size_max innodb_fsync_threshold innodb_ft_result_cache_limit innodb_redo_log_capacity
            join_buffer_space_limit log_bin_compress_min_len max_allowed_packet max_digest_length
            max_length_for_sort_data max_session_mem_used max_sort_length max_tmp_session_space_usage
            max_tmp_total_space_usage mysqlx_max_allowed_packet net_buffer_length performance_schema_max_digest_length
            performance_schema_max_sql_text_length performance_schema_session_connect_attrs_size query_cache_limit
            query_cache_min_res_unit regexp_stack_limit relay_log_space_limit replica_max_allowed_packet
            replica_pending_jobs_size_max server_memory slave_max_allowed_packet slave_parallel_max_queued
            slave_pending_jobs_size_max temptable_max_mmap temptable_max_ram thread_stack
            """,
        "seconds": """
            aria_checkpoint_interval binlog_expire_logs_seconds flush_time information_schema_stats_expiry
            innodb_background_scrub_data_check_interval innodb_background_scrub_data_interval
            innodb_fatal_semaphore_wait_threshold innodb_flush_log_at_timeout innodb_flushing_avg_loops
            innodb_kill_idle_transaction innodb_log_arch_expire_sec log_slow_always_query_time log_slow_query_time
            long_query_time max_statement_time performance_schema_max_digest_sample_age progress_report_time
            slave_max_statement_time slave_transaction_retry_interval slow_launch_time tcp_keepalive_interval
            tcp_keepalive_time
            """,
        "milliseconds": """
            innodb_old_blocks_time innodb_replication_delay max_execution_time replica_checkpoint_period
            rpl_semi_sync_master_timeout select_into_disk_sync_delay slave_checkpoint_period
            thread_pool_prio_kickup_timer thread_pool_stall_limit
            """,
        "microseconds": """
            aria_group_commit_interval binlog_commit_wait_usec binlog_group_commit_sync_delay
            binlog_max_flush_queue_time deadlock_timeout_long deadlock_timeout_short innodb_adaptive_max_sleep_delay
            innodb_log_wait_for_flush_spin_hwm innodb_max_purge_lag_delay innodb_thread_sleep_delay
            """,
        "days": "default_password_lifetime expire_logs_days password_reuse_interval",
        "percent": """
            analyze_sample_percentage aria_pagecache_division_limit innodb_adaptive_flushing_lwm
            innodb_change_buffer_max_size innodb_compression_pad_pct_max innodb_fill_factor
            innodb_log_spin_cpu_pct_hwm innodb_max_dirty_pages_pct_lwm innodb_segment_reserve_factor
            key_cache_division_limit
            """,
        "pages": """
            innodb_defragment_n_pages innodb_lru_flush_size innodb_lru_scan_depth innodb_purge_batch_size
            innodb_read_ahead_threshold
            """,
        "pages/s": "innodb_encryption_rotation_iops innodb_io_capacity innodb_io_capacity_max",
    }.items()
    for name in names.split()
}

_BY_ENDING: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"performance_schema_.*_size"), "-"),
    (re.compile(r".*_sample_pages"), "pages"),
    (re.compile(r".*_(size|mem_size)"), "bytes"),
    (re.compile(r".*_timeout"), "seconds"),
    (re.compile(r".*_pct"), "percent"),
    (re.compile(r"optimizer_.*_cost"), "microseconds"),
)


def unit_of(name: str, kind: str) -> str:
    """The unit of a variable's values; "-" for plain numbers and for what is no number."""
    if kind not in {"integer", "real"}:
        return "-"
    if name in _BY_NAME:
        return _BY_NAME[name]
    return next((unit for pattern, unit in _BY_ENDING if pattern.fullmatch(name)), "-")
