"""Settings that differ between two moments or two servers: normalised, so that two spellings of one value are equal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from advisor.mysql.values import same

#: Variables that every server or every moment has its own of: clocks, positions, and what belongs to a session.
_MOMENTARY = frozenset(
    {
        "error_count",
        "gtid_binlog_pos",
        "gtid_binlog_state",
        "gtid_current_pos",
        "gtid_executed",
        "gtid_purged",
        "gtid_slave_pos",
        "identity",
        "in_transaction",
        "innodb_buffer_pool_load_abort",
        "insert_id",
        "last_gtid",
        "last_insert_id",
        "pseudo_thread_id",
        "rand_seed1",
        "rand_seed2",
        "statement_id",
        "timestamp",
        "warning_count",
    }
)
#: What tells one server from another and is no setting to compare.
_PLACES = frozenset(
    {
        "admin_address",
        "admin_port",
        "basedir",
        "bind_address",
        "datadir",
        "general_log_file",
        "hostname",
        "log_bin_basename",
        "log_bin_index",
        "log_error",
        "mysqlx_port",
        "mysqlx_socket",
        "pid_file",
        "port",
        "relay_log_basename",
        "relay_log_index",
        "report_host",
        "report_port",
        "server_id",
        "server_uid",
        "server_uuid",
        "slow_query_log_file",
        "socket",
        "tmpdir",
        "wsrep_node_address",
        "wsrep_node_incoming_address",
        "wsrep_node_name",
    }
)
#: The version is told apart from the settings.
_VERSION = frozenset({"innodb_version", "version", "version_source_revision"})


@dataclass(frozen=True)
class SettingDifference:
    """A system variable before and after; None where that side does not have it."""

    name: str
    before: str | None
    after: str | None


def differing(before: Mapping[str, str], after: Mapping[str, str], *, one_server: bool) -> list[SettingDifference]:
    """By name. ``one_server``: whether both are of the same server, so that its places count as settings, too."""
    left_out = _MOMENTARY | _VERSION if one_server else _MOMENTARY | _VERSION | _PLACES
    found = []
    for name in sorted({*before, *after} - left_out):
        left, right = before.get(name), after.get(name)
        if left is None or right is None or not same(left, right):
            found.append(SettingDifference(name, left, right))
    return found
