"""What a token may be narrowed to. A token never may more than its person: scopes only take away."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from advisor.teams.roles import Action


class Scope(StrEnum):
    """One word a token's owner ticks. Everything can be read with each of them."""

    READ = "read"
    PROPOSE = "propose"
    APPROVE = "approve"
    APPLY = "apply"
    ADMIN = "admin"


_READ = frozenset({Action.SEE, Action.SEE_AUDIT})

ACTIONS: dict[Scope, frozenset[Action]] = {
    Scope.READ: _READ,
    Scope.PROPOSE: _READ
    | {Action.ACKNOWLEDGE, Action.DISMISS, Action.ANNOTATE, Action.INSPECT_SERVER, Action.PROPOSE_CHANGE},
    Scope.APPROVE: _READ | {Action.REVIEW_CHANGE},
    Scope.APPLY: _READ | {Action.APPLY_CHANGE},
    Scope.ADMIN: _READ
    | {
        Action.SET_RULES,
        Action.ADD_SERVER,
        Action.CHANGE_SERVER,
        Action.DELETE_SERVER,
        Action.SET_POLICIES,
        Action.MANAGE_TEAM,
    },
}


def read_scopes(text: str) -> frozenset[Scope]:
    """Scopes as they are stored, separated by blanks. A word that nobody knows any more allows nothing."""
    known = {scope.value: scope for scope in Scope}
    return frozenset(known[word] for word in text.split() if word in known)


def write_scopes(scopes: Iterable[Scope]) -> str:
    """For storing, in the order of the enumeration."""
    wanted = set(scopes)
    return " ".join(scope.value for scope in Scope if scope in wanted)


def actions_of(scopes: Iterable[Scope]) -> frozenset[Action]:
    """What these scopes let through."""
    allowed: frozenset[Action] = frozenset()
    for scope in scopes:
        allowed |= ACTIONS[scope]
    return allowed
