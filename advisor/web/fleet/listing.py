"""The servers that the filters leave: counted, and one page of them, each by reading one index.

The ids of a page come from an index that holds all that filters look at; only the rows that are shown are fetched. So
a page costs the same wherever it is in the list and however few servers the filters leave, and what grows with the
fleet is the reading of one narrow index.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, QuerySet, Value
from django.db.models.functions import Coalesce

from advisor.recommendations.fleet import NEEDING
from advisor.recommendations.fleet_words import marked
from advisor.recommendations.models import FleetRow
from advisor.web.fleet.filters import SORTS, STATES, Filters

PAGE_ROWS = 50
#: So many servers that hold a text are dealt with one by one.
FEW = 300
_COUNTED = ("state", "flavor")


@dataclass(frozen=True)
class Counts:
    """How many servers there are. ``by_state`` and ``by_flavor`` count what the other filters leave, ``found`` what
    all of them leave.
    """

    by_state: dict[str, int]
    by_flavor: dict[str, int]
    found: int

    @property
    def total(self) -> int:
        return sum(self.by_state.values())

    @property
    def needing(self) -> int:
        return sum(self.by_state[state] for state in NEEDING)


def of_teams(team_ids: Sequence[str]) -> QuerySet[FleetRow]:
    """The rows of these teams. One team is named and not listed, since then an index gives the order, too."""
    if len(team_ids) == 1:
        return FleetRow.objects.filter(team_id=team_ids[0])
    return FleetRow.objects.filter(team_id__in=team_ids)


@dataclass(frozen=True)
class Found:
    """What the filters leave: how many servers, and in their order the ids of ``every`` one. ``soon`` gives the same
    ids by a way that is shorter at the beginning of the list.
    """

    counts: Counts
    every: QuerySet[FleetRow, Any]
    soon: QuerySet[FleetRow, Any]

    def ids(self, start: int, length: int) -> list[str]:
        """The ids of one page."""
        rows = self.soon if start < FEW else self.every
        return list(rows[start : start + length]) if self.counts.found else []


def look(team_ids: Sequence[str], filters: Filters) -> Found:
    """How many servers the filters leave, and which.

    Text is looked for in one index and the order stands in another. Where few servers hold it, they are read once and
    what is left of the work is about them alone. Where many do, the beginning of the list is found soonest by going
    through the order and looking at each row's text; further down, by reading both indexes side by side.
    """
    mine = of_teams(team_ids)
    if not (filters.search or filters.tag):
        rows = ids(team_ids, filters)
        return Found(count(team_ids, filters), rows, rows)
    few = list(_texts(_by_group(mine, filters), filters).values_list(*_COUNTED, "pk")[: FEW + 1])
    if len(few) <= FEW:
        rows = _left(FleetRow.objects.filter(pk__in=[pk for _, _, pk in few]), filters)
        return Found(_counted(filters, ((state, flavor, 1) for state, flavor, _ in few)), rows, rows)
    looked_at = mine.alias(_words=Coalesce("words", Value("")))
    soon = _left(_by_group(_texts(looked_at, filters, "_words"), filters), filters)
    return Found(count(team_ids, filters), ids(team_ids, filters), soon)


def count(team_ids: Sequence[str], filters: Filters) -> Counts:
    """One query, whose groups are put together here as each menu needs them."""
    rows = _by_group(of_teams(team_ids), filters).order_by()
    return _counted(filters, _texts(rows, filters).values_list(*_COUNTED).annotate(number=Count("pk")))


def loudest(team_ids: Sequence[str]) -> dict[str, int]:
    """How many servers of all are critical; where none is, how many are in warning. One of the two is enough to say
    how the fleet is, and those in warning may be many.
    """
    for state in NEEDING:
        if number := of_teams(team_ids).filter(state=state).count():
            return {state: number}
    return {}


def _counted(filters: Filters, groups: Iterable[tuple[str, str, int]]) -> Counts:
    by_state: dict[str, int] = dict.fromkeys(STATES, 0)
    by_flavor: dict[str, int] = {}
    found = 0
    for state, flavor, number in groups:
        in_state = filters.states is None or state in filters.states
        of_flavor = not filters.flavor or flavor == filters.flavor
        if of_flavor:
            by_state[state] = by_state.get(state, 0) + number
        if in_state:
            by_flavor[flavor] = by_flavor.get(flavor, 0) + number
        found += number if in_state and of_flavor else 0
    return Counts(by_state, by_flavor, found)


def ids(team_ids: Sequence[str], filters: Filters) -> QuerySet[FleetRow, Any]:
    """The ids of all servers that the filters leave, in their order, however many hold the text."""
    rows = _by_group(of_teams(team_ids), filters)
    if filters.search or filters.tag:
        rows = rows.filter(pk__in=_texts(of_teams(team_ids), filters).values("pk"))
    return _left(rows, filters)


def _texts(rows: QuerySet[FleetRow], filters: Filters, name: str = "words") -> QuerySet[FleetRow]:
    """Those that hold the tag and each word that is looked for."""
    if filters.tag:
        rows = rows.filter(**{f"{name}__contains": marked(filters.tag)})
    for word in filters.search.casefold().split():
        rows = rows.filter(**{f"{name}__contains": word})
    return rows


def _by_group(rows: QuerySet[FleetRow], filters: Filters) -> QuerySet[FleetRow]:
    return rows if filters.group is None else _by(rows, group=[filters.group])


def _left(rows: QuerySet[FleetRow], filters: Filters) -> QuerySet[FleetRow, Any]:
    """What state and flavor leave, in order."""
    if filters.states is not None:
        rows = _by(rows, state=filters.states)
    if filters.flavor:
        rows = _by(rows, flavor=[filters.flavor])
    return rows.order_by(*SORTS[filters.sort].order).values_list("pk", flat=True)


def _by(rows: QuerySet[FleetRow], **column: Sequence[str]) -> QuerySet[FleetRow]:
    """By a column's value, in a form that no database takes as a hint to leave the index that gives the order."""
    ((name, values),) = column.items()
    return rows.alias(**{f"_{name}": Coalesce(name, Value(""))}).filter(**{f"_{name}__in": list(values)})


def fetch(server_ids: Sequence[str]) -> list[FleetRow]:
    """These rows with their servers, in the order of the ids."""
    rows = FleetRow.objects.select_related("server").defer(
        "words", "server__tls_ca", "server__host_facts", "hours", "server__user"
    )
    found = rows.in_bulk(list(server_ids))
    return [found[one] for one in server_ids if one in found]
