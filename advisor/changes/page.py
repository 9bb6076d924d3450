"""What the page of one change request shows of its plan: the diff server by server, and what is being done with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from advisor.changes import page_words
from advisor.changes.applying import lasting
from advisor.changes.models import Application, ChangeRequest, Plan, Review, State, Step
from advisor.ui import quantities
from collector import snapshots


@dataclass(frozen=True)
class Line:
    """One variable of one server: both values in both forms. ``key`` is what a comment on it names."""

    key: str
    variable: str
    symbol: str
    meaning: str
    before: str
    after: str
    exact: str
    notes: Sequence[str]
    why: str
    rule: str
    durable: bool
    comments: Sequence[Review]

    @property
    def anchor(self) -> str:
        return "line-" + self.key.replace("/", "-")


@dataclass(frozen=True)
class Drift:
    """A value that runs and is not the one that a restart would give. ``file`` is empty where it is not known."""

    variable: str
    running: str
    file: str
    path: str


@dataclass(frozen=True)
class Done:
    """One statement as it was written down before it was sent, and what became of it."""

    step: Step
    sign: str
    words: str
    old: str
    wanted: str
    found: str


@dataclass(frozen=True)
class Run:
    """The plan on one server in one direction: ``said`` is the exact truth at its end."""

    application: Application
    words: str
    said: Sequence[Mapping[str, Any]]
    steps: Sequence[Done]

    @property
    def rolls_back(self) -> bool:
        return self.application.direction == Application.Direction.ROLL_BACK


@dataclass(frozen=True)
class ServerPart:
    """One server of the plan."""

    id: str
    name: str
    version: str
    first: bool
    lines: Sequence[Line]
    drift: Sequence[Drift]
    notes: Sequence[Any]
    statements: Sequence[str]
    undo: Sequence[str]
    option_file: Sequence[str]
    undo_option_file: Sequence[str]
    parameters: Sequence[str]
    undo_parameters: Sequence[str]
    needs_restart: bool
    runs: Sequence[Run] = ()


@dataclass(frozen=True)
class Shown:
    """The plan of a request as its page shows it."""

    plan: Plan
    servers: Sequence[ServerPart]
    sentence: str
    order: str
    risky: int
    expires: datetime
    is_old: bool
    symbols: Sequence[tuple[str, str]] = field(default=())


def read(request: ChangeRequest, plan: Plan, now: datetime) -> Shown:
    """The given plan of the request: the present one, or one of those before it."""
    document = plan.document
    talk = _talk(plan)
    runs = _runs(request, plan)
    in_force = plan.pk == request.plan_id and request.state in _IN_FORCE
    servers = [_server(one, document, talk, runs, _lasting(one) if in_force else {}) for one in document["servers"]]
    shown = {line.symbol for server in servers for line in server.lines}
    shown |= {"⚠"} if any(line.durable for server in servers for line in server.lines) else set()
    shown |= {"≠"} if any(server.drift for server in servers) else set()
    return Shown(
        plan=plan,
        servers=servers,
        sentence=summary(document),
        order=_order(document),
        risky=sum(line.durable for server in servers for line in server.lines),
        expires=plan.expires_at,
        is_old=plan.expires_at <= now,
        symbols=[(sign, _(words)) for sign, words in page_words.SYMBOLS.items() if sign in shown],
    )


def summary(document: Mapping[str, Any]) -> str:
    """``3 to change in place, 0 restarts, 1 drift``."""
    counts = document["summary"]
    parts = [
        _("%(n)s to change in place") % {"n": counts.get("in_place", 0)},
        ngettext("%(n)s restart", "%(n)s restarts", counts.get("restarts", 0)) % {"n": counts.get("restarts", 0)},
    ]
    if counts.get("new_connections"):
        parts.append(_("%(n)s for new connections only") % {"n": counts["new_connections"]})
    if counts.get("drift"):
        parts.append(_("%(n)s drift") % {"n": counts["drift"]})
    return ", ".join(parts)


def _order(document: Mapping[str, Any]) -> str:
    """Which server comes first, and how long the others wait."""
    names = {one["server"]: one["name"] for one in document["servers"]}
    first = names.get(document.get("first") or "")
    if first is None or len(names) < 2:
        return ""
    rest = ", ".join(name for server, name in names.items() if server != document["first"])
    wait = quantities.duration(document.get("wait_seconds") or 0)
    return _("First %(first)s, wait %(time)s, then %(rest)s.") % {"first": first, "time": wait, "rest": rest}


def _server(
    one: Mapping[str, Any],
    document: Mapping[str, Any],
    talk: Mapping[str, Sequence[Review]],
    runs: Mapping[str, Sequence[Run]],
    lasts: Mapping[str, str],
) -> ServerPart:
    return ServerPart(
        id=one["server"],
        name=one["name"],
        version=_version(one),
        first=one["server"] == document.get("first") and len(document["servers"]) > 1,
        lines=[_line(one["server"], change, talk, lasts) for change in one["changes"]],
        drift=[_drift(drift) for drift in one.get("drift", ())],
        notes=one.get("notes", ()),
        statements=[step["statement"] for step in one.get("steps", ())],
        undo=[statement for step in reversed(one.get("steps", ())) for statement in step.get("undo", ())],
        option_file=one.get("option_file", ()),
        undo_option_file=one.get("undo_option_file", ()),
        parameters=one.get("parameters", ()),
        undo_parameters=one.get("undo_parameters", ()),
        needs_restart=bool(one.get("needs_restart")),
        runs=runs.get(one["server"], ()),
    )


def _version(one: Mapping[str, Any]) -> str:
    flavor = {"mysql": "MySQL", "mariadb": "MariaDB"}.get(str(one.get("flavor")), "")
    version = str(one.get("version", ""))
    return version if flavor.lower() in version.lower() else f"{flavor} {version}"


def _lasting(part: Mapping[str, Any]) -> dict[str, str]:
    """How long each applied value stays, in words, by the newest snapshot."""
    found = lasting(part, snapshots.latest(part["server"]))
    return {name: _(page_words.LASTS[one.value]) for name, one in found.items() if one.value in page_words.LASTS}


def _line(
    server: str, change: Mapping[str, Any], talk: Mapping[str, Sequence[Review]], lasts: Mapping[str, str]
) -> Line:
    key = f"{server}/{change['variable']}"
    before, after = str(change["current"]), str(change["proposed"])
    words_before, words_after = str(change.get("current_words", before)), str(change.get("proposed_words", after))
    exact = f"{before} → {after}" if (before, after) != (words_before, words_after) else ""
    notes = []
    if change.get("typed") is None:
        notes.append(_("comes along: the server demands it"))
    if change["variable"] in lasts:
        notes.append(lasts[change["variable"]])
    elif change.get("persist") == "global":
        notes.append(_("running only until the option file has it"))
    elif change.get("persist") == "file":
        notes.append(_("by the option file only"))
    return Line(
        key=key,
        variable=str(change["variable"]),
        symbol=str(change["symbol"]),
        meaning=_(page_words.SYMBOLS.get(str(change["symbol"]), "")) if change["symbol"] in page_words.SYMBOLS else "",
        before=words_before,
        after=words_after,
        exact=exact,
        notes=notes,
        why=str(change.get("recommendation") or ""),
        rule=str(change.get("rule") or ""),
        durable=bool(change.get("durability")),
        comments=talk.get(key, ()),
    )


def _drift(one: Mapping[str, Any]) -> Drift:
    name = str(one["variable"])
    file = one.get("file")
    return Drift(
        name,
        quantities.setting(one.get("running"), name),
        "" if file is None else quantities.setting(file, name),
        str(one.get("path") or ""),
    )


def _talk(plan: Plan) -> dict[str, list[Review]]:
    """What was said of single lines of this plan, by line."""
    found: dict[str, list[Review]] = {}
    for review in Review.objects.filter(plan=plan).exclude(line="").order_by("at", "pk"):
        found.setdefault(review.line, []).append(review)
    return found


def _runs(request: ChangeRequest, plan: Plan) -> dict[str, list[Run]]:
    """What was done with the plan, by server."""
    found: dict[str, list[Run]] = {}
    rows = Application.objects.filter(request=request, plan=plan).prefetch_related("steps")
    for row in rows:
        run = Run(
            row,
            _(page_words.APPLICATIONS[row.state]) if row.state in page_words.APPLICATIONS else row.state,
            list(_messages(row.said)),
            [_done(step) for step in row.steps.all()],
        )
        found.setdefault(row.server_id, []).append(run)
    return found


def _messages(said: Any) -> Sequence[Mapping[str, Any]]:
    """A stored message, and those that follow on it."""
    found: list[Mapping[str, Any]] = []
    while isinstance(said, Mapping) and said.get("text"):
        found.append(said)
        said = said.get("after")
    return found


def _done(step: Step) -> Done:
    sign, words = page_words.STEPS.get(step.state, ("·", step.state))
    name = step.variable
    return Done(
        step, sign, _(words), quantities.setting(step.old, name), quantities.setting(step.wanted, name),
        quantities.setting(step.found, name),
    )  # fmt: skip


#: The approved values are in force on the servers, so that it matters whether a restart would lose them.
_IN_FORCE = frozenset({State.VERIFYING, State.KEPT})
#: While it is in one of these, something happens that nobody on this page did.
MOVING = frozenset({State.SCHEDULED, State.APPLYING, State.AWAITING_RESTART, State.VERIFYING})


def refresh_seconds(request: ChangeRequest) -> int:
    """How often the page asks again while it is looked at; 0 where only people move it."""
    if request.state == State.APPLYING:
        return 2
    return 5 if request.state in MOVING else 0


def stand_of(request: ChangeRequest, now: datetime) -> list[object]:
    """What the page depends on, as plain values: two equal ones show the same. Times are told by the minute."""
    runs = Application.objects.filter(request=request).values_list("pk", "state", "ended_at")
    steps = Step.objects.filter(application__request=request).values_list("pk", "state")
    reviews = Review.objects.filter(request=request).values_list("pk", "fallen_at")
    return [request.pk, request.version, request.state, int(now.timestamp() // 60), *runs, *steps, *reviews]
