"""The lines of a change request that is being written: what is wanted of which server, and what the catalogue says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.http import QueryDict
from django.utils.translation import gettext as _

from advisor.changes import page_words
from advisor.changes.models import ChangeRequest
from advisor.mysql import change_class, values
from advisor.mysql.catalogue import CATALOGUE, ChangeClass, ValueRefused, VariableFacts
from advisor.mysql.snapshot import Snapshot
from advisor.recommendations.models import Recommendation
from advisor.teams import access
from collector import snapshots
from collector.models import Server

MOST_ROWS = 100
#: Suggestions of more names than this are no help and make the page heavy.
_MOST_NAMES = 900

Anybody = AbstractBaseUser | AnonymousUser


@dataclass(frozen=True)
class Hint:
    """What is known of a line: each part is a sentence or empty. ``wrong`` is why it cannot be so."""

    now: str = ""
    takes: str = ""
    becomes: str = ""
    how: str = ""
    wrong: str = ""
    wrong_in: str = "value"


@dataclass(frozen=True)
class Row:
    """One line as it was typed. ``recommendation`` is the id of the one it comes from, or empty."""

    server: str = ""
    variable: str = ""
    value: str = ""
    recommendation: str = ""
    errors: Mapping[str, str] = field(default_factory=dict)
    hint: Hint = field(default_factory=Hint)

    @property
    def is_empty(self) -> bool:
        return not (self.variable.strip() or self.value.strip())


@dataclass(frozen=True)
class Prefilled:
    """What a page of somebody else's (a recommendation, a comparison) brings along."""

    rows: Sequence[Row] = ()
    title: str = ""
    reason: str = ""
    expected_effect: str = ""
    price: str = ""


def posted(data: QueryDict) -> list[Row]:
    """The lines of the form, and the same lines for each further server that was ticked."""
    columns = [data.getlist(name) for name in ("row-server", "row-variable", "row-value", "row-recommendation")]
    length = min(max((len(column) for column in columns), default=0), MOST_ROWS)
    rows = []
    for number in range(length):
        server, variable, value, origin = (column[number][:600] if number < len(column) else "" for column in columns)
        rows.append(Row(server, variable.strip().lower().replace("-", "_"), value.strip(), origin))
    known = {(row.server, row.variable) for row in rows}
    for server in data.getlist("also"):
        for row in list(rows):
            if not row.is_empty and (server, row.variable) not in known and len(rows) < MOST_ROWS:
                known.add((server, row.variable))
                rows.append(Row(server, row.variable, row.value))
    return [row for row in rows if not row.is_empty]


def of_request(request: ChangeRequest) -> list[Row]:
    """What a request wants now."""
    wanted = request.wanted.order_by("pk")
    return [Row(one.server_id, one.variable, one.value, one.recommendation_id or "") for one in wanted]


def checked(rows: Iterable[Row], servers: Mapping[str, Server]) -> list[Row]:
    """The lines with what is wrong beside each field, and what the catalogue says of the rest."""
    newest: dict[str, Snapshot | None] = {}
    seen: set[tuple[str, str]] = set()
    found = []
    for row in rows:
        errors: dict[str, str] = {}
        if row.server not in servers:
            errors["server"] = _("Choose a server.")
        if not row.variable:
            errors["variable"] = _("Name a system variable.")
        elif (row.server, row.variable) in seen:
            errors["variable"] = _("This variable of this server stands above already.")
        if not row.value:
            errors["value"] = _("Say what it is to become.")
        seen.add((row.server, row.variable))
        hint = Hint()
        if row.server in servers and row.variable:
            if row.server not in newest:
                newest[row.server] = snapshots.latest(row.server)
            hint = hint_of(newest[row.server], row.variable, row.value)
            if hint.wrong:
                errors.setdefault(hint.wrong_in, hint.wrong)
        found.append(replace(row, errors=errors, hint=hint))
    return found


def hint_of(snapshot: Snapshot | None, variable: str, value: str) -> Hint:
    """What the newest snapshot and the catalogue say of one variable, and what a value would mean there."""
    if snapshot is None:
        return Hint(wrong=_("This server has not been read yet, so that nothing is known of it."), wrong_in="server")
    version = snapshot.identity.version
    facts = CATALOGUE.find(variable, version)
    if facts is None or variable not in snapshot.variables:
        wrong = _("%(version)s has no system variable of this name that is known here.") % {"version": version}
        return Hint(wrong=wrong, wrong_in="variable")
    if facts.change_class is ChangeClass.NEVER:
        wrong = _("It is never changed from here: %(why)s.") % {"why": _(change_class.reason(facts))}
        return Hint(wrong=wrong, wrong_in="variable")
    present = snapshot.variables[variable]
    hint = Hint(now=_("now %(value)s") % {"value": _both(present, facts)}, takes=_takes(facts), how=_how(facts))
    if not value:
        return hint
    try:
        accepted = CATALOGUE.accepted(variable, version, value)
    except ValueRefused as refused:
        return replace(hint, wrong=str(refused))
    printed = values.as_printed(accepted)
    becomes = _("becomes %(value)s") % {"value": _both(printed, facts)}
    if values.same(printed, present):
        return replace(hint, wrong=_("It has this value already: %(value)s.") % {"value": _both(present, facts)})
    return replace(hint, becomes=becomes)


