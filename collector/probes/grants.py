"""What our own account may do."""

from __future__ import annotations

from collector import redaction
from collector.connection import Connection
from collector.probes.probe import Found, Probe

SQL = "SHOW GRANTS"


def read(connection: Connection, found: Found) -> int:
    rows = connection.query(SQL)
    found.grants = [redaction.grant(row[0]) for row in rows.rows if row and row[0]]
    return len(rows.rows)


PROBE = Probe("grants", "grants of our account", read)
