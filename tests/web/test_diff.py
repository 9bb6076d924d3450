"""Before and after on the page: windows, what stands at the top, settings that differ, files, and other servers."""

from __future__ import annotations

import csv
import io
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from advisor.engine.units import HOUR, WEEK
from advisor.web import diff_windows
from tests.conftest import build_server
from tests.web import history

pytestmark = pytest.mark.django_db

HOUR_AND_HOUR = "?a_from=now-2h&a_to=now-65m&b_from=now-55m&b_to=now"
SCANS = {"Handler_read_rnd_next": 90_000.0, "Handler_read_next": 300.0}


@pytest.fixture
def changed(watched: Any) -> Any:
    """Two hours of snapshots; for the last hour an index is missing, and the load is greater by 1.8. The windows of the
    tests keep some minutes away from the change, as the test itself takes some.
    """
    more = {name: 1.8 * rate for name, rate in history.LOAD.items()}
    history.write(
        watched, end=time.time() - 20, hours=2.2, changes={1.0: {**more, **{n: 1.8 * r for n, r in SCANS.items()}}}
    )
    return watched


@pytest.fixture
def read(viewer: Any, sign_in: Callable[[Any], Client]) -> Callable[..., str]:
    def get(server: Any, query: str = HOUR_AND_HOUR, **headers: str) -> str:
        answer = sign_in(viewer).get(reverse("server-diff", args=[server.pk]) + query, headers=headers)
        assert answer.status_code == 200
        return str(answer.content.decode())

    return get


def _document(client: Client, server: Any, query: str = HOUR_AND_HOUR) -> Any:
    return client.get(reverse("server-diff-export", args=[server.pk, "json"]) + query).json()["comparison"]


def test_the_load_is_told_first_and_what_it_does_not_explain_stands_at_the_top(
    changed: Any, read: Callable[..., str]
) -> None:
    page = read(changed)
    assert re.search("The load changed ×1\\.[78]", page)
    assert "compare per transaction" in page
    rows = page[page.index('class="rows cards changes"') :]
    first, second = rows.split("<tr class=")[1:3]
    assert {"Handler_read_rnd_next" in one for one in (first, second)} == {True, False}
    assert {"Handler_read_next" in one for one in (first, second)} == {True, False}
    assert "▲" in first
    assert "▲" in second


def test_the_document_has_the_figures_in_the_order_of_the_page(
    changed: Any, viewer: Any, sign_in: Callable[[Any], Client]
) -> None:
    found = _document(sign_in(viewer), changed)
    assert found["work"]["ratio"] == pytest.approx(1.8, rel=0.05)
    assert found["ordered_by"] == "work"
    first = next(one for one in found["changes"][:2] if one["name"] == "Handler_read_rnd_next")
    assert first["per_second"]["after"] == pytest.approx(162_000, rel=0.05)
    assert first["per_work"]["ratio"] == pytest.approx(1500, rel=0.1)
    assert found["changes"][0]["score"] >= found["changes"][1]["score"]


def test_only_what_is_unusual_can_be_shown(changed: Any, read: Callable[..., str]) -> None:
    page = read(changed, HOUR_AND_HOUR + "&unusual=1")
    assert "Handler_read_rnd_next" in page
    assert "Com_update" not in page[page.index("changes-title") : page.index("As a text table")]


def test_a_search_keeps_its_windows_and_is_sent_as_a_part(changed: Any, read: Callable[..., str]) -> None:
    part = read(changed, HOUR_AND_HOUR + "&q=sort", **{"HX-Request": "true"})
    assert part.lstrip().startswith('<section class="card" id="changes"')
    assert "Sort_rows" in part
    assert "Handler_read_rnd_next" not in part
    assert "a_from=" in part


def test_the_permalink_names_instants(changed: Any, read: Callable[..., str]) -> None:
    page = read(changed)
    link = page[page.index('<a href="?a_from=') :].split('"')[1]
    assert link.count("now") == 0
    assert "Handler_read_rnd_next" in read(changed, link.replace("&amp;", "&"))


def test_a_restart_is_said_and_rates_are_whole(
    watched: Any, viewer: Any, read: Callable[..., str], sign_in: Callable[[Any], Client]
) -> None:
    history.write(watched, end=time.time() - 20, hours=2.2, restart_hours_ago=0.5)
    assert "restarted once" in read(watched)
    found = _document(sign_in(viewer), watched)
    assert len(found["after"]["restarts"]) == 1
    assert found["after"]["left_out_seconds"] > 0
    assert found["work"]["ratio"] == pytest.approx(1, rel=0.05)


def test_a_restart_between_the_windows_is_said(watched: Any, read: Callable[..., str]) -> None:
    history.write(watched, end=time.time() - 20, hours=2.2, restart_hours_ago=0.98)
    assert "restarted between the windows" in read(watched)
    assert "restarted between the windows" not in read(
        watched, "?a_from=now-2h&a_to=now-90m&b_from=now-85m&b_to=now-65m"
    )


