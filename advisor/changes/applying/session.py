"""The step machine's session over a real connection of the apply account."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from advisor.changes.applying import grammar
from advisor.changes.applying.machine import LinkLost, Refused
from advisor.changes.reading import LiveFacts, read_over, same_server
from advisor.mysql.values import same
from collector.connection import Connection, Rows, connect
from collector.errors import USABLE, TargetError, printable
from collector.models import Server
from collector.servers import target_of

#: A statement that works before it answers may take this long: MariaDB resizes its redo log inside SET GLOBAL, and took
#: 77 s to shrink one from 3.75 GiB to 8 MiB on a busy disk. The lease outlives it.
STATEMENT_SECONDS = 240
#: How long a value is waited for that the server reaches by and by.
SETTLE_SECONDS = 45.0
#: The same where the server does not say that it is still at it.
SETTLE_QUIETLY_SECONDS = 2.0
_SETTLES = frozenset({"innodb_buffer_pool_size", "innodb_redo_log_capacity", "innodb_log_file_size"})
#: Parts of a server whose difference makes people look again before anything is sent. A restart alone does not: each
#: value is held against the approved one anyway.
_LOOKED_AT_AGAIN = frozenset({"version", "role", "wsrep_uuid", "server_id"})
_LINK = "SELECT CONNECTION_ID(), @@GLOBAL.hostname, @@GLOBAL.port, @@GLOBAL.server_id"
_PERSISTED = "SELECT VARIABLE_VALUE FROM performance_schema.persisted_variables WHERE VARIABLE_NAME = "
_THREAD = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = "
_SESSION = "SET SESSION sql_mode='STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'"


def open_session(server: Server, approved: Mapping[str, Any], *, strict: bool = True) -> LiveSession:
    """Connects with the apply account. ``approved`` is the fingerprint in the plan; ``strict`` compares also what only
    asks for another look. Raises LinkLost where the server cannot be reached, VaultError without an apply account.
    """
    target = target_of(server, "apply")
    try:
        connection = connect(target, idle_seconds=STATEMENT_SECONDS * 2, read_seconds=STATEMENT_SECONDS)
    except TargetError as error:
        raise LinkLost(str(error)) from None
    try:
        return LiveSession(connection, server, approved, strict=strict)
    except BaseException:
        connection.close()
        raise


class LiveSession:
    """One connection, one server. Everything raises LinkLost where the connection breaks."""

    def __init__(
        self, connection: Connection, server: Server, approved: Mapping[str, Any], *, strict: bool = True
    ) -> None:
        self.connection = connection
        self.server = server
        self.approved = approved
        self.strict = strict
        connection.deadline_seconds = STATEMENT_SECONDS
        #: Read at the beginning; ``differences`` reads anew.
        self.facts = self._facts()
        self._link = self._ask(_LINK).rows
        # One variable a statement, and values that do not fit are errors instead of being clamped. MariaDB's limit on
        # a statement's time would abort a resize half-way.
        self._ask(_SESSION + (", max_statement_time=0" if self.facts.version.is_mariadb else ""))

    def close(self) -> None:
        self.connection.close()

    def differences(self) -> Sequence[str]:
        """What is not as it was approved, as sentences."""
        self.facts = self._facts()
        now = self.facts.fingerprint()
        hard, soft = same_server(self.approved, now)
        told = [*hard, *(one for one in soft if self.strict and one in _LOOKED_AT_AGAIN)]
        return [f"{name}: {_shown(self.approved.get(name))} → {_shown(now.get(name))}." for name in told]

    def same_link(self) -> bool:
        return self._ask(_LINK).rows == self._link

    def read(self, variable: str) -> str:
        rows = self._ask(f"SELECT @@GLOBAL.`{_name(variable)}`").rows
        return (rows[0][0] if rows else None) or ""

    def read_back(self, statement: grammar.Statement) -> str:
        began = time.monotonic()
        while True:
            found = self.read(statement.variable)
            if statement.variable not in _SETTLES:
                return found
            resizing = self._resizing(statement.variable)
            waited = time.monotonic() - began
            if not resizing and (same(found, statement.value) or waited > SETTLE_QUIETLY_SECONDS):
                return found
            if waited > SETTLE_SECONDS:
                return found
            time.sleep(0.1)

    def persisted(self, variable: str) -> str | None:
        rows = self._ask(_PERSISTED + f"'{_name(variable)}'").rows
        return (rows[0][0] or "") if rows else None

    def execute(self, statement: str) -> Sequence[str]:
        """Sends a statement of our grammar and of no other, and reads what the server warns of."""
        try:
            told = grammar.check(statement, self.facts.version)
        except grammar.NotOurs as error:
            raise Refused(str(error)) from None
        self._ask(told.text)
        rows = self._ask("SHOW WARNINGS").rows
        return [printable(f"{row[0]} {row[1]}: {row[2]}", 300) for row in rows[:20] if len(row) >= 3]

    def status(self, *names: str) -> dict[str, str]:
        """Global status variables by name, those that there are."""
        listed = ", ".join(f"'{name}'" for name in names)
        return self._ask(f"SHOW GLOBAL STATUS WHERE Variable_name IN ({listed})").pairs()

    def ask(self, sql: str) -> Rows | None:
        """The answer to a question of ours, None where the account may not ask it or the server does not know it."""
        try:
            return self._ask(sql)
        except Refused:
            return None

    def has_thread(self, number: int) -> bool:
        """Whether the server has a thread of that number, as far as the account may see."""
        found = self.ask(_THREAD + str(int(number)))
        return found is not None and bool(found.rows) and found.rows[0][0] not in ("0", None)

    def _resizing(self, variable: str) -> bool:
        if variable != "innodb_buffer_pool_size":
            return False
        name = "Innodb_buffer_pool_resize_status"
        state = self.status(name).get(name, "")
        return state != "" and "omplete" not in state

    def _facts(self) -> LiveFacts:
        try:
            return read_over(self.connection, self.server)
        except TargetError as error:
            raise LinkLost(str(error)) from None

    def _ask(self, sql: str) -> Rows:
        try:
            return self.connection.query(sql)
        except USABLE as error:
            raise Refused(error.sentence) from None
        except TargetError as error:
            raise LinkLost(str(error)) from None


def _name(variable: str) -> str:
    """A variable's name as it may stand in a question. Raises Refused for anything else."""
    if not variable or not set(variable) <= set("abcdefghijklmnopqrstuvwxyz0123456789_"):
        raise Refused(f"{variable[:80]!r} is no name of a system variable.")
    return variable


def _shown(value: object) -> str:
    return "—" if value in (None, "") else printable(str(value), 80)
