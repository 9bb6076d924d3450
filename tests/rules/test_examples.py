"""Every rule's examples say what the rule says: they are printed in its documentation, so that the page cannot lie."""

from __future__ import annotations

import pytest

from advisor.engine.evaluation import judge
from advisor.engine.outcome import Finding, Passed
from advisor.engine.recommendation import proposed_variables
from advisor.engine.rule import Example, Rule
from advisor.mysql.values import same
from advisor.rules import all_rules

EXAMPLES = [(rule, example) for rule in all_rules() for example in rule.examples]


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.id)
def test_a_rule_has_an_example_that_fires_and_one_that_passes(rule: Rule) -> None:
    assert {example.outcome for example in rule.examples} >= {Finding, Passed}


@pytest.mark.parametrize(
    ("rule", "example"), EXAMPLES, ids=[f"{rule.id}: {example.title}" for rule, example in EXAMPLES]
)
def test_an_example_holds(rule: Rule, example: Example) -> None:
    outcome = judge(example.seen, [rule], strict=True).outcome(rule.id)
    assert isinstance(outcome, example.outcome), outcome
    if isinstance(outcome, Finding) and example.proposes:
        proposed = {name: value for item in outcome.items for name, value in proposed_variables(item.proposal).items()}
        assert proposed.keys() == example.proposes.keys()
        assert {name: value for name, value in proposed.items() if not same(value, example.proposes[name])} == {}
