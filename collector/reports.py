"""What trying a server says: reachable or why not, how it is protected, what could be read, and what to grant."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from advisor.mysql.grants import observe_grants
from advisor.mysql.snapshot import Identity, ProbeResult, ProbeState, Remedy, RemedyKind, Snapshot
from advisor.mysql.version import identify
from collector.collect import read_snapshot
from collector.connection import DEADLINE_SECONDS, connect
from collector.errors import TargetError
from collector.target import Target


@dataclass(frozen=True)
class Failure:
    """Why it did not work: ``kind`` for programs, one sentence, and what to do."""

    kind: str
    sentence: str
    next_step: str


@dataclass(frozen=True)
class ConnectionReport:
    """The answer to "does this work?". Everything in it may be shown to people; nothing in it is secret.

    ``account_statements`` are (title, statements): how to make the observing account, for this very server where
    its version
    is known, else for both flavors. ``missing`` are the remedies of probes that could not read everything.
    """

    reachable: bool
    address: str
    tls_mode: str
    failure: Failure | None = None
    tls_cipher: str = ""
    tls_version: str = ""
    identity: Identity | None = None
    account: str = ""
    probes: tuple[ProbeResult, ...] = ()
    missing: tuple[Remedy, ...] = ()
    account_statements: tuple[tuple[str, tuple[str, ...]], ...] = ()
    milliseconds: float = 0.0
    statements: int = 0
    snapshot: Snapshot | None = field(default=None, repr=False)

    @property
    def encrypted(self) -> bool:
        return bool(self.tls_cipher)

    @property
    def insecure(self) -> bool:
        return self.tls_mode == "insecure"

    @property
    def complete(self) -> bool:
        """Reachable, and no grant is missing."""
        return self.reachable and not any(one.kind is RemedyKind.GRANT for one in self.missing)


def check_connection(target: Target, *, deadline_seconds: float = DEADLINE_SECONDS) -> ConnectionReport:
    """Connects, reads everything once, closes. Never raises TargetError: what went wrong is in the report."""
    began = time.monotonic()
    try:
        with connect(target, deadline_seconds=deadline_seconds) as connection:
            snapshot = read_snapshot(connection, deadline_seconds=deadline_seconds)
            statements, account = connection.cost.statements, connection.account
            cipher, version = connection.tls_cipher, connection.tls_version
    except TargetError as error:
        return ConnectionReport(
            reachable=False,
            address=target.address,
            tls_mode=target.tls_mode,
            failure=Failure(error.kind, error.sentence, error.next_step),
            account_statements=account_statements(None, f"'{target.user}'@'%'"),
            milliseconds=(time.monotonic() - began) * 1000,
        )
    return ConnectionReport(
        reachable=True,
        address=target.address,
        tls_mode=target.tls_mode,
        tls_cipher=cipher,
        tls_version=version,
        identity=snapshot.identity,
        account=account,
        probes=snapshot.probes,
        missing=missing(snapshot),
        account_statements=account_statements(snapshot, account),
        milliseconds=(time.monotonic() - began) * 1000,
        statements=statements,
        snapshot=snapshot,
    )


def missing(snapshot: Snapshot) -> tuple[Remedy, ...]:
    """What probes could not read and what would change that, each remedy once."""
    found: dict[str, Remedy] = {}
    for probe in snapshot.probes:
        if probe.state is not ProbeState.OK and probe.remedy is not None:
            found.setdefault(probe.remedy.text, probe.remedy)
    return tuple(found.values())


def account_statements(snapshot: Snapshot | None, account: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """How to make an observing account: for the server that was read, else for both flavors."""
    try:
        if snapshot is not None:
            server = snapshot.identity.version
            return ((str(server), tuple(observe_grants(server, account))),)
        return tuple(
            (title, tuple(observe_grants(identify(version), account)))
            for title, version in (
                ("MySQL", "8.0.36 MySQL"),
                ("MariaDB 10.5.9 and later", "10.11.6-MariaDB"),
                ("MariaDB before 10.5.9", "10.4.30-MariaDB"),
            )
        )
    except ValueError:
        # An account name that cannot be quoted safely is not printed into statements.
        return ()
