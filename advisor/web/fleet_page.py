"""What the fleet page shows: one indexed query over the fleet rows, and the filters that stand in its address."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.core.paginator import Page, Paginator
from django.db.models import Count, Q, QuerySet, TextField
from django.db.models.functions import Cast

from advisor.recommendations.models import FleetRow
from advisor.teams import access

PAGE_ROWS = 50
STATES = ("critical", "warning", "watch", "calm", "stale", "new")
#: Servers that somebody should look at: in trouble by what is measured, or with a recommendation that is more than a
#: notice.
NEEDS_SOMEBODY = Q(state__in=("critical", "warning")) | Q(
    ~Q(state__in=("stale", "new")), worst_severity__in=("critical", "warning")
)


@dataclass(frozen=True)
class Filters:
    """``state`` is one of STATES, "needs" (the default view), or "all"."""

    search: str = ""
    state: str = ""
    tag: str = ""

    @classmethod
    def read(cls, parameters: Mapping[str, str]) -> Filters:
        """From an address; what it does not know is as if it were not there."""
        state = parameters.get("state", "")
        return cls(
            search=parameters.get("q", "").strip()[:100],
            state=state if state in (*STATES, "needs", "all") else "",
            tag=parameters.get("tag", "").strip()[:100],
        )

    @property
    def query(self) -> str:
        pairs = (("q", self.search), ("state", self.state), ("tag", self.tag))
        return urlencode([(name, value) for name, value in pairs if value])

    @property
    def narrowed(self) -> bool:
        return bool(self.search or self.tag or self.state)


@dataclass(frozen=True)
class FleetPage:
    """``total`` and ``counts`` are of all the reader may see; ``page`` holds the rows that the filters leave."""

    page: Page[FleetRow]
    filters: Filters
    counts: dict[str, int]
    total: int
    needing: int
    tags: list[str]

    @property
    def healthy(self) -> int:
        """Servers that are neither shown above nor stale."""
        return self.total - self.needing - self.counts.get("stale", 0) - self.counts.get("new", 0)


def visible_rows(user: AbstractBaseUser | AnonymousUser) -> QuerySet[FleetRow]:
    """The rows of the reader's teams, the neediest first."""
    rows = FleetRow.objects.select_related("server", "server__state", "team")
    return access.visible(user, rows).order_by("-sort_rank", "server__folded", "pk")


def narrowed(rows: QuerySet[FleetRow], filters: Filters) -> QuerySet[FleetRow]:
    """The rows that the filters leave."""
    if filters.search:
        words = filters.search.casefold()
        rows = rows.filter(
            Q(server__folded__contains=words) | Q(server__host__icontains=words) | Q(version__icontains=words)
        )
    if filters.tag:
        # A list in JSON can be searched alike on all databases only as text: the quotes keep "prod" apart from
        # "prod-eu".
        rows = rows.annotate(tags_text=Cast("server__tags", TextField())).filter(
            tags_text__contains=json.dumps(filters.tag)
        )
    if filters.state in STATES:
        rows = rows.filter(state=filters.state)
        if filters.state == "calm":
            rows = rows.exclude(NEEDS_SOMEBODY)
    elif filters.state == "needs":
        rows = rows.filter(NEEDS_SOMEBODY)
    elif not (filters.search or filters.tag or filters.state):
        rows = rows.filter(NEEDS_SOMEBODY | Q(state="new"))
    return rows


def read(user: AbstractBaseUser | AnonymousUser, parameters: Mapping[str, str]) -> FleetPage:
    """Two queries for the counts, one for the rows; the number of servers changes neither."""
    filters = Filters.read(parameters)
    rows = visible_rows(user)
    bare = rows.order_by()
    counts: dict[str, int] = dict.fromkeys(STATES, 0)
    needing = 0
    for found in bare.values("state").annotate(count=Count("pk"), needing=Count("pk", filter=NEEDS_SOMEBODY)):
        counts[found["state"]] = counts.get(found["state"], 0) + found["count"]
        needing += found["needing"]
    total = sum(counts.values())
    page = Paginator(narrowed(rows, filters), PAGE_ROWS).get_page(parameters.get("page"))
    return FleetPage(page, filters, counts, total, needing, _tags(page, filters))


def _tags(page: Page[FleetRow], filters: Filters) -> list[str]:
    """The tags to choose from: those of the rows shown, so that no query over all servers is needed."""
    found: set[str] = {filters.tag} if filters.tag else set()
    for row in page:
        found.update(str(tag) for tag in _list(row.server.tags))
    return sorted(found)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
