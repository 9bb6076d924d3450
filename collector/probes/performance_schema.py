"""How performance_schema is set up: instruments by class and consumers; and of what it measured, how long the redo and
the binary log took to reach the disk.
"""

from __future__ import annotations

from advisor.mysql.snapshot import Remedy, RemedyKind
from collector.connection import Connection
from collector.probes.probe import Found, Probe, Skipped

INSTRUMENTS = (
    "SELECT SUBSTRING_INDEX(NAME, '/', 2), COUNT(*), SUM(ENABLED = 'YES'), COALESCE(SUM(TIMED = 'YES'), 0) "
    "FROM performance_schema.setup_instruments GROUP BY 1"
)
#: Consumers and, with them in one statement, what was measured of fsyncs: that table has some fifty rows and is kept in
#: memory. MISC is fsync here: opening and renaming a file is rare beside it (300 commits were 300 fsyncs of the binary
#: log on every server that was tried, and 301 to 339 of the redo log, as many as Innodb_os_log_fsyncs told).
CONSUMERS = (
    "SELECT NAME, ENABLED, NULL FROM performance_schema.setup_consumers "
    "UNION ALL SELECT EVENT_NAME, COUNT_MISC, SUM_TIMER_MISC FROM performance_schema.file_summary_by_event_name "
    "WHERE EVENT_NAME IN ('wait/io/file/innodb/innodb_log_file', 'wait/io/file/sql/binlog')"
)
_LOGS = {"wait/io/file/innodb/innodb_log_file": "redo", "wait/io/file/sql/binlog": "binlog"}
_PICOSECONDS = 1_000_000
#: What the sample history holds exactly.
_MOST = 1 << 53


def read(connection: Connection, found: Found) -> int:
    if found.variables.get("performance_schema", "").upper() != "ON":
        found.performance_schema = {"enabled": False}
        raise Skipped(
            "performance_schema is off, and can be switched on by a restart only.",
            Remedy(
                RemedyKind.ENABLE, "performance_schema", "performance_schema = ON in the option file, then a restart"
            ),
        )
    instruments = connection.query(INSTRUMENTS).rows
    told = connection.query(CONSUMERS).rows
    found.performance_schema = {
        "enabled": True,
        #: Class -> how many there are, are enabled, are timed.
        "instruments": {
            name: [int(float(count or 0)) for count in counts] for name, *counts in instruments if name is not None
        },
        "consumers": {name: state == "YES" for name, state, _ in told if name is not None and name not in _LOGS},
        #: Log -> how many fsyncs and their microseconds; MariaDB 10.6 and later do not measure those of the redo log.
        "fsyncs": {
            _LOGS[name]: fsyncs
            for name, *figures in told
            if name in _LOGS and (fsyncs := _fsyncs(*figures)) is not None
        },
    }
    return len(instruments) + len(told)


def _fsyncs(count: str | None, picoseconds: str | None) -> list[int] | None:
    """How many fsyncs, and the microseconds they took; None where they are counted and not timed, or out of range."""
    times, microseconds = int(count or 0), int(picoseconds or 0) // _PICOSECONDS
    if not 0 <= times < _MOST or not 0 <= microseconds < _MOST or (times and not microseconds):
        return None
    return [times, microseconds]


PROBE = Probe("performance_schema", "set-up of performance_schema", read, "SELECT ON performance_schema.*")
