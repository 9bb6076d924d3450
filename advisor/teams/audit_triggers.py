"""The database itself refuses to change or delete an audit entry.

That stops accidents and a service gone wrong. It does not stop who owns the database, and need not: the chain tells.
A migration that rebuilds the table (SQLite does so for most alterations) has to ``install`` them anew.
"""

from __future__ import annotations

import logging
from typing import Any

from django.db import Error as DatabaseError

log = logging.getLogger(__name__)

TABLE = "teams_auditentry"
_SENTENCE = "entries of the audit are never changed or deleted"
_EVENTS = ("update", "delete")
_SQLITE_INSERT = """
    CREATE TRIGGER audit_refuses_insert BEFORE INSERT ON teams_auditentry
    WHEN NEW.sequence IN (SELECT sequence FROM teams_auditentry)
    BEGIN SELECT RAISE(ABORT, 'entries of the audit are never changed or deleted'); END
"""


def _name(event: str) -> str:
    return f"audit_refuses_{event}"


def _names(vendor: str) -> set[str]:
    # REPLACE deletes without asking DELETE triggers in SQLite, so that writing over an entry is refused by itself.
    return {_name(event) for event in (*_EVENTS, *(("insert",) if vendor == "sqlite" else ()))}


def install(connection: Any) -> bool:
    """Makes what is missing; whether all are there. An account that may not make triggers leaves them out: the system
    check teams.W002 and `verify_audit` tell.
    """
    there = present(connection)
    with connection.cursor() as cursor:
        for event in _EVENTS:
            if _name(event) in there:
                continue
            if connection.vendor == "sqlite":
                cursor.execute(
                    f"CREATE TRIGGER {_name(event)} BEFORE {event.upper()} ON {TABLE} "
                    f"BEGIN SELECT RAISE(ABORT, '{_SENTENCE}'); END"
                )
                continue
            try:
                cursor.execute(
                    f"CREATE TRIGGER {_name(event)} BEFORE {event.upper()} ON {TABLE} FOR EACH ROW "
                    f"SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = '{_SENTENCE}'"
                )
            except DatabaseError as error:
                log.warning("The product database does not let Tidemark guard the audit by triggers: %s", error)
                return False
        if connection.vendor == "sqlite" and _name("insert") not in there:
            cursor.execute(_SQLITE_INSERT)
    return True


def remove(connection: Any) -> None:
    """Takes them away: for a migration that rebuilds the table, and for tests, which empty it."""
    with connection.cursor() as cursor:
        for name in sorted(present(connection)):
            cursor.execute(f"DROP TRIGGER {name}")


def present(connection: Any) -> set[str]:
    """The names of those that are there."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s", [TABLE])
        else:
            cursor.execute(
                "SELECT TRIGGER_NAME FROM information_schema.TRIGGERS "
                "WHERE TRIGGER_SCHEMA = DATABASE() AND EVENT_OBJECT_TABLE = %s",
                [TABLE],
            )
        return {str(name) for (name,) in cursor.fetchall()} & _names(connection.vendor)


def missing(connection: Any) -> set[str]:
    """The names of those that should be there and are not."""
    return _names(connection.vendor) - present(connection)
