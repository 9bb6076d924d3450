"""Reads a server as it is now, for plans, reviews and applying: one connection with a deadline, nothing remembered."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime

from advisor.changes.live import LiveFacts, from_snapshot, same_server
from collector.collect import read_snapshot
from collector.connection import Connection, connect
from collector.errors import TargetError
from collector.models import Server
from collector.servers import target_of
from collector.target import Target
from collector.vault import VaultError

__all__ = ["LiveFacts", "Unreadable", "read_all", "read_live", "read_over", "same_server"]

DEADLINE_SECONDS = 15.0
#: So many servers of one request are read side by side.
_AT_ONCE = 8


class Unreadable(Exception):
    """A server could not be read; the message is a sentence that says why, and ``server`` which."""

    def __init__(self, server: Server, sentence: str) -> None:
        super().__init__(sentence)
        self.server = server


@dataclass(frozen=True)
class _Place:
    """What connecting needs, taken from the database before any thread begins."""

    server: Server
    target: Target


def read_live(server: Server, *, purpose: str = "observe", now: datetime) -> LiveFacts:
    """The server as it is now. Raises Unreadable."""
    return _read(_place(server, purpose))


def read_all(servers: list[Server], *, now: datetime) -> dict[str, LiveFacts | Unreadable]:
    """Several servers side by side, by their ids; in place of one that cannot be read stands why."""
    if len(servers) == 1:
        return {servers[0].pk: _or_why(lambda: read_live(servers[0], now=now))}
    places: dict[str, _Place | Unreadable] = {}
    for server in servers:
        try:
            places[server.pk] = _place(server, "observe")
        except Unreadable as error:
            places[server.pk] = error

    def read(place: _Place | Unreadable) -> LiveFacts | Unreadable:
        return place if isinstance(place, Unreadable) else _or_why(lambda: _read(place))

    with ThreadPoolExecutor(max_workers=min(_AT_ONCE, max(len(places), 1))) as pool:
        return dict(zip(places, pool.map(read, places.values()), strict=True))


def read_over(connection: Connection, server: Server | None = None) -> LiveFacts:
    """The same over a connection that is open already (the apply account's). Raises TargetError.

    ``server`` adds what its registration says of the machine.
    """
    snapshot = read_snapshot(connection, deadline_seconds=DEADLINE_SECONDS)
    host = server.host_facts if server is not None else {}
    return from_snapshot(snapshot, tls=connection.tls_version, trust=_trust(connection.target), host=host)


def _place(server: Server, purpose: str) -> _Place:
    try:
        return _Place(server, target_of(server, purpose))
    except (TargetError, VaultError) as error:
        raise Unreadable(server, str(error)) from None


def _read(place: _Place) -> LiveFacts:
    try:
        with connect(place.target, deadline_seconds=DEADLINE_SECONDS) as connection:
            return read_over(connection, place.server)
    except TargetError as error:
        raise Unreadable(place.server, str(error)) from None


def _or_why(read: Callable[[], LiveFacts]) -> LiveFacts | Unreadable:
    try:
        return read()
    except Unreadable as error:
        return error


def _trust(target: Target) -> str:
    """How far the connection is trusted by the registration: another mode or authority may mean another server."""
    authority = hashlib.sha256(target.tls_ca.encode()).hexdigest()[:16] if target.tls_ca else "system"
    return f"{target.tls_mode} {authority}"
