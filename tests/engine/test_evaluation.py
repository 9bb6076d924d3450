"""Judging: one outcome for each rule, findings tried against themselves, and no rule that takes others with it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from advisor.engine.evaluation import BrokenRule, judge
from advisor.engine.outcome import Finding, NotApplicable, NotEvaluated, Passed, Severity
from advisor.engine.scene import scene
from advisor.mysql.proposal import Investigate, SetVariable
from advisor.mysql.snapshot import RemedyKind
from advisor.rules import rule_by_id
from tests.engine.making import RAISE, made_rule

FEW = scene("mysql 8.0.33", {"max_connections": 100})
MANY = scene("mysql 8.0.33", {"max_connections": 500})


def test_a_rule_for_another_flavor_is_not_applicable_and_says_which_versions_it_holds_for() -> None:
    outcome = judge(FEW, [made_rule("other", RAISE, applies_to=["mariadb>=10.5"])], strict=True).outcomes[0].outcome
    assert isinstance(outcome, NotApplicable)
    assert outcome.why.values["versions"].value == "mariadb>=10.5"


def test_a_variable_that_was_not_read_makes_not_evaluated_with_its_name() -> None:
    seen = scene("mysql 8.0.33", {"max_connections": ""})
    outcome = judge(seen, [made_rule("unread", RAISE)], strict=True).outcomes[0].outcome
    assert isinstance(outcome, NotEvaluated)
    assert "max_connections" in outcome.missing[0].what


def test_a_finding_whose_proposal_ends_it_becomes_a_recommendation() -> None:
    judgement = judge(FEW, [made_rule("few", RAISE)], strict=True)
    assert isinstance(judgement.outcomes[0].outcome, Finding)
    assert [one.key for one in judgement.recommendations] == ["made.few"]
    assert judgement.recommendations[0].variables == {"max_connections": 300}


def test_the_same_finding_passes_once_the_value_is_set() -> None:
    assert isinstance(judge(MANY, [made_rule("enough", RAISE)], strict=True).outcomes[0].outcome, Passed)


def test_a_finding_that_its_own_proposal_does_not_end_is_suppressed_and_reported() -> None:
    rule = made_rule("endless", SetVariable("max_connections", 150))
    judgement = judge(FEW, [rule])
    assert judgement.recommendations == ()
    assert isinstance(judgement.outcomes[0].outcome, NotEvaluated)
    assert "still fires" in judgement.defects[0].what
    with pytest.raises(BrokenRule, match="still fires"):
        judge(FEW, [rule], strict=True)


def test_a_proposal_below_the_present_value_of_what_it_raises_is_suppressed() -> None:
    lower = made_rule("lower", SetVariable("innodb_io_capacity", 100), raises=["innodb_io_capacity"])
    judgement = judge(FEW, [lower])
    assert judgement.recommendations == ()
    assert "below the present" in judgement.defects[0].what


def test_a_proposal_of_what_is_there_already_is_suppressed() -> None:
    judgement = judge(FEW, [made_rule("same", SetVariable("innodb_io_capacity", 200))])
    assert judgement.recommendations == ()
    assert "already" in judgement.defects[0].what


def test_what_only_a_person_can_do_needs_no_trial() -> None:
    judgement = judge(FEW, [made_rule("look", Investigate("look"))], strict=True)
    assert len(judgement.recommendations) == 1


def test_a_broken_rule_is_not_evaluated_and_the_others_are_judged() -> None:
    judgement = judge(FEW, [made_rule("broken", RAISE, broken=ZeroDivisionError("boom")), made_rule("whole", RAISE)])
    broken, whole = (judged.outcome for judged in judgement.outcomes)
    assert isinstance(broken, NotEvaluated)
    assert broken.missing[0].kind is RemedyKind.VERSION
    assert isinstance(whole, Finding)
    assert "ZeroDivisionError" in judgement.defects[0].what
    assert "boom" in judgement.defects[0].where


def test_there_is_exactly_one_outcome_for_each_rule_in_their_order() -> None:
    rules = [made_rule("b", RAISE), made_rule("a", RAISE, applies_to=["mariadb"])]
    assert [judged.rule.id for judged in judge(FEW, rules, strict=True).outcomes] == ["made.b", "made.a"]


def test_an_open_finding_is_left_later_than_it_was_opened() -> None:
    rule = made_rule("near", RAISE)
    between = scene("mysql 8.0.33", {"max_connections": 210})
    assert isinstance(judge(between, [rule], strict=True).outcomes[0].outcome, Passed)
    assert isinstance(judge(between, [rule], holding={"made.near"}, strict=True).outcomes[0].outcome, Finding)
    assert isinstance(judge(between, [rule], holding={"made.other"}, strict=True).outcomes[0].outcome, Passed)
    beyond = scene("mysql 8.0.33", {"max_connections": 220})
    assert isinstance(judge(beyond, [rule], holding={"made.near"}, strict=True).outcomes[0].outcome, Passed)


def test_room_to_leave_moves_in_proportion_with_a_threshold_that_a_team_changed() -> None:
    rule = made_rule("moved", SetVariable("max_connections", 2000))
    between = scene("mysql 8.0.33", {"max_connections": 1050})
    chosen = {rule.id: rule.with_thresholds(smallest=1000)}
    assert isinstance(judge(between, [rule], thresholds=chosen, strict=True).outcomes[0].outcome, Passed)
    held = judge(between, [rule], thresholds=chosen, holding={"made.moved"}, strict=True)
    assert isinstance(held.outcomes[0].outcome, Finding)


def test_thresholds_of_a_team_replace_the_declared_ones() -> None:
    rule = made_rule("team", SetVariable("max_connections", 2000))
    strict = {rule.id: rule.with_thresholds(smallest=1000)}
    assert isinstance(judge(MANY, [rule], thresholds=strict, strict=True).outcomes[0].outcome, Finding)
    with pytest.raises(ValueError, match="no threshold biggest"):
        rule.with_thresholds(biggest=1)


def test_recommendations_come_most_severe_first() -> None:
    rules = [
        made_rule("mild", [RAISE], severity=Severity.NOTICE),
        made_rule("bad", [Investigate("now")], severity=Severity.CRITICAL),
    ]
    assert [one.severity for one in judge(FEW, rules, strict=True).recommendations] == [
        Severity.CRITICAL,
        Severity.NOTICE,
    ]


def test_what_is_missing_is_told_once_however_many_rules_miss_it() -> None:
    seen = scene("mysql 8.0.33", {"max_connections": ""})
    judgement = judge(seen, [made_rule("one", RAISE), made_rule("two", RAISE)], strict=True)
    assert len(judgement.missing) == 1


def test_nothing_passes_by_a_part_of_what_is_there() -> None:
    """What is found in the part that was read is found; not having found anything in it is no proof."""
    rule = rule_by_id("schema.tables-without-primary-key")
    for example in rule.examples:
        inspection = example.seen.inspection
        assert inspection is not None
        part = replace(inspection, probes=tuple(replace(one, reason="Stopped at 5,000.") for one in inspection.probes))
        outcome = judge(replace(example.seen, inspection=part), [rule], strict=True).outcome(rule.id)
        if example.outcome is Passed:
            assert isinstance(outcome, NotEvaluated)
            assert "Stopped at 5,000." in {one.text for one in outcome.missing}
        else:
            assert isinstance(outcome, Finding)
