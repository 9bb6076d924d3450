"""What is saved of a chart is what the page shows: the numbers are parsed back and held against the drawing."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest
from django.test import Client
from django.urls import reverse

from advisor.ui.charts.canvas import Canvas
from advisor.ui.charts.chart import Chart
from advisor.web import server_page
from tests.web import demo

pytestmark = pytest.mark.django_db

OVER_TIME = ("checkpoint-age", "redo-rate", "transactions", "flushing", "dirty-pages")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def get(busy: Any, owner: Any, sign_in: Callable[[Any], Client]) -> Callable[..., Any]:
    """``get(chart, form)``: the file over the last half an hour, by the very link of the page."""
    client = sign_in(owner)
    page = client.get(reverse("server", args=[busy.pk]) + "?range=1h").content.decode()
    links = dict(re.findall(r'href="(/s/[^"?]+/charts/([\w-]+\.\w+)\?from=\d+&amp;to=\d+)"', page))
    by_name = {name: link.replace("&amp;", "&") for link, name in links.items()}

    def ask(chart: str, form: str) -> Any:
        return client.get(by_name[f"{chart}.{form}"])

    return ask


def _rows(answer: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(answer.content.decode())))


def _places(d: str) -> list[tuple[int, int]]:
    """The corners of a path of moves, relative lines, and levels."""
    places: list[tuple[int, int]] = []
    x = y = 0
    for command, numbers in re.findall(r"([Mlhv])([^Mlhv]*)", d):
        steps = [int(one) for one in re.findall(r"-?\d+", numbers)]
        if command in "hv":
            x, y = (x + steps[0], y) if command == "h" else (x, y + steps[0])
            places.append((x, y))
            continue
        for dx, dy in zip(steps[::2], steps[1::2], strict=True):
            x, y = (dx, dy) if command == "M" else (x + dx, y + dy)
            places.append((x, y))
    return places


@pytest.mark.parametrize("chart", OVER_TIME)
def test_csv_and_json_hold_the_same_numbers(chart: str, get: Callable[..., Any]) -> None:
    rows, document = _rows(get(chart, "csv")), json.loads(get(chart, "json").content)
    assert document["series"]
    for one in document["series"]:
        points = [point for point in one["points"] if point is not None]
        mine = [row for row in rows if row["series"] == one["name"]]
        assert [
            [float(row["unix_ms"]), float(row["min"]), float(row["max"]), float(row["last"])] for row in mine
        ] == points
        assert {row["unit"] for row in mine} == ({one["unit"]} if points else set())
    assert len(rows) == sum(point is not None for one in document["series"] for point in one["points"])


@pytest.mark.parametrize(
    ("chart", "series", "colour"),
    [
        ("redo-rate", "redo_written", "#0072b2"),
        ("transactions", "transactions", "#b0578d"),
        ("checkpoint-age", "checkpoint_age", "#0072b2"),
    ],
)
def test_the_line_of_the_drawing_goes_through_the_exported_numbers(
    chart: str, series: str, colour: str, get: Callable[..., Any], busy: Any
) -> None:
    rows = [row for row in _rows(get(chart, "csv")) if row["series"] == series]
    root = ElementTree.fromstring(get(chart, "svg").content)  # noqa: S314 - our own file
    line = next(
        one for one in root.iter(f"{SVG}path")
        if one.get("stroke") == colour and one.get("stroke-width") == "1.5" and not one.get("stroke-dasharray")
    )  # fmt: skip
    document = json.loads(get(chart, "json").content)
    canvas = _canvas(chart, document, busy)
    drawn = _places(line.get("d") or "")
    wanted = [(canvas.column(float(row["unix_ms"])), canvas.row(float(row["last"]))) for row in rows]
    assert set(drawn) == set(wanted)
    assert len(rows) > 20


def _canvas(chart_id: str, document: Any, server: Any) -> Canvas:
    """The scale of the very drawing: the one thing that numbers alone do not tell."""
    from advisor.ui.period import Period

    period = Period(document["from"] / 1000, document["to"] / 1000, "", False)
    charts, _snapshot = server_page.charts_of(server, period)
    found = charts.chart(chart_id)
    assert isinstance(found, Chart)
    return Canvas(found)


def test_the_page_draws_the_same_lines_as_the_file(
    get: Callable[..., Any], busy: Any, owner: Any, sign_in: Any
) -> None:
    answer = get("redo-rate", "svg")
    link = answer.wsgi_request.get_full_path()
    page = sign_in(owner).get(reverse("server", args=[busy.pk]) + "?" + link.partition("?")[2]).content.decode()
    figure = re.search(r'<figure id="chart-redo-rate".*?</figure>', page, re.S)
    assert figure is not None
    shown = set(re.findall(r' d="([^"]+)"', figure[0]))
    saved = {one.get("d") for one in ElementTree.fromstring(answer.content).iter(f"{SVG}path")}  # noqa: S314 - our own
    assert shown
    assert shown <= saved


def test_shares_of_the_distribution_add_up_to_all_the_time(get: Callable[..., Any]) -> None:
    rows = _rows(get("occupancy", "csv"))
    assert sum(float(row["share"]) for row in rows) == pytest.approx(1)
    cells = json.loads(get("occupancy", "json").content)["cells"]
    assert [[float(row["from"]), float(row["to"]), float(row["share"])] for row in rows] == cells
    assert ElementTree.fromstring(get("occupancy", "svg").content).tag == f"{SVG}svg"  # noqa: S314 - our own file


def test_files_have_names_that_say_what_they_are_and_nothing_that_runs(get: Callable[..., Any]) -> None:
    answer = get("redo-rate", "svg")
    assert re.search(r'inline; filename="orders-db-07-redo-rate-\d+-\d+\.svg"', answer["Content-Disposition"])
    assert answer["Content-Security-Policy"] == "default-src 'none'"
    assert get("redo-rate", "csv")["Content-Disposition"].startswith("attachment")


def test_a_hostile_name_stays_text_in_the_file_and_leaves_its_name(team: Any, owner: Any, sign_in: Any) -> None:
    course = demo.COURSES[0]
    server = demo.build(team, hours=0.1, courses=(course,))[0]
    server.name = 'x"><script>alert(1)</script>\r\nSet-Cookie: a=b'
    server.save()
    answer = sign_in(owner).get(reverse("server-chart-export", args=[server.pk, "redo-rate", "svg"]))
    assert b"<script" not in answer.content
    assert re.fullmatch(r'inline; filename="[\w.-]+"', answer["Content-Disposition"])


@pytest.mark.parametrize(
    ("chart", "form"), [("redo-rate", "exe"), ("redo-rate", "png"), ("nonsense", "csv"), ("events", "svg")]
)
def test_what_there_is_not_is_not_found(chart: str, form: str, busy: Any, owner: Any, sign_in: Any) -> None:
    assert sign_in(owner).get(reverse("server-chart-export", args=[busy.pk, chart, form])).status_code == 404


def test_a_page_that_stands_still_learns_how_many_samples_came(busy: Any, owner: Any, sign_in: Any) -> None:
    from collector.models import OpenSample

    client = sign_in(owner)
    slots = list(OpenSample.objects.filter(server=busy).order_by("slot").values_list("slot", flat=True))
    answer = client.get(reverse("server-newest", args=[busy.pk]), {"since": slots[-13]})
    assert answer.json() == {"count": 12, "newest": slots[-1]}
    assert client.get(reverse("server-newest", args=[busy.pk]), {"since": "x'"}).json()["count"] >= len(slots)


def test_unchanged_data_are_not_sent_again(busy: Any, owner: Any, sign_in: Any) -> None:
    client = sign_in(owner)
    address = reverse("server-charts", args=[busy.pk]) + "?from=1795000000000&to=1795003600000"
    first = client.get(address)
    assert client.get(address, headers={"If-None-Match": first["ETag"]}).status_code == 304
    assert client.get(address + "&tz=utc&cmp=-1h", headers={"If-None-Match": first["ETag"]}).status_code == 200
