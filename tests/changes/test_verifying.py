"""From an applied change to its verdict: when it is judged, what is stored, who hears of it, what is taken back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from advisor.changes import track_record, verifying, verifying_history
from advisor.changes.applying import settling
from advisor.changes.models import Application, ChangeRequest, Notice, Plan, State, Verification, WantedChange
from advisor.changes.states import WrongState
from advisor.engine.units import MIB
from advisor.journal.models import Event
from advisor.recommendations.models import Recommendation
from collector import settings_history
from collector.models import SettingsBase, SettingsChange
from collector.store import store
from tests.changes.building import Desk
from tests.engine.verdict_histories import CHANGED_AT, Server, history

SMALL = Server(limit=48 * MIB, pages=500)
LARGE = Server(limit=400 * MIB, pages=500)
APPLIED_AT = datetime.fromtimestamp(CHANGED_AT, UTC)


def at(seconds: float) -> datetime:
    return APPLIED_AT + timedelta(seconds=seconds)


def applied(
    desk: Desk, variable: str = "innodb_redo_log_capacity", *, rule: str = "", roll_back: bool = False
) -> Application:
    """A change that was applied on the desk's server a moment before, as the room of applying leaves it."""
    advice = None
    if rule:
        advice = Recommendation.objects.create(
            server=desk.server, rule=rule, key=rule, current=rule, keys=[rule], severity="warning", severity_rank=2,
            confidence="high", state="applied", opened_at=APPLIED_AT, last_seen_at=APPLIED_AT, document={},
        )  # fmt: skip
    request = ChangeRequest.objects.create(
        team=desk.team, number=ChangeRequest.objects.count() + 1, title="A larger log", author=desk.author,
        author_name="author", state=State.VERIFYING, created_at=APPLIED_AT, changed_at=APPLIED_AT,
        applied_at=APPLIED_AT,
    )  # fmt: skip
    WantedChange.objects.create(
        request=request, server=desk.server, variable=variable, value="1G", recommendation=advice
    )
    part = {"server": desk.server.pk, "name": "alpha", "needs_restart": False, "changes": [{"variable": variable}]}
    policy = {"roll_back_automatically": roll_back}
    plan = Plan.objects.create(
        request=request, hash="0" * 64, document={"servers": [part], "policy": policy}, made_at=APPLIED_AT,
        expires_at=APPLIED_AT,
    )  # fmt: skip
    request.plan = plan
    request.save()
    application = Application.objects.create(
        request=request, plan=plan, server=desk.server, direction="apply", state="applied", due_at=APPLIED_AT,
        started_at=APPLIED_AT, ended_at=APPLIED_AT,
    )  # fmt: skip
    application.steps.create(number=1, variable=variable, statement="SET", written_at=APPLIED_AT, state="done")
    verifying.schedule_for(application, APPLIED_AT)
    return application


def watched(desk: Desk, before: Server, after: Server | None = None, seed: int = 1) -> None:
    """The sample history of an hour before the change and half an hour after it."""
    found = history(before, after=after, seed=seed)
    for poll in [found[0].previous, *(one.current for one in found)]:
        store().append(desk.server.pk, int(poll.at), poll)


def verdicts(application: Application) -> dict[str, str]:
    return dict(application.verifications.values_list("stage", "verdict"))


@pytest.fixture
def taken_back(monkeypatch: pytest.MonkeyPatch) -> list[ChangeRequest]:
    """Which requests were offered to be rolled back by policy; applying has its own tests of what it does then."""
    offered: list[ChangeRequest] = []
    monkeypatch.setattr(settling, "roll_back_by_policy", lambda request, now: offered.append(request))
    return offered


def test_a_change_that_helped_is_told_within_minutes_and_everybody_concerned_hears_of_it(desk: Desk) -> None:
    application = applied(desk)
    watched(desk, SMALL, LARGE)
    assert verifying.tick(at(60)) == 0, "it was judged before the server had settled"
    for seconds in range(240, 901, 30):
        verifying.tick(at(seconds))
    early = application.verifications.get(stage="early")
    assert early.verdict == "improved"
    assert early.judged_at is not None
    assert early.judged_at <= at(900)
    assert verdicts(application) == {"early": "improved", "hour": "", "day": ""}
    document = early.document
    windows = document["windows"]
    assert windows["before"]["to"] <= CHANGED_AT <= document["settled_at"] <= windows["after"]["from"] + 1
    assert min(windows["before"]["polls"], windows["after"]["polls"]) >= 12
    rows = {row["id"]: row for row in document["metrics"]}
    assert rows["pages_per_redo"]["judged"] == "better"
    assert rows["pages_per_redo"]["high"] < 1
    assert {row["id"] for row in document["load"]} == {"work", "redo"}
    assert Event.objects.get(kind="change.verified").data["verdict"] == "improved"
    assert Notice.objects.filter(kind="change.verified", user=desk.author).count() == 1


def test_a_stage_is_judged_once_whoever_asks_how_often(desk: Desk) -> None:
    application = applied(desk)
    watched(desk, SMALL, LARGE)
    first = verifying.verify_now(request=application.request, actor=desk.author, now=at(1200))
    assert [row.verdict for row in first] == ["improved"]
    judged_at = first[0].judged_at
    verifying.tick(at(1300))
    application.verifications.get(stage="early", judged_at=judged_at)
    assert Event.objects.filter(kind="change.verified").count() == 1


def test_asking_before_there_is_something_to_see_says_so_and_decides_nothing(desk: Desk) -> None:
    application = applied(desk)
    watched(desk, SMALL, LARGE)
    (row,) = verifying.verify_now(request=application.request, actor=desk.author, now=at(100))
    assert (row.verdict, row.judged_at) == ("", None)
    assert row.document["why"] == "too_little"


