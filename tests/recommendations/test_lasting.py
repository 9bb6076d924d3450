"""Recommendations over time: they open, are kept, resolve by themselves, return, and do what people decided."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from advisor.engine.advice import advice_document
from advisor.engine.evaluation import judge
from advisor.engine.outcome import Finding
from advisor.journal.models import Event
from advisor.recommendations import services, verdict
from advisor.recommendations.models import FleetRow, Judgement, Recommendation, State
from advisor.recommendations.states import WrongState
from advisor.rules import rule_by_id

from .building import RULE, START, Judging, found

OTHER = "flushing.io-capacity-too-low"


def only() -> Recommendation:
    return Recommendation.objects.select_related("server").get()


def kinds() -> list[str]:
    happened = Event.objects.filter(kind__startswith="recommendation.")
    return list(happened.order_by("id").values_list("kind", flat=True))


def test_a_finding_opens_at_once_and_is_one_recommendation_however_often_it_is_made(watched: Any) -> None:
    judge = Judging(watched)
    judge(found())
    judge(found(value=0.5))
    row = only()
    assert (row.state, row.opened_at, row.last_seen_at) == (State.OPEN, START, START + timedelta(minutes=1))
    assert row.document["evidence"][1]["value"] == 0.5
    assert kinds() == ["recommendation.opened"]


def test_it_resolves_by_itself_after_three_passes_in_a_row_and_not_before(watched: Any) -> None:
    judge = Judging(watched)
    judge(found())
    judge()
    judge()
    assert only().state == State.OPEN
    judge()
    assert only().state == State.RESOLVED
    assert kinds() == ["recommendation.opened", "recommendation.resolved"]


def test_three_passes_within_seconds_are_not_enough(watched: Any) -> None:
    judge = Judging(watched, every_seconds=10)
    judge(found())
    for _ in range(11):
        judge()
    assert only().state == State.OPEN
    judge()
    assert only().state == State.RESOLVED


def test_where_somebody_changed_what_it_was_about_two_passes_are_enough(watched: Any) -> None:
    judge = Judging(watched, every_seconds=20)
    judge(found())
    judge.variables = {"innodb_log_file_size": "268435456"}
    judge()
    assert only().state == State.OPEN
    judge()
    assert only().state == State.RESOLVED


def test_a_value_that_only_is_spelled_otherwise_is_no_change(watched: Any) -> None:
    judge = Judging(watched, every_seconds=20)
    judge(found())
    judge.variables = {"innodb_log_file_size": "8M"}
    judge()
    judge()
    assert only().state == State.OPEN


def test_a_pass_between_findings_starts_the_count_again(watched: Any) -> None:
    judge = Judging(watched)
    judge(found())
    for _ in range(6):
        judge()
        judge()
        judge(found())
    assert only().state == State.OPEN
    assert kinds() == ["recommendation.opened"]


def test_what_could_not_be_evaluated_resolves_nothing(watched: Any) -> None:
    judge = Judging(watched)
    judge(found())
    for _ in range(10):
        judge(said={RULE: "not_evaluated"})
    row = only()
    assert (row.state, row.passes) == (State.OPEN, 0)


def test_a_rule_that_does_not_apply_any_more_resolves(watched: Any) -> None:
    judge = Judging(watched)
    judge(found())
    for _ in range(3):
        judge(said={RULE: "not_applicable"})
    assert only().state == State.RESOLVED


def test_a_subject_that_is_gone_resolves_although_its_rule_still_fires_elsewhere(watched: Any) -> None:
    judge = Judging(watched)
    judge(found(f"{RULE}:a"), found(f"{RULE}:b"))
    for _ in range(3):
        judge(found(f"{RULE}:b"))
    assert dict(Recommendation.objects.values_list("key", "state")) == {
        f"{RULE}:a": State.RESOLVED,
        f"{RULE}:b": State.OPEN,
    }


def test_undone_it_returns_with_its_history(watched: Any) -> None:
    judge = Judging(watched)
    judge(found())
    first = only().pk
    for _ in range(3):
        judge()
    changes = judge(found())
    assert changes.returned == [first]
    row = only()
    assert (row.pk, row.state, row.resolved_at) == (first, State.OPEN, None)
    assert kinds()[-1] == "recommendation.returned"


def test_after_a_month_a_new_one_is_opened_beside_the_resolved_one(watched: Any) -> None:
    judge = Judging(watched)
    judge(found())
    for _ in range(3):
        judge()
    judge.now += timedelta(days=31)
    judge.slot += 31 * 86_400
    judge(found())
    assert sorted(Recommendation.objects.values_list("state", flat=True)) == [State.OPEN, State.RESOLVED]


def test_a_judgement_of_an_older_slot_changes_nothing(watched: Any) -> None:
    judge = Judging(watched)
    judge(found())
    judge.slot -= 600
    with pytest.raises(services.Outdated):
        judge()
    assert only().passes == 0
    assert Judgement.objects.get().outcomes[0]["outcome"] == "finding"


def test_one_whose_leading_finding_changes_stays_the_same_recommendation(watched: Any) -> None:
    judge = Judging(watched)
    judge(found(RULE, keys=[OTHER]))
    first = only().pk
    judge(found(OTHER, keys=[RULE]))
    assert (only().pk, only().key, only().rule) == (first, RULE, OTHER)
    judge(found(OTHER))
    assert (only().pk, only().key, only().state) == (first, OTHER, State.OPEN)
    judge(found(OTHER), found(RULE))
    assert Recommendation.objects.filter(state=State.OPEN).count() == 2


def test_two_that_are_joined_today_become_one(watched: Any) -> None:
    judge = Judging(watched)
    judge(found(RULE), found(OTHER))
    judge(found(RULE, keys=[OTHER]))
    assert Recommendation.objects.filter(current__isnull=False).count() == 1
    assert Event.objects.order_by("-id")[0].data["why"] == "joined"


def test_dismissed_it_stays_dismissed_through_good_days_until_its_date(watched: Any, owner: Any) -> None:
    judge = Judging(watched)
    judge(found())
    until = (START + timedelta(days=3)).date()
    services.dismiss(recommendation=only(), actor=owner, reason="moved on Friday", until=until, now=judge.now)
    for _ in range(4):
        judge()
    judge(found())
    assert only().state == State.DISMISSED
    judge.now = START + timedelta(days=3)
    judge.slot += 3 * 86_400
    judge(found())
    row = only()
    assert row.state == State.OPEN
    assert Event.objects.order_by("-id")[0].data["why"] == "date"


def test_dismissed_and_passing_at_its_date_it_resolves(watched: Any, owner: Any) -> None:
    judge = Judging(watched)
    judge(found())
    until = (START + timedelta(days=1)).date()
    services.dismiss(recommendation=only(), actor=owner, reason="import", until=until, now=judge.now)
    judge()
    judge.now += timedelta(days=1)
    judge.slot += 86_400
    judge()
    judge()
    assert only().state == State.RESOLVED


@pytest.mark.parametrize(("value", "state"), [(0.47, State.DISMISSED), (0.49, State.OPEN)])
def test_dismissed_it_comes_back_when_its_figures_grow_by_a_fifth(
    watched: Any, owner: Any, value: float, state: State
) -> None:
    judge = Judging(watched)
    judge(found(value=0.4))
    services.dismiss(recommendation=only(), actor=owner, reason="known", until=None, now=judge.now)
    judge(found(value=value))
    assert only().state == state


def test_dismissed_it_comes_back_when_it_becomes_more_severe(watched: Any, owner: Any) -> None:
    judge = Judging(watched)
    judge(found())
    services.dismiss(recommendation=only(), actor=owner, reason="known", until=None, now=judge.now)
    judge(found(severity="critical"))
    assert only().state == State.OPEN


def test_dismissed_at_its_worst_a_milder_day_does_not_bring_it_back(watched: Any, owner: Any) -> None:
    judge = Judging(watched)
    judge(found(severity="critical"))
    services.dismiss(recommendation=only(), actor=owner, reason="known", until=None, now=judge.now)
    judge(found(severity="warning"))
    judge(found(severity="critical"))
    assert only().state == State.DISMISSED


def test_dismissed_at_a_notice_a_warning_brings_it_back_even_after_a_notice(watched: Any, owner: Any) -> None:
    judge = Judging(watched)
    judge(found(severity="notice"))
    services.dismiss(recommendation=only(), actor=owner, reason="known", until=None, now=judge.now)
    judge(found(severity="notice"))
    judge(found(severity="warning"))
    row = only()
    assert (row.state, row.dismissed_rank) == (State.OPEN, None)


def evidence(**figures: tuple[float, str, str]) -> dict[str, Any]:
    window = {"started_at": "2026-11-21T11:59:00Z", "ended_at": "2026-11-21T12:00:00Z"}
    return {
        "evidence": [
            {"name": name, "value": value, "unit": unit, "window": window, **({"worse": worse} if worse else {})}
            for name, (value, unit, worse) in figures.items()
        ]
    }


def worse_by(then: dict[str, Any], now: dict[str, Any]) -> float:
    return verdict.growth(verdict.figures(then), verdict.figures(now), verdict.falling(now))


def test_numbers_that_grow_with_the_window_are_no_worse_harm() -> None:
    then = evidence(polls=(6, "count", ""), waits=(2, "count", ""), share=(0.4, "ratio", ""))
    now = evidence(polls=(360, "count", ""), waits=(120, "count", ""), share=(0.4, "ratio", ""))
    assert worse_by(then, now) == 1.0


def test_a_figure_that_gets_better_by_growing_brings_nothing_back() -> None:
    few, many = evidence(free=(0.01, "ratio", "lower")), evidence(free=(0.03, "ratio", "lower"))
    assert worse_by(few, many) < 1
    assert worse_by(many, few) == pytest.approx(3)
    assert worse_by(many, evidence(free=(0.0, "ratio", "lower"))) == float("inf")


def test_what_people_decide_is_journaled_with_their_name(watched: Any, owner: Any) -> None:
    judge = Judging(watched)
    judge(found())
    services.acknowledge(recommendation=only(), actor=owner, now=judge.now)
    services.dismiss(recommendation=only(), actor=owner, reason="known", until=None, now=judge.now)
    services.reopen(recommendation=only(), actor=owner, now=judge.now)
    assert kinds() == [
        "recommendation.opened",
        "recommendation.acknowledged",
        "recommendation.dismissed",
        "recommendation.reopened",
    ]
    assert [event.actor for event in Event.objects.filter(kind__startswith="recommendation.").order_by("id")] == [
        None,
        owner,
        owner,
        owner,
    ]


def test_a_step_from_a_page_that_is_out_of_date_is_refused(watched: Any, owner: Any) -> None:
    judge = Judging(watched)
    judge(found())
    stale = only()
    services.dismiss(recommendation=only(), actor=owner, reason="known", until=None, now=judge.now)
    with pytest.raises(WrongState, match="dismissed and cannot be acknowledged"):
        services.acknowledge(recommendation=stale, actor=owner, now=judge.now)
    assert kinds()[-1] == "recommendation.dismissed"


@pytest.mark.parametrize(("reason", "days"), [("  ", 3), ("because", 0), ("because", -1)])
def test_dismissing_takes_a_reason_and_a_date_to_come(watched: Any, owner: Any, reason: str, days: int) -> None:
    Judging(watched)(found())
    with pytest.raises(ValueError, match="dismissed"):
        services.dismiss(
            recommendation=only(),
            actor=owner,
            reason=reason,
            until=(START + timedelta(days=days)).date(),
            now=START,
        )
    assert only().state == State.OPEN


def test_the_fleet_row_counts_what_is_pending_and_names_the_worst(watched: Any, owner: Any) -> None:
    from advisor.recommendations import fleet

    judge = Judging(watched)
    judge(found(severity="notice"), found(OTHER, severity="critical"))
    fleet.count_recommendations(server=watched)
    row = FleetRow.objects.get(server=watched)
    assert (row.open_recommendations, row.worst_severity, row.worst_title) == (2, "critical", f"{OTHER} is wrong")
    services.dismiss(
        recommendation=Recommendation.objects.get(key=OTHER), actor=owner, reason="known", until=None, now=judge.now
    )
    row.refresh_from_db()
    assert (row.open_recommendations, row.worst_severity) == (1, "notice")


@pytest.mark.parametrize("rule", ["redo.redo-log-oversized", "flushing.io-capacity-max-too-high"])
def test_what_is_too_big_gets_worse_by_being_used_less(rule: str) -> None:
    seen = next(one.seen for one in rule_by_id(rule).examples if one.outcome is Finding)
    document = advice_document(judge(seen, [rule_by_id(rule)], strict=True), seen)["recommendations"][0]
    figures = verdict.figures(document)
    assert figures
    assert verdict.falling(document) == set(figures)
    busier = {name: 2 * value for name, value in figures.items()}
    assert verdict.growth(figures, busier, verdict.falling(document)) <= 1


def test_the_severity_at_dismissal_outlives_days_of_other_severities(watched: Any, owner: Any) -> None:
    judge_again = Judging(watched)
    judge_again(found(severity="warning"))
    services.dismiss(recommendation=only(), actor=owner, reason="known", until=None, now=judge_again.now)
    for severity in ("notice", "warning", "notice", "warning"):
        judge_again(found(severity=severity))
        assert only().state == State.DISMISSED
    judge_again(found(severity="critical"))
    assert only().state == State.OPEN
