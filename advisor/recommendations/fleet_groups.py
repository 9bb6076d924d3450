"""Groups and tags, counted once a minute: what menus and the strip of the last day are drawn from.

Counting 10,000 servers takes some hundred milliseconds, which no reader of a page should wait for; a minute's delay is
as much as a strip of hours can bear. Where there are few servers, they are counted at once when one comes, goes or is
renamed, so that whoever just added one finds its tag in the menu.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.utils import timezone

from advisor.recommendations import fleet
from advisor.recommendations.fleet_hours import HOUR, HOURS, hour_of
from advisor.recommendations.fleet_words import GROUP_PREFIX, group_of, tags_of
from advisor.recommendations.models import FleetGroup, FleetRow
from advisor.recommendations.vitals import Condition
from advisor.teams.models import Team
from collector.models import Server

#: Teams with at most so many servers are counted whenever one of them changes.
SMALL = 100
_LONGEST_NAME = 50


@dataclass
class _Tally:
    """What is counted of one group or tag. ``hours`` as in ``FleetGroup``."""

    servers: int = 0
    needing: int = 0
    critical: int = 0
    trouble: int = 0
    hours: list[list[float] | None] = field(default_factory=lambda: [None] * HOURS)

    def add(self, state: str, trouble: int) -> None:
        self.servers += 1
        self.needing += state in fleet.NEEDING
        self.critical += state == Condition.CRITICAL
        self.trouble += trouble

    def add_hours(self, hours: Sequence[Sequence[float]], first: int) -> None:
        for at, warning, critical, pressure in hours:
            place = int(at - first) // HOUR
            if not 0 <= place < HOURS:
                continue
            cell = self.hours[place] or [0.0, 0, 0, 0]
            self.hours[place] = [
                max(cell[0], pressure),
                max(cell[1], warning),
                max(cell[2], critical),
                cell[3] + bool(warning or critical),
            ]

    @property
    def rank(self) -> int:
        """Servers that are critical now come before those that are in warning, those before time in trouble."""
        return (min(self.critical, 9_999) * 10_000 + min(self.needing, 9_999)) * 10_000_000 + min(
            self.trouble, 9_999_999
        )


def fold() -> int:
    """Counts the groups and tags of all teams; how many changed."""
    return sum(_fold_team(team_id) for team_id in Team.objects.order_by("pk").values_list("pk", flat=True))


def fold_small(*, team_id: str) -> None:
    """Counts at once where that is cheap; elsewhere within a minute."""
    if FleetRow.objects.filter(team_id=team_id).count() <= SMALL:
        _fold_team(team_id)


def _fold_team(team_id: str) -> int:
    now = timezone.now().timestamp()
    newest = hour_of(now)
    first = newest - (HOURS - 1) * HOUR
    tallies: dict[tuple[str, str], _Tally] = {}
    behind: list[str] = []
    rows = FleetRow.objects.filter(team_id=team_id).values_list(
        "pk", "state", "group", "folded", "trouble_seconds", "hours", "server__tags", "server__folded"
    )
    for server_id, state, group, folded, trouble, hours, tags, name in rows.iterator():
        if group != group_of(tags)[:_LONGEST_NAME] or folded != name:
            behind.append(server_id)
        tally = tallies.setdefault(("group", group), _Tally())
        tally.add(state, trouble)
        tally.add_hours(hours if isinstance(hours, list) else [], first)
        for tag in tags_of(tags):
            if not tag.startswith(GROUP_PREFIX):
                tallies.setdefault(("tag", tag[:_LONGEST_NAME]), _Tally()).add(state, trouble)
    for server in Server.objects.filter(pk__in=behind[:500]):
        fleet.describe(server=server)
    return _write(team_id, tallies, newest)


@transaction.atomic
def _write(team_id: str, tallies: dict[tuple[str, str], _Tally], newest: int) -> int:
    known = {(one.kind, one.name): one for one in FleetGroup.objects.select_for_update().filter(team_id=team_id)}
    fresh, changed = [], []
    for (kind, name), tally in tallies.items():
        values: dict[str, Any] = {
            "servers": tally.servers,
            "needing": tally.needing,
            "rank": tally.rank,
            "hour_at": newest,
            "hours": tally.hours if kind == "group" else [],
        }
        row = known.pop((kind, name), None)
        if row is None:
            fresh.append(FleetGroup(team_id=team_id, kind=kind, name=name, **values))
        elif any(getattr(row, key) != value for key, value in values.items()):
            for key, value in values.items():
                setattr(row, key, value)
            changed.append(row)
    # A database may take two spellings for the same name: one of them is enough.
    FleetGroup.objects.bulk_create(fresh, batch_size=500, ignore_conflicts=True)
    FleetGroup.objects.bulk_update(changed, ["servers", "needing", "rank", "hour_at", "hours"], batch_size=200)
    FleetGroup.objects.filter(pk__in=[one.pk for one in known.values()]).delete()
    return len(fresh) + len(changed) + len(known)
