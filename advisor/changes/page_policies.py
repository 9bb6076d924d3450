"""Policies in words: each demand as what follows from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from advisor.changes import policies
from advisor.changes.forms_policies import window_text
from advisor.changes.models import Policy
from advisor.teams.models import Team
from advisor.ui import quantities
from collector.models import Server


@dataclass(frozen=True)
class Shown:
    """One policy. ``servers`` is how many it speaks of now."""

    policy: Policy
    servers: int
    sentences: Sequence[str]


def read(team: Team) -> list[Shown]:
    """The team's policies, that of all servers first."""
    tags = [set(server.tags) for server in Server.objects.filter(team=team)]
    rows = Policy.objects.filter(team=team).select_related("changed_by").order_by("tag")
    return [
        Shown(row, sum(not row.tag or row.tag in one for one in tags), sentences(policies.demands_of(row)))
        for row in rows
    ]


def default_words() -> list[str]:
    """What counts where no policy speaks of a server."""
    return sentences(policies.DEFAULT)


def sentences(demands: Mapping[str, Any]) -> list[str]:
    """What the demands mean, one thing a sentence."""
    wanted = demands["approvals"]
    if wanted:
        found = [ngettext("%(n)s person has to approve.", "%(n)s people have to approve.", wanted) % {"n": wanted}]
        found.append(_("The author may be one of them.") if demands["author_may_approve"] else _("Never who wrote it."))
    else:
        found = [_("Nobody has to approve.")]
    windows = [window_text(one) for group in demands["windows"] for one in group]
    found.append(_("Only %(windows)s.") % {"windows": "; ".join(windows)} if windows else _("At any time."))
    names = demands["allowed_variables"]
    if names:
        shown = ", ".join(names[:6]) + (" …" if len(names) > 6 else "")
        found.append(_("Only these variables: %(names)s.") % {"names": shown})
    if demands["canary_first"]:
        wait = quantities.duration(demands["wait_seconds"])
        found.append(_("One server first, %(time)s before the others.") % {"time": wait})
    roles = demands["who_may_apply"]
    found.append(_("Applied by: %(roles)s.") % {"roles": ", ".join(roles or ["operator", "admin"])})
    if demands["roll_back_automatically"]:
        found.append(_("What made it worse is rolled back by itself."))
    if demands["emergency_allowed"]:
        time = quantities.duration(demands["emergency_seconds"])
        found.append(_("⚡ Emergency changes without approval, for %(time)s at most.") % {"time": time})
    return found