def _both(printed: str, facts: VariableFacts) -> str:
    words, exact = page_words.both_forms(printed, facts.name)
    return f"{words} ({exact})" if exact else words


def _takes(facts: VariableFacts) -> str:
    if facts.choices:
        return _("takes %(choices)s") % {"choices": ", ".join(facts.choices)}
    if facts.minimum is None or facts.maximum is None:
        return ""
    return _("takes %(least)s to %(most)s") % {
        "least": page_words.both_forms(str(facts.minimum), facts.name)[0],
        "most": page_words.both_forms(str(facts.maximum), facts.name)[0],
    }


def _how(facts: VariableFacts) -> str:
    if not facts.dynamic:
        return "↻ " + _("needs a restart")
    if facts.effect == "new_connections":
        return "→ " + _("new connections only")
    return "~ " + _("dynamic")


def names_for(servers: Iterable[Server]) -> list[str]:
    """Names that may be changed on some of the servers, for suggestions."""
    found: set[str] = set()
    versions = set()
    for server in list(servers)[:6]:
        snapshot = snapshots.latest(server.pk)
        if snapshot is None or snapshot.identity.version in versions:
            continue
        versions.add(snapshot.identity.version)
        for name in snapshot.variables:
            facts = CATALOGUE.find(name, snapshot.identity.version)
            if facts is not None and facts.change_class is not ChangeClass.NEVER:
                found.add(name)
    return sorted(found)[:_MOST_NAMES]


# --- what other pages bring along ----------------------------------------------------------------------------------


def prefilled(user: Anybody, asked: QueryDict) -> Prefilled:
    """What the address asks for: recommendations, variables of servers, or making servers like another one."""
    chosen = asked.getlist("recommendation")[:MOST_ROWS]
    if chosen:
        return _from_recommendations(user, chosen)
    if asked.get("like"):
        return _like(user, asked.get("like", ""), asked.getlist("server"), asked.getlist("variable"))
    servers = {server.pk for server in access.servers_for(user).filter(pk__in=asked.getlist("server")[:MOST_ROWS])}
    names, wanted = asked.getlist("variable")[:MOST_ROWS], asked.getlist("value")
    ordered = [server for server in dict.fromkeys(asked.getlist("server")) if server in servers]
    pairs = [(name[:64], wanted[number][:500] if number < len(wanted) else "") for number, name in enumerate(names)]
    rows = [Row(server, name, value) for server in ordered for name, value in (pairs or [("", "")])]
    told = {name: asked.get(name, "")[:2000] for name in ("reason", "expected_effect", "price")}
    return Prefilled(rows[:MOST_ROWS], asked.get("title", "")[:200], **told)


def _from_recommendations(user: Anybody, ids: Sequence[str]) -> Prefilled:
    from advisor.ui.messages import text_of

    found = {
        row.pk: row
        for row in access.visible(user, Recommendation.objects.select_related("server"), team="server__team").filter(
            pk__in=ids
        )
    }
    ordered = [found[one] for one in dict.fromkeys(ids) if one in found]
    rows: dict[tuple[str, str], Row] = {}
    for recommendation in ordered:
        for change in recommendation.document.get("changes", ()):
            if change.get("kind") == "variable":
                name, proposed = str(change.get("name", "")), str(change.get("proposed", ""))
                key = (recommendation.server_id, name)
                rows.setdefault(key, Row(recommendation.server_id, name, proposed, recommendation.pk))

    def words(name: str, row: Recommendation) -> str:
        document: Mapping[str, Any] = row.document
        return text_of((document.get("words") or {}).get(name) or document.get(name))

    def price(row: Recommendation) -> str:
        return " ".join(text_of(one.get("words") or one.get("text")) for one in row.document.get("price", ()))

    title = words("title", ordered[0]) if len(ordered) == 1 else ""
    if len(ordered) > 1:
        title = _("%(n)s recommendations for %(server)s") % {"n": len(ordered), "server": ordered[0].server.name}
    return Prefilled(
        list(rows.values())[:MOST_ROWS],
        title[:200],
        "\n".join(words("title", row) for row in ordered),
        "\n".join(filter(None, (words("expected", row) for row in ordered))),
        "\n".join(filter(None, (price(row) for row in ordered))),
    )


def _like(user: Anybody, model: str, others: Sequence[str], names: Sequence[str]) -> Prefilled:
    """Lines that give the others the values which the model has, where they differ and may be changed."""
    servers = {server.pk: server for server in access.servers_for(user).filter(pk__in=[model, *others][:20])}
    newest = snapshots.latest(model) if model in servers else None
    if newest is None:
        return Prefilled()
    rows = []
    for server in (one for one in dict.fromkeys(others) if one in servers and one != model):
        snapshot = snapshots.latest(server)
        for name in dict.fromkeys(names):
            value = newest.variables.get(name)
            present = snapshot.variables.get(name) if snapshot is not None else None
            if value is not None and present is not None and not values.same(value, present):
                rows.append(Row(server, name, value))
    title = _("Make it like %(server)s") % {"server": servers[model].name}
    return Prefilled(rows[:MOST_ROWS], title[:200], _("%(server)s has these values.") % {"server": servers[model].name})
