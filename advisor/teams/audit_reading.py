"""What of the audit a person may see, found by who, what, whom it concerned and when."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from typing import Any, cast
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_date

from advisor.teams import access
from advisor.teams.audit_chain import instant
from advisor.teams.audit_models import AuditEntry
from advisor.teams.models import Membership, Team
from advisor.teams.roles import ALLOWED, Action

#: What a search by kind offers: the first words of actions.
GROUPS = (
    "change", "recommendation", "rule", "server", "credential", "member", "person", "session", "token", "policy",
    "webhook",
)  # fmt: skip
COLUMNS = (
    "sequence", "at", "team", "team_name", "actor", "actor_id", "origin", "action", "subject", "data", "request_id",
    "address", "key_id", "previous", "digest",
)  # fmt: skip
_CHUNK = 1000
#: A cell that begins with one of these is a formula to a spreadsheet.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class Filters:
    """What is asked for; everything that is empty or None does not narrow. ``action`` is whole or its first word,
    ``subject`` a part of one, ``to`` is not included.
    """

    team: str = ""
    actor: str = ""
    action: str = ""
    subject: str = ""
    since: datetime | None = None
    to: datetime | None = None

    def conditions(self) -> Q:
        """The same as a condition on entries."""
        found = Q()
        if self.team:
            found &= Q(team_id=self.team)
        if self.actor:
            found &= Q(actor_name__iexact=self.actor)
        if self.action:
            found &= Q(action=self.action) if "." in self.action else Q(action__startswith=f"{self.action}.")
        if self.subject:
            found &= Q(subject__icontains=self.subject)
        if self.since is not None:
            found &= Q(at__gte=self.since)
        if self.to is not None:
            found &= Q(at__lt=self.to)
        return found


@dataclass(frozen=True)
class Asked:
    """The filters of the page's address, and the texts its form shows again. ``since`` and ``to`` are days of the
    reader's, both included.
    """

    filters: Filters
    texts: Mapping[str, str]

    @property
    def query(self) -> str:
        """What leads to the same entries again, from the newest on."""
        return urlencode({name: text for name, text in self.texts.items() if text})

    def with_group(self, group: str) -> str:
        """The address of the same entries of another kind."""
        return "?" + replace(self, texts={**self.texts, "action": group}).query


def teams_seen(user: access.Person) -> list[Team]:
    """The teams whose entries the person may see. Raises PermissionDenied where there is none, naming the roles."""
    teams = list(access.teams_of(user))
    allowed = [team for team in teams if (may := access.access_to(user, team.pk)) and may.may(Action.SEE_AUDIT)]
    if not allowed and not sees_installation(user):
        for team in teams:
            may = access.access_to(user, team.pk)
            if may is not None:
                may.require(Action.SEE_AUDIT)
        raise PermissionDenied("You are in no team: ask an administrator for a role in one.")
    return allowed


def sees_installation(user: access.Person) -> bool:
    """Whether the person sees what concerns no team, such as who signed in: administrators of Tidemark itself."""
    return access.may_name_any_address(user)


def sees_some(user: access.Person) -> bool:
    """Whether there is a page for the person, by one question to the database."""
    if sees_installation(user):
        return True
    enough = [role.value for role, actions in ALLOWED.items() if Action.SEE_AUDIT in actions]
    return access.is_known(user) and Membership.objects.filter(user=cast(User, user), role__in=enough).exists()


def entries_for(user: access.Person, filters: Filters) -> QuerySet[AuditEntry]:
    """Those that the person may see and the filters leave, in no order yet. Raises PermissionDenied."""
    seen = Q(team_id__in=[team.pk for team in teams_seen(user)])
    if sees_installation(user):
        seen |= Q(team_id="")
    return AuditEntry.objects.filter(seen).filter(filters.conditions())


def asked(parameters: Mapping[str, str]) -> Asked:
    """What the page's address asks for. What makes no sense is left out, as a page must not fail on it."""
    texts = {name: parameters.get(name, "").strip()[:100] for name in ("team", "actor", "action", "subject")}
    days = {name: parameters.get(name, "").strip()[:10] for name in ("from", "to")}
    since, to = _midnight(days["from"], 0), _midnight(days["to"], 1)
    texts |= {"from": days["from"] if since else "", "to": days["to"] if to else ""}
    named = Filters(texts["team"], texts["actor"], texts["action"], texts["subject"], since, to)
    return Asked(named, texts)


def _midnight(day: str, later: int) -> datetime | None:
    """When a day of the reader's begins, or a later one."""
    try:
        found = parse_date(day)
        if found is None or not 1970 <= found.year <= 9000:
            return None
        return timezone.make_aware(datetime.combine(found + timedelta(days=later), time())).astimezone(UTC)
    except ValueError:
        return None


def document(entry: AuditEntry) -> dict[str, Any]:
    """An entry as programs read it."""
    return {
        "sequence": entry.sequence,
        "at": instant(entry.at),
        "team": entry.team_id or None,
        "team_name": entry.team_name,
        "actor": entry.actor_name or None,
        "actor_id": entry.actor_id or None,
        "origin": entry.origin,
        "action": entry.action,
        "subject": entry.subject,
        "data": data_of(entry),
        "request_id": entry.request_id,
        "address": entry.address,
        "key_id": entry.key_id,
        "previous": entry.previous,
        "digest": entry.digest,
    }


def data_of(entry: AuditEntry) -> dict[str, Any]:
    """Its data; of an entry that somebody altered into what is no JSON, the text as it stands."""
    try:
        found = json.loads(entry.data)
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {"text": entry.data}


def in_order(rows: QuerySet[AuditEntry]) -> Iterator[AuditEntry]:
    """All of them, the oldest first, some at a time."""
    after = -(2**63)
    while chunk := list(rows.filter(sequence__gt=after).order_by("sequence")[:_CHUNK]):
        yield from chunk
        after = chunk[-1].sequence


def as_json_lines(rows: Iterator[AuditEntry]) -> Iterator[str]:
    """One JSON document a line."""
    for entry in rows:
        yield json.dumps(document(entry), ensure_ascii=False) + "\n"


def as_csv(rows: Iterator[AuditEntry]) -> Iterator[str]:
    """A table, its data as JSON; cells that a spreadsheet would calculate begin with an apostrophe."""
    yield _line(COLUMNS)
    for entry in rows:
        values = document(entry)
        values["data"] = entry.data
        yield _line([_neutral("" if values[name] is None else str(values[name])) for name in COLUMNS])


def _line(cells: Any) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerow(cells)
    return out.getvalue()


def _neutral(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text
