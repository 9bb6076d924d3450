"""A figure near a threshold opens a recommendation at most once and does not close it by noise."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from advisor.engine.evaluation import judge
from advisor.engine.outcome import Finding
from advisor.engine.scene import scene
from advisor.engine.units import MIB
from advisor.journal.models import Event
from advisor.recommendations.models import Recommendation, State
from advisor.recommendations.states import LIVING
from advisor.rules import rule_by_id

from .building import RULE, Judging, found

RULE_ITSELF = rule_by_id(RULE)
THRESHOLD = 0.90


def seen(pressure: float) -> Any:
    """Ten minutes of a steady load on a server whose age stays at this share of its limit."""
    return scene(
        "mysql 8.0.33",
        {"innodb_redo_log_capacity": 400 * MIB},
        redo_per_second=2 * MIB,
        pressure=[pressure],
        seconds=600,
    )


def judged_in_turn(server: Any, pressures: list[float]) -> list[str]:
    """Judges by the real rule at each pressure in turn; what happened to the recommendation, in order."""
    Recommendation.objects.all().delete()
    Event.objects.all().delete()
    lasting = Judging(server)
    for pressure in pressures:
        holding = {
            key
            for keys in Recommendation.objects.filter(state__in=LIVING).values_list("keys", flat=True)
            for key in keys
        }
        fired = isinstance(judge(seen(pressure), [RULE_ITSELF], holding=holding).outcome(RULE), Finding)
        lasting(*([found()] if fired else []))
        # A judgement's slot rises for ever, so the next example goes on from here.
    server.judgement.delete()
    return list(Event.objects.filter(kind__startswith="recommendation.").order_by("id").values_list("kind", flat=True))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(noise=st.lists(st.floats(0.95, 1.05), min_size=5, max_size=20))
def test_noise_of_five_percent_around_a_threshold_never_flips_twice(watched: Any, noise: list[float]) -> None:
    happened = judged_in_turn(watched, [THRESHOLD * one for one in noise])
    assert happened in ([], ["recommendation.opened"])


def test_the_same_noise_would_flip_without_room_to_leave(watched: Any) -> None:
    """The counter-example that the property rests on: the rule itself, asked without memory, goes back and forth."""
    fired = [
        isinstance(judge(seen(THRESHOLD * one), [RULE_ITSELF]).outcome(RULE), Finding) for one in (1.05, 0.95, 1.05)
    ]
    assert fired == [True, False, True]


def test_well_below_the_threshold_it_resolves(watched: Any) -> None:
    assert judged_in_turn(watched, [0.95, 0.5, 0.5, 0.5]) == ["recommendation.opened", "recommendation.resolved"]
    assert Recommendation.objects.get().state == State.RESOLVED
