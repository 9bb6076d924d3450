"""How one rule came to what it says: every figure it read, its thresholds, and the outcome, whatever that is."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from advisor.engine.advice import WIDTH
from advisor.engine.evaluation import Facts, ask
from advisor.engine.observation import Observation
from advisor.engine.outcome import Finding, Inapplicable, Measured, Missing, NotApplicable, NotEvaluated, Passed, Window
from advisor.engine.rule import Rule
from advisor.engine.thresholds import Thresholds
from advisor.engine.units import Quantity, Unit
from advisor.engine.wording import measured_text, message_text, quantity_text, seconds_text

_LONGEST_VALUE = 200


@dataclass(frozen=True)
class FactRead:
    """One fact that a rule needs: what it holds, or why it could not be had."""

    name: str
    kind: str
    values: Mapping[str, str]
    missing: str = ""


@dataclass(frozen=True)
class Explanation:
    """All that one rule looked at and said."""

    rule: Rule
    facts: tuple[FactRead, ...]
    thresholds: Mapping[str, str]
    outcome: str
    said: tuple[str, ...]


def explain(rule: Rule, seen: Observation, parameters: object | None = None) -> Explanation:
    """What the rule read of this server and what it made of it. ``parameters`` replaces its declared thresholds."""
    facts = Facts(seen)
    used = parameters if parameters is not None else rule.parameters
    read = [_read(facts, name, kind) for name, kind in rule.needs.items()]
    outcome = ask(rule, seen, facts, used)
    thresholds = {}
    if isinstance(used, Thresholds):
        thresholds = {
            one.name: f"{_number(getattr(used, one.name), one.unit)} ({one.meaning})" for one in used.described()
        }
    word, said = _said(outcome)
    return Explanation(rule, tuple(read), thresholds, word, tuple(said))


def _read(facts: Facts, name: str, kind: Any) -> FactRead:
    try:
        fact = facts.of(kind)
    except Missing as missing:
        return FactRead(name, kind.__name__, {}, "; ".join(f"{one.what}: {one.text}" for one in missing.remedies))
    except Inapplicable as reason:
        return FactRead(name, kind.__name__, {}, message_text(reason.why))
    values: dict[str, str] = {}
    if is_dataclass(fact):
        for one in fields(fact):
            if not one.name.startswith("_") and one.repr:
                values[one.name] = _value(getattr(fact, one.name))
    return FactRead(name, kind.__name__, values)


def _value(value: object) -> str:
    if isinstance(value, Window):
        return f"{seconds_text(value.seconds)} in {value.intervals} intervals"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1e6 else f"{value:,.0f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    text = "empty" if value in ("", None, (), {}) else str(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"


def _number(value: float, unit: Unit) -> str:
    return quantity_text(Quantity(value, unit))


def _said(outcome: object) -> tuple[str, list[str]]:
    def figures(measured: tuple[Measured, ...]) -> list[str]:
        return [measured_text(one) + (f" [{one.source}]" if one.source else "") for one in measured]

    if isinstance(outcome, Finding):
        lines = []
        for item in outcome.items:
            lines += [message_text(item.message), *figures(item.evidence)]
        return "finding", lines
    if isinstance(outcome, Passed):
        return "passed", figures(outcome.evidence)
    if isinstance(outcome, NotApplicable):
        return "not applicable", [message_text(outcome.why)]
    assert isinstance(outcome, NotEvaluated)
    return "not evaluated", [f"{one.what}: {one.text}" for one in outcome.missing]


def explanation_text(explained: Explanation) -> str:
    """The explanation for people."""
    rule = explained.rule
    lines = [f"{rule.id}: {rule.title}", f"  holds for    {rule.applies_to}", f"  outcome      {explained.outcome}"]
    for line in explained.said:
        lines += textwrap.wrap(line, WIDTH, initial_indent="    ", subsequent_indent="      ")
    lines.append("  read")
    for fact in explained.facts:
        lines.append(f"    {fact.kind}" + (f": {fact.missing}" if fact.missing else ""))
        lines += [f"      {name} = {value}" for name, value in fact.values.items()]
    if explained.thresholds:
        lines.append("  thresholds")
        lines += [f"    {name} = {value}" for name, value in explained.thresholds.items()]
    lines.append("  how it is computed")
    lines += textwrap.wrap(
        " ".join(rule.section("How it is computed").split()), WIDTH, initial_indent="    ", subsequent_indent="    "
    )
    return "\n".join(lines) + "\n"


def explanation_document(explained: Explanation) -> dict[str, Any]:
    """The explanation as a JSON-ready document."""
    return {
        "rule": explained.rule.id,
        "title": explained.rule.title,
        "outcome": explained.outcome.replace(" ", "_"),
        "said": list(explained.said),
        "facts": [
            {"name": one.name, "kind": one.kind, "values": dict(one.values), "missing": one.missing}
            for one in explained.facts
        ],
        "thresholds": dict(explained.thresholds),
    }
