"""Charts: round ticks, no line over a gap, whole numbers, words escaped, and the same figures in every form."""

from __future__ import annotations

import csv
import io
import re
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.ui.charts import distribution, export, figure, lines, paths, scale, small, standalone, svg
from advisor.ui.charts.chart import Axis, Bar, Chart, Distribution, Happening, Limit, Point, RightAxis, Second, Trace

ROOT = Path(__file__).resolve().parents[2]
ZONE = ZoneInfo("UTC")
START = 1_795_000_000_000.0


def _chart(points: list[Point], **more: object) -> Chart:
    values: dict[str, object] = {
        "id": "x", "title": "X", "caption": "c", "axis": Axis(str), "started": START, "ended": START + 3_600_000.0,
        "traces": (Trace("t", "age", points, filled=True),),
    }  # fmt: skip
    return Chart(**{**values, **more})  # type: ignore[arg-type]


def _steady(count: int, value: float = 5.0) -> list[Point]:
    return [(START + i * 3_600_000 / count, value, value, value) for i in range(count)]


@given(st.floats(min_value=1e-6, max_value=1e15), st.integers(min_value=1, max_value=8), st.sampled_from([10, 1024]))
def test_ticks_reach_the_top_in_round_steps(top: float, count: int, base: int) -> None:
    ticks = scale.amount_ticks(top, count, base)
    assert ticks[0] == 0
    assert ticks[-1] >= top * (1 - 1e-9) or (base == 1024 and ticks[-1] >= top - 1)
    assert len(ticks) <= count + 2


def test_bytes_get_binary_ticks() -> None:
    gib = 1024**3
    assert scale.amount_ticks(7.5 * gib, 4, 1024) == [0, 2 * gib, 4 * gib, 6 * gib, 8 * gib]


@pytest.mark.parametrize("hours", [0.25, 1, 6, 24, 24 * 7, 24 * 30])
def test_time_ticks_are_few_and_round_in_the_readers_zone(hours: float) -> None:
    zone = ZoneInfo("Asia/Kathmandu")
    ticks = scale.time_ticks(START, START + hours * 3_600_000, zone, 7)
    assert 2 <= len(ticks) <= 8
    for at, _label in ticks:
        assert datetime.fromtimestamp(at / 1000, zone).second == 0
        assert datetime.fromtimestamp(at / 1000, zone).minute % 2 == 0 or hours < 1


def test_midnights_stay_midnights_when_the_clock_changes() -> None:
    zone = ZoneInfo("Europe/Berlin")
    start = datetime(2026, 10, 24, tzinfo=zone).timestamp() * 1000
    ticks = scale.time_ticks(start, start + 3 * 86_400_000, zone, 4)
    assert [datetime.fromtimestamp(at / 1000, zone).hour for at, _ in ticks] == [0] * len(ticks)


@given(st.lists(st.floats(min_value=0, max_value=180), min_size=1, max_size=6))
def test_labels_never_overlap(wanted: list[float]) -> None:
    places = scale.spread(sorted(wanted), 13, 9, 186)
    assert all(b - a >= 13 - 1e-6 for a, b in pairwise(places))


def test_a_gap_breaks_the_line() -> None:
    points: list[Point] = [*_steady(4)]
    points[2] = None
    drawn = svg.render(_chart(points), ZONE)
    line = re.search(r'class="line c-age" d="([^"]*)"', drawn)
    assert line is not None
    assert line[1].count("M") == 2


def test_paths_are_whole_relative_steps() -> None:
    assert paths.polyline([(0, 10), (5, 8), (9, 8), (9, 8)]) == "M0 10l5-2 4 0"
    assert paths.stepped([(0, 10), (4, 10), (9, 3), (12, 3)]) == "M0 10h9v-7h3"
    assert paths.polyline([(3, 3)]) == "M3 3h1"


def test_1200_points_make_a_small_drawing() -> None:
    points: list[Point] = [(START + i * 3000, 900 + i % 7, 1000 + i % 11, 950 + i % 9) for i in range(1200)]
    assert len(svg.render(_chart(points, tall=True), ZONE)) < 40_000


