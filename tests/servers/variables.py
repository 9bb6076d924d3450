"""What a real server tells of its system variables: the source of the product's catalogue.

MariaDB answers everything in INFORMATION_SCHEMA.SYSTEM_VARIABLES. MySQL 8 and later state bounds in
performance_schema.variables_info; what no MySQL states is tried: SET GLOBAL to the present value tells a dynamic
variable (error 1238 otherwise), and `--verbose --help` prints what the server makes of an option it was given, without
starting, which tells bounds (of values far outside), block sizes (of a value one below a power of two) and choices.
"""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from typing import Any

from .places import Installation
from .running import RunningServer

_READ_ONLY_ERROR = 1238
_TOO_LARGE = 1 << 63
_ODD = (1 << 40) - 1
_LARGEST_STEP = 1 << 24

# What a server cannot tell and its manual does: bounds that MySQL 5.7's --help shows already cut to this machine's
# limits, and MariaDB's log_bin, whose option is of another type than the variable.
FROM_MANUAL: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("mysql-5.7.22", "back_log"): {"minimum": "1"},
    ("mysql-5.7.22", "max_connections"): {"maximum": "100000"},
    ("mysql-5.7.22", "open_files_limit"): {"minimum": "0", "maximum": "4294967295"},
    ("mysql-5.7.22", "performance_schema_digests_size"): {"minimum": "-1"},
    ("mysql-5.7.22", "performance_schema_max_table_instances"): {"minimum": "-1"},
    ("mysql-5.7.22", "query_cache_size"): {"maximum": str(2 * _TOO_LARGE - 1), "step": "1024"},
    ("mysql-5.7.22", "table_open_cache"): {"maximum": "524288"},
    ("mariadb", "log_bin"): {"change": "restart", "default": "OFF"},
}
# Variables whose option has another name.
_OPTIONS = {"tx_isolation": "transaction-isolation"}


@dataclass(frozen=True)
class Wanted:
    """A variable to ask for: its name, the unit of its values ("-": none), and words it may take if it is a choice.

    `computed` lists servers (by the beginning of their names, "mysql" for all of MySQL) whose default depends on the
    machine or on other variables: none is recorded for them.
    """

    name: str
    unit: str = "-"
    choices: tuple[str, ...] = ()
    computed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Told:
    """One variable on one server. Absent facts are "-"; the fields are the columns of the catalogue's files."""

    name: str
    kind: str
    scope: str
    change: str
    unit: str
    minimum: str
    maximum: str
    step: str
    default: str
    choices: str


COLUMNS = tuple(field.name for field in fields(Told))


def tell(server: RunningServer, wanted: Iterable[Wanted]) -> list[Told]:
    """What this server says of the wanted variables it has, by name."""
    reader = _mariadb if server.flavor == "mariadb" else _MySQL(server).read
    told = [fact for one in sorted(wanted, key=lambda w: w.name) if (fact := reader(server, one)) is not None]
    return [replace(fact, **_from_manual(server, fact.name)) for fact in told]


def _from_manual(server: RunningServer, name: str) -> Mapping[str, str]:
    return {**FROM_MANUAL.get((server.flavor, name), {}), **FROM_MANUAL.get((server.name, name), {})}


def grouped(by_server: Mapping[str, Sequence[Told]]) -> list[tuple[str, str, tuple[str, ...]]]:
    """Rows (name, servers joined by commas, the other columns): servers that say the same share a row."""
    rows: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for server, told in by_server.items():
        for fact in told:
            rows.setdefault((fact.name, tuple(astuple(fact)[1:])), []).append(server)
    order = list(by_server)
    flat = [(name, ",".join(servers), rest) for (name, rest), servers in rows.items()]
    return sorted(flat, key=lambda row: (row[0], order.index(row[1].split(",")[0])))


def _default(one: Wanted, server: RunningServer, value: str | None) -> str:
    if value is None or any(server.name.startswith(name) for name in one.computed):
        return "-"
    return value if value != "" else '""'


# --- MariaDB -----------------------------------------------------------------------------------------------------

