"""Plugins and whether they are active."""

from __future__ import annotations

from collector.connection import Connection
from collector.probes.probe import Found, Probe

SQL = "SELECT PLUGIN_NAME, PLUGIN_STATUS FROM information_schema.PLUGINS"


def read(connection: Connection, found: Found) -> int:
    rows = connection.query(SQL)
    found.plugins = rows.pairs()
    return len(rows.rows)


PROBE = Probe("plugins", "plugins", read)
