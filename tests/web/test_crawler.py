"""Every figure that says where it comes from is followed there, and made again from what it names; every other number
with a unit is of a part of the page that says why it has no samples.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests.web import demo, redo_history
from tests.web.crawling import figures_of, numbers_of, wrong_with
from tests.whatif.emulated import MIB

pytestmark = pytest.mark.django_db

#: What is no measurement of a time, wherever it stands: by element, class or id of the page.
EVERYWHERE = {
    "figure": "a chart: its samples are its table and its files, which test_exports holds against what is drawn",
    "#keys": "the keyboard's help",
    "nav": "names of ranges and objectives",
    "option": "names of ranges",
    "h2": "a title",
    "th": "the name of a column or row",
    "caption": "the name of a table",
    "dt": "the name of a figure",
}
#: Pages that have to trace figures, by the name of their address, and what of them is no measurement.
PAGES: dict[str, dict[str, str]] = {
    "fleet": {
        ".trouble": "counted while the polls came in, with what was held for two minutes: no samples are kept of it",
        ".why": "a sentence: what it leads to holds its evidence",
        "table.heat": "the worst of a group's servers: its name leads to them",
        ".legend": "the key of the colours",
        ".none-left": "writers waited: the reason beside it says so",
    },
    "server-redo": {
        ".banner": "the sentence says in words what stands below as figures",
        ".top": "a setting",
        ".simulated": "what a model says of another size",
        ".estimate": "an estimate: nobody measured this server's recovery",
        ".setting": "a setting",
        ".read": "how much of the range was read",
        ".notes-below": "how the model was tried",
        "#set": "statements and settings",
        "#writers": "told of statements since each was first seen, by the server itself",
        ".called": "the name of a figure",
        ".map-words": "the words of the map: what its figures are",
    },
    "server": {
        ".banner": "its facts stand again as rows of figures in it",
        ".top": "words about the range and the settings",
        ".strip": "a headroom or change of what stands there as figures",
        "#recommendations": "a recommendation: its own page holds its evidence",
        "#server-levers": "levers: settings, and the figures of the sentence above again",
    },
}


def crawl(client: Client, name: str, html: str) -> tuple[list[str], int]:
    """What is wrong with any of the page's figures and numbers, and how many figures were made again. Raises where the
    page traces none.
    """
    found = figures_of(html)
    assert found, "the page traces no figure"
    wrong = [
        f"{figure['data-figure']} ({figure['data-how']}) {figure['text']!r}: {said}"
        for figure in found
        if (said := wrong_with(client, figure))
    ]
    numbers = numbers_of(html, {**EVERYWHERE, **PAGES[name]})
    wrong += [f"{text!r} is neither traced nor declared" for text in numbers.untraced]
    sys.stdout.write(f"{name}: {len(found)} figures made again; other numbers with a unit: {dict(numbers.declared)}\n")
    return wrong, len(found)


def page_of(client: Client, name: str, server: Any) -> str:
    """The fleet also with servers that need nobody, the redo log with the sizes in it."""
    fleet = [reverse("fleet"), reverse("fleet") + "?state=all"]
    addresses = fleet if name == "fleet" else [reverse(name, args=[server.pk]) + "?whole=1"]
    return "".join(client.get(address).content.decode() for address in addresses)


@pytest.mark.parametrize("course", [0, 1, 2], ids=["in-trouble", "mariadb", "calm"])
def test_every_figure_can_be_made_again(course: int, team: Any, owner: Any, sign_in: Callable[[Any], Client]) -> None:
    server = demo.build(team, hours=1.2, courses=demo.COURSES[course : course + 1])[0]
    client = sign_in(owner)
    assert {name: crawl(client, name, page_of(client, name, server))[0] for name in PAGES} == {
        name: [] for name in PAGES
    }


def test_every_figure_of_the_sizes_and_hours_can_be_made_again(
    team: Any, owner: Any, sign_in: Callable[[Any], Client]
) -> None:
    """A log so small that writers wait: a measured row, hours, a map of the week, and times in which they waited."""
    server = redo_history.build(team, hours=3.2, capacity=64 * MIB)
    client = sign_in(owner)
    html = page_of(client, "server-redo", server)
    wrong, count = crawl(client, "server-redo", html)
    assert wrong == []
    hows = {figure["data-how"] for figure in figures_of(html)}
    assert {"p95-of-histogram", "share-above-async", "hours-a-week-at-limit", "most-of-hours"} <= hows
    assert count >= 10


@pytest.mark.parametrize("change", ["data-value", "text", "data-how"])
def test_a_figure_that_lies_is_found(change: str, busy: Any, owner: Any, sign_in: Callable[[Any], Client]) -> None:
    client = sign_in(owner)
    html = client.get(reverse("server", args=[busy.pk])).content.decode()
    figures = [one for one in figures_of(html) if one["data-how"] == "mean"]
    lie = {"data-value": "12345.678", "text": "12,345 /s", "data-how": "greatest"}[change]
    assert figures
    assert any(wrong_with(client, {**one, change: lie}) for one in figures)


def test_a_number_that_leads_nowhere_is_found() -> None:
    traced = '<a class="figure" data-figure="x" data-how="last" href="/"><b>3 GiB</b></a>'
    html = f"<p>{traced} of <b>12</b> <span>MiB</span>, <i class='said'>40 %</i>, 7 servers, 95 %</p>"
    found = numbers_of(html, {".said": "a word"})
    assert found.untraced == ["12 MiB", "95 %"]
    assert found.declared == {".said": 1}
