"""Settings that changed on a server: which of them were ours, and what to do about the others.

The collector writes down every change that a full snapshot shows and calls it foreign, since it knows nothing of change
requests. Here each is held against the statements that were sent, and against plans that were approved for somebody
else to carry out. What remains was done past Tidemark: it can be taken over into a change request, or back through one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from advisor.changes.models import Application, ChangeRequest, State, Step
from advisor.changes.verifying_history import MOVE_ALONG
from advisor.journal import services as journal
from advisor.journal.models import Event
from advisor.mysql.values import same
from advisor.ui import quantities
from collector.models import Server, SettingsChange

KINDS = ("server.variable_changed", "server.variables_changed")
#: A statement that was sent shows in the next full snapshot; a server that could not be read shows it later.
_SEEN_WITHIN_SECONDS = 3600
#: Plans in these states may be carried out by a person, a restart among it, and still be what was approved.
_BY_HAND = (State.APPROVED, State.SCHEDULED, State.APPLYING, State.AWAITING_RESTART, State.VERIFYING)


@dataclass(frozen=True)
class Moved:
    """One system variable that changed; None where the server had, or has, none."""

    name: str
    old: str | None
    new: str | None


def tell_apart(*, server_id: str, slot: int) -> Event | None:
    """Marks in the journal what of the changes that the snapshot of this slot shows was ours; answers the event.

    An event is ``ours`` where all of it is, and names the change request. Of a mixed one ``ours`` lists the names.
    """
    row = SettingsChange.objects.filter(server_id=server_id, at=slot).first()
    server = Server.objects.filter(pk=server_id).first()
    if row is None or server is None:
        return None
    changed = [Moved(name, old, new) for name, (old, new) in sorted(row.changes.items())]
    event = _event(server, changed, slot)
    if event is None:
        return None
    requests = _ours(server, changed, datetime.fromtimestamp(slot, UTC))
    if not requests:
        return event
    numbers = {name: {"change": one.pk, "number": one.number} for name, one in requests.items()}
    whole = len(numbers) == len(changed)
    first = next(iter(numbers.values()))
    journal.amend(event=event, data={"ours": numbers, **({"source": "ours", **first} if whole else {})})
    return event


def _event(server: Server, changed: Iterable[Moved], slot: int) -> Event | None:
    """The event that tells of exactly these changes."""
    names = {one.name for one in changed}
    since = datetime.fromtimestamp(slot, UTC) - timedelta(minutes=1)
    for event in Event.objects.filter(server_id=server.pk, kind__in=KINDS, at__gte=since).order_by("-at", "-id")[:5]:
        told = {event.data["name"]} if "name" in event.data else set(event.data.get("changes", {}))
        # An event shows the first forty names of many.
        if told and told <= names:
            return event
    return None


def _ours(server: Server, changed: Iterable[Moved], at: datetime) -> dict[str, ChangeRequest]:
    """Name -> the change request that it was changed for."""
    since = at - timedelta(seconds=_SEEN_WITHIN_SECONDS + server.full_interval_seconds)
    sent = Step.objects.filter(application__server=server, written_at__gte=since).order_by("-written_at", "-pk")
    steps = list(sent.select_related("application__request"))
    plans = list(
        ChangeRequest.objects.filter(state__in=_BY_HAND, plan__isnull=False, wanted__server=server)
        .select_related("plan")
        .distinct()
    )
    found: dict[str, ChangeRequest] = {}
    for one in changed:
        request = _sent(one, steps) or _approved(one, server, plans)
        if request is not None:
            found[one.name] = request
    if found:
        # What a server moves by itself when another variable is set belongs to that statement.
        for one in changed:
            if one.name in MOVE_ALONG and one.name not in found:
                found[one.name] = next(iter(found.values()))
    return found


def _sent(one: Moved, steps: Iterable[Step]) -> ChangeRequest | None:
    """The request of the newest statement that left the variable at this value: what it set, or what it took back."""
    for step in steps:
        if step.variable.lower() != one.name.lower() or one.new is None:
            continue
        back = step.application.direction == Application.Direction.ROLL_BACK or step.state == Step.State.UNDONE
        values = [step.wanted, step.found, *([step.old] if back else [])]
        if any(value and same(value, one.new) for value in values):
            return step.application.request
    return None


def _approved(one: Moved, server: Server, requests: Iterable[ChangeRequest]) -> ChangeRequest | None:
    """The request whose plan says exactly this, so that whoever did it did what was approved."""
    for request in requests:
        parts = request.plan.document["servers"] if request.plan is not None else ()
        for change in (change for part in parts if part["server"] == server.pk for change in part["changes"]):
            proposed = change.get("proposed")
            if change["variable"] == one.name and one.new is not None and proposed and same(proposed, one.new):
                return request
    return None


def moved_of(event: Event) -> list[Moved]:
    """What an event says was changed past Tidemark, without what was ours."""
    data = event.data if isinstance(event.data, dict) else {}
    if event.kind not in KINDS or data.get("source") == "ours":
        return []
    pairs = {data["name"]: (data.get("old"), data.get("new"))} if "name" in data else data.get("changes") or {}
    ours = data.get("ours") or {}
    return [Moved(str(name), old, new) for name, (old, new) in pairs.items() if name not in ours]


def adopt_address(event: Event) -> str:
    """A change request that takes over what runs now, so that it is reviewed, persisted and watched; empty for none."""
    return _address(event, [(one.name, one.new) for one in moved_of(event)], _("Take over what was set by hand"))


def revert_address(event: Event) -> str:
    """A change request that brings back what was before; empty for none."""
    return _address(event, [(one.name, one.old) for one in moved_of(event)], _("Take back what was set by hand"))


def _address(event: Event, wanted: Iterable[tuple[str, str | None]], title: str) -> str:
    # A value that was cut for the journal is no value to propose.
    values = [(name, value) for name, value in wanted if value is not None and not value.endswith("…")]
    if not values or not event.server_id:
        return ""
    query = [("server", event.server_id), ("title", title), ("reason", reason(event))]
    for name, value in values:
        query += [("variable", name), ("value", value)]
    return f"{reverse('change-new')}?{urlencode(query)}"


def reason(event: Event) -> str:
    """What was done past Tidemark, as the reason of a request about it."""
    lines = [
        f"{one.name}: {one.old or quantities.NOTHING} → {one.new or quantities.NOTHING}" for one in moved_of(event)
    ]
    told = who(event)
    return "\n".join([_("Set past Tidemark, seen %(at)s.") % {"at": quantities.instant(event.at)}, *lines, *told])


def who(event: Event) -> list[str]:
    """Who set it when, as far as the server tells (MySQL 8.0 and later), each said once."""
    data = event.data if isinstance(event.data, dict) else {}
    said: dict[str, None] = {}
    for one in (data.get("who") or {}).values():
        by, at = str(one.get("by") or ""), one.get("at")
        if by and isinstance(at, int | float):
            said[_("%(who)s at %(at)s") % {"who": by, "at": quantities.instant(datetime.fromtimestamp(at, UTC))}] = None
    return list(said)
