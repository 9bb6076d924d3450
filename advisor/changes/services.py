"""What can be done with change requests before they are applied, in one place for pages, the API and commands."""

from __future__ import annotations

from advisor.changes.checks import Check, NotReady, checks
from advisor.changes.policy_setting import delete_policy, set_policy
from advisor.changes.refusing import OwnChange, Refused, StalePlan
from advisor.changes.requests import BadRequest, Change, create, edit, withdraw
from advisor.changes.reviewing import review, schedule, submit
from advisor.changes.staleness import expire, make_stale, refresh, why_stale
from advisor.changes.states import CameLate, WrongState

__all__ = [
    "BadRequest",
    "CameLate",
    "Change",
    "Check",
    "NotReady",
    "OwnChange",
    "Refused",
    "StalePlan",
    "WrongState",
    "checks",
    "create",
    "delete_policy",
    "edit",
    "expire",
    "make_stale",
    "refresh",
    "review",
    "schedule",
    "set_policy",
    "submit",
    "why_stale",
    "withdraw",
]
