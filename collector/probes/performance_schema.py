"""How performance_schema is set up: instruments by class and consumers. Its measurements themselves are not read."""

from __future__ import annotations

from advisor.mysql.snapshot import Remedy, RemedyKind
from collector.connection import Connection
from collector.probes.probe import Found, Probe, Skipped

INSTRUMENTS = (
    "SELECT SUBSTRING_INDEX(NAME, '/', 2), COUNT(*), SUM(ENABLED = 'YES'), COALESCE(SUM(TIMED = 'YES'), 0) "
    "FROM performance_schema.setup_instruments GROUP BY 1"
)
CONSUMERS = "SELECT NAME, ENABLED FROM performance_schema.setup_consumers"


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
    consumers = connection.query(CONSUMERS).rows
    found.performance_schema = {
        "enabled": True,
        #: Class -> how many there are, are enabled, are timed.
        "instruments": {
            name: [int(float(count or 0)) for count in counts] for name, *counts in instruments if name is not None
        },
        "consumers": {name: state == "YES" for name, state in consumers if name is not None},
    }
    return len(instruments) + len(consumers)


PROBE = Probe("performance_schema", "set-up of performance_schema", read, "SELECT ON performance_schema.*")
