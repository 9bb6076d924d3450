"""A small fleet behind the pages, and browsers that are signed in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from tests.web import demo
from tests.web.visiting import ARGUMENTS, CHROMIUM, Visit


@pytest.fixture
def sign_in() -> Callable[[Any], Client]:
    """``sign_in(person)``: a client with that person's session."""

    def make(user: Any) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return make


@pytest.fixture
def busy(team: Any) -> Any:
    """One server in trouble with half an hour of history, judged by the real rules."""
    return demo.build(team, hours=0.6, courses=demo.COURSES[:1])[0]


@pytest.fixture
def advice(busy: Any) -> Any:
    """Its recommendation about the redo log."""
    from advisor.recommendations.models import Recommendation

    return Recommendation.objects.get(server=busy, rule="redo.redo-log-undersized")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """One browser for the module. Its driver runs an event loop, which Django would take for an asynchronous caller."""
    if not CHROMIUM:
        pytest.fail("Chromium is missing: ./check installs it")
    from playwright.sync_api import sync_playwright

    before = os.environ.get("DJANGO_ALLOW_ASYNC_UNSAFE")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()
    if before is None:
        del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def visit(chromium: Any, live_server: Any, owner: Any) -> Iterator[Any]:
    made: list[Visit] = []

    def make(user: Any = None, **options: Any) -> Visit:
        made.append(Visit(chromium, live_server.url, user or owner, **options))
        return made[-1]

    yield make
    for one in made:
        one.context.close()
