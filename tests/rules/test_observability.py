"""performance_schema: the tree of its consumers, its table of digests, and what is asked where it is off."""

from __future__ import annotations

import pytest

from advisor.engine.evaluation import judge
from advisor.engine.facts.observability import PARENTS, PerformanceSchema
from advisor.engine.outcome import Finding, NotApplicable, NotEvaluated, Outcome, Passed
from advisor.engine.recommendation import proposed_variables
from advisor.engine.scene import inspected, scene
from advisor.mysql.snapshot import RemedyKind
from advisor.rules import rule_by_id

ALL_ON = dict.fromkeys(["global_instrumentation", *PARENTS], True)


def _orphans(**changed: bool) -> dict[str, str]:
    return dict(PerformanceSchema(instruments={}, consumers={**ALL_ON, **changed}).orphans)


def test_a_whole_tree_has_no_orphans() -> None:
    assert _orphans() == {}


def test_what_hangs_below_a_switch_that_is_off_is_told_with_that_switch() -> None:
    assert _orphans(events_waits_current=False) == {
        "events_waits_history": "events_waits_current",
        "events_waits_history_long": "events_waits_current",
    }


def test_grandchildren_are_orphans_of_what_is_off_above_their_parents() -> None:
    orphans = _orphans(thread_instrumentation=False)
    assert orphans["events_statements_history"] == "thread_instrumentation"
    assert "statements_digest" not in orphans


def test_without_global_instrumentation_nothing_gets_anything() -> None:
    assert set(_orphans(global_instrumentation=False)) == set(PARENTS)


@pytest.mark.parametrize(
    ("rows", "size", "proposed"),
    [(9_999, 10_000, None), (10_000, 10_000, 20_000), (200, 200, 400), (15_000, 15_000, 20_000), (20_000, 20_000, 0)],
)
def test_the_table_of_digests_grows_to_twenty_thousand_rows(rows: int, size: int, proposed: int | None) -> None:
    rule = rule_by_id("observability.digest-table-full")
    seen = scene(
        "mysql 8.0.33", inspection=inspected(digest_table=[{"rows": str(rows), "size": str(size), "lost": "0"}])
    )
    outcome = judge(seen, [rule], strict=True).outcome(rule.id)
    if proposed is None:
        assert isinstance(outcome, Passed)
        return
    assert isinstance(outcome, Finding)
    values = proposed_variables(outcome.items[0].proposal)
    assert values == ({"performance_schema_digests_size": proposed} if proposed else {})


SET_UP = (
    "observability.consumers-orphaned",
    "observability.instruments-costly",
    "observability.statement-digests-off",
    "observability.instruments-lost",
)


@pytest.mark.parametrize("rule_id", SET_UP)
def test_where_performance_schema_is_off_its_set_up_is_no_question(rule_id: str) -> None:
    seen = scene("mariadb 10.11.18", counters={"Performance_schema_accounts_lost": 0}, deliberate=True)
    assert isinstance(judge(seen, [rule_by_id(rule_id)], strict=True).outcome(rule_id), NotApplicable)


@pytest.mark.parametrize("rule_id", SET_UP)
def test_a_set_up_that_could_not_be_read_asks_for_the_grant(rule_id: str) -> None:
    seen = scene("mysql 8.0.33", counters={"Performance_schema_accounts_lost": 0}, deliberate=True)
    outcome: Outcome = judge(seen, [rule_by_id(rule_id)], strict=True).outcome(rule_id)
    assert isinstance(outcome, NotEvaluated)
    assert [one.kind for one in outcome.missing] == [RemedyKind.GRANT]
    assert "performance_schema" in outcome.missing[0].text
