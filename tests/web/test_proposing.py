"""A change request begins on the pages where one sees that it is needed."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any

from django.test import Client

from advisor.changes.models import ChangeRequest
from advisor.recommendations.models import Recommendation


def _rows(page: str) -> list[tuple[str, str]]:
    names = re.findall(r'name="row-variable"[^>]* value="([^"]*)"', page)
    return list(zip(names, re.findall(r'name="row-value"[^>]* value="([^"]*)"', page), strict=True))


def test_a_recommendation_brings_its_values_and_words_along(
    advice: Recommendation, team_mate: Any, sign_in: Callable[[Any], Client]
) -> None:
    client = sign_in(team_mate)
    page = client.get(f"/s/{advice.server_id}/recommendations/{advice.pk}").content.decode()
    link = re.search(r'href="(/changes/new\?[^"]*)">Propose change<', page)
    assert link is not None
    form = client.get(unescape(link[1])).content.decode()
    wanted = [(one["name"], str(one["proposed"])) for one in advice.document["changes"] if one["kind"] == "variable"]
    assert _rows(form) == wanted
    assert f'name="row-recommendation" value="{advice.pk}"' in form
    assert not ChangeRequest.objects.exists()  # looking at the form wrote nothing


def test_several_of_a_server_become_one_request(
    busy: Any, team_mate: Any, viewer: Any, sign_in: Callable[[Any], Client]
) -> None:
    client = sign_in(team_mate)
    page = client.get(f"/s/{busy.pk}").content.decode()
    ids = re.findall(r'name="recommendation" value="([^"]+)" form="propose-many"', page)
    assert len(ids) >= 2
    form = client.get("/changes/new", {"recommendation": ids}).content.decode()
    assert len(_rows(form)) >= 2
    assert set(re.findall(r'name="row-recommendation" value="([^"]*)"', form)) <= set(ids)
    assert "propose-many" not in sign_in(viewer).get(f"/s/{busy.pk}").content.decode()


def test_nothing_of_another_team_is_brought_along(
    advice: Recommendation, outsider: Any, sign_in: Callable[[Any], Client]
) -> None:
    client = sign_in(outsider)
    for asked in (
        {"recommendation": advice.pk},
        {"server": advice.server_id, "variable": "innodb_io_capacity", "value": "1"},
        {"like": advice.server_id, "server": advice.server_id, "variable": "innodb_io_capacity"},
    ):
        form = client.get("/changes/new", asked).content.decode()
        assert advice.server.name not in form
        assert _rows(form) == [("", "")]


def test_the_variables_of_a_snapshot_lead_to_a_change_of_them(
    busy: Any, team_mate: Any, viewer: Any, sign_in: Callable[[Any], Client]
) -> None:
    address = f"/s/{busy.pk}/snapshot?q=innodb_io_capacity"
    page = sign_in(team_mate).get(address).content.decode()
    link = re.search(r'href="(/changes/new\?server=[^"]*variable=innodb_io_capacity)"', page)
    assert link is not None
    form = sign_in(team_mate).get(unescape(link[1])).content.decode()
    assert _rows(form) == [("innodb_io_capacity", "")]
    assert "now " in form
    assert 'class="wrong"' not in form  # unfinished is not wrong
    assert "/changes/new" not in sign_in(viewer).get(address).content.decode()


def test_a_server_is_made_like_another(team: Any, team_mate: Any, sign_in: Callable[[Any], Client]) -> None:
    from tests.web import demo

    one, other = demo.build(team, hours=0.2, courses=demo.COURSES[:2])
    client = sign_in(team_mate)
    page = client.get(f"/fleet/compare?ids={one.pk},{other.pk}").content.decode()
    names = re.findall(r'name="variable" value="([^"]+)" form="make-like"', page)
    assert names
    form = client.get("/changes/new", {"like": one.pk, "server": [one.pk, other.pk], "variable": names})
    rows = _rows(form.content.decode())
    assert rows
    assert f"Make it like {one.name}" in form.content.decode()
