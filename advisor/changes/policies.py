"""What a team demands of changes to its servers: policies by tag, and what several of them demand together.

Where several speak of a server, the strictest of each demand counts; over several servers of one request, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from advisor.changes.models import ChangeRequest, Policy, WantedChange
from collector.models import Server

#: A policy as plain values: what a plan holds.
Demands = dict[str, Any]

#: Where no policy speaks of a server: one approval, never the author's; whoever is an operator applies, at any time.
DEFAULT: Demands = {
    "approvals": 1,
    "author_may_approve": False,
    "windows": [],
    "allowed_variables": None,
    "canary_first": False,
    "wait_seconds": 0,
    "who_may_apply": None,
    "emergency_allowed": False,
    "emergency_seconds": 14_400,
    "roll_back_automatically": False,
    "policies": [],
}


def demands_of(policy: Policy) -> Demands:
    """One policy as plain values. ``windows`` is a list of groups: a moment has to lie in a window of each group."""
    return {
        "approvals": policy.approvals,
        "author_may_approve": policy.author_may_approve,
        "windows": [policy.windows] if policy.windows else [],
        "allowed_variables": sorted(policy.allowed_variables) if policy.allowed_variables else None,
        "canary_first": policy.canary_first,
        "wait_seconds": policy.wait_seconds if policy.canary_first else 0,
        "who_may_apply": sorted(policy.who_may_apply) if policy.who_may_apply else None,
        "emergency_allowed": policy.emergency_allowed and bool(policy.tag),
        "emergency_seconds": policy.emergency_seconds,
        "roll_back_automatically": policy.roll_back_automatically,
        "policies": [policy.tag],
    }


def strictest(several: Iterable[Mapping[str, Any]]) -> Demands:
    """What all of them demand together; the default where there is none."""
    found = list(several)
    if not found:
        return dict(DEFAULT)
    return {
        "approvals": max(one["approvals"] for one in found),
        "author_may_approve": all(one["author_may_approve"] for one in found),
        "windows": _unique(group for one in found for group in one["windows"]),
        "allowed_variables": _within_all(one["allowed_variables"] for one in found),
        "canary_first": any(one["canary_first"] for one in found),
        "wait_seconds": max(one["wait_seconds"] for one in found),
        "who_may_apply": _within_all(one["who_may_apply"] for one in found),
        "emergency_allowed": all(one["emergency_allowed"] for one in found),
        "emergency_seconds": min(one["emergency_seconds"] for one in found),
        # To roll back by itself what made things worse is the more careful of both.
        "roll_back_automatically": any(one["roll_back_automatically"] for one in found),
        "policies": sorted({tag for one in found for tag in one["policies"]}),
    }


def _unique(groups: Iterable[Any]) -> list[Any]:
    found: list[Any] = []
    for group in groups:
        if group not in found:
            found.append(group)
    return found


def _within_all(lists: Iterable[Sequence[str] | None]) -> list[str] | None:
    """What all lists hold; None where none of them limits anything."""
    stated = [set(one) for one in lists if one is not None]
    return sorted(set.intersection(*stated)) if stated else None


def of_server(policies: Iterable[Policy], server: Server) -> Demands:
    """What the policies demand of one server."""
    tags = set(server.tags)
    mine = [one for one in policies if not one.tag or one.tag in tags]
    demanded = strictest(demands_of(one) for one in mine)
    # The emergency path is opened for a tag: the policy of all servers neither opens nor closes it.
    tagged = [one for one in mine if one.tag]
    demanded["emergency_allowed"] = bool(tagged) and all(one.emergency_allowed for one in tagged)
    return demanded


def effective(policies: Iterable[Policy], servers: Iterable[Server]) -> Demands:
    """What the policies demand of a change to all of these servers."""
    known = list(policies)
    each = [of_server(known, server) for server in servers]
    return strictest(each) if each else dict(DEFAULT)


def of_request(request: ChangeRequest) -> Demands:
    """What the team's policies demand of the request now."""
    ids = WantedChange.objects.filter(request=request).values("server_id")
    servers = Server.objects.filter(pk__in=ids)
    return effective(Policy.objects.filter(team_id=request.team_id), servers)


def in_force(request: ChangeRequest) -> Demands:
    """What counts at a gate: the plan's demands and the present ones, whichever are stricter.

    A policy that was loosened after the plan was made does not loosen the plan, and a stricter one counts at once.
    """
    now = of_request(request)
    return strictest([request.plan.document["policy"], now]) if request.plan is not None else now


def is_open(windows: Sequence[Sequence[Mapping[str, Any]]], at: datetime) -> bool:
    """Whether the instant lies in a window of each group."""
    return all(any(_inside(window, at) for window in group) for group in windows)


def _inside(window: Mapping[str, Any], at: datetime) -> bool:
    local = at.astimezone(ZoneInfo(str(window["zone"])))
    begins, ends = time.fromisoformat(str(window["from"])), time.fromisoformat(str(window["to"]))
    moment = local.time()
    if begins < ends:
        return local.weekday() in window["days"] and begins <= moment < ends
    # Over midnight: the day is the one on which the window opens.
    yesterday = (local.weekday() - 1) % 7
    return (local.weekday() in window["days"] and moment >= begins) or (yesterday in window["days"] and moment < ends)