_MARIADB_KINDS = {"ENUM": "enum", "SET": "set", "FLAGSET": "set", "BOOLEAN": "boolean", "DOUBLE": "real"}
# What MariaDB shows as the default of a variable that it computes at the start.
_SENTINELS = {str((1 << 64) - 1), str((1 << 32) - 1)}


def _mariadb(server: RunningServer, one: Wanted) -> Told | None:
    rows = server.sql(
        "SELECT VARIABLE_SCOPE, VARIABLE_TYPE, NUMERIC_MIN_VALUE, NUMERIC_MAX_VALUE, NUMERIC_BLOCK_SIZE, "
        "ENUM_VALUE_LIST, READ_ONLY, COMMAND_LINE_ARGUMENT, DEFAULT_VALUE, GLOBAL_VALUE "
        f"FROM information_schema.SYSTEM_VARIABLES WHERE VARIABLE_NAME = '{one.name}'"
    )
    if not rows:
        return None
    scope, type_, low, high, block, words, read_only, argument, default, value = rows[0]
    kind = _MARIADB_KINDS.get(str(type_), "integer" if "INT" in str(type_) else "string")
    numeric = kind in {"integer", "real"}
    if default in _SENTINELS:
        default = value
    return Told(
        name=one.name,
        kind=kind,
        scope={"GLOBAL": "global", "SESSION": "both", "SESSION ONLY": "session"}[str(scope)],
        change="dynamic" if read_only == "NO" else "restart" if argument is not None else "read_only",
        unit=one.unit,
        minimum=str(low) if numeric and low is not None else "-",
        maximum=str(high) if numeric and high is not None else "-",
        step=str(block) if kind == "integer" and block not in {None, "0", "1"} else "-",
        default=_default(one, server, default),
        choices=str(words) if words and kind in {"enum", "set"} else "-",
    )


# --- MySQL -------------------------------------------------------------------------------------------------------


