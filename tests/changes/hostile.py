"""Five thousand names and values that nobody means well with, the same at each run."""

from __future__ import annotations

import random
from collections.abc import Iterator

NAMES = (
    "max_connections", "innodb_io_capacity", "innodb_redo_log_capacity", "innodb_flush_neighbors", "sort_buffer_size",
    "innodb_max_dirty_pages_pct", "optimizer_switch", "innodb_adaptive_flushing", "long_query_time", "sync_binlog",
    "tmp_table_size", "innodb_change_buffering", "slow_query_log", "binlog_cache_size", "innodb_flush_method",
)  # fmt: skip
NEVER = (
    "init_connect", "init_file", "init_slave", "init_replica", "plugin_dir", "plugin_load", "wsrep_provider",
    "wsrep_notify_cmd", "wsrep_sst_receive_address", "wsrep_cluster_address", "general_log_file", "slow_query_log_file",
    "log_error", "secure_file_priv", "datadir", "tmpdir", "server_id", "server_uuid", "read_only", "super_read_only",
    "sql_log_bin", "sql_mode", "gtid_purged", "lower_case_table_names", "innodb_force_recovery", "port", "bind_address",
    "require_secure_transport", "mandatory_roles", "old_passwords", "event_scheduler", "local_infile", "ssl_cert",
    "log_bin_trust_function_creators", "character_set_server", "default_storage_engine", "innodb_fast_shutdown",
)  # fmt: skip
VALUES = ("1", "8G", "on", "OFF", "700", "75.5", "all", "mrr=on", "O_DIRECT", "")
SPLICES = (
    "; DROP TABLE users", "' OR '1'='1", "`", "` = 1, `general_log` = 1 -- ", "1, general_log = 1", "1; SET GLOBAL x=1",
    "/*!50000 1*/", "-- ", "#", "\\'", "\\", '"', "'", "''", "\n", "\r\nSET GLOBAL init_connect='x'", "\0", "\x1b[2J",
    "%s", "%(x)s", "{0}", "{{ 7*7 }}", "${IFS}", "$(id)", "|id", "&& id", "<script>alert(1)</script>", "@@GLOBAL.x",
    "SLEEP(10)", "(SELECT password FROM mysql.user)", "0x41414141", "CHAR(39)", "DEFAULT", "NULL", "1e309", "nan",
    "inf", "-1",
    "99999999999999999999999999", "1.5G", "8GG", "٣", "８G", "0b1", "1_000", "\u202e1", "\u200b", "ＯＮ", "а",
    "ﬁle", "İ", "ſ", "\ud7ff", "💥", "../../etc/passwd", "/etc/passwd", "file:///x", "http://127.0.0.1/", "x" * 500,
)  # fmt: skip


def pairs(count: int = 5000, seed: int = 20261122) -> Iterator[tuple[str, str]]:
    """Names with values, of which at least one is hostile."""
    chance = random.Random(seed)
    spoil = (_before, _after, _within, _instead, _upper, _qualified, _look_alike)
    for _ in range(count):
        name, value = chance.choice((*NAMES, *NEVER)), chance.choice(VALUES)
        roads = chance.choice(("name", "value", "both"))
        if roads in ("name", "both"):
            name = chance.choice(spoil)(name, chance.choice(SPLICES))
        if roads in ("value", "both"):
            value = chance.choice(spoil[:4])(value, chance.choice(SPLICES))
        yield name, value


def _before(text: str, splice: str) -> str:
    return splice + text


def _after(text: str, splice: str) -> str:
    return text + splice


def _within(text: str, splice: str) -> str:
    middle = len(text) // 2
    return text[:middle] + splice + text[middle:]


def _instead(text: str, splice: str) -> str:
    return splice


def _upper(text: str, splice: str) -> str:
    return text.upper()


def _qualified(text: str, splice: str) -> str:
    return f"GLOBAL.{text}"


def _look_alike(text: str, splice: str) -> str:
    """The same to the eye: a Cyrillic letter, a full-width one, or a soft hyphen."""
    return text.replace("a", "а", 1).replace("o", "ｏ", 1) + ("\u00ad" if "a" not in text and "o" not in text else "")
