"""What is left of findings once they are joined: one recommendation per thing to do, with everything a person needs
to decide.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.evidence import Sureness
from advisor.engine.outcome import Confidence, Item, Measured, Message, Price, Severity
from advisor.engine.rule import Rule
from advisor.mysql.proposal import Proposal, SetMetricCounters, SetVariable, Value


@dataclass(frozen=True)
class Overruled:
    """A finding that wanted the same variables otherwise, and what it wanted: named, so that nothing is lost
    silently.
    """

    rule: str
    message: Message
    proposal: Proposal


@dataclass(frozen=True)
class Recommendation:
    """One or more joined findings. ``message`` is its title; ``key`` identifies it over time.

    ``rules`` begins with ``rule``, the one whose words and values are used. ``keys`` holds the keys of all joined
    findings, so that a stored recommendation is recognised even when another of its findings leads today.
    """

    rule: str
    rules: tuple[str, ...]
    severity: Severity
    confidence: Confidence
    message: Message
    evidence: tuple[Measured, ...]
    proposal: Proposal
    key: str
    keys: tuple[str, ...]
    subject: str | None = None
    price: tuple[Price, ...] = ()
    expected: Message | None = None
    references: tuple[str, ...] = ()
    would_change_our_mind: Message | None = None
    overruled: tuple[Overruled, ...] = ()
    confidence_why: Message | None = None

    @property
    def variables(self) -> dict[str, Value]:
        """The system variables that would be set, with their proposed values."""
        return proposed_variables(self.proposal)


def key_of(rule_id: str, subject: str | None) -> str:
    """The stable identity of a finding on one server: the rule and its subject."""
    return rule_id if subject is None else f"{rule_id}:{subject}"


def proposed_variables(proposal: Proposal) -> dict[str, Value]:
    """What a proposal would set, by variable."""
    return {change.name: change.value for change in proposal if isinstance(change, SetVariable)}


def proposed_metrics(proposal: Proposal) -> frozenset[str]:
    """The innodb_metrics counters that a proposal would enable."""
    return frozenset(name for change in proposal if isinstance(change, SetMetricCounters) for name in change.enable)


def recommend(rule: Rule, item: Item, sureness: Sureness) -> Recommendation:
    """The recommendation that one item of one finding makes, before joining."""
    key = key_of(rule.id, item.subject)
    return Recommendation(
        rule=rule.id,
        rules=(rule.id,),
        severity=item.severity or rule.severity,
        confidence=sureness.confidence,
        confidence_why=sureness.why,
        message=item.message,
        evidence=item.evidence,
        proposal=item.proposal,
        key=key,
        keys=(key,),
        subject=item.subject,
        price=item.price,
        expected=item.expected,
        references=rule.references,
        would_change_our_mind=item.would_change_our_mind,
    )
