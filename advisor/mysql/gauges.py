"""Numbers of the full tier that are momentary, and positions: what no rate can be made of, and what is none by itself.

The servers say it nowhere for status variables, so these were told apart by reading both manuals and by watching which
numbers fall on running servers. INFORMATION_SCHEMA.INNODB_METRICS says more (``type``: value, counter, and members of a
set, of which those of one call hold the newest value), but not on all versions.
"""

from __future__ import annotations

STATUS = frozenset(
    {
        "Acl_cache_items_count",
        "Aria_pagecache_blocks_not_flushed",
        "Aria_pagecache_blocks_unused",
        "Aria_pagecache_blocks_used",
        "Binlog_snapshot_position",
        "Deprecated_use_fk_on_non_standard_key_last_timestamp",
        "Deprecated_use_i_s_processlist_last_timestamp",
        "Delayed_insert_threads",
        "Error_log_buffered_bytes",
        "Error_log_buffered_events",
        "Error_log_latest_write",
        "Global_connection_memory",
        "Innodb_async_reads_pending",
        "Innodb_async_reads_queue_size",
        "Innodb_async_reads_tasks_running",
        "Innodb_async_writes_pending",
        "Innodb_async_writes_queue_size",
        "Innodb_async_writes_tasks_running",
        "Innodb_available_undo_logs",
        "Innodb_buffer_pool_resize_status_code",
        "Innodb_buffer_pool_resize_status_progress",
        "Innodb_encryption_key_rotation_list_length",
        "Innodb_encryption_rotation_estimated_iops",
        "Innodb_ibuf_free_list",
        "Innodb_ibuf_segment_size",
        "Innodb_ibuf_size",
        "Innodb_max_trx_id",
        "Innodb_mem_adaptive_hash",
        "Innodb_mem_dictionary",
        "Innodb_onlineddl_pct_progress",
        "Innodb_onlineddl_rowlog_pct_used",
        "Innodb_onlineddl_rowlog_rows",
        "Innodb_redo_log_uuid",
        "Innodb_undo_tablespaces_active",
        "Innodb_undo_tablespaces_explicit",
        "Innodb_undo_tablespaces_implicit",
        "Innodb_undo_tablespaces_total",
        "Key_blocks_warm",
        "Last_query_cost",
        "Last_query_partial_plans",
        "Not_flushed_delayed_rows",
        "Performance_schema_session_connect_attrs_longest_seen",
        "Rpl_semi_sync_master_clients",
        "Rpl_semi_sync_master_net_avg_wait_time",
        "Rpl_semi_sync_master_tx_avg_wait_time",
        "Rpl_semi_sync_master_wait_sessions",
        "Rpl_semi_sync_source_clients",
        "Rpl_semi_sync_source_net_avg_wait_time",
        "Rpl_semi_sync_source_tx_avg_wait_time",
        "Rpl_semi_sync_source_wait_sessions",
        "Slave_heartbeat_period",
        "Slaves_connected",
        "Slaves_running",
        "Ssl_ctx_verify_depth",
        "Ssl_ctx_verify_mode",
        "Ssl_default_timeout",
        "Ssl_session_cache_size",
        "Ssl_session_cache_timeout",
        "Ssl_used_session_cache_entries",
        "Ssl_verify_depth",
        "Ssl_verify_mode",
        "Stack_usage",
        "Table_open_cache_active_instances",
        "Tc_log_max_pages_used",
        "Tc_log_page_size",
        "Threadpool_idle_threads",
        "Threadpool_threads",
        "Tmp_space_used",
        "wsrep",
    }
)
#: Grants that are loaded, and Galera's state; of the latter, what counts is named below.
STATUS_STARTS = ("Acl_", "wsrep_")
GALERA_COUNTERS = (
    "wsrep_bf_aborts",
    "wsrep_causal_reads",
    "wsrep_local_bf_aborts",
    "wsrep_local_cert_failures",
    "wsrep_local_commits",
    "wsrep_local_replays",
    "wsrep_received",
    "wsrep_repl_",
    "wsrep_replicated",
    "wsrep_flow_control_paused_ns",
    "wsrep_flow_control_recv",
    "wsrep_flow_control_sent",
)

METRICS = frozenset(
    {
        "buffer_LRU_batch_evict_pages",
        "buffer_LRU_batch_flush_pages",
        "buffer_flush_adaptive_pages",
        "buffer_flush_background_pages",
        "buffer_flush_batch_pages",
        "buffer_flush_neighbor_pages",
        "buffer_flush_sync_pages",
        "cpu_n",
        "cpu_stime_pct",
        "cpu_utime_pct",
        "file_num_open_files",
        "ibuf_size",
        "innodb_page_size",
        "lock_rec_locks",
        "lock_row_lock_time_avg",
        "lock_row_lock_time_max",
        "lock_table_locks",
        "lock_threads_waiting",
        "log_flush_max_time",
        "log_next_file",
        "log_write_to_file_requests_interval",
        "metadata_table_reference_count",
        "purge_dml_delay_usec",
        "trx_rollback_active",
        "trx_undo_slots_cached",
        "trx_undo_slots_used",
    }
)
#: The newest value of a set's member that tells of one call.
METRICS_ENDS = ("_per_call",)

POSITIONS = frozenset(
    {
        "log_lsn_archived",
        "log_lsn_buf_pool_oldest",
        "log_lsn_buf_pool_oldest_approx",
        "log_lsn_buf_pool_oldest_lwm",
    }
)


def is_gauge(name: str) -> bool:
    """Whether the number of that name, as the server spells it, is momentary."""
    if name in STATUS or name in METRICS or name.endswith(METRICS_ENDS):
        return True
    return name.startswith(STATUS_STARTS) and not name.startswith(GALERA_COUNTERS)
