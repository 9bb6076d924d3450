"""What the fleet row tells of the last day, and the word for its server's state."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from advisor.mysql.digest import HourlyDigest
from advisor.recommendations import fleet, fleet_hours
from advisor.recommendations.fleet_words import group_of, marked, words_of
from advisor.recommendations.models import NO_END, WORDS_LENGTH, FleetRow
from advisor.recommendations.vitals import Condition
from collector.models import Server
from tests.recommendations.test_fleet import BEGAN, poll, row
from tests.web import many

NOW = 1_800_003_600.0


def _digest(hours_ago: int, *, at: float, seconds: float, limit: float = 0.0, redo: int = 10**12) -> HourlyDigest:
    """An hour with so many seconds at a pressure."""
    cells = [0.0] * 31
    cells[int(at / 0.05 + 0.5)] = seconds
    hour = fleet_hours.hour_of(NOW) - hours_ago * fleet_hours.HOUR
    return HourlyDigest(hour, 3600, redo, 0, tuple(cells), seconds, limit, 0, 0, 1)


def test_time_in_trouble_is_credited_to_the_condition_and_the_hour() -> None:
    hours: list[list[float]] = []
    for minute, condition in enumerate((Condition.CRITICAL, Condition.WARNING, Condition.CALM)):
        hours = fleet_hours.credited(hours, at=NOW + minute * 60, seconds=60, condition=condition, pressure=0.9)
    hours = fleet_hours.credited(hours, at=NOW + 3600, seconds=30, condition=Condition.CRITICAL, pressure=1.01)
    assert hours == [[NOW, 60, 60, 0.9], [NOW + 3600, 0, 30, 1.01]]
    assert fleet_hours.trouble_seconds(hours) == 150


def test_an_hour_falls_out_after_a_day() -> None:
    hours = [[fleet_hours.hour_of(NOW) - ago * 3600, 10, 0, 0.95] for ago in range(30, -1, -1)]
    assert len(fleet_hours.kept(hours, NOW)) == fleet_hours.HOURS
    assert fleet_hours.trouble_seconds(fleet_hours.kept(hours, NOW)) == 240


def test_hours_that_nobody_watched_come_from_their_digests_and_watched_ones_stay() -> None:
    watched = [[fleet_hours.hour_of(NOW) - 3600, 5, 0, 0.5]]
    digests = [_digest(1, at=1.0, seconds=900, limit=900), _digest(2, at=0.95, seconds=600, limit=100)]
    told = [fleet_hours.told_by_digest(one, 0.93) for one in digests]
    hours = fleet_hours.filled(watched, told, at=NOW)
    assert [one[1:] for one in hours] == [[500, 100, 1.0], [5, 0, 0.5]]


def test_a_high_age_of_an_idle_hour_is_no_trouble() -> None:
    told = fleet_hours.told_by_digest(_digest(3, at=1.0, seconds=3600, limit=3600, redo=5_000), 0.93)
    assert told[1:] == [0, 0, 1.0]


def test_the_row_counts_how_long_it_was_in_trouble(watched: Any) -> None:
    first = poll(watched, [1.0])
    fleet.refresh(server_id=watched.pk, now=first)
    later = poll(watched, [1.0], later=70, seconds=60)
    fleet.refresh(server_id=watched.pk, now=later)
    found = row(watched)
    assert found.hours[-1][0] == fleet_hours.hour_of(BEGAN)
    assert 60 <= found.trouble_seconds <= 140
    calm = poll(watched, [0.2], later=400, seconds=120)
    fleet.refresh(server_id=watched.pk, now=calm)
    assert row(watched).trouble_seconds == found.trouble_seconds, "a gap is nobody's time, and calm is no trouble"


def test_a_row_that_was_just_made_knows_the_hour_that_goes_on(watched: Any) -> None:
    now = poll(watched, [1.0], seconds=600)
    fleet.refresh(server_id=watched.pk, now=now)
    assert 550 <= row(watched).trouble_seconds <= 700


def test_advice_changes_the_state_and_never_the_condition(watched: Any) -> None:
    now = poll(watched, [0.3])
    FleetRow.objects.filter(pk=watched.pk).update(worst_severity="critical", worst_title="Writes may be lost")
    fleet.refresh(server_id=watched.pk, now=now)
    found = row(watched)
    assert (found.state, found.condition, found.trouble_seconds) == ("critical", "calm", 0)
    assert fleet.mark_stale(now=now + timedelta(seconds=120)) == 1
    assert (row(watched).state, row(watched).headroom_order) == ("stale", NO_END)


def test_resolved_advice_gives_the_measured_state_back(watched: Any) -> None:
    fleet.refresh(server_id=watched.pk, now=poll(watched, [0.3]))
    FleetRow.objects.filter(pk=watched.pk).update(state="critical", worst_severity="critical")
    fleet.count_recommendations(server=watched)
    assert row(watched).state == "calm"


def test_a_newer_name_tag_and_reason_are_what_is_searched(watched: Any) -> None:
    watched.tags, watched.name, watched.folded = ["Prod", "group:Orders"], "Beta", "beta"
    watched.save()
    found = row(watched)
    assert (found.folded, found.group) == ("beta", "orders")
    assert marked("prod") in found.words
    fleet.refresh(server_id=watched.pk, now=poll(watched, [1.0]))
    assert "writers wait for redo" in row(watched).words


def test_words_do_not_change_with_the_figures_of_a_poll(watched: Any) -> None:
    fleet.refresh(server_id=watched.pk, now=poll(watched, [0.3], seconds=120))
    before = row(watched).words
    fleet.refresh(server_id=watched.pk, now=poll(watched, [0.4], later=200, seconds=120))
    assert row(watched).words == before


def test_words_fit_their_index_and_tags_are_kept() -> None:
    words = words_of(tags=["prod"], others=("x" * 2000, "\x1fprod-eu\x1f"))
    assert len(words) == WORDS_LENGTH
    assert marked("PROD") in words
    assert marked("prod-eu") not in words_of(tags=[], others=("\x1fprod-eu\x1f",))


@pytest.mark.parametrize(
    ("tags", "group"),
    [([], ""), (["Prod", "x"], "prod"), (["prod", "group:Orders"], "orders"), (["group:"], "group:"), ("text", "")],
)
def test_the_group_of_tags(tags: Any, group: str) -> None:
    assert group_of(tags) == group


def test_who_was_heard_of_is_not_asked_after(team: Any, django_assert_num_queries: Any) -> None:
    many.fleet(team, 200, stale=0.0)
    FleetRow.objects.filter(newest_sample_at=None).delete()
    FleetRow.objects.update(newest_sample_at=timezone.now())
    quiet = Server.objects.filter(fleet_row__isnull=False).first()
    assert quiet is not None
    Server.objects.filter(fleet_row__isnull=True).delete()
    FleetRow.objects.filter(pk=quiet.pk).update(newest_sample_at=timezone.now() - timedelta(minutes=5))
    assert fleet.mark_stale() == 1
    FleetRow.objects.filter(pk=quiet.pk).update(newest_sample_at=timezone.now())
    with django_assert_num_queries(1):
        assert fleet.mark_stale() == 0
