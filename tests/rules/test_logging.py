"""Logs: what old versions do not count, and that one rule does not undo what another wants."""

from __future__ import annotations

import pytest

from advisor.engine.evaluation import judge
from advisor.engine.outcome import Finding, NotApplicable, NotEvaluated, Outcome, Passed
from advisor.engine.recommendation import proposed_variables
from advisor.engine.scene import scene
from advisor.rules import all_rules, rule_by_id


def _slow(server: str, rate: float, log: str) -> tuple[Outcome, Outcome]:
    rules = [rule_by_id("logging.slow-log-off"), rule_by_id("statements.slow-statements-frequent")]
    seen = scene(
        server,
        {"slow_query_log": log, "long_query_time": "1.000000"},
        counters={"Slow_queries": rate, "Questions": 10},
        deliberate=True,
    )
    judgement = judge(seen, rules, strict=True)
    return judgement.outcome(rules[0].id), judgement.outcome(rules[1].id)


@pytest.mark.parametrize("server", ["mysql 5.7.22", "mysql 8.0.12", "mariadb 10.2.11"])
def test_versions_that_count_slow_statements_only_with_the_log_on_never_pass_by_absence(server: str) -> None:
    assert all(isinstance(outcome, NotEvaluated) for outcome in _slow(server, 0, "OFF"))
    assert all(isinstance(outcome, Passed) for outcome in _slow(server, 0, "ON"))


@pytest.mark.parametrize("server", ["mysql 8.0.33", "mysql 9.7.4", "mariadb 10.5.23", "mariadb 11.8.6"])
def test_versions_that_count_them_all_along_pass_without_any(server: str) -> None:
    assert all(isinstance(outcome, Passed) for outcome in _slow(server, 0, "OFF"))
    assert all(isinstance(outcome, Finding) for outcome in _slow(server, 2, "OFF"))


def test_statements_without_an_index_that_count_as_slow_are_no_opinion_of_what_is_slow() -> None:
    seen = scene(
        "mysql 8.0.33",
        {"slow_query_log": "ON", "log_queries_not_using_indexes": "ON"},
        counters={"Slow_queries": 9, "Questions": 10},
        deliberate=True,
    )
    rule = rule_by_id("statements.slow-statements-frequent")
    assert isinstance(judge(seen, [rule], strict=True).outcome(rule.id), NotApplicable)


@pytest.mark.parametrize("seconds", ["0.000000", "0.500000", "1.000000", "5.000000", "10.000000", "60.000000"])
def test_whatever_long_query_time_is_its_rules_want_one_value(seconds: str) -> None:
    rules = [rule for rule in all_rules() if rule.topic == "logging"]
    seen = scene(
        "mysql 8.0.33",
        {"slow_query_log": "ON", "long_query_time": seconds},
        counters={"Slow_queries": 500, "Questions": 900},
        deliberate=True,
    )
    wanted = {
        value
        for one in judge(seen, rules, strict=True).recommendations
        for name, value in proposed_variables(one.proposal).items()
        if name == "long_query_time"
    }
    assert wanted <= {1}


def test_log_warnings_of_mysql_five_seven_is_not_read_in_place_of_its_verbosity() -> None:
    rule = rule_by_id("logging.error-log-too-quiet")
    seen = scene("mysql 5.7.22", {"log_error_verbosity": 3, "log_warnings": 0})
    assert isinstance(judge(seen, [rule], strict=True).outcome(rule.id), Passed)
