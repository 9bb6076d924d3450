"""Every figure that says where it comes from is followed there, and made again from the samples that it names."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.urls import reverse

from tests.web import demo

pytestmark = pytest.mark.django_db

#: (unix milliseconds, least, greatest, last) as getSeries gives it.
Point = Sequence[float]
#: What each word says is done with the samples.
ARITHMETIC: dict[str, Callable[[list[Point]], float]] = {
    "last": lambda points: points[-1][3],
    "least": lambda points: min(point[1] for point in points),
    "greatest": lambda points: max(point[2] for point in points),
    "mean": lambda points: sum(point[3] for point in points) / len(points),
}
UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
#: Pages that have to trace figures, by the name of their address.
PAGES = ("server",)


class Figures(HTMLParser):
    """Links to samples: their attributes and their text."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[dict[str, str]] = []
        self._open: dict[str, str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "a" and "figure" in given.get("class", "").split() and "data-figure" in given:
            self._open = {**given, "text": ""}

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            self._open["text"] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "a" and self._open is not None:
            self.found.append(self._open)
            self._open = None


def figures_of(html: str) -> list[dict[str, str]]:
    parser = Figures()
    parser.feed(html)
    return parser.found


def shown(text: str) -> tuple[float, float]:
    """The number that stands there in the unit of the samples, and half of its last digit."""
    match = re.match(r"(-?[\d,]+(?:\.(\d+))?) ?(%|[KMGT]?i?B)?", text.strip())
    assert match, f"{text!r} is no number"
    factor = 0.01 if match[3] == "%" else float(UNITS.get(match[3] or "", 1))
    # Three significant digits are shown, and none behind the point from 100 on.
    return float(match[1].replace(",", "")) * factor, 0.5 * 10.0 ** -len(match[2] or "") * factor


def wrong_with(client: Client, figure: dict[str, str]) -> str:
    """Follows one figure; what is wrong with it, empty where nothing is."""
    parts = urlsplit(figure["href"])
    if client.get(figure["href"]).status_code != 200:
        return "its link leads nowhere"
    asked = parse_qs(parts.query)
    if asked.get("name") != [figure["data-figure"]]:
        return f"its link names {asked.get('name')}"
    told = client.get(parts.path + ".json", {name: values[0] for name, values in asked.items()}).json()
    points = [point for point in told["series"][0]["points"] if point]
    if not points:
        return "no sample is behind it"
    again = ARITHMETIC[figure["data-how"]](points)
    exact = float(figure["data-value"])
    if abs(again - exact) > 1e-6 * max(abs(exact), 1e-9):
        return f"{figure['data-how']} of {len(points)} samples is {again}, the page means {exact}"
    value, half = shown(figure["text"])
    # A share that is stored in percent is shown in percent too; positions are told per second.
    near = [exact, exact / 100]
    if not any(abs(value - one) <= half * 1.001 + 1e-12 for one in near):
        return f"the page shows {figure['text']!r} and means {exact}"
    return ""


def crawl(client: Client, html: str) -> list[str]:
    """What is wrong with any of the page's figures. Raises where it has none."""
    found = figures_of(html)
    assert found, "the page traces no figure"
    return [
        f"{figure['data-figure']} ({figure['data-how']}): {said}"
        for figure in found
        if (said := wrong_with(client, figure))
    ]


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("course", [0, 1, 2], ids=["in-trouble", "mariadb", "calm"])
def test_every_figure_can_be_made_again(
    name: str, course: int, team: Any, owner: Any, sign_in: Callable[[Any], Client]
) -> None:
    server = demo.build(team, hours=1.2, courses=demo.COURSES[course : course + 1])[0]
    client = sign_in(owner)
    assert crawl(client, client.get(reverse(name, args=[server.pk])).content.decode()) == []


@pytest.mark.parametrize("change", ["data-value", "text", "data-how"])
def test_a_figure_that_lies_is_found(change: str, busy: Any, owner: Any, sign_in: Callable[[Any], Client]) -> None:
    client = sign_in(owner)
    html = client.get(reverse("server", args=[busy.pk])).content.decode()
    figures = [one for one in figures_of(html) if one["data-how"] == "mean"]
    lie = {"data-value": "12345.678", "text": "12,345 /s", "data-how": "greatest"}[change]
    assert figures
    assert any(wrong_with(client, {**one, change: lie}) for one in figures)
