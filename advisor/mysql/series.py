"""Names of the series that are derived from what a server reports, stored beside its own counters in every poll.

Limits are series too, since they move when the redo log is resized or the thread concurrency changes.
"""

#: Bytes of redo between the log sequence number and the last checkpoint.
CHECKPOINT_AGE = "checkpoint_age"
#: Bytes: where adaptive flushing reaches its full rate, and where flushing becomes synchronous (MariaDB 10.5+ has no
#: such point).
ASYNC_POINT = "redo_async_point"
SYNC_POINT = "redo_sync_point"
#: Bytes: the most the age may become (MariaDB's Innodb_checkpoint_max_age; MySQL's soft limit).
MAXIMUM_AGE = "redo_maximum_age"
#: Bytes: the points that act, MySQL 8.0.30+'s concurrency margin subtracted; on other servers equal to the ones above.
EFFECTIVE_ASYNC_POINT = "redo_effective_async_point"
EFFECTIVE_SYNC_POINT = "redo_effective_sync_point"
#: Age divided by the effective sync point (MariaDB 10.5+: by the maximum age); 1.0 is where writers wait.
PRESSURE = "redo_pressure"
#: Positions in bytes, under one name for all versions.
LSN = "redo_lsn"
CHECKPOINT_LSN = "redo_checkpoint_lsn"
#: Bytes: the redo capacity in force.
CAPACITY = "redo_capacity"
#: Transactions since start, by the method that can be trusted most on the server (named by
#: ``counters.transactions_method``).
TRANSACTIONS = "transactions"
#: The code of that method (``counters.TransactionsMethod``): sums by two methods must not be subtracted from each
#: other.
TRANSACTIONS_METHOD = "transactions_method"
#: Percent of the buffer pool's data pages that are dirty, as InnoDB compares it with its limits.
DIRTY_PERCENT = "dirty_pages_percent"
#: 1.0 where the limits were reported by the server, 0.0 where they were computed.
LIMITS_REPORTED = "redo_limits_reported"
#: Of the full tier only, from performance_schema: how often the redo and the binary log were flushed to disk, and the
#: microseconds that took. Time by count of the same interval is the latency of one.
REDO_FSYNCS, REDO_FSYNC_TIME = "redo_fsyncs", "redo_fsync_microseconds"
BINLOG_FSYNCS, BINLOG_FSYNC_TIME = "binlog_fsyncs", "binlog_fsync_microseconds"
#: Log, as ``Snapshot.performance_schema["fsyncs"]`` names it -> count and time.
FSYNCS = {"redo": (REDO_FSYNCS, REDO_FSYNC_TIME), "binlog": (BINLOG_FSYNCS, BINLOG_FSYNC_TIME)}

DERIVED = (
    CHECKPOINT_AGE,
    ASYNC_POINT,
    SYNC_POINT,
    MAXIMUM_AGE,
    EFFECTIVE_ASYNC_POINT,
    EFFECTIVE_SYNC_POINT,
    PRESSURE,
    LSN,
    CHECKPOINT_LSN,
    CAPACITY,
    TRANSACTIONS,
    TRANSACTIONS_METHOD,
    DIRTY_PERCENT,
    LIMITS_REPORTED,
)
