"""The time range that a request asks for: the address read with what only the database and the session know."""

from __future__ import annotations

from datetime import UTC

from django.http import HttpRequest
from django.utils import timezone

from advisor.journal.models import Event
from advisor.ui import period as periods
from collector.models import Server

#: The events that the ranges which begin with one begin with.
_KINDS = {
    "since-change": ("server.variable_changed", "server.variables_changed", "server.version_changed"),
    "since-restart": ("server.restarted", "server.replaced"),
}


def asked(request: HttpRequest, server: Server, default: str = periods.DEFAULT) -> periods.Period:
    """The range of the address. Where UTC is asked for, the rest of the request shows times in it."""

    def newest(name: str) -> float | None:
        events = Event.objects.filter(server_id=server.pk, kind__in=_KINDS[name])
        at = events.order_by("-at").values_list("at", flat=True).first()
        return at.timestamp() if at is not None else None

    period = periods.parse(
        request.GET,
        timezone.now().timestamp(),
        default,
        newest=newest,
        zone=timezone.get_current_timezone(),
    )
    if period.zone == "utc":
        # The reader's middleware ends every request with the default zone, so this holds for this one alone.
        timezone.activate(UTC)
    return period
