"""Pages in headless Chromium: a clean console, nothing foreign, both colour schemes, phones, charts that can be
explored.
"""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.urls import reverse

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SIX = ("checkpoint-age", "occupancy", "redo-rate", "transactions", "flushing", "dirty-pages")


def test_the_server_page_is_whole_before_any_script(visit: Any, busy: Any) -> None:
    seen = visit(java_script_enabled=False)
    page = seen.open(reverse("server", args=[busy.pk]))
    for chart in SIX:
        drawing = page.locator(f"#chart-{chart} svg.chart")
        assert drawing.bounding_box()["height"] > 100, chart
        assert page.locator(f"#chart-{chart} svg :is(path, rect.bar)").count() > 0, chart
    seen.clean()


def test_before_interaction_a_page_needs_little_script_and_nothing_foreign(visit: Any, busy: Any) -> None:
    seen = visit()
    page = seen.open(reverse("server", args=[busy.pk]))
    page.wait_for_timeout(1500)
    assert 0 < sum(seen.scripts.values()) <= 40 * 1024
    assert not any("charts" in url for url in seen.scripts)
    seen.clean()


def test_plotly_takes_over_when_a_chart_is_touched_and_nothing_moves(visit: Any, busy: Any) -> None:
    seen = visit()
    page = seen.open(reverse("server", args=[busy.pk]) + "?range=1h")
    figure = page.locator("#chart-checkpoint-age")
    before = figure.bounding_box()
    page.locator("#chart-checkpoint-age [data-drawing]").hover()
    page.wait_for_selector("#chart-dirty-pages [data-touched] .main-svg")
    assert figure.bounding_box() == before
    place = page.locator("#chart-checkpoint-age .touched").bounding_box()
    page.mouse.move(place["x"] + 200, place["y"] + 90)
    page.mouse.down()
    page.mouse.move(place["x"] + 420, place["y"] + 90, steps=4)
    page.mouse.up()
    page.wait_for_url("**from=**")
    page.keyboard.press("Escape")
    page.wait_for_load_state()
    assert page.locator("[data-touched]").count() == 0
    seen.clean()


def test_the_clock_of_both_drawings_is_the_readers(visit: Any, busy: Any) -> None:
    seen = visit(timezone_id="Asia/Kolkata")
    seen.open("/")
    page = seen.open(reverse("server", args=[busy.pk]) + "?range=15m")
    ticks = page.locator("#chart-checkpoint-age text.time").all_text_contents()
    page.locator("#chart-checkpoint-age [data-wake]").click()
    page.wait_for_selector("#chart-checkpoint-age [data-touched] .xtick")
    plotly = page.locator("#chart-checkpoint-age .xtick").all_text_contents()
    # Near a full hour one drawing may have room for its first or last tick and the other not.
    now = datetime.now(ZoneInfo("Asia/Kolkata"))
    hours = {f"{now - timedelta(minutes=ago):%H}" for ago in (0, 8, 17)}
    for drawn in (ticks, plotly):
        assert drawn
        assert {tick.strip()[:2] for tick in drawn} <= hours
    seen.clean()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_system(scheme: str, visit: Any, busy: Any) -> None:
    seen = visit(color_scheme=scheme)
    page = seen.open("/")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 22, 28)"}[scheme]
    seen.clean()


@pytest.mark.parametrize("width", [360, 768])
def test_no_page_is_wider_than_the_screen(width: int, visit: Any, busy: Any, advice: Any) -> None:
    seen = visit(viewport={"width": width, "height": 800})
    for path in _paths(busy, advice):
        page = seen.open(path)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path
    seen.clean()


def test_the_keyboard_reaches_everything_and_shows_where_it_is(visit: Any, busy: Any) -> None:
    seen = visit()
    page = seen.open(reverse("server", args=[busy.pk]))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break
        reached.add(page.evaluate("document.activeElement.textContent.trim().slice(0, 12)"))
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none"
    assert {"Fleet", "1h", "explore", "table", "Safe levers"} <= reached


def test_a_refresh_brings_new_figures_and_moves_nothing(visit: Any, busy: Any, team: Any) -> None:
    from advisor.recommendations.models import FleetRow

    busy.fast_interval_seconds = 5
    busy.save()
    seen = visit()
    page = seen.open(reverse("server", args=[busy.pk]))
    page.evaluate(
        "() => { window.moved = 0;"
        "new PerformanceObserver(list => { for (const one of list.getEntries()) window.moved += one.value; })"
        ".observe({type: 'layout-shift', buffered: true}); }"
    )
    heights = page.evaluate("[...document.querySelectorAll('figure, .strip, .banner')].map(one => one.offsetTop)")
    row = FleetRow.objects.get(pk=busy.pk)
    row.transactions_per_second = 4321.0
    row.save()
    page.wait_for_selector("#server-strip :text('4,321')", timeout=15_000)
    assert (
        page.evaluate("[...document.querySelectorAll('figure, .strip, .banner')].map(one => one.offsetTop)") == heights
    )
    assert page.evaluate("window.moved") <= 0.02
    seen.clean()


def test_refreshing_waits_while_somebody_types(visit: Any, busy: Any) -> None:
    seen = visit()
    asked: list[str] = []
    page = seen.open("/")
    page.on("request", lambda request: asked.append(request.url) if request.headers.get("hx-request") else None)
    page.evaluate("document.querySelector('[data-refresh]').dataset.refresh = '1'")
    page.focus("#q")
    page.wait_for_timeout(3500)
    assert asked == []
    page.evaluate("document.activeElement.blur()")
    started = time.monotonic()
    while not asked and time.monotonic() - started < 12:
        page.wait_for_timeout(250)
    assert asked


def test_testing_a_connection_says_why_it_fails_before_anything_is_stored(visit: Any, owner: Any) -> None:
    from collector.models import Server

    seen = visit()
    page = seen.open(reverse("add-server"))
    page.fill("#id_name", "alpha")
    page.fill("#id_host", "127.0.0.1")
    page.fill("#id_port", "1")
    page.get_by_role("button", name="Test the connection").click()
    page.wait_for_selector('#connection [data-kind="refused"]')
    assert "Check the port" in page.locator("#connection").inner_text()
    assert Server.objects.count() == 0
    page.get_by_role("button", name="Add server").click()
    page.wait_for_selector("text=Nothing is saved yet")
    assert Server.objects.count() == 0
    page.get_by_role("button", name="Save anyway").click()
    page.wait_for_url("**/s/*")
    assert Server.objects.get().name == "alpha"
    seen.clean()


def test_statements_can_be_copied_and_tabs_switch(visit: Any, busy: Any, advice: Any) -> None:
    seen = visit(permissions=["clipboard-read", "clipboard-write"])
    page = seen.open(reverse("recommendation", args=[busy.pk, advice.pk]))
    page.locator("#do-sql [data-copy]").first.click()
    page.wait_for_selector("#spoken:text('copied')", state="attached")
    assert page.evaluate("navigator.clipboard.readText()") == "\n".join(f"{line};" for line in advice.document["sql"])
    page.get_by_role("tab", name="Option file").click()
    assert page.locator("#do-file").is_visible()
    assert not page.locator("#do-sql").is_visible()
    seen.clean()


def _paths(busy: Any, advice: Any) -> tuple[str, ...]:
    return (
        "/?state=all",
        reverse("server", args=[busy.pk]),
        reverse("recommendation", args=[busy.pk, advice.pk]),
        reverse("server-settings", args=[busy.pk]),
        reverse("add-server"),
        reverse("rules"),
        reverse("rule", args=["redo.redo-log-undersized"]),
        reverse("system"),
        reverse("account"),
    )
