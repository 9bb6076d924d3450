"""What people and programs write beside the charts: "deploy v481", "import began", "looked into it, a bad plan"."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.db import IntegrityError, transaction

from advisor.journal.models import Event
from advisor.journal.services import record

CREATED = "annotation.created"
DELETED = "annotation.deleted"
#: The tag that makes an annotation a deployment: it has a letter of its own above the charts.
DEPLOY = "deploy"
LONGEST_TEXT = 1000
LONGEST_KEY = 100
MOST_TAGS, LONGEST_TAG = 10, 40
#: Clocks of those who tell us may be ahead; what is to come in a day and more is a mistake in the date.
_AHEAD = timedelta(days=1)


class BadAnnotation(ValueError):
    """An annotation that cannot be kept; ``field`` names what is wrong with it, the message says what."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class KeyTaken(ValueError):
    """The key was used for something else before."""


def create_annotation(
    *,
    team_id: str,
    server_id: str,
    text: str,
    actor: AbstractBaseUser,
    now: datetime,
    at: datetime | None = None,
    ended_at: datetime | None = None,
    tags: Iterable[str] = (),
    key: str | None = None,
) -> tuple[Event, bool]:
    """Writes an annotation of one server; whether it is new. ``at`` defaults to now.

    ``key`` is the caller's own name for it within the team: the same annotation by the same key is answered with the
    one that is there. Raises BadAnnotation, and KeyTaken where the key stands for another one.
    """
    at = at or now
    data = _checked(text, at, ended_at, tags, now)
    if key is not None and not 0 < len(key) <= LONGEST_KEY:
        raise BadAnnotation("key", f"A key has 1 to {LONGEST_KEY} characters.")
    if key is not None and (known := _known(team_id, key, server_id, data)) is not None:
        return known, False
    try:
        with transaction.atomic():
            made = record(
                team_id=team_id, server_id=server_id, kind=CREATED, at=at, actor=actor, data=data, key=key
            )  # fmt: skip
    except IntegrityError:
        # Another request with the same key was quicker.
        known = None if key is None else _known(team_id, key, server_id, data)
        if known is None:
            raise
        return known, False
    return made, True


def delete_annotation(*, annotation: Event, actor: AbstractBaseUser, now: datetime) -> None:
    """Takes an annotation back. That there was one, and who took it back, stays; what it said does not."""
    with transaction.atomic():
        record(
            team_id=annotation.team_id,
            server_id=annotation.server_id,
            kind=DELETED,
            at=now,
            actor=actor,
            data={"of": annotation.at.isoformat()},
        )
        annotation.delete()


def _known(team_id: str, key: str, server_id: str, data: dict[str, object]) -> Event | None:
    found = Event.objects.filter(team_id=team_id, key=key).first()
    if found is not None and (found.kind, found.server_id, found.data) != (CREATED, server_id, data):
        raise KeyTaken(f"The key {key!r} stands for another annotation.")
    return found


def _checked(
    text: str, at: datetime, ended_at: datetime | None, tags: Iterable[str], now: datetime
) -> dict[str, object]:
    text = text.strip()
    if not text:
        raise BadAnnotation("text", "Say what happened.")
    if len(text) > LONGEST_TEXT:
        raise BadAnnotation("text", f"At most {LONGEST_TEXT} characters.")
    if at > now + _AHEAD:
        raise BadAnnotation("at", "This lies more than a day ahead.")
    kept = list(dict.fromkeys(tag for one in tags if (tag := one.strip().casefold())))
    if len(kept) > MOST_TAGS or any(len(tag) > LONGEST_TAG for tag in kept):
        raise BadAnnotation("tags", f"At most {MOST_TAGS} tags of {LONGEST_TAG} characters each.")
    data: dict[str, object] = {"text": text, "tags": kept}
    if ended_at is not None:
        if ended_at < at:
            raise BadAnnotation("ended_at", "It cannot end before it begins.")
        data["ended_at"] = ended_at.isoformat()
    return data
