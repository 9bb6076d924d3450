"""Exploring charts in headless Chromium: all six zoom together by one request, every range leads back, what is saved is
what is shown, and new samples come without moving what somebody looks at.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.urls import reverse

from tests.web import demo

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

OVER_TIME = ("checkpoint-age", "redo-rate", "transactions", "flushing", "dirty-pages")


def _explored(visit: Any, server: Any, query: str = "?range=1h") -> Any:
    """The page with Plotly over its charts, and a record of what was asked for."""
    seen = visit()
    page = seen.open(reverse("server", args=[server.pk]) + query)
    page.locator("#chart-checkpoint-age [data-drawing]").hover()
    page.wait_for_selector("#chart-dirty-pages [data-touched] .main-svg")
    return seen, page


def _drag(page: Any, chart: str, begin: float, end: float) -> None:
    """From one share of the plot's width to another."""
    page.locator(f"#chart-{chart}").scroll_into_view_if_needed()
    place = page.locator(f"#chart-{chart} svg.chart > .ground").bounding_box()
    y = place["y"] + place["height"] / 2
    page.mouse.move(place["x"] + begin * place["width"], y)
    page.mouse.down()
    page.mouse.move(place["x"] + end * place["width"], y, steps=5)
    page.mouse.up()


def _ranges(page: Any) -> list[tuple[int, int]]:
    """What each chart shows: by its drawing's own words and by Plotly's axis, which must agree to a second."""
    found = page.evaluate(
        """() => [...document.querySelectorAll("[data-drawing]")].map((one) => {
          const shown = one.querySelector(".touched")?._fullLayout.xaxis.range || ["", ""];
          const axis = shown.map((text) => Date.parse(text + "Z"));
          return [Number(one.dataset.from), Number(one.dataset.to), axis[1] - axis[0]];
        })"""
    )
    assert all(abs(to - begun - span) < 1000 for begun, to, span in found)
    return [(begun, to) for begun, to, _span in found]


def _until(page: Any, expression: str) -> None:
    """Waits for an expression to become true. Playwright's own waiting evaluates text, which the policy forbids."""
    for _ in range(100):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(100)
    raise AssertionError(expression)


def _settled(page: Any, wanted: Any) -> list[tuple[int, int]]:
    """Waits until all charts show one range that is as ``wanted`` wants it."""
    for _ in range(100):
        found = _ranges_or_nothing(page)
        if len(found) == 5 and len(set(found)) == 1 and wanted(found[0]):
            return found
        page.wait_for_timeout(100)
    raise AssertionError(f"the charts show {found}")


def _ranges_or_nothing(page: Any) -> list[tuple[int, int]]:
    try:
        return _ranges(page)
    except AssertionError:
        return []


def test_a_dragged_time_zooms_all_charts_and_every_range_leads_back(visit: Any, busy: Any) -> None:
    seen, page = _explored(visit, busy)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "charts.json" in request.url else None)
    begun, ended = _settled(page, lambda one: True)[0]
    page.locator("#chart-transactions [data-drawing]").hover()
    page.wait_for_selector("#chart-redo-rate .cross:has-text('MiB/s')")
    heights = page.evaluate("[...document.querySelectorAll('figure, #server-banner')].map((one) => one.offsetTop)")
    _drag(page, "redo-rate", 0.5, 0.75)
    page.wait_for_url("**from=**")
    first = _settled(page, lambda one: one[0] > begun + 1000)[0]
    assert abs(first[0] - (begun + 0.5 * (ended - begun))) < 60_000
    assert abs(first[1] - (begun + 0.75 * (ended - begun))) < 60_000
    assert len(asked) == 1
    # The words and the drawings below follow, so that leaving Plotly or printing shows the same time.
    page.wait_for_selector("#range-reset:visible")
    places = page.evaluate("[...document.querySelectorAll('figure, #server-banner')].map((one) => one.offsetTop)")
    assert places == heights
    page.keyboard.press("z")
    wider = _settled(page, lambda one: one[1] - one[0] > 1.9 * (first[1] - first[0]))[0]
    assert abs((wider[0] + wider[1]) - (first[0] + first[1])) < 4000
    page.go_back()
    assert _settled(page, lambda one: one == first)
    page.go_back()
    page.wait_for_url("**range=1h")
    assert _settled(page, lambda one: abs(one[1] - one[0] - 3_600_000) < 2000)
    page.go_forward()
    assert _settled(page, lambda one: one == first)
    page.locator("#range-reset").click()
    page.wait_for_url("**range=1h")
    assert _settled(page, lambda one: abs(one[1] - one[0] - 3_600_000) < 2000)
    seen.clean()


