"""What people may do, by role. An unknown action is an error, not a refusal."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """One person may hold several in a team."""

    VIEWER = "viewer"
    EDITOR = "editor"
    APPROVER = "approver"
    OPERATOR = "operator"
    ADMIN = "admin"


class Action(StrEnum):
    """Everything that can be done to a team's objects."""

    SEE = "see"
    ACKNOWLEDGE = "acknowledge"
    DISMISS = "dismiss"
    ANNOTATE = "annotate"
    SET_RULES = "set_rules"
    ADD_SERVER = "add_server"
    CHANGE_SERVER = "change_server"
    INSPECT_SERVER = "inspect_server"
    DELETE_SERVER = "delete_server"
    PROPOSE_CHANGE = "propose_change"
    REVIEW_CHANGE = "review_change"
    APPLY_CHANGE = "apply_change"
    SET_POLICIES = "set_policies"
    SEE_AUDIT = "see_audit"
    MANAGE_TEAM = "manage_team"


_EVERYBODY = frozenset({Action.SEE})
_EDITS = _EVERYBODY | {Action.ACKNOWLEDGE, Action.DISMISS, Action.ANNOTATE}

ALLOWED: dict[Role, frozenset[Action]] = {
    Role.VIEWER: _EVERYBODY,
    Role.EDITOR: _EDITS
    | {Action.ADD_SERVER, Action.CHANGE_SERVER, Action.INSPECT_SERVER, Action.PROPOSE_CHANGE, Action.SEE_AUDIT},
    Role.APPROVER: _EDITS | {Action.SET_RULES, Action.REVIEW_CHANGE, Action.SEE_AUDIT},
    Role.OPERATOR: _EDITS | {Action.INSPECT_SERVER, Action.APPLY_CHANGE, Action.SEE_AUDIT},
    Role.ADMIN: frozenset(Action),
}
