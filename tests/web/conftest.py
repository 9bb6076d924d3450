"""A small fleet behind the pages, and browsers that are signed in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from tests.web import demo


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
