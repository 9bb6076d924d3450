"""What other advisors say wrongly about performance_schema, and what is said here of the same facts."""

from __future__ import annotations

import pytest

from advisor.engine.evaluation import judge
from advisor.engine.outcome import Finding, NotApplicable, PriceKind
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetConsumers, SetInstruments
from advisor.rules import all_rules, rule_by_id

RULES = [rule for rule in all_rules() if rule.topic == "observability"]


def test_mysqltuners_readme_switches_everything_on_and_no_proposal_of_ours_does() -> None:
    """Fault 13: twelve consumers and instruments like '%=ON', without a word of what that costs."""
    for rule in RULES:
        for example in rule.examples:
            outcome = judge(example.seen, [rule], strict=True).outcome(rule.id)
            for item in outcome.items if isinstance(outcome, Finding) else ():
                assert not any(isinstance(change, SetInstruments | SetConsumers) for change in item.proposal)
                assert "%=ON" not in str(item.proposal)


def test_mysqltuner_wants_performance_schema_on_without_its_cost_and_we_name_all_three() -> None:
    """Issues 579, 369 and 300 of MySQLTuner: memory, overhead and the restart stand beside it."""
    rule = rule_by_id("observability.performance-schema-off")
    outcome = judge(scene("mysql 8.0.33", {"performance_schema": "OFF"}), [rule], strict=True).outcome(rule.id)
    assert isinstance(outcome, Finding)
    assert {price.kind for price in outcome.items[0].price} == {
        PriceKind.MEMORY,
        PriceKind.OVERHEAD,
        PriceKind.RESTART,
    }


@pytest.mark.parametrize("server", ["mariadb 10.2.11", "mariadb 10.11.18", "mariadb 11.8.6"])
def test_mysqltuner_holds_mariadbs_default_against_it_and_we_do_not(server: str) -> None:
    """MT 91: performance_schema is off on MariaDB as it comes."""
    judgement = judge(scene(server, deliberate=True), RULES, strict=True)
    assert isinstance(judgement.outcome("observability.performance-schema-off"), NotApplicable)


def test_mysqltuner_switches_statistics_on_metadata_off_while_it_looks_and_we_propose_it() -> None:
    """Fault 2: the change is a proposal with an undo; nothing is set by looking."""
    rule = rule_by_id("engines.statistics-on-metadata")
    seen = scene("mysql 8.0.33", {"innodb_stats_on_metadata": "ON"})
    said = judge(seen, [rule], strict=True).recommendations
    assert [one.variables for one in said] == [{"innodb_stats_on_metadata": False}]
