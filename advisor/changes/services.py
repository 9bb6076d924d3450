"""What can be done with change requests before they are applied, in one place for pages, the API and commands."""

from __future__ import annotations

from advisor.changes.checks import Check, NotReady, checks
from advisor.changes.requests import BadRequest, Change, create, edit, withdraw
from advisor.changes.reviewing import (
    OwnChange,
    StalePlan,
    expire,
    make_stale,
    refresh,
    review,
    schedule,
    submit,
    why_stale,
)
from advisor.changes.states import CameLate, WrongState

__all__ = [
    "BadRequest",
    "CameLate",
    "Change",
    "Check",
    "NotReady",
    "OwnChange",
    "StalePlan",
    "WrongState",
    "checks",
    "create",
    "edit",
    "expire",
    "make_stale",
    "refresh",
    "review",
    "schedule",
    "submit",
    "why_stale",
    "withdraw",
]
