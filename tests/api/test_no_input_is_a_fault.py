"""Whatever is sent, the answer is one that the description names: never a fault of ours, never a page."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from advisor.api.routes import openapi_document

from .calling import Caller

FEW = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
TEXTS = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        ["", "0", "-1", "now", "now-1h", "null", "NaN", "1e400", "9" * 400, "\x00", "../..", "%", "'--", "💾"]
    ),
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=6,
)
NAMES = ("name", "team", "url", "host", "port", "socket", "user", "password", "tls", "tls_ca", "tags", "host_facts")


@pytest.fixture
def api(owner: Any, token_of: Callable[[Any], str]) -> Caller:
    return Caller(token_of(owner))


def sound(caller: Caller, operation: str, answer: Any) -> None:
    method, path = caller.operations[operation]
    described = openapi_document()["paths"][path][method]["responses"]
    assert str(answer.status_code) in described, (answer.status_code, answer.content[:300])
    if answer.status_code >= 400:
        assert answer["Content-Type"] == "application/problem+json"
        assert answer.json()["detail"]


@FEW
@given(data=st.data())
def test_any_query_of_a_list_or_a_series(api: Caller, watched: Any, data: st.DataObject) -> None:
    operation, names = data.draw(
        st.sampled_from(
            [
                ("listServers", ("team", "limit", "cursor")),
                ("listRecommendations", ("server", "team", "state", "rule", "severity", "limit", "cursor")),
                ("getSeries", ("names", "from", "to", "points")),
            ]
        )
    )
    chosen = data.draw(st.dictionaries(st.sampled_from(names), TEXTS, max_size=len(names)))
    if operation == "getSeries":
        chosen = {"names": "redo_pressure", "id": watched.pk, **chosen}
    sound(api, operation, api(operation, **chosen))


@FEW
@given(operation=st.sampled_from(["getServer", "getSeries", "getRecommendation", "deleteServer"]), text=TEXTS)
def test_any_id(api: Caller, operation: str, text: str) -> None:
    # An empty id, or one with a slash, is another address: a list's, or none at all.
    identity = quote(text.replace("/", "-") or "x", safe="")
    answer = api(operation, id=identity, **({"names": "a"} if operation == "getSeries" else {}))
    assert answer.status_code in (404, 422, 405), answer.content[:300]
    assert answer["Content-Type"] == "application/problem+json"


@FEW
@given(body=st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=len(NAMES)))
def test_any_body(api: Caller, body: dict[str, Any]) -> None:
    text = json.dumps(body)
    answer = api.client.generic("POST", "/api/v1/servers", text, content_type="application/json", headers=api.headers)
    sound(api, "addServer", answer)


@pytest.mark.parametrize("field", ["name", "user", "password", "tags", "team", "host"])
@pytest.mark.parametrize("odd", ["\\ud800", "\\u0000", "\\u202e"])
def test_half_characters_and_control_characters(api: Caller, field: str, odd: str) -> None:
    """JSON can hold halves of characters, which no database and no protocol takes."""
    value = f'["{odd}"]' if field == "tags" else f'"{odd}"'
    given = {"name": '"beta"', "host": '"127.0.0.1"', "user": '"u"', field: value}
    text = "{" + ", ".join(f'"{name}": {one}' for name, one in given.items()) + "}"
    answer = api.client.generic("POST", "/api/v1/servers", text, content_type="application/json", headers=api.headers)
    sound(api, "addServer", answer)
