"""Replication channels, and whether replicas are attached. Asked last: a replica that is being stopped blocks it."""

from __future__ import annotations

from advisor.mysql.grants import has_privilege, parse_grants
from advisor.mysql.snapshot import Remedy, RemedyKind
from collector.connection import Connection
from collector.errors import USABLE
from collector.probes.probe import LONGEST_VALUE, Found, Probe, Skipped

MYSQL = "SHOW REPLICA STATUS"
MYSQL_BEFORE_8_0_22 = "SHOW SLAVE STATUS"
MARIADB = "SHOW ALL SLAVES STATUS"
MYSQL_REPLICAS = "SELECT COUNT(*) FROM performance_schema.threads WHERE PROCESSLIST_COMMAND LIKE 'Binlog Dump%'"
DEADLINE_SECONDS = 2.0

#: Of some sixty columns, these: no user, no error text (it may hold rows of people's data), no path of a key. Filters
#: are names of schemas and tables; positions and sets of GTIDs tell how far a replica is and what it ran by itself.
_COLUMNS = (
    "channel_name",
    "connection_name",
    "source_host",
    "master_host",
    "source_port",
    "master_port",
    "replica_io_running",
    "slave_io_running",
    "replica_sql_running",
    "slave_sql_running",
    "seconds_behind_source",
    "seconds_behind_master",
    "last_io_errno",
    "last_sql_errno",
    "sql_delay",
    "auto_position",
    "using_gtid",
    "parallel_mode",
    "source_uuid",
    "master_uuid",
    "source_server_id",
    "master_server_id",
    "source_ssl_allowed",
    "master_ssl_allowed",
    "source_log_file",
    "master_log_file",
    "read_source_log_pos",
    "read_master_log_pos",
    "relay_source_log_file",
    "relay_master_log_file",
    "exec_source_log_pos",
    "exec_master_log_pos",
    "relay_log_space",
    "retrieved_gtid_set",
    "executed_gtid_set",
    "gtid_io_pos",
    "gtid_slave_pos",
    "replicate_do_db",
    "replicate_ignore_db",
    "replicate_do_table",
    "replicate_ignore_table",
    "replicate_wild_do_table",
    "replicate_wild_ignore_table",
    "replicate_rewrite_db",
    "replicate_do_domain_ids",
    "replicate_ignore_domain_ids",
    "replicate_ignore_server_ids",
)


def read(connection: Connection, found: Found) -> int:
    server = found.server
    if server.is_mariadb and (10, 5, 0) <= server.number < (10, 5, 9):
        raise Skipped(
            "MariaDB 10.5.0 to 10.5.8 show replication to accounts with SUPER only, which Tidemark never asks for.",
            Remedy(RemedyKind.VERSION, "replication", "Needs MariaDB 10.5.9 or later."),
        )
    if server.is_mariadb:
        sql = MARIADB
    else:
        sql = MYSQL if server.number >= (8, 0, 22) else MYSQL_BEFORE_8_0_22
    with connection.within(DEADLINE_SECONDS):
        rows = connection.query(sql)
        names = [column.lower() for column in rows.columns]
        found.replication = [
            {
                # Sets of GTIDs and lists of filters may be long without end.
                name: value[:LONGEST_VALUE] if value else value
                for name, value in zip(names, row, strict=False)
                if name in _COLUMNS
            }
            for row in rows.rows
        ]
        found.replicas_attached = _attached(connection, found)
    return len(rows.rows)


def _attached(connection: Connection, found: Found) -> int | None:
    """How many replicas read this server's binary log; None where it cannot be told."""
    if found.variables.get("log_bin", "").upper() != "ON":
        return 0
    if found.server.is_mariadb:
        told = found.status.get("Slaves_connected", "")
        return int(told) if told.isdigit() else None
    if not found.performance_schema.get("enabled"):
        return None
    if not has_privilege(parse_grants(found.grants), "SELECT ON performance_schema.*"):
        return None
    try:
        counted = connection.query(MYSQL_REPLICAS).rows
    except USABLE:
        return None
    return int(counted[0][0] or 0) if counted else None


PROBE = Probe("replication", "replication", read, "REPLICATION CLIENT")
