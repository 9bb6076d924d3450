"""The health score is its arithmetic: nothing in it cannot be added up by hand."""

from __future__ import annotations

from advisor.engine.evaluation import Judgement, judge
from advisor.engine.outcome import Confidence, Severity
from advisor.engine.scene import scene
from advisor.engine.score import POINTS, SHARES, health_score, score_document
from advisor.rules import rule_by_id

COMMIT = rule_by_id("durability.commit-not-durable")
EARLY = rule_by_id("flushing.dirty-pages-flushed-early")
REDO = rule_by_id("redo.redo-log-undersized")


def _judged(**variables: object) -> Judgement:
    return judge(scene("mysql 8.0.33", variables), [COMMIT, EARLY, REDO], strict=True)


def test_nothing_found_is_a_hundred_and_says_how_much_could_not_be_judged() -> None:
    score = health_score(_judged())
    assert (score.value, score.passed, score.not_evaluated) == (100, 2, 1)
    assert score.judged_ratio == 2 / 3
    assert score.arithmetic == "100 = 100"


def test_each_recommendation_takes_its_points_times_its_share() -> None:
    score = health_score(_judged(innodb_flush_log_at_trx_commit=2, innodb_max_dirty_pages_pct=10))
    assert [(one.rule, one.amount) for one in score.deductions] == [
        (COMMIT.id, POINTS[Severity.WARNING] * SHARES[Confidence.HIGH]),
        (EARLY.id, POINTS[Severity.NOTICE] * SHARES[Confidence.HIGH]),
    ]
    assert score.value == 90
    assert score.arithmetic == f"100 - 8 x 1 ({COMMIT.id}) - 2 x 1 ({EARLY.id}) = 90"
    document = score_document(score)
    assert document["value"] == 90
    assert document["arithmetic"] == score.arithmetic


def test_weaker_evidence_takes_less() -> None:
    stalled = scene(
        "mysql 8.0.33", redo_per_second=5e6, pressure=[1.0], metrics={}, deliberate=True, uptime_seconds=100_000
    )
    (deduction,) = health_score(judge(stalled, [REDO], strict=True)).deductions
    assert deduction.confidence is Confidence.LOW
    assert deduction.amount == POINTS[deduction.severity] * 0.5


def test_it_never_falls_below_nothing() -> None:
    one = _judged(innodb_flush_log_at_trx_commit=2).recommendations[0]
    many = Judgement((*_judged().outcomes,), tuple([one] * 40))
    assert health_score(many).value == 0


def test_where_nothing_could_be_judged_no_number_is_told() -> None:
    judgement = judge(scene("mysql 8.0.33", seconds=0), [REDO], strict=True)
    score = health_score(judgement)
    assert score.value is None
    assert score.arithmetic.endswith("= not told")
