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
#: A server that was added less than this ago has too short a history for the usual range.
_YOUNG_SECONDS = 30 * 60


def newest(server: Server, name: str) -> float | None:
    """The newest instant (unix seconds) that a range of ``periods.SINCE`` begins with; None where there was none."""
    events = Event.objects.filter(server_id=server.pk, kind__in=_KINDS[name])
    at = events.order_by("-at").values_list("at", flat=True).first()
    return at.timestamp() if at is not None else None


def asked(request: HttpRequest, server: Server, default: str = "") -> periods.Period:
    """The range of the address, without one a short range for a server that just came. Where UTC is asked for, the rest
    of the request shows times in it.
    """
    now = timezone.now()
    # An hour that holds five minutes shows little: a server that just came is shown by the shortest range.
    young = (now - server.created_at).total_seconds() < _YOUNG_SECONDS
    period = periods.parse(
        request.GET,
        now.timestamp(),
        default or ("15m" if young else periods.DEFAULT),
        newest=lambda name: newest(server, name),
        zone=timezone.get_current_timezone(),
    )
    if period.zone == "utc":
        # The reader's middleware ends every request with the default zone, so this holds for this one alone.
        timezone.activate(UTC)
    return period
