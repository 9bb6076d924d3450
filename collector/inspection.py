"""Inspecting a server: its accounts, tables and statements, read once because a person asked for it."""

from __future__ import annotations

import time

from advisor.mysql.inspection import Inspection
from advisor.mysql.snapshot import ProbeResult, ProbeState, Snapshot
from collector.connection import Connection
from collector.errors import USABLE, Hostile, TargetError
from collector.inspections import QUESTIONS
from collector.inspections.question import Inspecting

INSPECTION_SECONDS = 20.0

#: Statistics of tables as the storage engine knows them now, instead of a copy that may be a day old (MySQL 8+).
_FRESH = "SET SESSION time_zone = 'SYSTEM', information_schema_stats_expiry = 0"
#: InnoDB tells times in the zone of the machine: ours has to be the same where they are subtracted.
_ZONE = "SET SESSION time_zone = 'SYSTEM'"


def read_inspection(
    connection: Connection, snapshot: Snapshot, *, deadline_seconds: float = INSPECTION_SECONDS
) -> Inspection:
    """Asks all questions of an inspection on an open connection; ``snapshot`` is one that was just read on it.

    What cannot be told stands in the reports, with the remedy. The session's time zone is the machine's afterwards.
    Raises Hostile; after any other error that ends the connection, what was not asked any more is reported as failed.
    """
    taken_at = time.time()
    inspecting = Inspecting(connection, snapshot, time.monotonic() + deadline_seconds)
    reports: list[ProbeResult] = []
    lost: TargetError | None = None
    # A little more than the questions keep to by themselves: then the time ends between two of them, not within one.
    with connection.within(deadline_seconds + 1):
        try:
            _prepare(inspecting)
        except Hostile:
            raise
        except TargetError as error:
            lost = error
        for question in QUESTIONS:
            if lost is not None:
                reports.append(ProbeResult(question.rowset, ProbeState.FAILED, reason=f"Not asked: {lost.sentence}"))
                continue
            began = time.monotonic()
            try:
                reports.append(question.run(inspecting))
            except Hostile:
                # What asks for a file is believed nothing of what it said before.
                raise
            except TargetError as error:
                lost = error
                inspecting.rowsets.pop(question.rowset, None)
                elapsed = round((time.monotonic() - began) * 1000, 3)
                reports.append(ProbeResult(question.rowset, ProbeState.FAILED, elapsed, reason=error.sentence))
    return Inspection(
        taken_at=taken_at,
        identity=snapshot.identity.fingerprint,
        rowsets=inspecting.rowsets,
        probes=tuple(reports),
    )


def _prepare(inspecting: Inspecting) -> None:
    """Raises TargetError where the connection was lost."""
    server = inspecting.server
    try:
        inspecting.connection.query(_FRESH if server.is_mysql and server.number >= (8, 0, 0) else _ZONE)
    except USABLE:
        # Then times may be off by a time zone, and sizes by a day: nothing to give up the rest for.
        return