def test_words_in_charts_are_escaped() -> None:
    hostile = '<script>alert("x")</script>'
    chart = _chart(
        _steady(3), sentence=hostile, limits=(Limit(hostile, "sync", "solid", [(START, 4.0), (START + 9, 4.0)]),),
        happenings=(Happening(START + 5, "<", hostile),), gaps=((START, START + 5, hostile),),
    )  # fmt: skip
    for drawn in (
        svg.render(chart, ZONE),
        svg.render(_chart([], missing=hostile), ZONE),
        small.sparkline([1.0], hostile),
    ):
        assert "<script" not in drawn
    bars = Distribution("d", "D", "c", (Bar(0, 1, 1.0),), ((0.5, "sync", hostile),), sentence=hostile)
    assert "<script" not in distribution.render(bars)


def test_limits_are_drawn_as_steps_and_named_at_the_left() -> None:
    moving = [(START, 8.0), (START + 1_800_000, 8.0), (START + 1_800_001, 4.0), (START + 3_600_000, 4.0)]
    drawn = svg.render(
        _chart(_steady(5), limits=(Limit("async point", "async", "long", moving),), axis=Axis(str, at_least=8)), ZONE
    )
    path = re.search(r'class="limit long c-async" d="([^"]*)"', drawn)
    assert path is not None
    assert re.fullmatch(r"M0 \d+h\d+v\d+h\d+", path[1])
    assert re.search(r'class="name c-async" x="6"[^>]*>async point 8.0 → 4.0<', drawn)


def test_a_limit_above_the_axis_is_named_with_an_arrow() -> None:
    drawn = svg.render(
        _chart(_steady(5), limits=(Limit("io", "sync", "solid", [(START, 900.0), (START + 9, 900.0)]),)), ZONE
    )
    assert "io 900.0 ↑" in drawn
    assert 'class="limit' not in drawn


def test_a_stack_adds_up() -> None:
    traces = (Trace("a", "good", _steady(4, 3.0), band=False), Trace("b", "sync", _steady(4, 2.0), band=False))
    drawn = svg.render(_chart([], traces=traces, stacked=True), ZONE)
    tops = [int(y) for y in re.findall(r'class="line thin c-\w+" d="M0 (\d+)', drawn)]
    assert tops == [500 - round(500 * 3 / 6), 500 - round(500 * 5 / 6)]


def test_plotly_gets_the_same_figures_and_ticks() -> None:
    points: list[Point] = [*_steady(3), None]
    data = figure.as_data(_chart(points), ZONE)
    assert data["traces"][0]["y"] == [5.0, 5.0, 5.0, None]
    assert data["top"] == data["ticks"][-1][0]
    assert all(f">{label}</text>" in svg.render(_chart(points), ZONE) for _value, label in data["ticks"])


def test_a_limit_that_does_not_move_is_sent_as_its_ends() -> None:
    still = [(START + i, 7.0) for i in range(300)]
    data = figure.as_data(_chart(_steady(2), limits=(Limit("l", "sync", "solid", still),)), ZONE)
    assert data["limits"][0]["x"] == [START, START + 299]


def test_the_table_keeps_extremes_when_it_joins_rows() -> None:
    points: list[Point] = [(START + i, float(i), float(i) + 1, float(i)) for i in range(600)]
    names, rows = figure.table(_chart(points))
    assert names == ["t"]
    assert len(rows) == figure.TABLE_ROWS
    assert rows[0][1][0] == (590.0, 600.0, 599.0)
    body = figure.table_body([*rows[:1], (START, [None])], UTC)
    assert body.count("<tr>") == 2
    assert "<td>590</td><td>600</td><td>599</td>" in body
    assert "<td>–</td><td>–</td><td>–</td>" in body


