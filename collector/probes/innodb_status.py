"""Positions of the redo log from SHOW ENGINE INNODB STATUS, asked only where nothing else tells the checkpoint age.

The text holds people's statements (deadlocks, foreign keys): two lines of it are kept until the age is derived.
"""

from __future__ import annotations

import re

from advisor.mysql import redo
from advisor.mysql.counters import enabled_counts
from collector.connection import Connection
from collector.numbers import numbers
from collector.probes.probe import Found, Probe, Skipped

SQL = "SHOW ENGINE INNODB STATUS"

_LINES = re.compile(r"^(?:Log sequence number|Last checkpoint at)\s+\d+\s*$", re.MULTILINE)


def read(connection: Connection, found: Found) -> int:
    if not redo.has_redo_log(found.server):
        raise Skipped("The storage of this server writes the log itself: there is no checkpoint age.")
    if redo.reading(found.server, status=numbers(found.status), metrics=enabled_counts(found.metrics)) is not None:
        raise Skipped("Not needed: the checkpoint age is told by a cheaper source.")
    text = positions(connection)
    found.innodb_status = text
    return 1 if text else 0


def positions(connection: Connection) -> str:
    """The two lines that tell the age, nothing else of the text; empty where they are not in it."""
    rows = connection.query(SQL).rows
    text = rows[0][-1] if rows and rows[0] else None
    return "\n".join(_LINES.findall(text or ""))


PROBE = Probe("innodb_status", "positions of the redo log", read, "PROCESS")
