"""System variables, and from them who the server is."""

from __future__ import annotations

from advisor.mysql.version import UnknownServer, identify
from collector import redaction
from collector.connection import Connection
from collector.errors import NotAServer
from collector.probes.probe import Found, Probe, named_values

SQL = "SHOW GLOBAL VARIABLES"


def read(connection: Connection, found: Found) -> int:
    rows = connection.query(SQL)
    found.variables = named_values(rows, found, "variables", redaction.variable)
    version = found.variables.get("version", "")
    try:
        found.version = identify(version, found.variables.get("version_comment", ""), variables=found.variables)
    except UnknownServer as error:
        raise NotAServer(str(error)) from None
    return len(rows.rows)


PROBE = Probe("variables", "system variables", read)
