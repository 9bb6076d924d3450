"""InnoDB's own counters, those that are switched off included: which are on decides what can be told at all."""

from __future__ import annotations

from advisor.mysql.snapshot import Metric
from collector.connection import Connection
from collector.probes.probe import Found, Probe

#: The state's column is called STATUS ('enabled') on MySQL and older MariaDB, ENABLED (1) since MariaDB 10.5.
SQL = "SELECT NAME, SUBSYSTEM, STATUS = 'enabled', COUNT FROM information_schema.INNODB_METRICS"
MARIADB_10_5 = "SELECT NAME, SUBSYSTEM, ENABLED, COUNT FROM information_schema.INNODB_METRICS"


def read(connection: Connection, found: Found) -> int:
    newer = found.server.is_mariadb and found.server.number >= (10, 5, 0)
    rows = connection.query(MARIADB_10_5 if newer else SQL)
    for name, subsystem, enabled, count in rows.rows:
        if name and count is not None and count.lstrip("-").isdigit():
            found.metrics[name] = Metric(subsystem or "", enabled == "1", int(count))
    return len(rows.rows)


PROBE = Probe("innodb_metrics", "innodb_metrics", read, "PROCESS")