def test_settings_that_differ_are_told_by_what_they_mean(watched: Any, read: Callable[..., str]) -> None:
    now = time.time() - 20
    history.write(watched, end=now - HOUR, hours=1.2, variables={9: {"innodb_io_capacity": "200", "sync_binlog": "1"}})
    history.write(watched, end=now, hours=0.95, variables={9: {"innodb_io_capacity": "4000", "sync_binlog": "ON"}})
    page = read(watched)
    settings = page[page.index("settings-title") : page.index("changes-title")]
    assert "innodb_io_capacity" in settings
    assert "4000" in settings
    assert "sync_binlog" not in settings


def test_windows_that_are_too_short_are_compared_and_not_judged(
    changed: Any, read: Callable[..., str], viewer: Any, sign_in: Callable[[Any], Client]
) -> None:
    query = "?a_from=now-85m&a_to=now-75m&b_from=now-12m&b_to=now-2m"
    assert "Too short to judge" in read(changed, query)
    found = _document(sign_in(viewer), changed, query)
    assert found["changes"][0]["name"] == "Handler_read_rnd_next"
    assert {one["unusual"] for one in found["changes"]} == {None}


def test_without_readings_the_page_says_what_it_takes(watched: Any, read: Callable[..., str]) -> None:
    page = read(watched)
    assert "There is nothing to compare" in page
    assert "one is taken every 1 min" in page


def test_windows_that_make_no_sense_are_replaced_and_said(changed: Any, read: Callable[..., str]) -> None:
    assert "make no sense" in read(changed, "?a_from=now&a_to=now-1h&b_from=now-1h&b_to=now")


def test_an_event_stands_between_its_windows(changed: Any, read: Callable[..., str]) -> None:
    at = round((time.time() - 3600) * 1000)
    page = read(changed, f"?at={at}&width=1800&settle=300")
    assert "around what happened at this moment" in page
    assert "Handler_read_rnd_next" in "".join(page.split("<tr class=")[1:3])


def test_the_usual_windows_are_those_of_last_week_where_they_are_known(watched: Any) -> None:
    now = time.time()
    weak = diff_windows.asked({}, watched, now, UTC)
    assert (weak.b_from - weak.a_from, weak.weak) == (HOUR, True)
    history.write(watched, end=now - WEEK, hours=1, polled=False)
    assert diff_windows.asked({}, watched, now, UTC).a_from == now - HOUR - WEEK


def test_what_happened_a_moment_ago_is_shown_by_what_there_is(watched: Any) -> None:
    now = time.time()
    found = diff_windows.asked({"at": str(round((now - 200) * 1000))}, watched, now, UTC)
    assert found.settled_seconds == pytest.approx(50, abs=1)
    assert found.b_to == pytest.approx(now, abs=1)
    assert found.a_to - found.a_from == pytest.approx(found.b_to - found.b_from)


def test_two_servers_are_compared_and_a_foreign_one_is_not_there(
    changed: Any, team: Any, other_team: Any, viewer: Any, sign_in: Callable[[Any], Client], read: Callable[..., str]
) -> None:
    other, foreign = build_server(team, "beta"), build_server(other_team, "gamma")
    history.write(
        other, end=time.time() - 20, hours=1.1, seed=5, variables={9: {"port": "3999", "max_connections": "7"}}
    )
    page = read(changed, f"{HOUR_AND_HOUR}&other={other.pk}")
    assert "beta" in page
    settings = page[page.index("settings-title") : page.index("changes-title")]
    assert "3999" not in settings
    assert "max_connections" in settings
    assert "gamma" not in page
    address = reverse("server-diff", args=[changed.pk])
    assert sign_in(viewer).get(f"{address}{HOUR_AND_HOUR}&other={foreign.pk}").status_code == 404


def test_the_csv_has_what_the_page_has_and_the_text_is_aligned(
    changed: Any, viewer: Any, sign_in: Callable[[Any], Client]
) -> None:
    client = sign_in(viewer)

    def form(name: str) -> str:
        return str(client.get(reverse("server-diff-export", args=[changed.pk, name]) + HOUR_AND_HOUR).content.decode())

    rows = list(csv.DictReader(io.StringIO(form("csv"))))
    found = _document(client, changed)
    assert [row["name"] for row in rows] == [one["name"] for one in found["changes"]]
    assert float(rows[0]["after"]) == pytest.approx(found["changes"][0]["per_second"]["after"], rel=1e-3)
    text = form("txt").split("\n")
    table = [line for line in text if line.startswith(("Com_", "Innodb_", "Handler_")) and line.endswith(")")]
    assert len(table) > 10
    assert len({len(line) for line in table}) == 1
    assert datetime.now(UTC).strftime("%Y-%m-%d") in text[2]
    assert client.get(reverse("server-diff-export", args=[changed.pk, "exe"])).status_code == 404


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_the_page_is_whole_on_a_phone_without_scripts(visit: Any, changed: Any) -> None:
    seen = visit(viewport={"width": 360, "height": 800}, java_script_enabled=False, color_scheme="dark")
    page = seen.open(reverse("server-diff", args=[changed.pk]) + HOUR_AND_HOUR)
    assert page.locator("tr.unusual svg.whisker").count() >= 2
    page.click("text=only unusual")
    assert "unusual=1" in page.url
    assert page.locator("tr.usual").count() == 0
    assert page.locator("html").evaluate("one => one.scrollWidth <= one.clientWidth")
    seen.clean()
