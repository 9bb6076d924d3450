"""The fleet page in headless Chromium: filters, orders and the back button, live refresh, comparing, small screens."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import NoReverseMatch, reverse

from advisor.recommendations.models import FleetRow
from tests.web import many

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

NAMES = "[...document.querySelectorAll('#fleet-rows .server')].map(one => one.textContent)"


@pytest.fixture
def some(team: Any) -> Any:
    """Sixty servers, some in trouble."""
    return many.fleet(team, 60, seed=3, needing=0.3)


def test_filters_refresh_only_the_list_and_back_brings_the_old_one(visit: Any, some: Any) -> None:
    from playwright.sync_api import expect

    seen = visit()
    page = seen.open("/")
    shown = page.locator("#fleet-rows .server")
    page.evaluate("window.kept = true")
    opening, title = shown.all_text_contents(), page.title()
    page.select_option("#state", "all")
    page.wait_for_url("**/?state=all")
    expect(shown).to_have_count(50)
    page.fill("#q", "archive")
    page.wait_for_url("**q=archive**")
    expect(shown).to_have_count(3)
    assert page.evaluate("document.activeElement.id") == "q"
    assert page.evaluate("window.kept"), "the page was not loaded anew"
    assert "1–3 of 3" in page.locator("#spoken").text_content()
    by_need = shown.all_text_contents()
    page.select_option("#sort", "name")
    page.wait_for_url("**sort=name**")
    expect(shown).to_have_text(sorted(by_need))
    found = page.url
    page.go_back()
    expect(page.locator("#sort")).to_have_value("")
    expect(shown).to_have_text(by_need)
    for _ in range(6):
        if page.url == seen.base + "/":
            break
        page.go_back()
        page.wait_for_timeout(200)
    expect(shown).to_have_text(opening)
    assert page.title() == title
    page.goto(found)
    assert page.locator("#q").input_value() == "archive"
    assert shown.count() == 3
    seen.clean()


def test_a_columns_head_orders_by_it_and_keeps_the_filters(visit: Any, some: Any) -> None:
    seen = visit()
    page = seen.open("/?state=all&flavor=mysql")
    page.get_by_role("link", name="Redo pressure").click()
    page.wait_for_url("**sort=pressure**")
    page.wait_for_selector('th[aria-sort="descending"]:has-text("Redo pressure")')
    assert "flavor=mysql" in page.url
    shown = page.evaluate(NAMES)
    wanted = FleetRow.objects.filter(flavor="mysql").exclude(pressure=None).order_by("-pressure")
    assert shown[:5] == list(wanted.values_list("server__name", flat=True)[:5])
    seen.clean()


def test_without_javascript_the_same_form_and_links_work(visit: Any, some: Any) -> None:
    seen = visit(java_script_enabled=False)
    page = seen.open("/")
    page.fill("#q", "archive")
    page.get_by_role("button", name="Show", exact=True).click()
    assert page.locator("#fleet-rows .server").count() == 3
    page.get_by_role("link", name="Server", exact=True).click()
    assert page.locator("#fleet-rows .server").all_text_contents() == sorted(
        page.locator("#fleet-rows .server").all_text_contents()
    )
    seen.open("/")
    page.locator("#fold-calm summary").click()
    page.get_by_role("link", name="Show them as a list").first.click()
    assert "state=" in page.url
    seen.clean()


def test_a_fold_fetches_its_rows_when_it_is_opened(visit: Any, some: Any) -> None:
    seen = visit()
    page = seen.open("/")
    assert page.locator("#fold-calm .server").count() == 0
    page.locator("#fold-calm summary").click()
    page.wait_for_selector("#fold-calm .server")
    assert page.url.endswith("/"), "a fold is no other page"
    assert page.locator("#fold-calm .server").count() > 10
    seen.clean()


def test_a_refresh_shows_what_is_new_of_the_list_that_is_shown_and_moves_nothing(visit: Any, some: Any) -> None:
    seen = visit()
    page = seen.open("/")
    page.select_option("#state", "all")
    page.wait_for_url("**state=all")
    page.locator("#fleet-rows .server").nth(49).wait_for()
    page.evaluate("document.activeElement.blur()")
    tops = page.evaluate("[...document.querySelectorAll('#fleet-rows tr')].map(one => one.offsetTop)")
    name = page.evaluate(NAMES)[0]
    FleetRow.objects.filter(server__name=name).update(pressure=1.234)
    page.evaluate("window.htmx.trigger('#fleet-refresh', 'refresh')")
    page.wait_for_selector("#fleet-rows :text-is('123 %')")
    assert page.evaluate(NAMES)[0] == name
    assert len(page.evaluate(NAMES)) == 50, "it is the filtered list that is refreshed"
    assert page.evaluate("[...document.querySelectorAll('#fleet-rows tr')].map(one => one.offsetTop)") == tops
    seen.clean()


def test_servers_chosen_to_be_compared_survive_a_refresh_and_another_order(visit: Any, some: Any) -> None:
    try:
        address = reverse("fleet-compare")
    except NoReverseMatch:
        pytest.skip("there is no page that compares")
    seen = visit()
    page = seen.open("/?state=all&sort=name")
    button = page.locator("[data-compare]")
    assert button.is_disabled()
    boxes = page.locator("#fleet-rows .fleet-pick input")
    chosen = [boxes.nth(place).get_attribute("value") for place in (0, 1)]
    boxes.nth(0).check()
    boxes.nth(1).check()
    page.get_by_role("link", name="Redo pressure").click()
    page.wait_for_url("**sort=pressure**")
    page.wait_for_selector("[data-compare]:has-text('Compare 2')")
    others = page.evaluate(
        "[...document.querySelectorAll('#fleet-rows .fleet-pick input:not(:checked)')].slice(0, 4)"
        ".map(one => one.value)"
    )
    for value in others:
        page.check(f'#fleet-rows .fleet-pick input[value="{value}"]')
    assert page.locator("#fleet-rows .fleet-pick input:not(:checked)").first.is_disabled(), "six are enough"
    for value in others:
        page.uncheck(f'#fleet-rows .fleet-pick input[value="{value}"]')
    with page.expect_navigation(wait_until="commit"):
        button.click()
    assert page.url.split(address)[1] == f"?ids={','.join(chosen)}"


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.ci)])
def test_the_page_has_no_barrier_and_fits_a_phone(scheme: str, visit: Any, some: Any) -> None:
    from axe_playwright_python.sync_playwright import Axe

    seen = visit(color_scheme=scheme, viewport={"width": 360, "height": 780})
    found = []
    for path in ("/", "/?state=all&sort=pressure", "/?q=nosuchserver"):
        page = seen.open(path)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path
        found += [
            f"{path} {one['id']}: {one['nodes'][0]['html'][:160]}" for one in Axe().run(page).response["violations"]
        ]
    assert found == []
    small = page.evaluate(
        "[...document.querySelectorAll('#fleet :is(a, button, input, select)')].filter(one => {"
        " const box = one.getBoundingClientRect(); return box.width && box.height < 16 }).map(one => one.outerHTML)"
    )
    assert small == []
    seen.clean()
