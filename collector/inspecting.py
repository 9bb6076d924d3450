"""Inspections of watched servers: asking for one, making it, and reading the newest. The only writer of their rows."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache, partial
from typing import Any

import zstandard
from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils import timezone
from kombu.exceptions import OperationalError

from advisor.journal import services as journal
from advisor.mysql.inspection import Inspection
from advisor.mysql.snapshot import ProbeState
from advisor.teams import audit
from collector import signals
from collector.collect import read_snapshot
from collector.connection import Connection, connect
from collector.errors import TargetError
from collector.inspection import read_inspection
from collector.models import InspectionRequest, Server, StoredInspection
from collector.servers import target_of
from collector.vault import VaultError

log = logging.getLogger(__name__)

#: So many inspections of a server are kept.
KEPT = 5
#: A request that no worker took up for so long was lost: workers take messages that old no more.
WAITING_SECONDS = 60
#: Connecting, a snapshot and the inspection end by themselves before this; who takes longer was killed.
RUNNING_SECONDS = 90
_CONNECT_SECONDS = 6.0
_LONGEST_IDENTITY = 300
_FAULT = "Tidemark stumbled over what this server says; the log of its worker has the details. Please report them."
_NO_BROKER = "No worker could be told, since the broker does not answer. Ask again when the system page is calm."
_LOST = "No worker took it up or finished it. See the system page, and ask again."


class State(StrEnum):
    """How the newest request goes; ``NONE`` where nobody ever asked."""

    NONE = "none"
    WAITING = "waiting"
    RUNNING = "running"
    FAILED = "failed"
    DONE = "done"


@dataclass(frozen=True)
class Standing:
    """What is known of a server's inspections: the newest request, and the newest inspection that was stored.

    ``cost`` is what the newest one cost the server.
    """

    state: State
    error: str = ""
    requested_at: datetime | None = None
    taken_at: datetime | None = None
    cost: dict[str, Any] | None = None

    @property
    def under_way(self) -> bool:
        return self.state in {State.WAITING, State.RUNNING}


def pack(inspection: Inspection) -> bytes:
    """The inspection's JSON form, compressed with zstandard."""
    text = json.dumps(inspection.as_dict(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return zstandard.ZstdCompressor(level=3).compress(text.encode("utf-8", errors="replace"))


def unpack(payload: bytes) -> Inspection:
    """Reads what ``pack`` wrote. Raises ValueError where it was written by a newer version of Tidemark."""
    return Inspection.from_dict(json.loads(zstandard.ZstdDecompressor().decompress(payload)))


def latest(server_id: str, *, identity: str, since: float) -> Inspection | None:
    """The newest inspection of the server of that identity since an instant (unix seconds), None without one."""
    found = (
        StoredInspection.objects.filter(
            server_id=server_id,
            identity=identity[:_LONGEST_IDENTITY],
            taken_at__gte=datetime.fromtimestamp(since, UTC),
        )
        .order_by("-taken_at", "-pk")
        .values_list("pk", "taken_at")
        .first()
    )
    return None if found is None else _read(*found)


@lru_cache(maxsize=32)
def _read(number: int, taken_at: datetime) -> Inspection | None:
    """A stored inspection, which never changes; None where it cannot be read. Judging asks for it every minute.

    The instant is a part of what is remembered, since numbers are given again where a database was put back.
    """
    row = StoredInspection.objects.filter(pk=number, taken_at=taken_at).first()
    if row is None:
        return None
    try:
        return unpack(bytes(row.payload))
    except (ValueError, KeyError, TypeError, zstandard.ZstdError) as error:
        log.warning("A stored inspection of server %s cannot be read and is left out: %s", row.server_id, error)
        return None


def standing(server_id: str) -> Standing:
    """How inspecting this server goes now."""
    request = InspectionRequest.objects.filter(server_id=server_id).first()
    newest = (
        StoredInspection.objects.filter(server_id=server_id)
        .order_by("-taken_at", "-pk")
        .only("taken_at", "cost")
        .first()
    )
    taken_at, cost = (None, None) if newest is None else (newest.taken_at, newest.cost)
    if request is None:
        return Standing(State.NONE, taken_at=taken_at, cost=cost)
    state, error = _state_of(request)
    return Standing(state, error, request.requested_at, taken_at, cost)


def _state_of(request: InspectionRequest) -> tuple[State, str]:
    if request.ended_at is not None:
        return (State.FAILED, request.error) if request.error else (State.DONE, "")
    now = timezone.now()
    if request.started_at is not None:
        lost = now - request.started_at > timedelta(seconds=RUNNING_SECONDS)
        return (State.FAILED, _LOST) if lost else (State.RUNNING, "")
    lost = now - request.requested_at > timedelta(seconds=WAITING_SECONDS)
    return (State.FAILED, _LOST) if lost else (State.WAITING, "")


def request_inspection(*, server: Server, actor: AbstractBaseUser | None = None) -> Standing:
    """Has the server inspected by a worker, soon. One that is under way already is not asked for twice.

    The person who asked is journaled and audited: what is read then is more than what is watched.
    """
    with transaction.atomic():
        now = timezone.now()
        request = InspectionRequest.objects.select_for_update().filter(server=server).first()
        if request is not None and _state_of(request)[0] in {State.WAITING, State.RUNNING}:
            return standing(server.pk)
        InspectionRequest.objects.update_or_create(
            server=server, defaults={"requested_at": now, "started_at": None, "ended_at": None, "error": ""}
        )
        journal.record(
            team_id=server.team_id,
            kind="server.inspection_requested",
            at=now,
            server_id=server.pk,
            actor=actor,
            data={},
        )
        audit.record(
            team_id=server.team_id,
            actor=actor,
            action="server.inspection_requested",
            subject=f"{server.name} ({server.pk})",
            data={"server": server.pk},
            at=now,
        )
        transaction.on_commit(partial(_tell_a_worker, server.pk))
    return standing(server.pk)


def _tell_a_worker(server_id: str) -> None:
    from collector.tasks import QUEUE, inspect

    try:
        inspect.apply_async(kwargs={"server_id": server_id}, queue=QUEUE, expires=WAITING_SECONDS, retry=False)
    except (OperationalError, OSError) as error:
        log.warning(
            "The inspection of server %s waits for nobody, since the broker does not answer: %s", server_id, error
        )
        _end(server_id, _NO_BROKER)


def inspect_server(*, server_id: str, dial: Callable[..., Connection] = connect) -> bool:
    """Makes the inspection that was asked for, with the account that watches; whether one was stored.

    Two workers that hear of one request make one inspection. Why it failed stands in the request.
    """
    server = Server.objects.filter(pk=server_id).first()
    claimed = InspectionRequest.objects.filter(server_id=server_id, started_at=None, ended_at=None).update(
        started_at=timezone.now()
    )
    if server is None or not claimed:
        return False
    try:
        with dial(target_of(server), deadline_seconds=_CONNECT_SECONDS) as connection:
            snapshot = read_snapshot(connection)
            before = replace(connection.cost)
            inspection = read_inspection(connection, snapshot)
            cost = {
                "statements": connection.cost.statements - before.statements,
                "rows": connection.cost.rows - before.rows,
                "bytes": connection.cost.size_bytes - before.size_bytes,
                "milliseconds": round(connection.cost.milliseconds - before.milliseconds, 3),
            }
    except TargetError as error:
        # What helps with time is tried again by itself where servers are polled; here a person asks again.
        return _end(server_id, str(error) if error.lasting else error.sentence)
    except VaultError as error:
        return _end(server_id, str(error))
    except Exception:
        log.exception("A fault of Tidemark while %s was inspected", server.name)
        return _end(server_id, _FAULT)
    told = [probe for probe in inspection.probes if probe.state is ProbeState.OK or probe.remedy is not None]
    if not told:
        return _end(server_id, inspection.probes[0].reason)
    with transaction.atomic():
        if not Server.objects.filter(pk=server_id).exists():
            return False  # It was deleted while it was inspected.
        StoredInspection.objects.create(
            server=server,
            taken_at=datetime.fromtimestamp(inspection.taken_at, UTC),
            identity=inspection.identity[:_LONGEST_IDENTITY],
            payload=pack(inspection),
            cost=cost,
        )
        kept = list(
            StoredInspection.objects.filter(server=server)
            .order_by("-taken_at", "-pk")
            .values_list("pk", flat=True)[:KEPT]
        )
        StoredInspection.objects.filter(server=server).exclude(pk__in=kept).delete()
        _end(server_id, "")
    signals.inspection_stored.send_robust(sender=StoredInspection, server_id=server_id)
    return True


def _end(server_id: str, error: str) -> bool:
    InspectionRequest.objects.filter(server_id=server_id).update(ended_at=timezone.now(), error=error)
    return False
