"""The row of links that stands on every page of one server."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django import template
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from advisor.web.urls import urlpatterns

register = template.Library()

#: Address names and titles, in the order in which people ask.
PAGES = (
    ("server", gettext_noop("Overview")),
    ("server-redo", gettext_noop("Redo")),
    ("server-counters", gettext_noop("Counters")),
    ("server-diff", gettext_noop("Before and after")),
    ("server-events", gettext_noop("Events")),
    ("server-snapshot", gettext_noop("Snapshot")),
)


@register.inclusion_tag("web/_server_nav.html", takes_context=True)
def server_pages(context: dict[str, Any]) -> dict[str, Any]:
    """Needs ``server`` and ``request`` in the context; keeps the time range that the reader chose, if any."""
    match = context["request"].resolver_match
    period = context.get("period")
    # What one page keeps in its address means nothing to the others.
    query = f"?{replace(period, kept={}).query}" if period is not None else ""
    known = {pattern.name for pattern in urlpatterns}
    return {
        "pages": [
            {
                "title": _(title),
                "url": reverse(name, args=[context["server"].pk]) + query,
                "here": match is not None and match.url_name == name,
            }
            for name, title in PAGES
            if name in known
        ]
    }
