"""What a team makes of rules: it counts where it should, says so wherever it has an effect, and asks for a reason."""

from __future__ import annotations

import time
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from advisor.journal.models import Event
from advisor.recommendations import judging, rule_settings
from advisor.recommendations.models import Judgement, Recommendation, RuleSetting, State
from advisor.recommendations.rule_settings import BadSetting, clear_rule, effective, set_rule
from advisor.rules import all_rules, rule_by_id
from collector.models import Server

from .test_judging import record

RULE = "redo.redo-log-undersized"


@pytest.fixture
def setting(watched: Any, owner: Any) -> Any:
    def make(rule: str = RULE, **given: Any) -> RuleSetting:
        given = {"off": True, "reason": "We know.", **given}
        return set_rule(team=watched.team, rule_id=rule, actor=owner, now=timezone.now(), **given)

    return make


def _outcome(server: Server, rule: str = RULE) -> Any:
    return next(one for one in Judgement.objects.get(server=server).outcomes if one["rule"] == rule)


def _judged(server: Server, *, seconds_ago: float) -> None:
    """Two loaded minutes at the limit, judged."""
    record(server, at=time.time() - seconds_ago)
    judging.judge_server(server_id=server.pk)


def test_a_rule_that_is_off_says_so_and_closes_what_it_had_opened(watched: Any, setting: Any) -> None:
    _judged(watched, seconds_ago=400)
    _judged(watched, seconds_ago=200)
    assert _outcome(watched)["outcome"] == "finding"
    assert Recommendation.objects.get(rule=RULE).state == State.OPEN
    setting(reason="Sized by hand.")
    _judged(watched, seconds_ago=5)
    assert _outcome(watched) == {
        "rule": RULE,
        "outcome": "not_applicable",
        "why": "Switched off by your team: Sized by hand.",
    }
    assert Recommendation.objects.get(rule=RULE).state == State.RESOLVED
    assert Event.objects.filter(kind="recommendation.resolved").latest("pk").data["why"] == "switched_off"


def test_thresholds_change_what_is_found_and_the_recommendation_says_so(watched: Any, setting: Any) -> None:
    setting(off=False, thresholds={"floor_bytes": float(512 << 20)}, reason="Never below half a GiB.")
    _judged(watched, seconds_ago=200)
    _judged(watched, seconds_ago=5)
    (note,) = [
        one for one in Recommendation.objects.get(rule=RULE).document["notes"] if "your team's thresholds" in one
    ]
    assert "floor_bytes 512 MiB instead of 256 MiB" in note
    assert "Never below half a GiB." in note


def test_a_tag_counts_before_all_servers_and_only_where_it_is(watched: Any, setting: Any) -> None:
    setting(tag="", off=False, thresholds={"floor_bytes": 1.0 * (1 << 30)})
    setting(tag="Playground", off=True)
    assert effective(watched).off == {}
    assert effective(watched).thresholds[RULE].floor_bytes == 1 << 30  # type: ignore[attr-defined]
    watched.tags = ["playground"]
    watched.save()
    assert list(effective(watched).off) == [RULE]
    assert effective(watched).thresholds == {}


def test_settings_of_another_team_count_for_nothing(watched: Any, other_team: Any, owner: Any) -> None:
    set_rule(team=other_team, rule_id=RULE, off=True, reason="theirs", actor=owner, now=timezone.now())
    assert effective(watched).off == {}