def test_an_hour_and_a_day_later_it_is_judged_again(desk: Desk) -> None:
    application = applied(desk)
    watched(desk, SMALL, LARGE)
    verifying.tick(at(1200))
    assert verdicts(application)["hour"] == ""
    verifying.tick(at(3600))
    assert verdicts(application)["hour"] == "improved"
    assert verdicts(application)["day"] == ""
    verifying.tick(at(86_400))
    assert verdicts(application)["day"] == "improved"
    (newest,) = verifying.newest(application.request)
    assert newest.stage == "day"


def test_a_load_that_doubled_is_tried_again_for_a_while_and_then_told_with_its_factor(desk: Desk) -> None:
    application = applied(desk)
    watched(desk, LARGE, replace(LARGE, demand=lambda since: 40.0 if since < 0 else 80.0))
    verifying.tick(at(1000))
    assert verdicts(application)["early"] == ""
    assert application.verifications.get(stage="early").document["why"] == "load"
    verifying.tick(at(verifying.EARLY_UNTIL_SECONDS))
    early = application.verifications.get(stage="early")
    assert (early.verdict, early.document["why"]) == ("cannot_tell", "load")
    work = early.document["load"][0]
    assert work["low"] < work["change"] < work["high"]
    assert 1.7 < work["change"] < 2.3


def test_what_got_worse_is_offered_to_the_policy_and_operators_are_asked(
    desk: Desk, taken_back: list[ChangeRequest]
) -> None:
    application = applied(desk)
    watched(desk, LARGE, SMALL)
    verifying.tick(at(1200))
    assert verdicts(application)["early"] == "worse"
    assert [one.pk for one in taken_back] == [application.request_id]
    assert Notice.objects.filter(kind="change.verified", user=desk.operator).exists()


def test_what_a_person_kept_is_not_taken_back_by_itself(desk: Desk, taken_back: list[ChangeRequest]) -> None:
    application = applied(desk)
    watched(desk, LARGE, SMALL)
    kept = verifying.keep(request=application.request, actor=desk.operator, now=at(300))
    assert kept.state == State.KEPT
    verifying.tick(at(1200))
    assert verdicts(application)["early"] == "worse"
    assert taken_back == []
    with pytest.raises(WrongState):
        verifying.keep(request=kept, actor=desk.operator, now=at(400))


def test_what_was_rolled_back_is_not_judged_any_more(desk: Desk) -> None:
    application = applied(desk)
    watched(desk, SMALL, LARGE)
    ChangeRequest.objects.update(state=State.ROLLED_BACK)
    assert verifying.tick(at(100_000)) == 0
    assert set(verdicts(application).values()) == {""}
    application.request.refresh_from_db()
    with pytest.raises(verifying.NothingApplied):
        verifying.verify_now(request=application.request, actor=desk.author, now=at(100_000))


def test_another_setting_that_was_changed_inside_the_windows_is_named_and_nothing_is_told(desk: Desk) -> None:
    application = applied(desk)
    watched(desk, SMALL, LARGE)
    SettingsBase.objects.create(server=desk.server, at=int(CHANGED_AT) - 7000, payload=settings_history._packed({}))
    SettingsChange.objects.create(
        server=desk.server,
        at=int(CHANGED_AT) + 600,
        changes={"sync_binlog": ["1", "0"], "innodb_redo_log_capacity": ["1", "2"]},
    )
    verifying.tick(at(1200))
    early = application.verifications.get(stage="early")
    assert (early.verdict, early.document["why"]) == ("cannot_tell", "settings")
    assert early.document["settings"] == ["sync_binlog"]


def test_a_server_that_nobody_watched_is_not_judged_for_ever(desk: Desk) -> None:
    application = applied(desk)
    verifying.tick(at(600))
    assert verdicts(application)["early"] == ""
    verifying.tick(at(verifying.EARLY_UNTIL_SECONDS))
    assert verdicts(application)["early"] == "cannot_tell"


def test_one_damaged_history_does_not_keep_others_waiting(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    broken, fine = applied(desk), applied(desk)
    watched(desk, SMALL, LARGE)
    real: Callable[..., Any] = verifying_history.judged

    def judged(done: Any, stage: str, now: float) -> Any:
        if next(calls) == 0:
            raise ValueError("damaged")
        return real(done, stage, now)

    calls = iter(range(100))
    monkeypatch.setattr(verifying, "judged", judged)
    assert verifying.tick(at(1200)) == 1
    assert sorted([verdicts(broken)["early"], verdicts(fine)["early"]]) == ["", "improved"]


def test_a_rule_is_told_how_often_it_was_right_by_the_latest_verdict_of_each_change(desk: Desk) -> None:
    rule = "redo.redo-log-undersized"
    application = applied(desk, rule=rule)
    watched(desk, SMALL, LARGE)
    assert track_record.of_rule(rule, [desk.team.pk]).judged == 0
    verifying.tick(at(1200))
    assert track_record.of_rule(rule, [desk.team.pk]) == track_record.TrackRecord(improved=1)
    application.verifications.filter(stage="hour").update(verdict="worse", judged_at=at(3600))
    assert track_record.of_rule(rule, [desk.team.pk]) == track_record.TrackRecord(worse=1)
    assert track_record.of_rule(rule, []) == track_record.TrackRecord()
    assert track_record.of_rule("redo.redo-log-oversized", [desk.team.pk]).judged == 0
    assert Verification.objects.count() == 3
