"""A server as it is at one instant, as far as changing it needs: who it is, what it is set to, how that lasts.

Plain values without a database, a clock or a network; ``reading`` fills them in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from advisor.mysql.catalogue_answers import ServerAnswers
from advisor.mysql.snapshot import Origin, Snapshot
from advisor.mysql.version import ServerVersion

#: How far two readings of one boot may lie apart: the server tells its uptime in whole seconds, and clocks are slewed.
BOOT_TOLERANCE_SECONDS = 5


@dataclass(frozen=True)
class LiveFacts:
    """What one connection read. ``booted_at`` is unix seconds by the server's own clock.

    ``unique_id`` is server_uuid or server_uid, empty where the server has none. ``tls`` is the protocol in use, empty
    for none; ``trust`` names how the certificate is verified, by the registration. ``persisted`` None: not readable.
    """

    unique_id: str
    server_id: str
    hostname: str
    port: int
    datadir: str
    version: ServerVersion
    role: str
    booted_at: int
    variables: Mapping[str, str]
    status: Mapping[str, str] = field(default_factory=dict)
    origins: Mapping[str, Origin] = field(default_factory=dict)
    persisted: Mapping[str, str] | None = None
    tls: str = ""
    trust: str = ""
    wsrep_uuid: str = ""
    free_disk_bytes: int | None = None
    memory_bytes: int | None = None

    def fingerprint(self) -> dict[str, Any]:
        """Who the server is, as plain values: what a plan holds, and what is held against it before it is applied."""
        return {
            "unique_id": self.unique_id,
            "server_id": self.server_id,
            "hostname": self.hostname,
            "port": self.port,
            "datadir": self.datadir,
            "flavor": self.version.flavor.value,
            "version": self.version.text,
            "role": self.role,
            "booted_at": self.booted_at,
            "tls": self.tls,
            "trust": self.trust,
            "wsrep_uuid": self.wsrep_uuid,
        }

    @property
    def answers(self) -> ServerAnswers:
        """What the catalogue answers for this very server."""
        return ServerAnswers(self.version, self.variables, self.origins, self.persisted)


def from_snapshot(snapshot: Snapshot, *, tls: str = "", trust: str = "", host: Mapping[str, Any] = {}) -> LiveFacts:
    """The facts of a snapshot just read. ``host`` are the server's host facts, as they are stored."""
    variables = snapshot.variables
    return LiveFacts(
        unique_id=snapshot.identity.unique_id,
        server_id=variables.get("server_id", ""),
        hostname=snapshot.identity.hostname,
        port=snapshot.identity.port,
        datadir=variables.get("datadir", ""),
        version=snapshot.identity.version,
        role=snapshot.identity.role,
        booted_at=round(snapshot.server_clock - snapshot.uptime_seconds),
        variables=variables,
        status=snapshot.status,
        origins=snapshot.origins,
        persisted=snapshot.persisted,
        tls=tls,
        trust=trust,
        wsrep_uuid=snapshot.status.get("wsrep_cluster_state_uuid", ""),
        free_disk_bytes=_fact(host, "free_disk_bytes"),
        memory_bytes=_fact(host, "memory_bytes"),
    )


def _fact(host: Mapping[str, Any], name: str) -> int | None:
    value = (host.get(name) or {}).get("value")
    return value if isinstance(value, int) else None


#: What makes it another server, and what makes people look again although it is the same.
_HARD = ("unique_id", "hostname", "port", "datadir", "flavor", "trust")
_SOFT = ("version", "wsrep_uuid")


def same_server(
    one: LiveFacts | Mapping[str, Any], other: LiveFacts | Mapping[str, Any]
) -> tuple[list[str], list[str]]:
    """In which parts two fingerprints differ: those that make it another server, and those that ask for another look.

    Where neither tells a unique id (older MariaDB), the server_id stands in for it.
    """
    was = one.fingerprint() if isinstance(one, LiveFacts) else one
    now = other.fingerprint() if isinstance(other, LiveFacts) else other
    hard = [name for name in _HARD if was.get(name) != now.get(name)]
    soft = [name for name in _SOFT if was.get(name) != now.get(name)]
    if was.get("server_id") != now.get("server_id"):
        (soft if was.get("unique_id") else hard).append("server_id")
    if was.get("tls") and not now.get("tls"):
        hard.append("tls")
    # A role that one of the two could not be asked for tells nothing.
    if "unknown" not in (was.get("role"), now.get("role")) and was.get("role") != now.get("role"):
        soft.append("role")
    if abs(int(was.get("booted_at") or 0) - int(now.get("booted_at") or 0)) > BOOT_TOLERANCE_SECONDS:
        soft.append("booted_at")
    return hard, soft
