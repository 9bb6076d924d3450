"""Rules as documents: what the `rules` command prints and the API lists."""

from __future__ import annotations

from typing import Any

from advisor.engine.declared import reads_of
from advisor.engine.rule import HEADINGS, Rule
from advisor.engine.thresholds import Thresholds
from advisor.rules import all_rules


def rule_document(rule: Rule) -> dict[str, Any]:
    """One rule: its metadata, its documentation by heading, the facts it needs and its thresholds."""
    parameters = rule.parameters
    return {
        "id": rule.id,
        "title": rule.title,
        "topic": rule.topic,
        "severity": rule.severity.value,
        "applies_to": list(rule.applies_to_text),
        "since": rule.since,
        "documentation": {heading: rule.section(heading) for heading in HEADINGS},
        "reads": sorted({source for fact in rule.needs.values() for source in reads_of(fact)}),
        "proposes": sorted({name for example in rule.examples for name in example.proposes}),
        "thresholds": [
            {
                "name": one.name,
                "value": one.value,
                "leave_at": one.leave_at,
                "unit": one.unit.value,
                "meaning": one.meaning,
            }
            for one in (parameters.described() if isinstance(parameters, Thresholds) else ())
        ],
        "references": list(rule.references),
        "examples": [
            {"title": one.title, "outcome": "finding" if one.outcome.__name__ == "Finding" else "passed"}
            for one in rule.examples
        ],
    }


def rule_documents() -> list[dict[str, Any]]:
    """All rules, in the order of their ids."""
    return [rule_document(rule) for rule in all_rules()]
