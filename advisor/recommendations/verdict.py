"""A judgement as this room keeps it: plain values, so that what lasts does not depend on how judging is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class RuleSaid(StrEnum):
    """What one rule said, in the words of the advice schema."""

    FINDING = "finding"
    PASSED = "passed"
    NOT_APPLICABLE = "not_applicable"
    NOT_EVALUATED = "not_evaluated"


SEVERITIES = ("notice", "warning", "critical")


@dataclass(frozen=True)
class Found:
    """One joined finding. ``document`` is the advice schema's item; ``keys`` are those of all findings joined into it."""

    key: str
    keys: tuple[str, ...]
    document: Mapping[str, Any]

    @property
    def rule(self) -> str:
        return str(self.document["rule"])

    @property
    def severity(self) -> str:
        return str(self.document["severity"])

    @property
    def severity_rank(self) -> int:
        return SEVERITIES.index(self.severity)


@dataclass(frozen=True)
class Verdict:
    """All that was said of one server at one slot. ``outcomes`` is the advice schema's list, ``said`` the same by rule."""

    slot: int
    found: Sequence[Found]
    outcomes: Sequence[Mapping[str, Any]]
    milliseconds: float = 0.0

    @property
    def said(self) -> dict[str, RuleSaid]:
        return {str(one["rule"]): RuleSaid(one["outcome"]) for one in self.outcomes}


def rule_of(key: str) -> str:
    """The rule of a finding's key, which is the rule's id or ``id:subject``."""
    return key.split(":", 1)[0]


def leading_figure(document: Mapping[str, Any]) -> dict[str, Any]:
    """The first figure of an item that was seen in a window, as {"name", "value"}; empty where it has none.

    A rule's evidence begins with the figure that decided; the others may move without anything getting worse.
    """
    for one in document.get("evidence", ()):
        if one.get("window") and isinstance(one["value"], int | float) and not isinstance(one["value"], bool):
            return {"name": str(one["name"]), "value": float(one["value"])}
    return {}
