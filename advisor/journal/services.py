"""The only writer of events."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.contrib.auth.models import AbstractBaseUser

from advisor.journal.models import Event


def record(
    *,
    team_id: str,
    kind: str,
    at: datetime,
    server_id: str = "",
    actor: AbstractBaseUser | None = None,
    data: dict[str, Any] | None = None,
    key: str | None = None,
) -> Event:
    """Writes one event. Call it inside the transaction of what happened, so that neither stands without the other."""
    return Event.objects.create(
        team_id=team_id,
        server_id=server_id,
        kind=kind,
        at=at,
        actor=actor,
        data=data or {},
        key=key,  # type: ignore[misc]
    )


def amend(*, event: Event, data: Mapping[str, Any]) -> None:
    """Adds what only a room above knows of an event that was written already (whose doing it was); nothing goes."""
    event.data = {**event.data, **data}
    event.save(update_fields=["data"])
