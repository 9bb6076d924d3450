"""What waits for the reader: promises that were made and end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from advisor.recommendations.models import Recommendation, State
from advisor.ui import messages, quantities

#: A dismissal is announced so long before it ends.
DAYS = 7
_SHOWN = 3


@dataclass(frozen=True)
class Item:
    """One thing that waits, in a line and a half."""

    title: str
    under: str
    url: str


@dataclass(frozen=True)
class Waiting:
    """``acknowledged`` are the reader's own that are still open; ``ending`` are dismissals of the reader's teams that
    end this week. Of each the first are listed and all are counted.
    """

    items: Sequence[Item]
    acknowledged: int
    ending: int

    @property
    def further(self) -> int:
        return self.acknowledged + self.ending - len(self.items)


def read(user: AbstractBaseUser | AnonymousUser, team_ids: Sequence[str], today: date) -> Waiting:
    """Both are few by nature: what one person promised, and what ends within days."""
    mine = list(
        _with_server(Recommendation.objects.filter(decided_by=user.pk, state=State.ACKNOWLEDGED), team_ids).order_by(
            "decided_at"
        )[:100]
    )
    ending = list(
        _with_server(
            Recommendation.objects.filter(
                state=State.DISMISSED, dismissed_until__range=(today, today + timedelta(days=DAYS))
            ),
            team_ids,
        ).order_by("dismissed_until")[:100]
    )
    items = [_item(one, _acknowledged(one)) for one in mine[:_SHOWN]]
    items += [_item(one, _ending(one, today)) for one in ending[:_SHOWN]]
    return Waiting(items, len(mine), len(ending))


def _with_server(rows: Any, team_ids: Sequence[str]) -> Any:
    return rows.filter(server__team__in=team_ids).select_related("server").defer("dismissed_figures", "keys")


def _item(row: Recommendation, under: str) -> Item:
    words = (row.document.get("words") or {}).get("title") or row.document.get("title")
    return Item(messages.text_of(words), under, reverse("recommendation", args=[row.server_id, row.pk]))


def _acknowledged(row: Recommendation) -> str:
    when = quantities.ago(row.decided_at) if row.decided_at else quantities.NOTHING
    return _("%(server)s · you acknowledged it %(when)s") % {"server": row.server.name, "when": when}


def _ending(row: Recommendation, today: date) -> str:
    days = (row.dismissed_until - today).days if row.dismissed_until else 0
    if days <= 0:
        return _("%(server)s · its dismissal ends today") % {"server": row.server.name}
    return ngettext(
        "%(server)s · its dismissal ends in %(n)s day", "%(server)s · its dismissal ends in %(n)s days", days
    ) % {"server": row.server.name, "n": days}
