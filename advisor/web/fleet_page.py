"""What the fleet page shows, put together: which servers need somebody first, then everything else, counted.

Every question is answered from indexes of the fleet rows or from the counted groups, so that the page costs the same
at ten servers as at ten thousand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from advisor.recommendations.fleet import NEEDING
from advisor.recommendations.models import FleetGroup
from advisor.teams import access
from advisor.web.fleet import listing, strip, waiting
from advisor.web.fleet.cells import Cells, cells_of
from advisor.web.fleet.filters import DEFAULT_SORT, FLAVORS, SORTS, STATES, Filters
from advisor.web.fleet.listing import PAGE_ROWS, Counts

__all__ = ["NEEDS_SOMEBODY", "PAGE_ROWS", "STATES", "Filters", "FleetPage", "read"]

#: Servers that somebody should look at.
NEEDS_SOMEBODY = Q(state__in=NEEDING)
#: Of those that need somebody the opening page shows these: below them stands the day of all groups, which whoever
#: came in the morning wants to see without scrolling through a bad night.
OPENING_ROWS = 15
#: Entries of a menu; whoever looks for another group or tag finds it by searching or on a server's row.
_MENU = 60
#: Silent servers that are named where they are only counted.
_STALE_NAMED = 2
#: New servers that are listed without being asked for: whoever just added some looks for them.
_NEW_LISTED = 5


@dataclass(frozen=True)
class Choice:
    """One entry of a menu."""

    value: str
    words: str
    chosen: bool


@dataclass(frozen=True)
class FleetPage:
    """``counts`` are of what group, tag, flavor and search leave; ``total`` and ``critical`` of all servers of the
    reader's teams, and so is ``warning``, which may stay 0 where something is critical. ``strip`` and ``waiting`` are
    there only where nothing is looked for.
    """

    filters: Filters
    counts: Counts
    total: int
    critical: int
    warning: int
    rows: Sequence[Cells]
    number: int
    pages: int
    newest_at: datetime | None
    menus: Mapping[str, Sequence[Choice]]
    strip: strip.Strip | None
    waiting: waiting.Waiting | None
    stale: Sequence[Cells]
    new: Sequence[Cells]

    @property
    def previous(self) -> str:
        return self._page(self.number - 1)

    @property
    def next(self) -> str:
        return self._page(self.number + 1)

    def _page(self, number: int) -> str:
        if not 1 <= number <= self.pages:
            return ""
        query = self.filters.query
        return f"?{query}{'&' if query else ''}page={number}"

    @property
    def sort(self) -> Any:
        return SORTS[self.filters.sort]

    @property
    def heads(self) -> Mapping[str, tuple[str, str]]:
        """The address and ``aria-sort`` of each order, by its name."""
        return {
            name: (self.filters.address(sort=name), one.aria if name == self.filters.sort else "none")
            for name, one in SORTS.items()
        }

    @property
    def more(self) -> int:
        """Servers that the opening page leaves to the list."""
        cut = not self.filters.narrowed and self.number == 1 and self.last < min(self.counts.found, PAGE_ROWS)
        return self.counts.found if cut else 0

    @property
    def first(self) -> int:
        return (self.number - 1) * PAGE_ROWS + 1

    @property
    def last(self) -> int:
        return self.first + len(self.rows) - 1


def read(user: AbstractBaseUser | AnonymousUser, parameters: Mapping[str, str]) -> FleetPage:
    """The page of an address. The number of servers changes neither the number of queries nor what they read."""
    filters = Filters.read(parameters)
    team_ids = [team.pk for team in access.teams_of(user)]
    found = listing.look(team_ids, filters)
    counts = found.counts
    pages = max(ceil(counts.found / PAGE_ROWS), 1)
    number = min(max(_whole(parameters.get("page")), 1), pages)
    opening = not filters.narrowed and number == 1
    groups, tags = _groups(team_ids)
    total, loudest = counts.total, counts.by_state
    if filters.looks_for_something:
        total, loudest = _total(team_ids, groups), listing.loudest(team_ids)
    length = OPENING_ROWS if opening and filters.sort == DEFAULT_SORT else PAGE_ROWS
    listed = found.ids((number - 1) * PAGE_ROWS, length)
    stale = _first(team_ids, "stale", _STALE_NAMED) if opening and counts.by_state["stale"] else []
    new = _first(team_ids, "new", _NEW_LISTED) if opening and counts.by_state["new"] else []
    fetched = {row.server_id: row for row in listing.fetch([*listed, *stale, *new])}
    rows = [fetched[one] for one in listed if one in fetched]
    return FleetPage(
        filters=filters,
        counts=counts,
        total=total,
        critical=loudest.get("critical", 0),
        warning=loudest.get("warning", 0),
        rows=[cells_of(row) for row in rows],
        number=number,
        pages=pages,
        newest_at=max((row.newest_sample_at for row in rows if row.newest_sample_at), default=None),
        menus=_menus(filters, counts, groups, tags),
        strip=_strip(groups) if opening and total else None,
        waiting=waiting.read(user, team_ids, timezone.localdate()) if opening and total else None,
        stale=[cells_of(fetched[one]) for one in stale if one in fetched],
        new=[cells_of(fetched[one]) for one in new if one in fetched],
    )


def _whole(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 9 else 1


def _first(team_ids: Sequence[str], state: str, count: int) -> list[str]:
    """The first servers in a state, so that a fold says something before it is opened."""
    return list(listing.ids(team_ids, Filters(state=state, sort="state"))[:count])


def _groups(team_ids: Sequence[str]) -> tuple[list[FleetGroup], list[FleetGroup]]:
    """The neediest groups and tags."""
    kinds = []
    for kind in ("group", "tag"):
        rows = FleetGroup.objects.filter(kind=kind, team_id__in=team_ids).order_by("-rank", "name")
        if kind == "tag":
            rows = rows.defer("hours")
        kinds.append(list(rows[: _MENU + 1]))
    return kinds[0], kinds[1]


def _total(team_ids: Sequence[str], groups: Sequence[FleetGroup]) -> int:
    """All servers of the reader, as they were counted in the last minute; exactly where none was counted yet."""
    if len(groups) <= _MENU:
        total = sum(group.servers for group in groups)
    else:
        counted = FleetGroup.objects.filter(kind="group", team_id__in=team_ids)
        total = counted.aggregate(total=Sum("servers"))["total"] or 0
    return total or listing.of_teams(team_ids).count()


def _strip(groups: Sequence[FleetGroup]) -> strip.Strip | None:
    if not any(hour for group in groups for hour in group.hours or ()):
        return None
    shown = groups[: strip.GROUPS]
    return strip.read(shown, len(groups) - len(shown), timezone.now().timestamp())


def _menus(
    filters: Filters, counts: Counts, groups: Sequence[FleetGroup], tags: Sequence[FleetGroup]
) -> dict[str, list[Choice]]:
    """The menus with their counts; a menu with one entry is none."""
    return {
        "state": _states(filters, counts),
        "group": _of_groups(groups, filters.group, _("no group")),
        "tag": _of_groups(tags, filters.tag or None, ""),
        "flavor": [
            Choice(flavor, f"{name} ({counts.by_flavor.get(flavor, 0):,})", filters.flavor == flavor)
            for flavor, name in FLAVORS.items()
        ],
        "sort": [Choice(name, str(one.title), name == filters.sort) for name, one in SORTS.items()],
    }


def _states(filters: Filters, counts: Counts) -> list[Choice]:
    """The empty choice is what is shown by itself: what needs somebody, or, of what is looked for, everything."""
    needs = Choice("needs", f"{_('needs somebody')} ({counts.needing:,})", filters.state == "needs")
    everything = Choice("all", f"{_('any state')} ({counts.total:,})", filters.state == "all")
    unset, other = (everything, needs) if filters.looks_for_something else (needs, everything)
    words = {
        "critical": _("critical"),
        "warning": _("warning"),
        "watch": _("watch"),
        "calm": _("healthy"),
        "stale": _("stale"),
        "new": _("new"),
    }
    # The state that the empty choice stands for is chosen by it, too, whether or not the address names it.
    return [
        Choice("", unset.words, not filters.state or unset.chosen),
        other,
        *(Choice(state, f"{words[state]} ({counts.by_state[state]:,})", filters.state == state) for state in STATES),
    ]


def _of_groups(groups: Sequence[FleetGroup], chosen: str | None, unnamed: str) -> list[Choice]:
    sums: dict[str, int] = {}
    for one in groups[:_MENU]:
        sums[one.name] = sums.get(one.name, 0) + one.servers
    if chosen is not None:
        sums.setdefault(chosen, 0)
    return [
        Choice(name or "-", f"{name or unnamed} ({sums[name]:,})", name == chosen)
        for name in sorted(sums, key=lambda name: (not name, name))
    ]