def test_the_pressure_bar_changes_its_role_at_the_servers_own_points() -> None:
    roles = [re.search(r'class="bar c-(\w+)"', small.pressure_bar(p, 0.93)) for p in (0.5, 0.95, 1.2)]
    assert [found[1] for found in roles if found] == ["age", "async", "sync"]


def test_an_instant_has_its_zone() -> None:
    assert (
        scale.time_ticks(START, START + 3_600_000, ZoneInfo("Asia/Seoul"))[0][1]
        != scale.time_ticks(START, START + 3_600_000, ZoneInfo("Asia/Kolkata"))[0][1]
    )
    assert datetime.fromtimestamp(START / 1000, UTC).year == 2026


def _course(values: list[float | None]) -> list[Point]:
    return [None if value is None else (START + i * 1000.0, value, value, value) for i, value in enumerate(values)]


def test_the_area_where_one_wins_begins_and_ends_where_the_lines_cross() -> None:
    runs = lines.excess_runs(_course([1, 3, 1, 1]), _course([2, 2, 2, 2]))
    assert [[(at - START, upper, lower) for at, upper, lower in run] for run in runs] == [
        [(500.0, 2.0, 2.0), (1000.0, 3.0, 2.0), (1500.0, 2.0, 2.0)]
    ]


def test_nothing_is_won_over_a_gap_and_nothing_where_both_are_equal() -> None:
    runs = lines.excess_runs(_course([3, 3, None, 3, 3]), _course([1, 1, 1, 1, 1]))
    assert [len(run) for run in runs] == [2, 2]
    assert lines.excess_runs(_course([2, 2, 2]), _course([2, 2, 2])) == []


@given(st.lists(st.tuples(st.floats(0, 100), st.floats(0, 100)), min_size=2, max_size=30))
def test_the_area_holds_exactly_what_the_first_has_more(pairs: list[tuple[float, float]]) -> None:
    above, below = _course([a for a, _ in pairs]), _course([b for _, b in pairs])
    area = sum(
        (x2 - x1) / 1000 * ((u1 - l1) + (u2 - l2)) / 2
        for run in lines.excess_runs(above, below)
        for (x1, u1, l1), (x2, u2, l2) in pairwise(run)
    )
    steps = 400
    expected = 0.0
    for (a1, b1), (a2, b2) in pairwise(pairs):
        expected += sum(max((a1 - b1) + ((a2 - b2) - (a1 - b1)) * (i + 0.5) / steps, 0) for i in range(steps)) / steps
    assert area == pytest.approx(expected, abs=0.2 * len(pairs))


def test_a_layer_that_is_nothing_paints_no_edge() -> None:
    traces = (Trace("a", "good", _course([3, 3, 3]), band=False), Trace("b", "sync", _course([0, 0, 2]), band=False))
    drawn = svg.render(_chart([], traces=traces, stacked=True, ended=START + 2000), ZONE)
    edge = re.search(r'class="line thin c-sync" d="([^"]*)"', drawn)
    assert edge is not None
    assert edge[1].startswith("M800 ")


def test_the_right_axis_names_shares_of_the_same_lines() -> None:
    marks = ((2.0, "50 %"), (4.0, "100 %"), (99.0, "far above"))
    drawn = svg.render(_chart(_steady(4), right=RightAxis("% of it", 4.0, marks)), ZONE)
    assert 'class="chart two-axes"' in drawn
    heights = dict(re.findall(r'<text class="amount" x="100%" dx="6" y="(\d+)">([^<]*)<', drawn))
    left = dict(re.findall(r'<text class="amount" x="-6" y="(\d+)"[^>]*>([^<]*)<', drawn))
    assert "far above" not in heights.values()
    assert next(y for y, words in heights.items() if words == "100 %") in left


def test_the_past_lies_behind_and_makes_room_for_itself() -> None:
    drawn = svg.render(_chart(_steady(4), past=(Trace("before", "past", _steady(4, 18.0), dashed=True),)), ZONE)
    assert drawn.index("c-past") < drawn.index('class="line c-age"')
    assert ">20.0</text>" in drawn