def test_the_pointer_on_one_chart_shows_its_time_on_all(visit: Any, busy: Any) -> None:
    seen = visit()
    page = seen.open(reverse("server", args=[busy.pk]) + "?range=1h")
    page.locator("#chart-transactions").scroll_into_view_if_needed()
    place = page.locator("#chart-transactions svg.chart > .ground").bounding_box()
    page.mouse.move(place["x"] + 10, place["y"] + 40)
    _until(page, "window.tidemarkCharts !== undefined")
    page.mouse.move(place["x"] + place["width"] / 2, place["y"] + 50)
    page.wait_for_selector("#chart-dirty-pages .cross:visible")
    times = [words.split(" · ")[0] for words in page.locator(".cross:visible").all_text_contents()]
    assert len(times) == 5
    assert len(set(times)) == 1
    shares = page.evaluate(
        """() => [...document.querySelectorAll("[data-drawing]")].map((one) => {
          const plot = one.querySelector(".ground").getBoundingClientRect();
          return (one.querySelector(".cross").getBoundingClientRect().left - plot.left) / plot.width;
        })"""
    )
    assert all(abs(share - 0.5) < 0.01 for share in shares)
    page.mouse.move(5, 5)
    _until(page, "document.querySelectorAll('.cross:not([hidden])').length === 0")
    seen.clean()


def test_files_are_saved_and_links_copied(visit: Any, busy: Any) -> None:
    seen = visit(permissions=["clipboard-read", "clipboard-write"])
    page = seen.open(reverse("server", args=[busy.pk]) + "?range=1h")
    figure = page.locator("#chart-flushing")
    figure.locator(".tools summary").click()
    with page.expect_download() as saved:
        figure.get_by_text("PNG").click()
    assert saved.value.suggested_filename.endswith(".png")
    content = saved.value.path().read_bytes()
    assert content.startswith(b"\x89PNG")
    width = int.from_bytes(content[16:20], "big")
    assert width == 1920
    with page.expect_download() as saved:
        figure.get_by_text("CSV").click()
    assert b"adaptive,pages/s" in saved.value.path().read_bytes()
    page.keyboard.press("Escape")
    page.keyboard.press("y")
    _until(page, "navigator.clipboard.readText().then((text) => /from=\\d+&to=\\d+$/.test(text))")
    seen.clean()


def test_keys_are_listed_and_lead_to_ranges_unless_somebody_types(visit: Any, busy: Any) -> None:
    seen = visit()
    page = seen.open(reverse("server", args=[busy.pk]) + "?range=1h")
    page.keyboard.press("?")
    page.wait_for_selector("dialog#keys[open]")
    page.keyboard.press("[")
    page.keyboard.press("Escape")
    assert "range=1h" in page.url
    page.keyboard.press("t")
    page.keyboard.press("[")
    assert "range=1h" in page.url
    page.keyboard.press("Escape")
    page.keyboard.press("[")
    page.wait_for_url("**from=**")
    page.keyboard.press("l")
    page.wait_for_url("**range=1h")
    page.keyboard.press("g")
    page.keyboard.press("f")
    page.wait_for_url(lambda url: url.endswith("/"))
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.closest('tr[data-href]') !== null")
    page.keyboard.press("Enter")
    page.wait_for_url("**/s/*")
    seen.clean()


def test_new_samples_are_appended_and_a_zoomed_time_stays(visit: Any, busy: Any) -> None:
    busy.fast_interval_seconds = 5
    busy.save()
    seen, page = _explored(visit, busy)
    before = _newest_drawn(page)
    _append(busy, seconds=10)
    for _ in range(300):
        if _newest_drawn(page) > before:
            break
        page.wait_for_timeout(100)
    assert _newest_drawn(page) == before + 10_000
    _drag(page, "dirty-pages", 0.4, 0.6)
    zoomed = _settled(page, lambda one: one[1] - one[0] < 1_800_000)[0]
    page.wait_for_selector("#range-reset:visible")
    _append(busy, seconds=20)
    page.wait_for_selector("[data-resume]:visible:has-text('2 new')", timeout=30_000)
    assert _ranges(page)[0] == zoomed
    page.keyboard.press("r")
    page.wait_for_url("**range=1h")
    assert _settled(page, lambda one: one[1] > zoomed[1] + 600_000)
    seen.clean()


@pytest.mark.ci
def test_odd_servers_can_be_explored_with_nothing_on_the_console(visit: Any, team: Any) -> None:
    for server in demo.build(team, hours=2, courses=demo.ODD):
        seen, page = _explored(visit, server, "?range=6h&cmp=-1h")
        assert page.locator("[data-touched]").count() == 5
        seen.clean()


def _newest_drawn(page: Any) -> int:
    return int(
        page.evaluate(
            """() => Math.max(...document.querySelector("#chart-transactions .touched").data
              .filter((one) => one.name === "transactions").flatMap((one) => one.x).filter(Boolean)
              .map((text) => Date.parse(text + "Z")))"""
        )
    )


def _append(server: Any, seconds: int) -> None:
    """The newest poll again, so many seconds later, with a little more of everything."""
    from dataclasses import replace

    from advisor.recommendations.models import FleetRow
    from collector.store import store

    newest = store().latest(server.pk)
    assert newest is not None
    for step in range(10, seconds + 1, 10):
        at = newest.at + step
        values = {**newest.values, "transactions": newest.values["transactions"] + 90 * step}
        poll = replace(
            newest, at=at, server_clock=at, uptime_seconds=newest.uptime_seconds + step,
            values={**values, "Uptime": newest.uptime_seconds + step},
        )  # fmt: skip
        store().append(server.pk, int(at), poll)
        FleetRow.objects.filter(pk=server.pk).update(newest_sample_at=datetime.fromtimestamp(at, UTC))
