"""One question of an inspection: how it is asked, what its rows become, and what it reports about itself."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from advisor.mysql.grants import has_privilege, parse_grants, remedy_for
from advisor.mysql.inspection import ROWSETS, Row
from advisor.mysql.snapshot import ProbeResult, ProbeState, Remedy, RemedyKind, Snapshot
from advisor.mysql.version import ServerVersion
from collector.connection import Connection, Rows
from collector.errors import USABLE, Denied
from collector.probes.probe import UNREADABLE, Skipped

if TYPE_CHECKING:
    from collector.inspections.gathering import Gathered

#: The server itself ends a statement of ours after so long.
STATEMENT_SECONDS = 3
#: Schemas that come with the server.
SYSTEM_SCHEMAS = ("mysql", "sys", "information_schema", "performance_schema")
#: As a list inside SQL.
NOT_PEOPLES = "(" + ", ".join(f"'{name}'" for name in SYSTEM_SCHEMAS) + ")"

LONGEST_NAME = 192
LONGEST_TEXT = 4_096
_TEXTS = frozenset({"text", "columns"})
_NUMBERS = frozenset(
    {
        *("rows", "data_bytes", "index_bytes", "free_bytes", "partitions", "next_value", "maximum", "reads"),
        *("counted_seconds", "count", "total_seconds", "lock_seconds", "rows_examined", "rows_sent", "rows_affected"),
        *("no_index_used", "no_good_index_used", "full_joins", "range_selects", "tmp_tables", "tmp_disk_tables"),
        *("sort_rows", "sort_merge_passes", "errors", "seen_seconds", "idle_seconds", "size", "lost", "age_seconds"),
        *("rows_modified", "rows_locked", "longest_seconds", "port", "applier_queue", "certification_queue"),
        *("conflicts", "transactions", "raised", "bytes"),
    }
)
_FLAGS = frozenset(
    {
        *("has_password", "locked", "is_role", "administrator", "password_expired", "everything"),
        *("is_unique", "is_visible", "is_me"),
    }
)
_NUMBER = re.compile(r"-?\d{1,24}(?:\.\d{1,12})?\Z", re.ASCII)


class Refused(Exception):
    """The account lacks a privilege (in the words of ``remedy_for``); what it would see without it means nothing."""

    def __init__(self, privilege: str, reason: str) -> None:
        super().__init__(reason)
        self.privilege = privilege
        self.reason = reason


class Stopped(Exception):
    """The question was not asked, or given up, so as not to burden the server: the sentence says why."""


@dataclass
class Inspecting:
    """One inspection while it is made: what was read so far, and how the server may be asked.

    ``until`` is the instant of our monotonic clock at which the whole of it ends.
    """

    connection: Connection
    snapshot: Snapshot
    until: float
    rowsets: dict[str, tuple[Row, ...]] = field(default_factory=dict)
    remarks: dict[str, str] = field(default_factory=dict)
    #: What INFORMATION_SCHEMA said of tables, or why it did not: see gathering.py.
    gathered: Gathered | Exception | None = None
    #: Tables in InnoDB's dictionary, of the server's own schemas too; None where it was not asked.
    dictionary_count: int | None = None

    @property
    def server(self) -> ServerVersion:
        return self.snapshot.identity.version

    @property
    def seconds_left(self) -> float:
        return self.until - time.monotonic()

    def ask(self, sql: str, *, max_rows: int = 5_000, max_bytes: int = 8 << 20) -> Rows:
        """Asks one SELECT, ended by the server itself after ``STATEMENT_SECONDS``, or after what is left of the time.

        Raises Stopped where no time is left, and what ``Connection.query`` raises.
        """
        left = self.seconds_left
        if left < 0.5:
            raise Stopped("The time for the inspection was used up before this was asked.")
        seconds = min(float(STATEMENT_SECONDS), left)
        if not sql.startswith("SELECT "):
            bounded = sql
        elif self.server.is_mariadb:
            bounded = f"SET STATEMENT max_statement_time={seconds:.1f} FOR {sql}"
        else:
            bounded = f"SELECT /*+ MAX_EXECUTION_TIME({seconds * 1000:.0f}) */ {sql.removeprefix('SELECT ')}"
        return self.connection.query(bounded, max_rows=max_rows, max_bytes=max_bytes)

    def may(self, privilege: str) -> bool:
        """Whether SHOW GRANTS names a privilege; one that hangs on a role that is not active does not count."""
        return has_privilege(parse_grants(self.snapshot.grants), privilege)

    def sees_everyones_sessions(self) -> bool:
        """Whether the process list shows everybody: without PROCESS it shows our own session, and no error."""
        metrics = self.snapshot.probe("innodb_metrics")
        return (metrics is not None and metrics.state is ProbeState.OK) or self.may("PROCESS")

    def wants_all_tables(self) -> None:
        """Raises Refused where the account would see only some tables: an empty answer would mean nothing.

        INFORMATION_SCHEMA shows what an account has some right to, and tells nobody what it left out. REFERENCES on
        everything shows all tables, columns and indexes, and not one row of theirs.
        """
        revoked = any(line.lstrip().upper().startswith("REVOKE ") for line in self.snapshot.grants)
        if revoked or not any(self.may(one) for one in ("SELECT", "INSERT", "UPDATE", "REFERENCES")):
            raise Refused(
                "REFERENCES",
                "The account sees only tables that it has some right to, so that nothing can be told of the others.",
            )

    def wants_performance_schema(self) -> None:
        """Raises Skipped where it is off: its tables are then empty, without an error."""
        if self.snapshot.variables.get("performance_schema", "").upper() != "ON":
            raise Skipped(
                "performance_schema is off, and can be switched on by a restart only.",
                Remedy(
                    RemedyKind.ENABLE,
                    "performance_schema",
                    "performance_schema = ON in the option file, then a restart",
                ),
            )

    def keep(self, rowset: str, rows: Iterable[Sequence[str | None]]) -> int:
        """Keeps rows under the columns of ``ROWSETS``, each value held to what its column may be. How many there are.

        Raises ValueError for a row of another length. What is no number where one belongs becomes None.
        """
        columns = ROWSETS[rowset]
        cut = 0
        kept: list[Row] = []
        for row in rows:
            values: dict[str, str | None] = {}
            for column, value in zip(columns, row, strict=True):
                if value is not None:
                    if column in _NUMBERS:
                        value = value if _NUMBER.match(value) else None
                    elif column in _FLAGS:
                        value = value if value in {"0", "1"} else None
                    else:
                        longest = LONGEST_TEXT if column in _TEXTS else LONGEST_NAME
                        cut += len(value) > longest
                        value = value[:longest]
                values[column] = value
            kept.append(values)
        self.rowsets[rowset] = tuple(kept)
        if cut:
            self.remark(rowset, f"{cut:,} long values were cut.")
        return len(kept)

    def remark(self, rowset: str, sentence: str) -> None:
        self.remarks[rowset] = f"{self.remarks[rowset]} {sentence}" if rowset in self.remarks else sentence


@dataclass(frozen=True)
class Question:
    """``read`` asks and keeps rows under ``rowset``; ``privilege`` is what it needs on a server, in the words of
    ``remedy_for``, and ``title`` says what is read in a few words.
    """

    rowset: str
    title: str
    read: Callable[[Inspecting], int]
    privilege: Callable[[ServerVersion], str]

    def run(self, inspecting: Inspecting) -> ProbeResult:
        """Asks and reports. What ends the connection is raised; what fails this question alone is reported."""
        began = time.monotonic()

        def result(state: ProbeState, rows: int = 0, reason: str = "", remedy: Remedy | None = None) -> ProbeResult:
            if state is not ProbeState.OK:
                inspecting.rowsets.pop(self.rowset, None)
            return ProbeResult(self.rowset, state, round((time.monotonic() - began) * 1000, 3), rows, reason, remedy)

        try:
            rows = self.read(inspecting)
        except Skipped as skipped:
            return result(ProbeState.SKIPPED, reason=skipped.reason, remedy=skipped.remedy)
        except Refused as refused:
            return result(ProbeState.FAILED, 0, refused.reason, self._remedy(inspecting, refused.privilege))
        except Denied as error:
            return result(
                ProbeState.FAILED, 0, error.sentence, self._remedy(inspecting, self.privilege(inspecting.server))
            )
        except Stopped as stopped:
            return result(ProbeState.FAILED, reason=str(stopped))
        except USABLE as error:
            return result(ProbeState.FAILED, reason=str(error))
        except UNREADABLE:
            return result(ProbeState.FAILED, reason="The answer cannot be read: it is not what a server says to this.")
        return result(ProbeState.OK, rows, inspecting.remarks.get(self.rowset, ""))

    def _remedy(self, inspecting: Inspecting, privilege: str) -> Remedy | None:
        # An account's name that cannot be quoted safely is not printed into a statement.
        with contextlib.suppress(ValueError):
            statement = remedy_for(privilege, inspecting.server, inspecting.connection.account)
            return Remedy(RemedyKind.GRANT, self.title, statement)
        return None


def process(_: ServerVersion) -> str:
    return "PROCESS"


def performance_schema(_: ServerVersion) -> str:
    return "SELECT ON performance_schema.*"


def all_tables(_: ServerVersion) -> str:
    return "REFERENCES"


def literal(text: str) -> str:
    """A text as a literal inside SQL, closed in every SQL mode."""
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def seconds(picoseconds: str | None) -> str | None:
    """performance_schema's picoseconds as seconds."""
    return None if picoseconds is None else f"{int(picoseconds) / 1e12:.6f}"
