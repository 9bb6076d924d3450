"""What one poll and one snapshot of a server hold, whoever read them and however they were stored.

A *poll* is the fast tier: a few dozen numbers, often. A *snapshot* is the full tier: the results of all probes.
Both are plain values: they can be recorded, replayed and judged without a server.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from advisor.mysql.version import ServerVersion, identify

#: Raised when the meaning of a stored snapshot changes, so that older recordings can still be read or refused.
SCHEMA = 1

Number = int | float


class ProbeState(StrEnum):
    """How one probe ended: it answered, was not asked (with the reason), or was asked and failed."""

    OK = "ok"
    SKIPPED = "skipped"
    FAILED = "failed"


class RemedyKind(StrEnum):
    """What would change an outcome that could not be reached. The words are those of the advice schema."""

    GRANT = "grant"
    ENABLE = "enable"
    WINDOW = "window"
    HOST_FACT = "host_fact"
    VERSION = "version"


@dataclass(frozen=True)
class Remedy:
    """What is missing and what to do about it: for a grant and for enabling, ``text`` is the exact statement."""

    kind: RemedyKind
    what: str
    text: str

    def as_dict(self) -> dict[str, str]:
        return {"kind": self.kind.value, "what": self.what, "remedy": self.text}

    @classmethod
    def from_dict(cls, data: Mapping[str, str]) -> Remedy:
        """Reads what ``as_dict`` wrote."""
        return cls(RemedyKind(data["kind"]), data["what"], data["remedy"])


@dataclass(frozen=True)
class ProbeResult:
    """One probe's report about itself; its data stands in the snapshot."""

    name: str
    state: ProbeState
    milliseconds: float = 0.0
    rows: int = 0
    reason: str = ""
    remedy: Remedy | None = None

    def as_dict(self) -> dict[str, Any]:
        """A JSON-ready form; ``from_dict`` reads it back."""
        return {
            "name": self.name,
            "state": self.state.value,
            "milliseconds": round(self.milliseconds, 3),
            "rows": self.rows,
            "reason": self.reason,
            "remedy": self.remedy.as_dict() if self.remedy else None,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ProbeResult:
        """Reads what ``as_dict`` wrote."""
        return cls(
            name=data["name"],
            state=ProbeState(data["state"]),
            milliseconds=data["milliseconds"],
            rows=data["rows"],
            reason=data["reason"],
            remedy=Remedy.from_dict(data["remedy"]) if data["remedy"] else None,
        )


@dataclass(frozen=True)
class Identity:
    """Who the server says it is. ``unique_id`` is server_uuid (MySQL) or server_uid (newer MariaDB), else empty."""

    unique_id: str
    hostname: str
    port: int
    version: ServerVersion
    role: str = "standalone"  # source | replica | standalone | unknown

    @property
    def fingerprint(self) -> str:
        """The unique id where the server has one, else what it tells of its place: good enough to notice a swap."""
        return self.unique_id or f"{self.version.flavor.value}:{self.hostname}:{self.port}"


@dataclass(frozen=True)
class Poll:
    """The fast tier's numbers at one instant.

    ``at`` is our clock (unix seconds; for stored polls: the slot), ``server_clock`` the server's own (unix seconds,
    with fraction where it tells), ``values`` holds status variables under the server's own names, innodb_metrics
    counters under theirs, and what was derived from them (names of ``advisor.mysql.series``): checkpoint age, its
    limits, pressure.
    """

    at: float
    server_clock: float
    uptime_seconds: int
    values: Mapping[str, Number]
    identity: str = ""


@dataclass(frozen=True)
class Origin:
    """Where a variable's value came from: compiled, option file (with path), persisted, runtime, command line.

    ``set_at`` (unix seconds by the server's clock) and ``set_by`` (user@host) tell who set it at run time, where the
    server does (MySQL 8.0+); None and empty elsewhere.
    """

    kind: str
    path: str = ""
    set_at: float | None = None
    set_by: str = ""

    def as_list(self) -> list[str | float | None]:
        """The plain values of a snapshot: two of most, as hardly any variable is ever set at run time."""
        return [self.kind, self.path, *([self.set_at, self.set_by] if self.set_at is not None else ())]


@dataclass(frozen=True)
class Metric:
    """One row of INFORMATION_SCHEMA.INNODB_METRICS."""

    subsystem: str
    enabled: bool
    count: int


@dataclass(frozen=True)
class Snapshot:
    """All probes' results of one full collection.

    ``taken_at`` and ``server_clock`` are unix seconds. ``variables`` and ``status`` keep the server's spelling and
    text; secrets in them were redacted where they were read. ``innodb_status`` is the LOG section only, parsed and then
    dropped by the collector, so it is not part of a snapshot. ``persisted`` is what SET PERSIST wrote on MySQL 8+; None
    where that was not readable, so that nobody takes it for nothing.
    """

    taken_at: float
    server_clock: float
    uptime_seconds: int
    identity: Identity
    variables: Mapping[str, str]
    status: Mapping[str, str]
    origins: Mapping[str, Origin] = field(default_factory=dict)
    persisted: Mapping[str, str] | None = None
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    performance_schema: Mapping[str, Any] = field(default_factory=dict)
    replication: tuple[Mapping[str, str | None], ...] = ()
    plugins: Mapping[str, str] = field(default_factory=dict)
    grants: tuple[str, ...] = ()
    derived: Mapping[str, Number] = field(default_factory=dict)
    probes: tuple[ProbeResult, ...] = ()
    schema: int = SCHEMA

    def probe(self, name: str) -> ProbeResult | None:
        """The report of the probe of that name, None if it was not part of this collection."""
        return next((probe for probe in self.probes if probe.name == name), None)

    def as_dict(self) -> dict[str, Any]:
        """A JSON-ready form; ``Snapshot.from_dict`` reads it back to an equal snapshot."""
        identity = self.identity
        return {
            "schema": self.schema,
            "taken_at": self.taken_at,
            "server_clock": self.server_clock,
            "uptime_seconds": self.uptime_seconds,
            "identity": {
                "unique_id": identity.unique_id,
                "hostname": identity.hostname,
                "port": identity.port,
                "version": identity.version.text,
                "version_comment": self.variables.get("version_comment", ""),
                "role": identity.role,
            },
            "variables": dict(self.variables),
            "status": dict(self.status),
            "origins": {name: origin.as_list() for name, origin in self.origins.items()},
            "persisted": None if self.persisted is None else dict(self.persisted),
            "metrics": {name: [m.subsystem, m.enabled, m.count] for name, m in self.metrics.items()},
            "performance_schema": dict(self.performance_schema),
            "replication": [dict(channel) for channel in self.replication],
            "plugins": dict(self.plugins),
            "grants": list(self.grants),
            "derived": dict(self.derived),
            "probes": [probe.as_dict() for probe in self.probes],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Snapshot:
        """Reads what ``as_dict`` wrote. Raises ValueError where the schema is newer than this program knows."""
        if data.get("schema", 0) > SCHEMA:
            raise ValueError(f"the snapshot has schema {data['schema']}, this program knows {SCHEMA}: upgrade Tidemark")
        identity = data["identity"]
        variables = data["variables"]
        return cls(
            taken_at=data["taken_at"],
            server_clock=data["server_clock"],
            uptime_seconds=data["uptime_seconds"],
            identity=Identity(
                unique_id=identity["unique_id"],
                hostname=identity["hostname"],
                port=identity["port"],
                version=identify(identity["version"], identity["version_comment"], variables=variables),
                role=identity["role"],
            ),
            variables=variables,
            status=data["status"],
            origins={name: Origin(*parts) for name, parts in data["origins"].items()},
            persisted=data.get("persisted"),
            metrics={name: Metric(*parts) for name, parts in data["metrics"].items()},
            performance_schema=data["performance_schema"],
            replication=tuple(data["replication"]),
            plugins=data["plugins"],
            grants=tuple(data["grants"]),
            derived=data["derived"],
            probes=tuple(ProbeResult.from_dict(probe) for probe in data["probes"]),
            schema=data["schema"],
        )
