"""The health score: a number from 0 to 100 with the arithmetic that made it, never without it.

    100, less for each recommendation: its severity's points times the share for the confidence in its evidence.

A rule that could not be judged costs nothing, so that the score of a server that shows little is not called healthy:
how many rules could be judged stands beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from advisor.engine.evaluation import Judgement
from advisor.engine.outcome import Confidence, Finding, NotApplicable, NotEvaluated, Passed, Severity

WHOLE = 100
#: What a recommendation costs when the evidence for it is good. Four critical ones leave nothing.
POINTS: Mapping[Severity, float] = {Severity.CRITICAL: 25.0, Severity.WARNING: 8.0, Severity.NOTICE: 2.0}
#: What share of it counts when the evidence is weaker.
SHARES: Mapping[Confidence, float] = {Confidence.HIGH: 1.0, Confidence.MEDIUM: 0.75, Confidence.LOW: 0.5}


@dataclass(frozen=True)
class Deduction:
    """What one recommendation takes off: ``points`` of its severity times ``share`` of its confidence."""

    key: str
    rule: str
    severity: Severity
    confidence: Confidence

    @property
    def points(self) -> float:
        return POINTS[self.severity]

    @property
    def share(self) -> float:
        return SHARES[self.confidence]

    @property
    def amount(self) -> float:
        """Points that are taken off."""
        return self.points * self.share


@dataclass(frozen=True)
class Score:
    """The number, what was taken off for what (most first), and how many rules it rests on."""

    deductions: tuple[Deduction, ...]
    findings: int
    passed: int
    not_evaluated: int
    not_applicable: int

    @property
    def value(self) -> int | None:
        """0 to 100; None where no rule at all could be judged."""
        if not self.findings and not self.passed:
            return None
        return max(0, round(WHOLE - sum(one.amount for one in self.deductions)))

    @property
    def judged_ratio(self) -> float:
        """The share of the rules that apply which could be judged, 0 to 1."""
        applicable = self.findings + self.passed + self.not_evaluated
        return (self.findings + self.passed) / applicable if applicable else 0.0

    @property
    def arithmetic(self) -> str:
        """``100 - 25 x 1 (redo.redo-log-undersized) - ... = 67``, the value rounded and never below 0."""
        terms = "".join(f" - {one.points:g} x {one.share:g} ({one.key})" for one in self.deductions)
        return f"{WHOLE}{terms} = {'not told' if self.value is None else self.value}"


def health_score(judgement: Judgement) -> Score:
    """The score of one judged server."""

    def count(kind: type) -> int:
        return sum(1 for one in judgement.outcomes if isinstance(one.outcome, kind))

    deductions = [Deduction(one.key, one.rule, one.severity, one.confidence) for one in judgement.recommendations]
    return Score(
        deductions=tuple(sorted(deductions, key=lambda one: (-one.amount, one.key))),
        findings=count(Finding),
        passed=count(Passed),
        not_evaluated=count(NotEvaluated),
        not_applicable=count(NotApplicable),
    )


def score_document(score: Score) -> dict[str, object]:
    """The score as the advice schema has it."""
    return {
        "value": score.value,
        "of": WHOLE,
        "arithmetic": score.arithmetic,
        "deductions": [
            {
                "key": one.key,
                "rule": one.rule,
                "severity": one.severity.value,
                "confidence": one.confidence.value,
                "points": one.points,
                "share": one.share,
                "amount": round(one.amount, 2),
            }
            for one in score.deductions
        ],
        "judged_ratio": round(score.judged_ratio, 3),
        "findings": score.findings,
        "passed": score.passed,
        "not_evaluated": score.not_evaluated,
        "not_applicable": score.not_applicable,
    }
