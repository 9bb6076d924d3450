"""A change by two people in Chromium, from a recommendation to a real server and back, with the audit of each step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from advisor.changes.models import ChangeRequest, State
from advisor.recommendations.models import Recommendation
from advisor.teams import services as teams
from advisor.teams.roles import Role
from collector import snapshots
from collector.collect import read_snapshot
from collector.connection import connect
from collector.models import Server, StoredSnapshot
from collector.servers import target_of
from tests.changes.building import Desk, request_for
from tests.changes.servers_changed import Shop, shop
from tests.servers import DISTRIBUTION_SERVER, RunningServer, start_server
from tests.web.test_every_page import barriers, widest

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

MODES = (("light", 1366, "en"), ("dark", 390, "ko"))


def _places(desk: Desk) -> list[tuple[Any, str]]:
    now = timezone.now()
    request = request_for(desk, {"innodb_redo_log_capacity": "8G"}, state=State.IN_REVIEW, now=now)
    admin = desk.person("admin", Role.ADMIN)
    one = reverse("change", args=[request.pk])
    return [
        (desk.reviewer, reverse("changes")),
        (desk.reviewer, one),
        (desk.reviewer, f"{one}?tab=checks"),
        (desk.reviewer, f"{one}?tab=verify"),
        (desk.reviewer, f"{one}?tab=history"),
        (desk.author, reverse("change-edit", args=[request.pk])),
        (desk.author, f"{reverse('changes')}?show=waiting"),
        (admin, reverse("policies")),
        (admin, reverse("notices")),
    ]


@pytest.mark.parametrize(("scheme", "width", "language"), MODES[:1])
def test_every_page_of_changes_is_clean(
    desk: Desk,
    visit: Callable[..., Any],
    scheme: str,
    width: int,
    language: str,
) -> None:
    _walk(desk, visit, scheme, width, language)


@pytest.mark.ci
@pytest.mark.parametrize(("scheme", "width", "language"), MODES[1:])
def test_every_page_of_changes_is_clean_on_a_dark_phone_in_korean(
    desk: Desk,
    visit: Callable[..., Any],
    scheme: str,
    width: int,
    language: str,
) -> None:
    _walk(desk, visit, scheme, width, language)


def _walk(desk: Desk, visit: Callable[..., Any], scheme: str, width: int, language: str) -> None:
    wrong = []
    seen: dict[Any, Any] = {}
    for person, path in _places(desk):
        if person.pk not in seen:
            seen[person.pk] = visit(
                person, color_scheme=scheme, viewport={"width": width, "height": 900}, locale=language
            )
        page = seen[person.pk].open(path)
        if page.evaluate("document.documentElement.scrollWidth - innerWidth") > 0:
            wrong.append(f"{path} is wider than the screen: {widest(page)}")
        if page.locator("h1").count() != 1 or page.locator("html").get_attribute("lang") != language:
            wrong.append(f"{path} has no heading of its own, or another language")
        wrong += [f"{path}: {text}" for text in barriers(page)]
    for one in seen.values():
        one.clean()
    assert wrong == []


def _recommended(row: Server) -> Recommendation:
    """The server as it was just read, and a recommendation about it."""
    now = timezone.now()
    with connect(target_of(row)) as connection:
        snapshot = read_snapshot(connection, deadline_seconds=30)
    StoredSnapshot.objects.create(
        server=row, slot=int(now.timestamp()), taken_at=now, payload=snapshots.pack(snapshot)
    )  # fmt: skip
    change = {
        "kind": "variable", "name": "innodb_io_capacity", "current": snapshot.variables["innodb_io_capacity"],
        "proposed": "700", "effect": "at_once",
    }  # fmt: skip
    document = {
        "title": "The disk could do more", "expected": "Flushing keeps up", "changes": [change], "confidence": "medium",
        "severity": "warning", "evidence": [], "price": [], "sql": ["SET GLOBAL innodb_io_capacity = 700"], "undo": [],
    }  # fmt: skip
    return Recommendation.objects.create(
        server=row, key="flush.io-capacity", current="flush.io-capacity", rule="flush.io-capacity-low",
        severity="warning", severity_rank=2, confidence="medium", document=document, opened_at=now, last_seen_at=now,
    )  # fmt: skip


@pytest.fixture
def real() -> Any:
    """The machine's own server, which this test changes."""
    with start_server(DISTRIBUTION_SERVER) as server:
        yield server


@pytest.mark.ci
def test_two_people_take_a_recommendation_to_a_server_and_back(
    real: RunningServer,
    visit: Callable[..., Any],
) -> None:
    desk: Shop = shop()
    for role in (Role.APPROVER, Role.OPERATOR):
        teams.add_role(user=desk.author, team=desk.team, role=role)  # only being the author stands in the way
    teams.add_role(user=desk.reviewer, team=desk.team, role=Role.OPERATOR)
    row = desk.register(real)
    advice = _recommended(row)
    before = real.value("@@GLOBAL.innodb_io_capacity")

    author, reviewer = visit(desk.author), visit(desk.reviewer)
    page = author.open(reverse("recommendation", args=[row.pk, advice.pk]))
    page.get_by_role("link", name="Propose change").click()
    assert page.locator('[name="row-value"]').input_value() == "700"
    page.get_by_role("button", name="Submit for review").click()
    page.get_by_text("Can this go?").wait_for()
    request = ChangeRequest.objects.get()
    assert (request.state, request.title) == (State.IN_REVIEW, "The disk could do more")
    assert page.locator('button[value="approve"]').is_disabled()
    assert page.get_by_text("another person has to approve it").is_visible()

    page = reviewer.open("/notices")
    page.get_by_role("link", name="was submitted for review").click()
    page.get_by_role("button", name="Approve").click()
    page.get_by_text("exactly the plan that was on the page").wait_for()
    page.get_by_role("button", name="Apply now").click()
    page.get_by_text("this page follows each statement").wait_for()
    assert desk.work(request).state == State.VERIFYING, request.why
    assert real.value("@@GLOBAL.innodb_io_capacity") == "700"
    # The page asks again by itself, and shows what was sent.
    page.locator('.badge[data-state="verifying"]').wait_for()
    page.locator('.steps li[data-state="done"]').wait_for()
    page.get_by_role("link", name="Verify").click()
    page.get_by_role("heading", name="Did it help").first.wait_for()

    page.get_by_role("link", name="Roll back…").click()
    assert page.locator("ins").inner_text() == before
    page.get_by_role("button", name="Roll back").click()
    page.get_by_text("Being rolled back").wait_for()
    assert desk.work(request).state == State.ROLLED_BACK, request.why
    assert real.value("@@GLOBAL.innodb_io_capacity") == before
    page.locator('.badge[data-state="rolled_back"]').wait_for()

    page = reviewer.open("/audit")
    told = page.locator("main").inner_text()
    for step in ("create", "submit", "approve", "begin", "applied", "begin_roll_back", "rolled_back"):
        assert f"change.{step}" in told, step
    author.clean()
    reviewer.clean()
