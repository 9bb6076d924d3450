"""Findings that want the same variable become one recommendation, so that nobody is told two things about one
variable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from advisor.engine.outcome import Price
from advisor.engine.recommendation import Overruled, Recommendation, proposed_metrics
from advisor.mysql.proposal import SetVariable


def _order(one: Recommendation) -> tuple[int, int, str]:
    """Most severe first, then the surest, then by key so that the order never depends on chance."""
    return (-one.severity.rank, -one.confidence.rank, one.key)


def _wants(one: Recommendation) -> frozenset[str]:
    """What a recommendation would change, by name; counters are told apart from variables of the same name."""
    return frozenset(one.variables) | {f"metric {name}" for name in proposed_metrics(one.proposal)}


def join(found: Sequence[Recommendation]) -> tuple[Recommendation, ...]:
    """All recommendations, those that share a variable joined, the most severe first.

    The most severe (then the surest) finding of a group leads: its words and its values are used. A finding that
    agrees with the leader on what they share adds what else it wants; one that disagrees is overruled and named.
    """
    groups: list[list[Recommendation]] = []
    for one in sorted(found, key=_order):
        touching = [group for group in groups if any(_wants(one) & _wants(other) for other in group)]
        merged = sorted([one, *(other for group in touching for other in group)], key=_order)
        groups = [group for group in groups if group not in touching]
        groups.append(merged)
    return tuple(sorted((_joined(group) for group in groups), key=_order))


def _joined(group: Sequence[Recommendation]) -> Recommendation:
    leader, *others = group
    for other in others:
        agrees = all(leader.variables.get(name, value) == value for name, value in other.variables.items())
        evidence = leader.evidence + tuple(one for one in other.evidence if one not in leader.evidence)
        leader = replace(
            leader,
            rules=leader.rules + tuple(rule for rule in other.rules if rule not in leader.rules),
            keys=leader.keys + tuple(key for key in other.keys if key not in leader.keys),
            evidence=evidence,
            references=leader.references + tuple(one for one in other.references if one not in leader.references),
        )
        if agrees:
            present = set(leader.proposal)
            leader = replace(
                leader,
                proposal=leader.proposal + tuple(change for change in other.proposal if change not in present),
                price=leader.price + _further(leader.price, other.price),
            )
        else:
            leader = replace(
                leader,
                overruled=(*leader.overruled, Overruled(other.rule, other.message, other.proposal), *other.overruled),
            )
    return leader


def _further(known: tuple[Price, ...], more: tuple[Price, ...]) -> tuple[Price, ...]:
    """The prices of kinds that the leader does not name already."""
    kinds = {price.kind for price in known}
    return tuple(price for price in more if price.kind not in kinds)


def variables_twice(recommendations: Sequence[Recommendation]) -> set[str]:
    """Variables that more than one recommendation would set: always empty after ``join``."""
    names = [change.name for one in recommendations for change in one.proposal if isinstance(change, SetVariable)]
    return {name for name in names if names.count(name) > 1}
