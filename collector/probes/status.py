"""Status variables. SHOW, not performance_schema.global_status: the Com_ counters exist only here."""

from __future__ import annotations

import time

from collector.connection import Connection
from collector.probes.probe import Found, Probe, named_values

SQL = "SHOW GLOBAL STATUS"

#: Public keys of the server: long, of no use here.
_NOISE = frozenset({"Caching_sha2_password_rsa_public_key", "Rsa_public_key"})


def read(connection: Connection, found: Found) -> int:
    began = time.monotonic()
    rows = connection.query(SQL)
    found.status_read_at = (began + time.monotonic()) / 2
    status = named_values(rows, found, "status", lambda _, value: value)
    found.status = {name: value for name, value in status.items() if name not in _NOISE}
    return len(rows.rows)


PROBE = Probe("status", "status variables", read)
