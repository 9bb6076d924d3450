"""What holds for every rule over mixes of its own examples, and for all rules together over mixes of several."""

from __future__ import annotations

import random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from advisor.engine.evaluation import Facts, ask, judge
from advisor.engine.outcome import Finding, Passed
from advisor.engine.recommendation import proposed_metrics, proposed_variables
from advisor.engine.rule import Rule
from advisor.mysql.catalogue import CATALOGUE
from advisor.mysql.proposal import Value
from advisor.rules import all_rules
from tests.rules.mixing import mixed, noisy, overlaid

each_rule = pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.id)

#: Cases for each rule. A share of 20 % is asked for: of so many that chance does not decide.
CASES = 60
LEAST_RATIO = 0.2

SERVERS = (
    "mysql 5.7.22",
    "mysql 8.0.12",
    "mysql 8.0.33",
    "mysql 9.7.4",
    "mariadb 10.2.11",
    "mariadb 10.5.23",
    "mariadb 10.11.18",
    "mariadb 11.8.6",
)

seeds = st.integers(0, 2**32 - 1)
quietly = settings(max_examples=CASES, deadline=None, database=None, derandomize=True, phases=[Phase.generate])


@each_rule
def test_judged_again_with_its_own_proposal_a_rule_never_fires(rule: Rule) -> None:
    """And the cases are not idle: it fires in a fifth of them at least, and passes in a fifth."""
    fired: list[bool] = []
    passed: list[bool] = []

    @given(seeds)
    @quietly
    def case(seed: int) -> None:
        seen = mixed(rule, random.Random(seed))
        outcome = judge(seen, [rule], strict=True).outcome(rule.id)
        fired.append(isinstance(outcome, Finding))
        passed.append(isinstance(outcome, Passed))
        if not isinstance(outcome, Finding):
            return
        for item in outcome.items:
            values, metrics = proposed_variables(item.proposal), proposed_metrics(item.proposal)
            for name, value in values.items():
                known = CATALOGUE.find(name, seen.server)
                assert known is not None, f"{name} is not known of {seen.server}"
                if isinstance(value, int | float) and not isinstance(value, bool):
                    assert known.minimum is None or value >= known.minimum, (name, value)
                    assert known.maximum is None or value <= known.maximum, (name, value)
            if values or metrics:
                trial = seen.with_proposed(values, metrics)
                again = ask(rule, trial, Facts(trial, rule.caused_by), rule.parameters)
                repeated = isinstance(again, Finding) and any(one.subject == item.subject for one in again.items)
                assert not repeated, values

    case()
    assert sum(fired) >= LEAST_RATIO * len(fired), f"fires in {sum(fired)} of {len(fired)} cases"
    assert sum(passed) >= LEAST_RATIO * len(passed), f"passes in {sum(passed)} of {len(passed)} cases"


@each_rule
def test_five_percent_of_noise_do_not_let_go_an_open_finding(rule: Rule) -> None:
    chance = random.Random(rule.id)
    for example in rule.examples:
        first = judge(example.seen, [rule], strict=True)
        if not isinstance(first.outcome(rule.id), Finding):
            continue
        holding = {one.key for one in first.recommendations}
        for _ in range(10):
            outcome = judge(noisy(example.seen, chance), [rule], holding=holding, strict=True).outcome(rule.id)
            assert isinstance(outcome, Finding), example.title


@each_rule
def test_without_load_and_statistics_nothing_is_said_of_what_happens(rule: Rule) -> None:
    """Less evidence than a rule's window is never enough: the same servers, seen for no time at all."""
    for example in rule.examples:
        seen = example.seen
        blind = type(seen)(snapshot=seen.snapshot, host=seen.host, today=seen.today)
        outcome = judge(blind, [rule], strict=True).outcome(rule.id)
        if isinstance(outcome, Finding):
            bases = {kind.basis.value for kind in rule.needs.values()}
            assert bases <= {"setting", "estimate"}, (example.title, bases)


@given(seeds, st.sampled_from(SERVERS))
@settings(max_examples=120, deadline=None, database=None, derandomize=True)
def test_applying_all_advice_of_a_server_with_many_faults_ends_in_two_rounds(seed: int, server: str) -> None:
    """One recommendation for a variable, none of them taken back, and silence after the second round."""
    chance = random.Random(seed)
    rules = all_rules()
    seen = overlaid(chance.sample(rules, k=min(60, len(rules))), server, chance)
    applied: dict[str, Value] = {}
    counters: frozenset[str] = frozenset()
    waited: set[str] = set()
    for round_number in range(3):
        trial = seen.with_proposed(applied, counters)
        outcomes = [
            (rule, ask(rule, trial, Facts(trial, rule.caused_by if round_number else ()), rule.parameters))
            for rule in rules
        ]
        wanted = [
            (rule.id, item)
            for rule, outcome in outcomes
            if isinstance(outcome, Finding)
            for item in outcome.items
            if proposed_variables(item.proposal) or proposed_metrics(item.proposal)
        ]
        # One that said before that there was no room (memory, files) may name a value once others made room.
        waited |= {
            rule.id
            for rule, outcome in outcomes
            if isinstance(outcome, Finding) and not any(proposed_variables(one.proposal) for one in outcome.items)
        }
        if not wanted:
            return
        late = [(rule, proposed_variables(item.proposal)) for rule, item in wanted if rule not in waited]
        assert round_number < 2 or not late, late
        joined = judge(trial, rules, strict=True).recommendations if not round_number else ()
        names = [name for one in joined for name in one.variables]
        assert len(names) == len(set(names)), names
        if joined:
            applied |= {name: value for one in joined for name, value in one.variables.items()}
            counters |= frozenset().union(*(proposed_metrics(one.proposal) for one in joined))
        else:
            applied |= {name: value for _, item in wanted for name, value in proposed_variables(item.proposal).items()}
            counters |= frozenset().union(*(proposed_metrics(item.proposal) for _, item in wanted))
