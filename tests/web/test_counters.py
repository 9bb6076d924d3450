"""Every number of a server: searched, charted by an address, and the samples behind a figure."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from advisor.mysql import meanings
from advisor.ui import translations
from tests.api.calling import Caller
from tests.web import history

pytestmark = pytest.mark.django_db


@pytest.fixture
def counted(watched: Any) -> Any:
    """A server with an hour of snapshots; half an hour ago its statements began to read whole tables."""
    history.write(watched, end=time.time() - 20, hours=1, changes={0.5: {"Handler_read_rnd_next": 90_000.0}})
    return watched


@pytest.fixture
def read(counted: Any, viewer: Any, sign_in: Callable[[Any], Client]) -> Callable[..., str]:
    def get(query: str = "", part: bool = False) -> str:
        headers = {"HX-Request": "true", "HX-Target": "found"} if part else {}
        answer = sign_in(viewer).get(reverse("server-counters", args=[counted.pk]) + query, headers=headers)
        assert answer.status_code == 200
        return str(answer.content.decode())

    return get


def test_the_page_begins_with_what_moved_most(read: Callable[..., str]) -> None:
    page = read("?range=1h")
    moved = page[page.index("Moved most") : page.index("All names")]
    assert "Handler_read_rnd_next" in moved
    assert moved.index("Handler_read_rnd_next") < 2500


def test_names_are_found_by_what_they_mean(read: Callable[..., str]) -> None:
    page = read("?q=table+scan")
    assert "Handler_read_rnd_next" in page
    assert "Aborted_clients" not in page


def test_a_search_that_finds_nothing_says_so_and_leads_back(read: Callable[..., str]) -> None:
    page = read("?q=%3Cb%3Enothing")
    assert "No name or meaning has “&lt;b&gt;nothing” in it." in page
    assert "Show all names" in page


def test_while_somebody_types_only_the_list_is_sent(read: Callable[..., str]) -> None:
    part = read("?q=sort", part=True)
    assert part.lstrip().startswith('<div id="found">')
    assert "Sort_rows" in part
    assert "<html" not in part


def test_names_of_one_unit_share_a_chart_and_others_have_their_own(read: Callable[..., str]) -> None:
    page = read("?range=1h&name=Questions&name=Com_update&name=Bytes_sent")
    assert page.count("<figure ") == 2
    assert '<h2>Questions, Com_update</h2><span class="caption">per second</span>' in page
    assert '<span class="caption">bytes per second</span>' in page
    assert "Statements that clients sent." in page


def test_a_link_reproduces_what_is_shown(read: Callable[..., str]) -> None:
    page = read("?range=1h&name=Questions")
    assert "?range=6h&amp;name=Questions" in page
    assert "?name=Questions&amp;name=Aborted_clients&amp;range=1h" in page


def test_a_name_that_was_never_read_says_so(read: Callable[..., str]) -> None:
    page = read("?range=1h&name=No_such_counter")
    assert "Nothing was read under this name in this time." in page
    assert "no description known" in page


def test_hostile_names_stay_texts(read: Callable[..., str]) -> None:
    page = read("?name=%3Cscript%3Ealert(1)%3C/script%3E&q=%22%3E%3Cimg+src%3Dx%3E")
    assert "<script>alert" not in page
    assert "<img" not in page


def test_the_samples_as_json_are_those_of_the_api(
    counted: Any, viewer: Any, sign_in: Callable[[Any], Client], token_of: Callable[[Any], str]
) -> None:
    now = time.time()
    span = {"from": str(round((now - 3000) * 1000)), "to": str(round((now - 60) * 1000))}
    names = ["Questions", "Handler_read_rnd_next", "Threads_running"]
    ours = sign_in(viewer).get(
        reverse("server-counters-json", args=[counted.pk]), {"name": names, **span, "points": "300"}
    )
    theirs = Caller(token_of(viewer))("getSeries", id=counted.pk, names=names, points=300, **span)
    assert theirs.json() == {**ours.json(), "unknown": []}
    known = [point for point in ours.json()["series"][1]["points"] if point]
    assert len(known) > 20
    assert known[-1][3] == pytest.approx(90_000, rel=0.2)


def test_the_csv_has_the_same_samples(counted: Any, viewer: Any, sign_in: Callable[[Any], Client]) -> None:
    client, query = sign_in(viewer), {"name": ["Bytes_sent"], "range": "1h"}
    rows = list(
        csv.DictReader(
            io.StringIO(client.get(reverse("server-counters-csv", args=[counted.pk]), query).content.decode())
        )
    )
    points = client.get(reverse("server-counters-json", args=[counted.pk]), query).json()["series"][0]["points"]
    assert [(int(row["unix_ms"]), float(row["last"])) for row in rows] == [(p[0], p[3]) for p in points if p]
    assert {row["unit"] for row in rows} == {"bytes/s"}


@pytest.mark.parametrize(
    ("how", "of"), [("last", "newest"), ("greatest", "greatest"), ("least", "smallest"), ("p95", "95 %")]
)
def test_a_figure_is_made_again_from_its_samples(read: Callable[..., str], how: str, of: str) -> None:
    page = read(f"?range=1h&name=Threads_running&how={how}")
    banner = page[page.index('<section class="banner"') :]
    assert of in banner[: banner.index("</section>")]


def test_a_figure_without_samples_is_not_made_up(read: Callable[..., str]) -> None:
    assert "the figure cannot be made again" in read("?range=1h&name=redo_pressure&how=last")


def test_a_server_without_a_snapshot_says_when_the_names_come(
    watched: Any, viewer: Any, sign_in: Callable[[Any], Client]
) -> None:
    page = sign_in(viewer).get(reverse("server-counters", args=[watched.pk])).content.decode()
    assert "No full snapshot was read yet" in page


def test_every_meaning_has_korean_words() -> None:
    path = Path(__file__).parents[2] / "locale/ko/LC_MESSAGES/django.po"
    known = translations.read(path.read_text(encoding="utf-8"))
    assert [sentence for sentence in meanings.sentences() if sentence not in known] == []


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_typing_finds_names_and_the_address_keeps_the_search(visit: Any, counted: Any) -> None:
    seen = visit(viewport={"width": 390, "height": 844})
    page = seen.open(reverse("server-counters", args=[counted.pk]) + "?range=1h&name=Questions")
    page.fill("#q", "table scan")
    page.wait_for_url("**q=table**")
    page.wait_for_selector("#found a:has-text('Handler_read_rnd_next')")
    page.click("#found a:has-text('Handler_read_rnd_next')")
    page.wait_for_selector("figure:has-text('Questions, Handler_read_rnd_next') svg .line")
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    seen.clean()


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_time_that_is_dragged_is_zoomed_and_the_names_stay(visit: Any, counted: Any) -> None:
    seen = visit()
    page = seen.open(reverse("server-counters", args=[counted.pk]) + "?range=1h&name=Questions&name=Bytes_sent")
    place = page.locator("#chart-counters-1 svg .ground").bounding_box()
    page.locator("#chart-counters-1 [data-drawing]").hover()
    page.wait_for_selector("#chart-counters-2 [data-touched]")
    page.mouse.move(place["x"] + 500, place["y"] + 60)
    page.mouse.down()
    page.mouse.move(place["x"] + 800, place["y"] + 60, steps=4)
    page.mouse.up()
    page.wait_for_url("**from=**")
    assert "Bytes_sent" in page.url
    page.go_back()
    page.wait_for_url("**range=1h**")
    seen.clean()
