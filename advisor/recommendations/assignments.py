"""Who takes care of a recommendation: the only writer of assignments and comments."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from advisor.journal.services import record
from advisor.recommendations.assignment_models import Assignment, Comment
from advisor.recommendations.models import Recommendation
from advisor.teams import access, audit
from advisor.teams.models import Membership

LONGEST_COMMENT = 4000
LONGEST_TICKET = 500


class BadAssignment(ValueError):
    """What was asked for cannot be kept; ``field`` names what is wrong with it, the message says what."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def members(team_id: str) -> list[User]:
    """Whom something may be assigned to: the team's people whose accounts are not switched off, by name."""
    ids = Membership.objects.filter(team_id=team_id).values("user_id")
    return list(User.objects.filter(pk__in=ids, is_active=True).order_by("username"))


def of(recommendation: Recommendation) -> Assignment | None:
    """Who takes care, None where nobody ever said."""
    return Assignment.objects.select_related("assignee").filter(recommendation=recommendation).first()


def checked_ticket(text: str) -> str:
    """The address of a ticket. Raises BadAssignment for what is no plain https address."""
    text = text.strip()
    if not text:
        return ""
    try:
        parts = urlsplit(text)
        host = parts.hostname
    except ValueError:
        host = None
    plain = text.isprintable() and " " not in text and not any(mark in text for mark in "<>\"'`\\")
    if host is None or parts.scheme != "https" or parts.username is not None or not plain:
        raise BadAssignment("ticket", _("A ticket is an address that begins with https://, without a password in it."))
    if len(text) > LONGEST_TICKET:
        raise BadAssignment("ticket", _("The address is longer than %(n)s characters.") % {"n": LONGEST_TICKET})
    return text


@transaction.atomic
def assign(
    *,
    recommendation: Recommendation,
    assignee: User | None,
    due_on: date | None,
    ticket: str,
    actor: User,
    now: datetime,
) -> Assignment:
    """Says who takes care, until which day, and where else it is written down; each may be nobody and nothing.

    Raises BadAssignment for somebody of another team, a new day in the past, or a ticket that is no https address.
    """
    before = Assignment.objects.select_for_update().filter(recommendation=recommendation).first()
    if assignee is not None and access.access_to(assignee, recommendation.server.team_id) is None:
        raise BadAssignment("assignee", _("This person is not in the server's team."))
    if due_on is not None and due_on < now.date() and (before is None or before.due_on != due_on):
        raise BadAssignment("due_on", _("The day has passed already."))
    wanted = {"assignee": assignee, "due_on": due_on, "ticket": checked_ticket(ticket)}
    if before is not None and all(getattr(before, name) == value for name, value in wanted.items()):
        return before
    row, _new = Assignment.objects.update_or_create(
        recommendation=recommendation, defaults={**wanted, "changed_by": actor, "changed_at": now}
    )
    told = {
        "assignee": assignee.get_username() if assignee is not None else None,
        "due": due_on.isoformat() if due_on is not None else None,
        "ticket": row.ticket or None,
    }
    _tell(recommendation, "recommendation.assigned", told, actor, now)
    return row


@transaction.atomic
def comment(*, recommendation: Recommendation, text: str, actor: User, now: datetime) -> Comment:
    """Writes down what somebody says of it. Raises BadAssignment for an empty or endless text."""
    text = text.strip()
    if not text:
        raise BadAssignment("text", _("Write something first."))
    if len(text) > LONGEST_COMMENT:
        raise BadAssignment("text", _("The text is longer than %(n)s characters.") % {"n": LONGEST_COMMENT})
    row = Comment.objects.create(
        recommendation=recommendation, person=actor, person_name=actor.get_username(), text=text, at=now
    )
    _tell(recommendation, "recommendation.commented", {"comment": row.pk}, actor, now)
    return row


def _tell(recommendation: Recommendation, kind: str, told: dict[str, Any], actor: User, now: datetime) -> None:
    server = recommendation.server
    data = {
        "recommendation": recommendation.pk,
        "rule": recommendation.rule,
        "title": recommendation.document.get("title", ""),
        "title_words": (recommendation.document.get("words") or {}).get("title"),
        **told,
    }
    record(team_id=server.team_id, server_id=server.pk, kind=kind, at=now, actor=actor, data=data)
    audit.record(
        team_id=server.team_id,
        action=kind,
        subject=f"recommendation {recommendation.pk}: {recommendation.rule} of {server.name}",
        at=now,
        data=told,
        actor=actor,
    )
