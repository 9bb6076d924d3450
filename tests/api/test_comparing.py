"""Every number by name, and two windows compared, as programs ask for them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests.conftest import build_server
from tests.web import history

from .calling import Caller

pytestmark = pytest.mark.django_db


@pytest.fixture
def api(viewer: Any, token_of: Callable[[Any], str]) -> Caller:
    return Caller(token_of(viewer))


@pytest.fixture
def changed(watched: Any) -> Any:
    history.write(watched, end=time.time() - 20, hours=2.1, changes={1.0: {"Handler_read_rnd_next": 90_000.0}})
    return watched


def test_counters_are_listed_with_what_they_mean(api: Caller, changed: Any) -> None:
    items = {one["name"]: one for one in api("listCounters", id=changed.pk).json()["items"]}
    assert len(items) > 500
    assert items["Bytes_sent"]["unit"] == "bytes"
    assert items["Threads_running"]["kind"] == "gauge"
    assert items["Handler_read_rnd_next"]["meaning"].startswith("Rows read one after another")


def test_a_comparison_is_the_one_of_the_page(api: Caller, changed: Any, viewer: Any, client: Client) -> None:
    now = time.time()
    back = {"a_from": 7200, "a_to": 3900, "b_from": 3300, "b_to": 0}
    ends = {name: str(round((now - seconds) * 1000)) for name, seconds in back.items()}
    ours = api("compareWindows", id=changed.pk, **ends).json()
    assert ours["comparison"]["changes"][0]["name"] == "Handler_read_rnd_next"
    assert ours["comparison"]["changes"][0]["unusual"]
    client.force_login(viewer)
    page = client.get(reverse("server-diff-export", args=[changed.pk, "json"]), ends).json()
    assert ours == page


def test_windows_that_make_no_sense_are_refused(api: Caller, changed: Any) -> None:
    answer = api("compareWindows", id=changed.pk, a_from="now", a_to="now-1h")
    assert (answer.status_code, answer.json()["code"]) == (422, "bad-range")


def test_a_server_that_was_not_read_has_nothing_to_compare(api: Caller, watched: Any) -> None:
    assert api("compareWindows", id=watched.pk).json() == {"comparison": None}


def test_a_server_of_others_is_not_compared_with(api: Caller, changed: Any, other_team: Any) -> None:
    foreign = build_server(other_team, "gamma")
    assert api("compareWindows", id=changed.pk, other=foreign.pk).status_code == 404
