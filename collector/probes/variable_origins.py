"""Where each variable's value came from: compiled in, option file, command line, persisted, or set at run time."""

from __future__ import annotations

from collections.abc import Sequence

from advisor.mysql.snapshot import Origin, Remedy, RemedyKind
from collector import redaction
from collector.connection import Connection
from collector.probes.probe import Found, Probe, Skipped, named_values

#: Seconds, since a time would come in the time zone of the session.
MYSQL = (
    "SELECT VARIABLE_NAME, VARIABLE_SOURCE, VARIABLE_PATH, UNIX_TIMESTAMP(SET_TIME), SET_USER, SET_HOST "
    "FROM performance_schema.variables_info"
)
PERSISTED = "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM performance_schema.persisted_variables"
MARIADB_10_5 = "SELECT VARIABLE_NAME, GLOBAL_VALUE_ORIGIN, GLOBAL_VALUE_PATH FROM information_schema.SYSTEM_VARIABLES"
MARIADB = "SELECT VARIABLE_NAME, GLOBAL_VALUE_ORIGIN, NULL FROM information_schema.SYSTEM_VARIABLES"

#: As long as a server's own column is, or shorter.
_LONGEST_NAME = 96
#: The servers' words, and ours.
_KINDS = {
    "COMPILED": "compiled",
    "COMPILE-TIME": "compiled",
    "AUTO": "automatic",
    "CONFIG": "option_file",
    "GLOBAL": "option_file",
    "SERVER": "option_file",
    "EXPLICIT": "option_file",
    "EXTRA": "option_file",
    "USER": "option_file",
    "LOGIN": "option_file",
    "COMMAND_LINE": "command_line",
    "COMMAND-LINE": "command_line",
    "PERSISTED": "persisted",
    "DYNAMIC": "runtime",
    "SQL": "runtime",
}


def read(connection: Connection, found: Found) -> int:
    server = found.server
    if server.is_mariadb:
        rows = connection.query(MARIADB_10_5 if server.number >= (10, 5, 0) else MARIADB)
    elif server.number < (8, 0, 0):
        raise Skipped(
            "MySQL tells where values come from since 8.0.",
            Remedy(RemedyKind.VERSION, "origin of variables", "Needs MySQL 8.0 or later."),
        )
    else:
        rows = connection.query(MYSQL)
        # The source of a value that was persisted in this run is DYNAMIC, so that only the list itself tells.
        found.persisted = named_values(connection.query(PERSISTED), found, "variable_origins", redaction.variable)
    for name, source, path, *setting in rows.rows:
        if name and source:
            kind = _KINDS.get(source.upper(), source.lower())
            found.origins[name.lower()] = Origin(kind, path or "", *_set(setting))
    return len(rows.rows)


def _set(setting: Sequence[str | None]) -> tuple[float | None, str]:
    """When and by whom a value was set at run time; nothing of those that never were."""
    if len(setting) < 3 or not setting[0]:
        return None, ""
    user, host = (str(part or "")[:_LONGEST_NAME] for part in setting[1:3])
    return float(setting[0]), f"{user}@{host}" if user or host else ""


PROBE = Probe("variable_origins", "origin of system variables", read, "SELECT ON performance_schema.*")
