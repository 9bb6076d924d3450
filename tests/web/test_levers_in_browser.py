"""The way from a pager's link to a lever at three in the morning: two clicks, no typing, timed; and without scripts."""

from __future__ import annotations

import time
from typing import Any

import pytest
from django.urls import reverse

from tests.web import demo

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

#: From following the link to the statement on the clipboard, in seconds: a person reads longer than that.
LONGEST_SECONDS = 10.0
STATEMENT = "SET GLOBAL `innodb_redo_log_capacity` = 1073741824;"


@pytest.fixture
def busy(team: Any) -> Any:
    return demo.build(team, hours=0.6, courses=demo.COURSES[:1])[0]


def test_two_clicks_lead_from_the_pagers_link_to_the_statement_and_its_undo(
    visit: Any, team_mate: Any, busy: Any
) -> None:
    one = visit(team_mate)
    one.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=one.base)
    page, clicks = one.page, 0
    began = time.monotonic()
    one.open(reverse("server", args=[busy.pk]))
    assert page.title().startswith("(critical) ")
    assert "Writers wait for redo since" in page.inner_text("#server-banner")

    def click(selector: str) -> None:
        nonlocal clicks
        page.click(selector)
        clicks += 1

    click("#server-banner >> text=Safe levers")
    lever = page.locator("dialog[open] details.lever").nth(1)
    assert "innodb_io_capacity_max" in lever.inner_text()
    click("dialog[open] details.lever:nth-of-type(2) summary")
    shown = lever.inner_text()
    for words in ("Expected effect", "Price", "for 1 h: put it back at", "Statement", "Undo", "Copy"):
        assert words in shown
    seconds = time.monotonic() - began
    assert clicks == 2
    assert seconds < LONGEST_SECONDS, f"{seconds:.1f} s"
    # The first lever was open already: for it the second click is the one that copies.
    page.click("dialog[open] details.lever:nth-of-type(1) summary")
    page.click("dialog[open] details.lever[open] [data-copy]")
    page.wait_for_selector("#spoken:not(:empty)", state="attached")
    assert page.evaluate("navigator.clipboard.readText()") == STATEMENT
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0
    one.clean()


def test_the_dialog_stays_as_it_is_while_new_samples_arrive(visit: Any, team_mate: Any, busy: Any) -> None:
    one = visit(team_mate)
    page = one.open(reverse("server", args=[busy.pk]))
    page.click("#server-banner >> text=Safe levers")
    page.evaluate("window.htmx.trigger(document.getElementById('server'), 'refresh')")
    page.wait_for_timeout(700)
    assert page.locator("dialog[open] details.lever").count() >= 2
    one.clean()


def test_the_closed_dialog_follows_what_is_measured(visit: Any, team_mate: Any, busy: Any) -> None:
    from advisor.recommendations.models import FleetRow

    one = visit(team_mate)
    page = one.open(reverse("server", args=[busy.pk]))
    assert page.locator("#server-levers details.lever").count() >= 2
    row = FleetRow.objects.get(pk=busy.pk)
    row.condition = "calm"
    row.save()
    page.evaluate("window.htmx.trigger(document.getElementById('server'), 'refresh')")
    page.wait_for_selector("#server-levers >> text=Redo and flushing are normal", state="attached")
    one.clean()


def test_without_scripts_the_same_levers_are_a_page(visit: Any, team_mate: Any, busy: Any) -> None:
    one = visit(team_mate, java_script_enabled=False)
    page = one.open(reverse("server", args=[busy.pk]))
    page.click("#server-banner >> text=Safe levers")
    assert page.url.endswith(reverse("server-levers", args=[busy.pk]))
    assert STATEMENT in page.inner_text("main")
    one.clean()
