"""Policies as admins set them: the only writer. Each function is one transaction, and is in the audit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, time
from typing import Any, cast
from zoneinfo import ZoneInfo

from django.contrib.auth.models import AbstractBaseUser, User
from django.db import transaction

from advisor.changes.models import Policy
from advisor.changes.requests import BadRequest
from advisor.teams import audit
from advisor.teams.models import Team
from advisor.teams.roles import ALLOWED, Action

MOST_APPROVALS = 3
MOST_WINDOWS = 20
LONGEST_SECONDS = 7 * 86_400
LEAST_EMERGENCY_SECONDS = 300
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_TIME = re.compile(r"\d{2}:\d{2}")


@transaction.atomic
def set_policy(
    *,
    team: Team,
    actor: AbstractBaseUser,
    now: datetime,
    tag: str = "",
    approvals: int = 1,
    author_may_approve: bool = False,
    windows: Sequence[Mapping[str, Any]] = (),
    allowed_variables: Sequence[str] = (),
    canary_first: bool = False,
    wait_seconds: int = 1800,
    who_may_apply: Sequence[str] = (),
    emergency_allowed: bool = False,
    emergency_seconds: int = 14_400,
    roll_back_automatically: bool = False,
) -> Policy:
    """What is demanded of the servers with the tag (empty: of all of the team); replaces what was. Raises BadRequest.

    Plans that were made before keep their demands; where the new ones are stricter, these count at once.
    """
    tag = " ".join(tag.split())
    values: dict[str, Any] = {
        "approvals": approvals,
        "author_may_approve": author_may_approve,
        "windows": [dict(one) for one in windows],
        "allowed_variables": sorted(set(allowed_variables)),
        "canary_first": canary_first,
        "wait_seconds": wait_seconds,
        "who_may_apply": sorted(set(who_may_apply)),
        "emergency_allowed": emergency_allowed,
        "emergency_seconds": emergency_seconds,
        "roll_back_automatically": roll_back_automatically,
    }
    errors = _errors(tag, values)
    if errors:
        raise BadRequest(errors)
    before = Policy.objects.filter(team=team, tag=tag).values(*values).first()
    policy, _ = Policy.objects.update_or_create(
        team=team, tag=tag, defaults={**values, "changed_by": cast(User, actor), "changed_at": now}
    )
    audit.record(
        team_id=team.pk,
        action="policy.set",
        subject=f"policy of {tag or 'all servers'}",
        at=now,
        actor=actor,
        data={"tag": tag, "before": before, "after": values},
    )
    return policy


@transaction.atomic
def delete_policy(*, policy: Policy, actor: AbstractBaseUser, now: datetime) -> None:
    """Nothing is demanded any more but the default; plans that were made before keep their demands."""
    audit.record(
        team_id=policy.team_id,
        action="policy.deleted",
        subject=f"policy of {policy.tag or 'all servers'}",
        at=now,
        actor=actor,
        data={"tag": policy.tag},
    )
    Policy.objects.filter(pk=policy.pk).delete()


def _errors(tag: str, values: Mapping[str, Any]) -> dict[str, str]:
    errors: dict[str, str] = {}
    if len(tag) > 50 or not tag.isprintable():
        errors["tag"] = "A tag has at most 50 characters."
    if not 0 <= values["approvals"] <= MOST_APPROVALS:
        errors["approvals"] = f"A policy asks for 0 to {MOST_APPROVALS} approvals."
    if len(values["windows"]) > MOST_WINDOWS or not all(_is_window(one) for one in values["windows"]):
        errors["windows"] = f"At most {MOST_WINDOWS} windows, each with days (0-6), from and to (HH:MM) and a zone."
    if not all(_NAME.fullmatch(name) for name in values["allowed_variables"]):
        errors["allowed_variables"] = "One of them is no name of a system variable."
    if not 0 <= values["wait_seconds"] <= LONGEST_SECONDS:
        errors["wait_seconds"] = "The wait after the first server is at most seven days."
    if not LEAST_EMERGENCY_SECONDS <= values["emergency_seconds"] <= LONGEST_SECONDS:
        errors["emergency_seconds"] = "An emergency change expires after five minutes to seven days."
    appliers = {role.value for role, allowed in ALLOWED.items() if Action.APPLY_CHANGE in allowed}
    if not set(values["who_may_apply"]) <= appliers:
        errors["who_may_apply"] = f"Of all roles only these may apply: {', '.join(sorted(appliers))}."
    if values["emergency_allowed"] and not tag:
        errors["emergency_allowed"] = "Emergency changes are allowed for a tag only, never for all servers at once."
    return errors


def _is_window(window: Mapping[str, Any]) -> bool:
    try:
        days, begins, ends, zone = window["days"], str(window["from"]), str(window["to"]), str(window["zone"])
        ZoneInfo(zone)
        if not _TIME.fullmatch(begins) or not _TIME.fullmatch(ends):
            return False
        time.fromisoformat(begins)
        time.fromisoformat(ends)
    except (KeyError, TypeError, ValueError, OSError):  # ZoneInfo raises both of the latter for odd names
        return False
    return begins != ends and bool(days) and all(type(day) is int and 0 <= day <= 6 for day in days)
