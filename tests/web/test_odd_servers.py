"""The six charts of servers that are not plain: resized while running, with holes, restarted, closed to us, old."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone, translation

from advisor.ui.charts import svg
from advisor.ui.charts.chart import Chart
from advisor.ui.period import Period, parse
from advisor.web import server_page
from advisor.web.server_charts import ServerCharts
from tests.web import demo

pytestmark = pytest.mark.django_db


@pytest.fixture
def charts(team: Any) -> Callable[[str], ServerCharts]:
    """``charts(name)``: of the odd server of that name, over its two hours."""

    def make(name: str, query: str = "") -> ServerCharts:
        course = next(one for one in demo.ODD if one.name == name)
        server = demo.build(team, hours=2, courses=(course,))[0]
        now = timezone.now().timestamp()
        period = parse({"cmp": query}, now) if query else Period(now - 2 * 3600, now, "", False)
        with translation.override("en"):
            return server_page.charts_of(server, period)[0]

    return make


def _chart(found: ServerCharts, name: str) -> Chart:
    chart = found.chart(name)
    assert chart is not None
    return chart


def _levels(chart: Chart, key: str) -> list[float]:
    limit = next(one for one in chart.limits if one.key == key)
    values = [place[1] for place in limit.points if place is not None]
    return [values[0], *(after for before, after in pairwise(values) if before != after)]


@pytest.mark.parametrize("name", ["resized-01", "resized-maria-02"])
def test_limits_move_when_the_redo_log_is_resized_while_running(name: str, charts: Callable[..., Any]) -> None:
    age = _chart(charts(name), "checkpoint-age")
    key = "redo_sync_point" if name == "resized-01" else "redo_maximum_age"
    before, after = _levels(age, key)
    assert after / before == pytest.approx(4, rel=0.02)
    assert any("resized" in note and "→" in note for note in age.notes)
    words = svg.limit_text(age, next(one for one in age.limits if one.key == key))
    assert "→" in words


def test_lines_of_settings_move_when_they_are_changed(charts: Callable[..., Any]) -> None:
    flushing = _chart(charts("resized-01"), "flushing")
    assert _levels(flushing, "innodb_io_capacity") == [400, 1200]
    assert _levels(flushing, "innodb_io_capacity_max") == [2000]


def test_a_hole_breaks_every_line_and_says_why(charts: Callable[..., Any]) -> None:
    found = charts("holes-03")
    for chart in found.over_time:
        assert [why for _from, _to, why in chart.gaps] == ["timed out"]
        begun, ended, _why = chart.gaps[0]
        inside = [
            p for trace in chart.traces for p in trace.points if p is not None and begun + 6e4 < p[0] < ended - 6e4
        ]
        assert inside == []


def test_a_restart_is_no_negative_spike(charts: Callable[..., Any]) -> None:
    found = charts("holes-03")
    for name in ("transactions", "flushing", "redo-rate"):
        for trace in _chart(found, name).traces:
            known = [point for point in trace.points if point is not None]
            assert known
            assert min(point[1] for point in known) >= 0
            assert max(point[2] for point in known) < 2000


def test_what_is_closed_to_us_is_said_with_the_grant_and_nothing_is_invented(charts: Callable[..., Any]) -> None:
    found = charts("closed-04")
    flushing, transactions = _chart(found, "flushing"), _chart(found, "transactions")
    assert [trace.key for trace in flushing.traces] == ["all_reasons"]
    assert "GRANT PROCESS" in " ".join(flushing.notes)
    assert "performance_schema" in " ".join(transactions.notes)
    assert "off" in " ".join(transactions.notes)


def test_a_low_water_mark_of_zero_is_off_and_no_line(charts: Callable[..., Any]) -> None:
    dirty = _chart(charts("old-05"), "dirty-pages")
    assert [limit.key for limit in dirty.limits] == ["innodb_max_dirty_pages_pct"]
    assert "low-water mark off" in dirty.caption


def test_a_comparison_draws_every_chart_against_the_time_before(charts: Callable[..., Any]) -> None:
    found = charts("resized-01", "-1h")
    for chart in found.over_time:
        points = [point for trace in chart.past for point in trace.points if point is not None]
        assert len(points) > 100, chart.id
        assert chart.started <= points[0][0] <= points[-1][0] <= chart.ended
    assert sum(bar.share for bar in found.occupancy.before) == pytest.approx(1)
    assert found.occupancy.before_name == "1 h before"


def test_without_a_wish_only_last_weeks_transactions_stand_behind(charts: Callable[..., Any]) -> None:
    """There is no history of last week here, so nothing does."""
    assert [chart.past for chart in charts("resized-01").over_time] == [()] * 5


def test_a_range_of_the_past_has_the_settings_of_then(team: Any) -> None:
    server = demo.build(team, hours=2, courses=demo.ODD[:1])[0]
    now = timezone.now().timestamp()
    charts, _snapshot = server_page.charts_of(server, Period(now - 2 * 3600, now - 1.5 * 3600, "", False))
    assert _levels(_chart(charts, "flushing"), "innodb_io_capacity") == [400]


@pytest.mark.parametrize(
    ("name", "asked", "share"), [("holes-03", "since-restart", 0.75), ("resized-01", "since-change", 0.55)]
)
def test_a_range_begins_with_the_newest_event_of_its_kind(
    name: str, asked: str, share: float, team: Any, owner: Any, sign_in: Any
) -> None:
    course = next(one for one in demo.ODD if one.name == name)
    server = demo.build(team, hours=2, courses=(course,))[0]
    answer = sign_in(owner).get(reverse("server", args=[server.pk]), {"range": asked})
    period = answer.context["period"]
    assert (period.name, period.moves, period.refused) == (asked, True, False)
    assert period.seconds == pytest.approx((1 - share) * 2 * 3600, abs=30)


def test_a_range_since_what_never_happened_says_so_quietly(team: Any, owner: Any, sign_in: Any) -> None:
    server = demo.build(team, hours=1, courses=demo.ODD[4:])[0]
    answer = sign_in(owner).get(reverse("server", args=[server.pk]), {"range": "since-restart"})
    assert answer.status_code == 200
    assert "there was no such event: showing" in answer.content.decode()


def test_utc_in_the_address_is_for_this_page_alone(team: Any, owner: Any, sign_in: Any) -> None:
    server = demo.build(team, hours=1, courses=demo.ODD[4:])[0]
    client = sign_in(owner)
    client.cookies["tidemark_zone"] = "Asia/Kathmandu"
    address = reverse("server", args=[server.pk])
    asked = client.get(address, {"range": "1h", "tz": "utc"}).content.decode()
    usual = client.get(address, {"range": "1h"}).content.decode()
    assert 'data-zone="UTC"' in asked
    assert 'data-zone="Asia/Kathmandu"' in usual
