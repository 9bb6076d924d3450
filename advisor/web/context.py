"""What every page's frame shows: the rail with its counts, the reader's team, language, colours and clock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext as _

from advisor.changes import notices, page_list
from advisor.recommendations.models import FleetRow
from advisor.teams import access, audit_reading
from advisor.web.fleet_page import NEEDS_SOMEBODY
from advisor.web.look import groups, way_back
from advisor.web.middleware import chosen


@dataclass(frozen=True)
class Item:
    """One entry of the rail. ``counts`` says in words what ``count`` counts."""

    title: str
    url: str
    here: bool
    count: int = 0
    counts: str = ""


def _items(request: HttpRequest) -> list[Item]:
    match = request.resolver_match
    name = match.url_name if match and match.url_name else ""
    waiting, audits = 0, False
    if access.is_known(request.user):
        audits = audit_reading.sees_some(request.user)
        waiting = access.visible(request.user, FleetRow.objects.filter(NEEDS_SOMEBODY)).count()
    on_fleet = name.startswith(("fleet", "add-server", "import-servers", "server", "recommendation"))
    return [
        Item(_("Fleet"), reverse("fleet"), on_fleet, waiting, _("need somebody")),
        Item(
            _("Changes"),
            reverse("changes"),
            name.startswith(("change", "polic")),
            page_list.count_waiting(request.user),
            _("wait for you"),
        ),
        Item(_("Rules"), reverse("rules"), name.startswith("rule")),
        *([Item(_("Audit"), reverse("audit"), name == "audit")] if audits else []),
        Item(_("System"), reverse("system"), name == "system"),
    ]


def navigation(request: HttpRequest) -> dict[str, Any]:
    """Lazy where it asks the database: a part for htmx shows no rail."""
    return {
        "navigation": SimpleLazyObject(lambda: _items(request)),
        "unread_notices": SimpleLazyObject(lambda: notices.count_unread(request.user)),
        "team_names": SimpleLazyObject(lambda: ", ".join(team.name for team in access.teams_of(request.user))),
        "theme": chosen(request)["theme"],
        "zone_name": timezone.get_current_timezone_name(),
        "look": SimpleLazyObject(lambda: groups(request)),
        "way_back": SimpleLazyObject(lambda: way_back(request)),
    }
