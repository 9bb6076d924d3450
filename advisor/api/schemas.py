"""What the API takes and gives. Names and units are those of the house: ``_at`` is an instant, ``_bytes`` a size."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import BaseModel, ConfigDict, Field, SecretStr

RecommendationState = Literal["open", "acknowledged", "in_change", "applied", "resolved", "dismissed"]


class Open(BaseModel):
    """A shape that may grow: what is not named in it is passed on. (The library's own base class would drop it.)"""

    model_config = ConfigDict(extra="allow")


class ProblemOut(Open):
    """An RFC 9457 problem document. ``code`` is a stable word for programs, ``detail`` a sentence for people."""

    type: str
    title: str
    status: int
    code: str
    detail: str


class TeamOut(Schema):
    """A team that the caller belongs to."""

    id: str
    name: str


class ServerOut(Schema):
    """A watched server and how it is now. Figures are null until they are known."""

    id: str
    name: str
    team: TeamOut
    address: str
    user: str
    tls: str
    insecure: bool
    tags: list[str]
    enabled: bool
    fast_interval_seconds: int
    full_interval_seconds: int
    host: dict[str, Any] = Field(description="what is known of the machine, each fact with value and origin")
    version: str
    role: str
    state: str = Field(description="new, calm, watch, warning, critical or stale")
    state_since_at: datetime | None
    headline: str
    pressure_ratio: float | None = Field(description="checkpoint age / the age at which writers wait")
    headroom_seconds: float | None
    transactions_per_second: float | None
    redo_bytes_per_second: float | None
    open_recommendations: int
    worst_severity: str | None
    newest_sample_at: datetime | None
    trouble: str | None = Field(description="why it cannot be read, null where it can")
    created_at: datetime


class ServerList(Schema):
    """A page of servers, by name."""

    items: list[ServerOut]
    next: str | None = Field(description="send it as ?cursor= to get the next page")


class HostFactsIn(Schema):
    """What a person states of the machine; what is left out stays unknown."""

    model_config = ConfigDict(extra="forbid")

    memory_bytes: Annotated[int, Field(gt=0)] | None = None
    cpus: Annotated[int, Field(gt=0, le=65_536)] | None = None
    storage: Literal["ssd", "hdd"] | None = None
    write_latency_microseconds: Annotated[int, Field(gt=0, le=60_000_000)] | None = None


class ServerIn(Schema):
    """A server to watch: by ``url``, or by host (or socket), port and user."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1, max_length=100)]
    team: str | None = Field(None, description="id or name; may be left out by members of one team")
    url: str | None = Field(None, description="mysql://user@host:port, without a password")
    host: str | None = None
    port: Annotated[int, Field(ge=1, le=65_535)] = 3306
    socket: str | None = None
    user: str | None = None
    password: SecretStr | None = Field(None, description="stored encrypted and never given back")
    tls: Literal["verify-identity", "verify-ca", "opportunistic", "insecure"] | None = None
    tls_ca: str | None = Field(None, description="certificates of the authority, PEM")
    tags: Annotated[list[Annotated[str, Field(min_length=1, max_length=50)]], Field(max_length=20)] = []
    host_facts: HostFactsIn | None = None


class MissingOut(Schema):
    """What would have to be granted, enabled, stated or awaited."""

    kind: str
    what: str
    remedy: str


class StatementsOut(Schema):
    """Statements for a person to run, under a title."""

    title: str
    sql: list[str]


class ConnectionOut(Schema):
    """What came of connecting to a server just now. ``kind`` is "ok" or names the trouble, for programs."""

    ok: bool
    kind: str
    sentence: str
    next_step: str
    milliseconds: float
    version: str | None
    encrypted: bool | None
    missing: list[MissingOut]
    account_statements: list[StatementsOut] = Field(description="how to make the account that Tidemark observes with")


class InspectionOut(Schema):
    """How inspecting a server goes: its newest request, and when it was last inspected with what that cost it."""

    state: Literal["none", "waiting", "running", "failed", "done"]
    error: str = Field(description="why it failed, in a sentence; empty where it did not")
    requested_at: datetime | None
    taken_at: datetime | None
    statements: int | None
    milliseconds: float | None


class EvidenceOut(Open):
    """A figure: how much, in which unit, seen in which window (null for a setting), read from where."""

    name: str
    value: Any
    unit: str
    window: dict[str, Any] | None = None
    source: str = ""


class ChangeOut(Open):
    """One change that a recommendation proposes. A variable has its present and proposed value."""

    kind: str


class RecommendationOut(Open):
    """An item of the advice schema, and how it lasts."""

    id: str
    server: str
    state: RecommendationState
    opened_at: datetime
    last_seen_at: datetime
    resolved_at: datetime | None
    dismissed_reason: str | None
    dismissed_until: str | None
    rule: str
    rules: list[str]
    severity: Literal["notice", "warning", "critical"]
    confidence: Literal["low", "medium", "high"]
    title: str
    subject: str | None = None
    evidence: list[EvidenceOut]
    changes: list[ChangeOut]
    sql: list[str]
    option_file: list[str]
    undo: list[str]
    needs_restart: bool
    price: list[dict[str, Any]]
    expected: str | None
    key: str


class RecommendationList(Schema):
    """A page of recommendations, the most severe first."""

    items: list[RecommendationOut]
    next: str | None = Field(description="send it as ?cursor= to get the next page")


class SeriesOut(Schema):
    """One series: ``points`` are [unix milliseconds, least, greatest, last] of each bucket, null where the line
    breaks.
    """

    name: str
    unit: str
    kind: Literal["counter", "gauge", "rate"]
    points: list[tuple[int, float, float, float] | None]


class GapOut(Schema):
    """A time without samples, and why. Unix milliseconds; ``to`` is null while it lasts."""

    model_config = ConfigDict(populate_by_name=True)

    from_: int = Field(alias="from")
    to: int | None
    why: str


class SeriesList(Schema):
    """Several series of one server over the same time. Instants are unix milliseconds."""

    model_config = ConfigDict(populate_by_name=True)

    from_: int = Field(alias="from")
    to: int
    step_seconds: float
    series: list[SeriesOut]
    gaps: list[GapOut]
    unknown: list[str] = Field(description="names that this server never told")


class RuleOut(Open):
    """A rule and its documentation."""

    id: str
    title: str
    severity: str
    applies_to: list[str]


class RuleList(Schema):
    """All rules; ``next`` is always null, since there is one page."""

    items: list[RuleOut]
    next: str | None


class RuleSettingIn(Schema):
    """What a team makes of a rule. ``thresholds`` by the names and in the units that ``listRules`` tells."""

    team: str = ""
    tag: str = Field(default="", max_length=60)
    off: bool = False
    thresholds: dict[str, float] = Field(default_factory=dict)
    reason: str = Field(max_length=1000)


class RuleSettingOut(Schema):
    """A team's setting of a rule; ``tag`` is empty for all its servers."""

    id: str
    team: str
    rule: str
    tag: str
    off: bool
    thresholds: dict[str, float]
    reason: str
    changed_by: str | None
    changed_at: str


class RuleSettingList(Schema):
    """All settings; ``next`` is always null, since there is one page."""

    items: list[RuleSettingOut]
    next: str | None