def test_two_distributions_are_shares_at_or_below() -> None:
    bars = tuple(Bar(i / 10, (i + 1) / 10, share) for i, share in enumerate((0.25, 0.5, 0.25)))
    assert [round(share, 6) for _value, share in distribution.cumulated(bars)] == [0, 0.25, 0.75, 1]
    drawn = distribution.render(Distribution("d", "D", "c", bars, before=bars))
    assert drawn.count("<path") == 2
    assert "rect.bar" not in drawn


def test_a_file_has_the_colours_of_the_light_scheme_and_no_class() -> None:
    style = (ROOT / "static/tidemark/tidemark.css").read_text()
    for name, colour in standalone.COLOURS.items():
        assert re.search(rf"--{name}: light-dark\({colour},", style), name
    limit = Limit("l", "async", "long", [(START, 4.0), (START + 9, 4.0)])
    chart = _chart(_steady(9), limits=(limit,), gaps=((START, START + 9, ""),))
    text = standalone.chart_file(chart, [("age", "line", "<t>")], "db <1>", ZONE)
    root = ElementTree.fromstring(text)  # noqa: S314 - written by ourselves
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert not [one for one in root.iter() if "class" in one.attrib or "style" in one.attrib]
    assert "db <1> · X" in [one.text for one in root.iter() if one.tag.endswith("title")]


def test_rows_of_a_file_are_the_points_that_are_drawn() -> None:
    points: list[Point] = [(START, 1.0, 3.5, 2.25), None, (START + 1000, 0.1, 0.30000000000000004, 0.2)]
    limit = Limit("late", "sync", "solid", [(START, 4.0), (START + 9, 4.0)], "the_limit")
    chart = _chart(points, traces=(Trace("t", "age", points, key="one"),), limits=(limit,), unit="MiB/s")
    rows = list(csv.DictReader(io.StringIO(export.as_csv(chart))))
    assert [(row["series"], row["unit"]) for row in rows] == [("one", "MiB/s")] * 2 + [("the_limit", "MiB/s")] * 2
    assert [float(row["max"]) for row in rows[:2]] == [3.5, 0.30000000000000004]
    assert datetime.fromisoformat(rows[0]["time"]).timestamp() * 1000 == float(rows[0]["unix_ms"]) == START
    series = export.as_series(chart, 10)["series"]
    assert series[0]["points"] == [[START, 1.0, 3.5, 2.25], None, [START + 1000, 0.1, 0.30000000000000004, 0.2]]
    assert series[0]["kind"] == "rate"


def test_a_second_scale_has_its_own_unit_in_every_form() -> None:
    slow = [(at, 4.0, 4.0, 4.0) for at, *_rest in (p for p in _steady(4, 100.0) if p)]
    second = Second("ms of one", Axis(str), "ms", (Trace("f", "good", slow, band=False, key="f_ms"),))
    chart = _chart(_steady(4, 100.0), unit="1/s", second=second)
    data = figure.as_data(chart, ZONE)
    assert data["second"]["unit"] == "ms"
    assert data["second"]["traces"][0]["y"] == [4.0] * 4
    # Its greatest tick stands at the top of the drawing, and values between in proportion.
    value, words = data["second"]["marks"][-1]
    assert value == pytest.approx(data["top"])
    assert float(words) * data["second"]["factor"] == pytest.approx(value)
    drawing = svg.render(chart, ZONE)
    assert "two-axes" in drawing
    assert drawing.count('class="line c-') == 2
    names, rows = figure.table(chart)
    assert names == ["t", "f, ms"]
    assert [cell and cell[2] for cell in rows[0][1]] == [100.0, 4.0]
    told = list(csv.DictReader(io.StringIO(export.as_csv(chart))))
    assert {(row["series"], row["unit"], row["last"]) for row in told} == {("t", "1/s", "100.0"), ("f_ms", "ms", "4.0")}
    kinds = {one["name"]: one["kind"] for one in export.as_series(chart, 60)["series"]}
    assert kinds == {"t": "rate", "f_ms": "gauge"}