def test_the_thresholds_as_declared_are_kept_as_nothing(setting: Any) -> None:
    declared = {one.name: one.value for one in rule_by_id(RULE).parameters.described()}  # type: ignore[union-attr]
    row = setting(off=False, thresholds={**declared, "floor_bytes": 2.0**30})
    assert row.thresholds == {"floor_bytes": 2.0**30}
    with pytest.raises(BadSetting, match="change one of its thresholds"):
        setting(off=False, thresholds=declared)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"reason": "  "}, "Say why"),
        ({"reason": "x" * 1001}, "longer than"),
        ({"rule": "redo.nothing"}, "There is no rule"),
        ({"off": False, "thresholds": {"nonsense": 1.0}}, "no threshold nonsense"),
        ({"off": False, "thresholds": {"floor_bytes": -1.0}}, "from 0 up"),
        ({"off": False, "thresholds": {"floor_bytes": float("nan")}}, "from 0 up"),
        ({"off": False, "thresholds": {"floor_bytes": True}}, "from 0 up"),
        ({"tag": "x" * 61}, "60 characters"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_with_the_reason(setting: Any, given: dict[str, Any], why: str) -> None:
    with pytest.raises(BadSetting, match=why):
        setting(**given)
    assert not RuleSetting.objects.exists()


def test_what_a_later_version_does_not_know_counts_for_nothing(watched: Any, setting: Any) -> None:
    row = setting(off=False, thresholds={"floor_bytes": 2.0**30})
    RuleSetting.objects.filter(pk=row.pk).update(thresholds={"gone": 3.0, "floor_bytes": "text"})
    RuleSetting.objects.create(team=watched.team, rule="gone.altogether", off=True, changed_at=timezone.now())
    chosen = effective(watched)
    assert (chosen.off, chosen.thresholds) == ({}, {})
    assert chosen.notes([RULE]) == []


def test_taking_it_back_is_told_and_lets_the_rule_count_again(watched: Any, owner: Any, setting: Any) -> None:
    clear_rule(setting=setting(), actor=owner, now=timezone.now())
    assert effective(watched).off == {}
    assert list(Event.objects.order_by("pk").values_list("kind", flat=True))[-2:] == [
        "rule.switched_off",
        "rule.setting_cleared",
    ]


def test_every_rule_with_thresholds_takes_each_of_them(watched: Any, owner: Any) -> None:
    for rule in all_rules():
        for one in rule.parameters.described() if rule.parameters else ():
            row = set_rule(
                team=watched.team,
                rule_id=rule.id,
                thresholds={one.name: one.value + 1},
                reason="tried",
                actor=owner,
                now=timezone.now(),
            )
            chosen = rule_settings.chosen([row], [])
            assert getattr(chosen.thresholds[rule.id], one.name) == one.value + 1


@pytest.fixture
def admin(owner: Any) -> Client:
    client = Client()
    client.force_login(owner)
    return client


def test_the_page_switches_off_and_shows_it_everywhere(admin: Client, watched: Any) -> None:
    page = reverse("rule", args=[RULE])
    answer = admin.post(reverse("rule-set", args=[RULE]), {"off": "on", "reason": "Sized by hand."}, follow=True)
    assert answer.redirect_chain[-1][0] == page
    for address in (page, reverse("server", args=[watched.pk])):
        assert "Sized by hand." in admin.get(address).content.decode()
    assert ">off<" in admin.get(reverse("rules")).content.decode()
    answer = admin.post(reverse("rule-clear", args=[RULE, RuleSetting.objects.get().pk]), follow=True)
    assert "Sized by hand." not in answer.content.decode()


def test_the_page_keeps_what_was_typed_and_says_what_is_wrong(admin: Client, watched: Any) -> None:
    answer = admin.post(reverse("rule-set", args=[RULE]), {"floor_bytes": "-3", "reason": "because"})
    assert answer.status_code == 422
    assert "because" in answer.content.decode()
    answer = admin.post(reverse("rule-set", args=[RULE]), {"reason": "because"})
    assert answer.status_code == 422
    assert "change one of its thresholds" in answer.content.decode()


def test_a_threshold_is_changed_on_the_page(admin: Client, watched: Any) -> None:
    admin.post(
        reverse("rule-set", args=[RULE]), {"floor_bytes": str(2**30), "tag": "prod", "reason": "agreed"}, follow=True
    )
    row = RuleSetting.objects.get()
    assert (row.tag, row.off, row.thresholds) == ("prod", False, {"floor_bytes": 2.0**30})
    assert "1 GiB" in admin.get(reverse("rule", args=[RULE])).content.decode()
