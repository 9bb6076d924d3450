"""The replicas of a source, read once because somebody asked: where they say they are, and where they connect from.

A replica tells its source host and port only where its ``report_host`` is set; otherwise the process list shows the
address that reads the binary log, and not the port that the replica listens on. What is put together of both is an
offer: nothing is registered, and nothing is connected to, but the source.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser
from django.utils import timezone
from django.utils.translation import gettext as _

from advisor.journal import services as journal
from advisor.mysql.grants import has_privilege, parse_grants
from advisor.mysql.version import ServerVersion, UnknownServer, identify
from collector.connection import Connection, connect
from collector.errors import USABLE, Denied, TargetError, printable
from collector.models import Server
from collector.servers import target_of
from collector.target import DEFAULT_PORT
from collector.vault import VaultError

_CONNECT_SECONDS = 6.0
_QUESTION_SECONDS = 3.0
_MOST = 200

WHO = "SELECT VERSION(), @@GLOBAL.version_comment, @@GLOBAL.performance_schema"
SHOW = "SHOW REPLICAS"
SHOW_BEFORE_8_0_22 = "SHOW SLAVE HOSTS"
THREADS = (
    "SELECT PROCESSLIST_HOST FROM performance_schema.threads WHERE PROCESSLIST_COMMAND LIKE 'Binlog Dump%' LIMIT 200"
)
PROCESSLIST = "SELECT HOST FROM information_schema.PROCESSLIST WHERE COMMAND LIKE 'Binlog Dump%' LIMIT 200"


@dataclass(frozen=True)
class Told:
    """A line of SHOW REPLICAS; ``host`` is empty where the replica's report_host is not set."""

    host: str
    port: int


@dataclass(frozen=True)
class Replica:
    """Where a replica probably is. ``reported``: it says so itself. ``sure_port``: the port is not a guess."""

    host: str
    port: int
    reported: bool
    sure_port: bool


@dataclass(frozen=True)
class Answer:
    """What asking came to. ``failure`` says why nothing could be asked at all; ``remarks`` what is not certain."""

    replicas: tuple[Replica, ...] = ()
    remarks: tuple[str, ...] = ()
    failure: str = ""


def ask(*, server: Server, actor: AbstractBaseUser | None = None, dial: Callable[..., Connection] = connect) -> Answer:
    """Asks the source on a connection of its own, with the account that watches, and closes it. Who asked is journaled.

    Never raises TargetError: what went wrong is in the answer.
    """
    journal.record(
        team_id=server.team_id, kind="server.replicas_asked", at=timezone.now(), server_id=server.pk, actor=actor
    )
    try:
        with dial(target_of(server), deadline_seconds=_CONNECT_SECONDS) as connection:
            return read(connection)
    except (TargetError, VaultError) as error:
        return Answer(failure=str(error))


def read(connection: Connection) -> Answer:
    """Four statements at most. Raises TargetError where the connection is lost."""
    remarks: list[str] = []
    with connection.within(_QUESTION_SECONDS):
        row = connection.query(WHO).rows[0]
        try:
            version = identify(row[0] or "", row[1] or "")
        except UnknownServer as error:
            return Answer(failure=str(error))
        told = _told(connection, version, remarks)
        dumping = _dumping(connection, version, performance_schema=row[2] == "1", remarks=remarks)
    replicas, doubts = merge(told, dumping)
    return Answer(tuple(replicas), (*remarks, *doubts))


def merge(told: Sequence[Told], dumping: Sequence[str]) -> tuple[list[Replica], list[str]]:
    """Replicas that say where they are, then those that only the process list shows; and what is not certain of it."""
    found = [Replica(one.host, one.port, True, True) for one in dict.fromkeys(told) if one.host]
    silent = [one.port for one in told if not one.host]
    rest = Counter(dumping)
    rest.subtract(Counter(one.host for one in found))
    hosts = sorted(rest.elements())
    unmatched = sum(1 for one in found if one.host not in dumping)
    if not silent and len(hosts) <= unmatched:
        # They connect from addresses whose names they report: nobody is left over.
        return found, []
    if silent and len(hosts) == len(silent) and len(set(hosts)) == 1:
        return found + [Replica(hosts[0], port, False, True) for port in sorted(set(silent))], []
    doubts = []
    if hosts:
        found += [Replica(host, DEFAULT_PORT, False, False) for host in sorted(set(hosts))]
        doubts.append(
            _("Who reads the binary log may also be a backup or another program; ports marked with ? are a guess.")
        )
    if silent:
        doubts.append(
            _("%(n)s replicas do not say where they are: report_host is not set on them.") % {"n": len(silent)}
        )
    return found, doubts


def _told(connection: Connection, version: ServerVersion, remarks: list[str]) -> list[Told]:
    newer = version.is_mysql and version.number >= (8, 0, 22)
    try:
        rows = connection.query(SHOW if newer else SHOW_BEFORE_8_0_22, max_rows=_MOST)
    except Denied:
        # The privilege that opens this opens the binary log as well, and with it everybody's data: not asked for.
        remarks.append(
            _("The account may not list replicas; that would take a right that also reads all changes of data.")
        )
        return []
    except USABLE as error:
        remarks.append(str(error))
        return []
    names = [column.lower() for column in rows.columns]
    if "host" not in names or "port" not in names:
        return []
    told = []
    for row in rows.rows:
        values = dict(zip(names, row, strict=False))
        port = values["port"] or ""
        host = printable(values["host"] or "", 255)
        told.append(Told(host, int(port) if port.isdigit() and 0 < int(port) < 65_536 else DEFAULT_PORT))
    return told


def _dumping(
    connection: Connection, version: ServerVersion, *, performance_schema: bool, remarks: list[str]
) -> list[str]:
    """The addresses that read the binary log now, one for each connection."""
    try:
        grants = parse_grants([row[0] or "" for row in connection.query("SHOW GRANTS").rows])
        threads = version.is_mysql and performance_schema and has_privilege(grants, "SELECT ON performance_schema.*")
        if not threads and not has_privilege(grants, "PROCESS"):
            remarks.append(_("Without PROCESS the account does not see who reads the binary log."))
            return []
        rows = connection.query(THREADS if threads else PROCESSLIST, max_rows=_MOST).rows
    except USABLE as error:
        remarks.append(str(error))
        return []
    return [host for host in (_host(row[0] or "") for row in rows) if host]


def _host(text: str) -> str:
    """The process list's host without the port that the client happened to get."""
    host, colon, port = text.rpartition(":")
    return printable((host if colon and port.isdigit() else text).strip("[]"), 255)
