"""A judgement as this room keeps it: plain values, so that what lasts does not depend on how judging is done."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf
from typing import Any

from advisor.mysql.values import same


class RuleSaid(StrEnum):
    """What one rule said, in the words of the advice schema."""

    FINDING = "finding"
    PASSED = "passed"
    NOT_APPLICABLE = "not_applicable"
    NOT_EVALUATED = "not_evaluated"


SEVERITIES = ("notice", "warning", "critical")


@dataclass(frozen=True)
class Found:
    """One joined finding. ``document`` is the advice schema's item; ``keys`` are those of all findings in it."""

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
    """All that was said of one server at one slot. ``outcomes`` is the advice schema's list, ``said`` the same by
    rule. ``variables`` are the server's present ones; the four fields after it are those of the Judgement table.
    ``switched_off`` are the rules that the team does not want here.
    """

    slot: int
    found: Sequence[Found]
    outcomes: Sequence[Mapping[str, Any]]
    milliseconds: float = 0.0
    variables: Mapping[str, str] = field(default_factory=dict)
    configuration: str = ""
    configured_at: float = 0.0
    settings: str = ""
    changed_at: float = 0.0
    switched_off: frozenset[str] = frozenset()

    @property
    def said(self) -> dict[str, RuleSaid]:
        return {str(one["rule"]): RuleSaid(one["outcome"]) for one in self.outcomes}


def rule_of(key: str) -> str:
    """The rule of a finding's key, which is the rule's id or ``id:subject``."""
    return key.split(":", 1)[0]


def figures(document: Mapping[str, Any]) -> dict[str, float]:
    """The figures of an item that were seen in a window, by name: those that can get worse by themselves.

    Numbers of polls and intervals are left out: they grow with the window, however the server fares.
    """
    return {str(one["name"]): float(one["value"]) for one in _comparable(document)}


def falling(document: Mapping[str, Any]) -> frozenset[str]:
    """Those of ``figures`` that get worse by falling, such as free pages."""
    return frozenset(str(one["name"]) for one in _comparable(document) if one.get("worse") == "lower")


def _comparable(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [
        one
        for one in document.get("evidence", ())
        if one.get("window")
        and one.get("unit") != "count"
        and isinstance(one["value"], int | float)
        and not isinstance(one["value"], bool)
    ]


def growth(then: Mapping[str, float], now: Mapping[str, float], falling: Collection[str] = ()) -> float:
    """By how much figures got worse: the median over those that are in both, 1.0 without any.

    The median, because one figure that moved (a busier hour) is no worse harm, and nothing here knows which figure is
    which. A figure that was 0 has grown without bound when it is above 0 now. Those named in ``falling`` get worse the
    other way round.
    """
    ratios = sorted(
        _ratio(now[name], value) if name in falling else _ratio(value, now[name])
        for name, value in then.items()
        if name in now
    )
    return ratios[(len(ratios) - 1) // 2] if ratios else 1.0


def _ratio(before: float, after: float) -> float:
    if before > 0:
        return after / before
    return inf if after > 0 else 1.0


def acted_on(document: Mapping[str, Any], variables: Mapping[str, str]) -> bool:
    """Whether every variable that the item is about has another value now than when it was found."""
    changes = [one for one in document.get("changes", ()) if one.get("kind") == "variable"]
    return bool(changes) and all(
        one["name"] in variables and not same(str(one["current"]), variables[one["name"]]) for one in changes
    )
