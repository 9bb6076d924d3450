"""Importing servers by the API: a dry run, one transaction, and the same list again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collector.models import Server
from collector.servers import target_of

from .calling import Caller

LIST = "name,host,port,password\na,10.0.0.1,,own\nb,10.0.0.2,3307,\n"


@pytest.fixture
def api(team_mate: Any, token_of: Callable[[Any], str]) -> Caller:
    return Caller(token_of(team_mate))


def test_a_dry_run_tells_every_line_and_writes_nothing(api: Caller, team: Any) -> None:
    answer = api("importServers", {"text": LIST + "c/d,10.0.0.3,,\n"}, dry_run="true")
    assert answer.status_code == 200
    told = answer.json()
    assert (told["to_add"], told["known"], told["errors"], told["added"]) == (2, 0, 1, 0)
    assert [line["verdict"] for line in told["lines"]] == ["add", "add", "error"]
    assert "no / in it" in told["lines"][2]["problems"][0]
    assert Server.objects.count() == 0


def test_a_list_is_written_whole_and_may_be_sent_again(api: Caller, team: Any) -> None:
    body = {"text": LIST, "password": "for all", "user": "app", "tags": ["prod"]}
    first = api("importServers", body)
    assert first.status_code == 201
    made = {server.pk: server for server in Server.objects.all()}
    assert {line["server"] for line in first.json()["lines"]} == set(made)
    assert sorted(target_of(server).password.reveal() for server in made.values()) == ["for all", "own"]
    assert "for all" not in first.content.decode()
    again = api("importServers", body).json()
    assert (again["added"], again["known"]) == (0, 2)
    assert {line["server"] for line in again["lines"]} == set(made)


def test_one_wrong_line_keeps_all_from_being_written_unless_it_may_be_left_out(api: Caller, team: Any) -> None:
    body = {"text": LIST + "x,127.0.0.1,,secret\n"}
    refused = api("importServers", body)
    assert (refused.status_code, refused.json()["code"]) == (422, "bad-lines")
    assert refused.json()["errors"][0]["where"] == "line 4"
    assert "only administrators may register" in refused.json()["errors"][0]["what"]
    assert "secret" not in refused.content.decode()
    assert Server.objects.count() == 0
    assert api("importServers", {**body, "skip_errors": True}).json()["added"] == 2


@pytest.mark.parametrize("text", ["", "foo\nbar\n", "- &a x\n- *a\n", "host\n\x00\n", "host\n" + "x\n" * 2001])
def test_a_text_that_is_no_list_is_a_problem(api: Caller, team: Any, text: str) -> None:
    answer = api("importServers", {"text": text})
    assert (answer.status_code, answer.json()["code"]) == (422, "bad-list")


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.one_of(
        st.text(max_size=200),
        st.lists(st.text(alphabet='ab1,;"\n\t-:{}[]&*!#|>%@=', max_size=40), max_size=6).map(
            lambda lines: "name,host,port,user,tags\n" + "\n".join(lines)
        ),
        st.text(alphabet="ab:- \n[]{},'\"&*!|>#%@\\0x", max_size=120).map(lambda text: "- " + text),
    )
)
def test_no_text_is_a_fault(api: Caller, team: Any, text: str) -> None:
    assert api("importServers", {"text": text}, dry_run="true").status_code in (200, 422)