class _MySQL:
    def __init__(self, server: RunningServer) -> None:
        self.installation: Installation = server.installation
        self.options = self._help([])
        self.bounds: dict[str, tuple[int, int]] = {}
        if server.sql(
            "SELECT 1 FROM information_schema.TABLES "
            "WHERE TABLE_SCHEMA = 'performance_schema' AND TABLE_NAME = 'variables_info'"
        ):
            self.bounds = {
                str(name): (int(str(low)), int(str(high)))
                for name, low, high in server.sql(
                    "SELECT VARIABLE_NAME, MIN_VALUE, MAX_VALUE FROM performance_schema.variables_info"
                )
            }

    def read(self, server: RunningServer, one: Wanted) -> Told | None:
        shown = server.sql(f"SHOW GLOBAL VARIABLES LIKE '{one.name.replace('_', chr(92) + '_')}'")
        session_only = False
        if not shown:
            shown = server.sql(f"SHOW SESSION VARIABLES LIKE '{one.name.replace('_', chr(92) + '_')}'")
            session_only = True
        if not shown:
            return None
        kind = "string" if session_only else self._kind(server, one, str(shown[0][1]))
        low, high = self._bounds(one.name, kind)
        return Told(
            name=one.name,
            kind=kind,
            scope="session" if session_only else "both" if self._has_session(server, one.name) else "global",
            change="dynamic"
            if self._dynamic(server, one.name)
            else "restart"
            if self._option(one.name)
            else "read_only",
            unit=one.unit,
            minimum=low,
            maximum=high,
            step=self._step(one.name, low, high) if kind == "integer" else "-",
            default=_default(one, server, self._default(server, one.name, shown[0][1])),
            choices=self._choices(one) if kind in {"enum", "set"} else "-",
        )

    def _kind(self, server: RunningServer, one: Wanted, shown: str) -> str:
        connection = server.connect()
        try:
            cursor: Any = connection.cursor()
            cursor.execute(f"SELECT @@GLOBAL.{one.name}")
            value = cursor.fetchone()[0]
        finally:
            connection.close()
        if isinstance(value, int):
            return "boolean" if shown in {"ON", "OFF"} else "integer"
        if value is not None and not isinstance(value, str | bytes):
            return "real"
        if "=" in shown and "," in shown:
            return "set"
        return "enum" if one.choices and self._choices(one) != "-" else "string"

    def _has_session(self, server: RunningServer, name: str) -> bool:
        return self._error(server, f"SELECT @@SESSION.{name}") != _READ_ONLY_ERROR

    def _dynamic(self, server: RunningServer, name: str) -> bool:
        return self._error(server, f"SET GLOBAL {name} = @@GLOBAL.{name}") != _READ_ONLY_ERROR

    def _default(self, server: RunningServer, name: str, shown: str | None) -> str | None:
        # The harness starts servers with a small pool; what InnoDB would take by itself is asked for.
        if name not in {"innodb_buffer_pool_size", "innodb_buffer_pool_chunk_size"}:
            return shown
        return self._option(name)

    def _bounds(self, name: str, kind: str) -> tuple[str, str]:
        if kind not in {"integer", "real"}:
            return "-", "-"
        if name in self.bounds:
            low, high = self.bounds[name]
            if kind == "real":
                return _real(low), _real(high)
            return str(low), str(high)
        if self._option(name) is None:
            return "-", "-"
        if kind == "real":
            return self._made_of(name, "-1") or "-", self._made_of(name, "1e12") or "-"
        low_text, high_text = self._made_of(name, "0") or "-", self._made_of(name, str(_TOO_LARGE - 1)) or "-"
        if high_text == "-1":
            # Printed as a signed number of 32 bits.
            high_text = str((1 << 32) - 1)
        elif high_text.isdigit() and int(high_text) > _TOO_LARGE - _LARGEST_STEP:
            larger = self._made_of(name, str(2 * _TOO_LARGE - 1))
            high_text = larger if larger is not None and larger.isdigit() else high_text
        return low_text, high_text

    def _step(self, name: str, low: str, high: str) -> str:
        if self._option(name) is None or "-" in {low, high}:
            return "-"
        odd = _ODD
        while odd > max(0, int(high)):
            odd >>= 1
        # A table cache is also cut to what the open files allow, so what differs by more than a block is no block.
        made = self._made_of(name, str(odd)) if odd > int(low) else None
        if made is None or not made.isdigit():
            return "-"
        step = odd - int(made) + 1
        return str(step) if 1 < step <= _LARGEST_STEP and step & (step - 1) == 0 else "-"

    def _choices(self, one: Wanted) -> str:
        accepted = [word for word in one.choices if self._made_of(one.name, word) is not None]
        return ",".join(accepted) if accepted else "-"

    def _option(self, name: str) -> str | None:
        return self.options.get(_option_name(name))

    def _made_of(self, name: str, value: str) -> str | None:
        """What the server makes of an option's value; None if it refuses it."""
        option = _option_name(name)
        return self._help([f"--{option}={value}"]).get(option)

    def _help(self, options: list[str]) -> dict[str, str]:
        """The table that ends `--verbose --help`, or nothing if an option is refused."""
        installation = self.installation
        run = subprocess.run(
            [*installation.command, *installation.arguments, *options, "--verbose", "--help"],
            env=installation.environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        if any(
            "[ERROR]" in line and ("setting value" in line or "unknown v" in line) for line in run.stderr.splitlines()
        ):
            return {}
        # A plugin whose options were refused says so on standard output in some versions.
        if "execution stopped before plugins were initialized" in run.stdout:
            return {}
        _, _, table = run.stdout.partition("Variables (--variable-name=value)")
        words = (line.split(None, 1) for line in table.splitlines() if line and line[0].isalpha())
        return {pair[0]: pair[1].strip() for pair in words if len(pair) == 2}

    @staticmethod
    def _error(server: RunningServer, statement: str) -> int | None:
        import MySQLdb

        try:
            server.sql(statement)
        except MySQLdb.Error as failure:
            return int(failure.args[0])
        return None


def _option_name(name: str) -> str:
    return _OPTIONS.get(name, name.replace("_", "-"))


def _real(bound: int) -> str:
    """Performance schema shows the bits of a real bound as an integer: 4719230590769954816 is 31536000."""
    value = struct.unpack("<d", struct.pack("<q", bound))[0] if abs(bound) > 1 << 53 else float(bound)
    return format(value, "g") if value < 1e6 else str(int(value))


# --- what the product wants to know ------------------------------------------------------------------------------

_ANY = ("mysql", "mariadb")


def _bytes(*names: str) -> list[Wanted]:
    return [Wanted(name, "bytes") for name in names]


def _plain(*names: str) -> list[Wanted]:
    return [Wanted(name) for name in names]


def _seconds(*names: str) -> list[Wanted]:
    return [Wanted(name, "seconds") for name in names]


WANTED: tuple[Wanted, ...] = tuple(
    sorted(
        [
            # The redo log and its buffer
            *_bytes("innodb_redo_log_capacity", "innodb_log_file_size", "innodb_log_buffer_size"),
            Wanted("innodb_log_write_ahead_size", "bytes", computed=("mariadb",)),
            *_plain("innodb_log_files_in_group", "innodb_log_checksums", "innodb_log_compressed_pages"),
            *_plain("innodb_encrypt_log", "innodb_log_spin_cpu_abs_lwm", "innodb_log_spin_cpu_pct_hwm"),
            *_plain("innodb_log_archive"),
            Wanted("innodb_log_wait_for_flush_spin_hwm", "microseconds"),
            Wanted("innodb_log_file_buffering", computed=("mariadb",)),
            Wanted("innodb_log_file_mmap", computed=("mariadb",)),
            Wanted("innodb_log_writer_threads", choices=("OFF", "ON", "AUTO"), computed=("mysql-9",)),
            # Durability and how files are written
            Wanted("innodb_flush_log_at_trx_commit", choices=("0", "1", "2")),
            *_seconds("innodb_flush_log_at_timeout"),
            Wanted("innodb_doublewrite", choices=("OFF", "ON", "DETECT_ONLY", "DETECT_AND_RECOVER")),
            *_plain("innodb_doublewrite_batch_size", "innodb_doublewrite_pages", "sync_binlog"),
            Wanted("innodb_doublewrite_files", computed=("mysql",)),
            Wanted(
                "innodb_flush_method",
                choices=("fsync", "O_DSYNC", "littlesync", "nosync", "O_DIRECT", "O_DIRECT_NO_FSYNC"),
                computed=("mysql-9",),
            ),
            *_plain("innodb_use_fdatasync", "innodb_use_atomic_writes", "innodb_fast_shutdown"),
            Wanted("innodb_use_native_aio", computed=_ANY),
            Wanted(
                "innodb_checksum_algorithm",
                choices=("crc32", "strict_crc32", "innodb", "strict_innodb", "none", "strict_none"),
            ),
            *_plain("innodb_data_file_buffering", "innodb_data_file_write_through", "innodb_log_file_write_through"),
            # Flushing
            Wanted("innodb_io_capacity", "pages/s"),
            Wanted("innodb_io_capacity_max", "pages/s"),
            *[Wanted(f"innodb_max_dirty_pages_pct{end}", "percent") for end in ("", "_lwm")],
            *_plain("innodb_adaptive_flushing", "innodb_flush_sync"),
            Wanted("innodb_adaptive_flushing_lwm", "percent"),
            *_seconds("innodb_flushing_avg_loops"),
            Wanted("innodb_flush_neighbors", choices=("0", "1", "2")),
            Wanted("innodb_page_cleaners", computed=_ANY),
            Wanted("innodb_lru_scan_depth", "pages"),
            Wanted("innodb_lru_flush_size", "pages"),
            Wanted("innodb_idle_flush_pct", "percent"),
            # The buffer pool
            *_bytes("innodb_buffer_pool_size", "innodb_page_size", "innodb_buffer_pool_size_auto_min"),
            Wanted("innodb_buffer_pool_size_max", "bytes", computed=("mariadb",)),
            Wanted("innodb_buffer_pool_chunk_size", "bytes", computed=("mariadb-10.11", "mariadb-11")),
            Wanted("innodb_buffer_pool_instances", computed=_ANY),
            Wanted("innodb_old_blocks_time", "milliseconds"),
            *[Wanted(name, "percent") for name in ("innodb_old_blocks_pct", "innodb_buffer_pool_dump_pct")],
            *_plain("innodb_buffer_pool_dump_at_shutdown", "innodb_buffer_pool_load_at_startup"),
            *_plain("innodb_random_read_ahead", "innodb_dedicated_server", "large_pages"),
            Wanted("innodb_read_ahead_threshold", "pages"),
            Wanted("innodb_numa_interleave", computed=("mysql-9",)),
            # Hash index and change buffer
            *_plain("innodb_adaptive_hash_index", "innodb_adaptive_hash_index_parts"),
            Wanted("innodb_change_buffering", choices=("none", "inserts", "deletes", "changes", "purges", "all")),
            Wanted("innodb_change_buffer_max_size", "percent"),
            # Threads, purge and undo
            *_plain("innodb_thread_concurrency", "innodb_commit_concurrency", "innodb_concurrency_tickets"),
            *[
                Wanted(name, "microseconds")
                for name in (
                    "innodb_adaptive_max_sleep_delay",
                    "innodb_thread_sleep_delay",
                    "innodb_max_purge_lag_delay",
                )
            ],
            Wanted("innodb_read_io_threads", computed=("mysql-9",)),
            Wanted("innodb_purge_threads", computed=("mysql-9",)),
            Wanted("innodb_parallel_read_threads", computed=("mysql-9",)),
            *_plain("innodb_write_io_threads", "innodb_purge_rseg_truncate_frequency", "innodb_max_purge_lag"),
            *_plain("innodb_max_purge_lag_wait", "innodb_rollback_segments", "innodb_undo_tablespaces"),
            *_plain("innodb_spin_wait_delay", "innodb_sync_spin_loops", "innodb_undo_log_truncate"),
            Wanted("innodb_purge_batch_size", "pages"),
            *_bytes("innodb_max_undo_log_size"),
            # InnoDB, the rest
            *_plain(
                "innodb_monitor_enable", "innodb_monitor_disable", "innodb_monitor_reset", "innodb_monitor_reset_all"
            ),
            *_seconds("innodb_lock_wait_timeout"),
            *_plain("innodb_deadlock_detect", "innodb_print_all_deadlocks", "innodb_file_per_table"),
            *_plain("innodb_force_recovery", "innodb_snapshot_isolation", "innodb_stats_persistent"),
            Wanted("innodb_autoinc_lock_mode", choices=("0", "1", "2")),
            Wanted("innodb_open_files", computed=_ANY),
            *_bytes("innodb_sort_buffer_size", "innodb_online_alter_log_max_size"),
            # The binary log and replication
            *_plain("log_bin", "binlog_order_commits"),
            Wanted("binlog_format", choices=("MIXED", "STATEMENT", "ROW")),
            Wanted("binlog_row_image", choices=("MINIMAL", "NOBLOB", "FULL", "FULL_NODUP")),
            Wanted("expire_logs_days", "days"),
            *_seconds("binlog_expire_logs_seconds"),
            *_bytes("binlog_cache_size", "binlog_stmt_cache_size", "max_binlog_size", "max_binlog_cache_size"),
            Wanted("binlog_group_commit_sync_delay", "microseconds"),
            Wanted("binlog_commit_wait_usec", "microseconds"),
            *_plain("binlog_group_commit_sync_no_delay_count", "binlog_commit_wait_count"),
            Wanted("binlog_transaction_dependency_tracking", choices=("COMMIT_ORDER", "WRITESET", "WRITESET_SESSION")),
            Wanted("enforce_gtid_consistency", choices=("OFF", "ON", "WARN")),
            Wanted("gtid_mode", choices=("OFF", "OFF_PERMISSIVE", "ON_PERMISSIVE", "ON")),
            *_plain("log_slave_updates", "log_replica_updates", "slave_parallel_threads", "slave_parallel_workers"),
            *_plain("replica_parallel_workers", "slave_preserve_commit_order", "replica_preserve_commit_order"),
            Wanted("slave_parallel_type", choices=("DATABASE", "LOGICAL_CLOCK")),
            Wanted("replica_parallel_type", choices=("DATABASE", "LOGICAL_CLOCK")),
            Wanted("slave_parallel_mode"),
            *_bytes("slave_parallel_max_queued", "slave_pending_jobs_size_max", "replica_pending_jobs_size_max"),
            *_plain("super_read_only", "sync_relay_log", "relay_log_recovery"),
            # MariaDB 12 made it a choice; before that it is ON or OFF everywhere.
            Wanted("read_only"),
            Wanted("master_info_repository", choices=("FILE", "TABLE")),
            Wanted("relay_log_info_repository", choices=("FILE", "TABLE")),
            # Performance schema
            *_plain("performance_schema"),
            *[
                Wanted(name, computed=("mysql",))
                for name in ("performance_schema_digests_size", "performance_schema_max_table_instances")
            ],
            Wanted("performance_schema_max_digest_length", "bytes"),
            Wanted("max_digest_length", "bytes"),
            # Connections and caches
            *_plain("max_connections", "max_user_connections", "max_prepared_stmt_count", "table_open_cache_instances"),
            *[
                Wanted(name, computed=("mysql",))
                for name in ("back_log", "thread_cache_size", "table_definition_cache")
            ],
            Wanted("table_open_cache", computed=("mysql",)),
            Wanted("open_files_limit", computed=_ANY),
            Wanted("thread_handling", choices=("one-thread-per-connection", "no-threads", "loaded-dynamically")),
            Wanted("thread_pool_size", computed=("mariadb",)),
            *_seconds("wait_timeout", "interactive_timeout", "lock_wait_timeout"),
            *_bytes("thread_stack", "max_allowed_packet", "net_buffer_length"),
            # Temporary tables
            *_bytes("tmp_table_size", "max_heap_table_size", "tmp_memory_table_size", "tmp_disk_table_size"),
            Wanted("temptable_max_ram", "bytes", computed=("mysql-9",)),
            *_bytes("temptable_max_mmap"),
            *_plain("temptable_use_mmap"),
            Wanted("internal_tmp_mem_storage_engine", choices=("MEMORY", "TempTable")),
            Wanted("internal_tmp_disk_storage_engine", choices=("MYISAM", "INNODB")),
            # Other engines and the query cache
            *_bytes("key_buffer_size", "aria_pagecache_buffer_size", "aria_sort_buffer_size", "aria_log_file_size"),
            *_bytes("myisam_sort_buffer_size", "query_cache_size", "query_cache_limit", "query_cache_min_res_unit"),
            Wanted("query_cache_type", choices=("OFF", "ON", "DEMAND")),
            # Per-connection buffers and the optimizer
            *_bytes("sort_buffer_size", "join_buffer_size", "read_buffer_size", "read_rnd_buffer_size"),
            *_bytes("mrr_buffer_size", "join_buffer_space_limit", "bulk_insert_buffer_size"),
            *_bytes("range_optimizer_max_mem_size"),
            *_plain(
                "optimizer_max_sel_arg_weight", "eq_range_index_dive_limit", "join_cache_level", "optimizer_switch"
            ),
            Wanted("use_stat_tables", choices=("NEVER", "COMPLEMENTARY", "PREFERABLY")),
            *[
                Wanted(
                    name,
                    choices=("READ-UNCOMMITTED", "READ-COMMITTED", "REPEATABLE-READ", "SERIALIZABLE"),
                )
                for name in ("tx_isolation", "transaction_isolation")
            ],
            # Logs
            *_seconds("long_query_time"),
            *_plain("slow_query_log", "general_log", "userstat"),
        ],
        key=lambda one: one.name,
    )
)
