"""Every operation by every kind of caller, and every error in one shape. An operation that this table lacks fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from advisor.changes.services import Change, create
from advisor.recommendations.models import Recommendation, RuleSetting

from ..recommendations.building import Judging, found, switched_off
from .calling import Caller

CALLERS = ("anonymous", "outsider", "viewer", "mate", "owner")

#: What each operation answers to each caller, in the order of CALLERS, about an object of the team of viewer, mate,
#: owner.
EXPECTED = {
    "listServers": (401, 200, 200, 200, 200),
    "addServer": (401, 404, 403, 201, 201),
    "importServers": (401, 404, 403, 201, 201),
    "getServer": (401, 404, 200, 200, 200),
    "deleteServer": (401, 404, 403, 403, 204),
    "checkConnection": (401, 404, 403, 200, 200),
    "requestInspection": (401, 404, 403, 202, 202),
    "getSeries": (401, 404, 200, 200, 200),
    "listCounters": (401, 404, 200, 200, 200),
    "getRedoSizing": (401, 404, 200, 200, 200),
    "compareWindows": (401, 404, 200, 200, 200),
    "listRecommendations": (401, 404, 200, 200, 200),
    "getRecommendation": (401, 404, 200, 200, 200),
    "listEvents": (401, 404, 200, 200, 200),
    "listAuditEntries": (401, 200, 403, 200, 200),
    "createAnnotation": (401, 404, 403, 201, 201),
    "listRules": (401, 200, 200, 200, 200),
    "listRuleSettings": (401, 200, 200, 200, 200),
    "setRule": (401, 404, 403, 403, 201),
    "clearRule": (401, 404, 403, 403, 204),
    # Of a draft that no plan was made of: what its state does not allow is 409 to those who might else.
    "listChangeRequests": (401, 404, 200, 200, 200),
    "createChangeRequest": (401, 404, 403, 201, 201),
    "getChangeRequest": (401, 404, 200, 200, 200),
    "updateChangeRequest": (401, 404, 403, 200, 200),
    "submitChangeRequest": (401, 404, 403, 409, 409),
    "reviewChangeRequest": (401, 404, 403, 403, 409),
    "withdrawChangeRequest": (401, 404, 403, 200, 200),
    "scheduleChangeRequest": (401, 404, 403, 403, 409),
    "applyChangeRequest": (401, 404, 403, 403, 409),
    "rollBackChangeRequest": (401, 404, 403, 403, 409),
    "verifyChangeRequest": (401, 404, 409, 409, 409),
    "keepChangeRequest": (401, 404, 403, 403, 409),
}

#: Called with a change request's id, and what they are sent.
_OF_A_CHANGE: dict[str, Any] = {
    "getChangeRequest": None,
    "submitChangeRequest": {},
    "reviewChangeRequest": {"verdict": "approve", "text": "", "plan_hash": "0" * 64},
    "withdrawChangeRequest": {},
    "scheduleChangeRequest": {"at": "2099-01-01T00:00:00Z"},
    "applyChangeRequest": {},
    "rollBackChangeRequest": {},
    "verifyChangeRequest": {},
    "keepChangeRequest": {},
}


#: Called with a server's id alone.
_OF_A_SERVER = (
    "getServer", "deleteServer", "checkConnection", "requestInspection", "listCounters", "compareWindows",
    "getRedoSizing",
)  # fmt: skip


@pytest.fixture
def callers(
    viewer: Any, team_mate: Any, owner: Any, outsider: Any, token_of: Callable[[Any], str]
) -> dict[str, Caller]:
    return {
        "anonymous": Caller(),
        "outsider": Caller(token_of(outsider)),
        "viewer": Caller(token_of(viewer)),
        "mate": Caller(token_of(team_mate)),
        "owner": Caller(token_of(owner)),
    }


def arguments(operation: str, server: Any, recommendation: Any) -> dict[str, Any]:
    """What the operation is called with: always about the team's own objects."""
    if operation == "addServer":
        # An address of documentation: nothing is connected to when a server is added.
        return {
            "body": {
                "name": "beta",
                "team": server.team.name,
                "url": "mysql://tidemark@db.example.test:3306",
                "password": "p",
            }
        }
    if operation == "importServers":
        return {"body": {"text": "name,host\nbeta,10.0.0.1\n", "team": server.team.name, "password": "p"}}
    if operation == "setRule":
        body = {"team": server.team.name, "off": True, "reason": "as agreed"}
        return {"id": "redo.redo-log-undersized", "body": body}
    if operation == "clearRule":
        return {"id": RuleSetting.objects.get().pk}
    if operation == "createAnnotation":
        return {"id": server.pk, "body": {"text": "deploy v481", "tags": ["deploy"]}}
    if operation in ("createChangeRequest", "updateChangeRequest"):
        body = {"title": "More", "changes": [{"server": server.pk, "variable": "innodb_io_capacity", "value": 700}]}
        return {"body": body, **({} if operation.startswith("create") else {"id": draft(server)})}
    if operation in _OF_A_CHANGE:
        return {"id": draft(server), "body": _OF_A_CHANGE[operation]}
    if operation in ("listRecommendations", "listEvents", "listChangeRequests"):
        return {"server": server.pk}
    if operation == "getRecommendation":
        return {"id": recommendation.pk}
    if operation == "getSeries":
        return {"id": server.pk, "names": "redo_pressure"}
    return {"id": server.pk} if operation in _OF_A_SERVER else {}


def draft(server: Any) -> str:
    """The id of a change request for the server that nobody submitted yet."""
    change = Change(server, "innodb_io_capacity", "700")
    actor = User.objects.get(username="owner")
    return create(team=server.team, actor=actor, title="More", changes=[change], now=timezone.now()).pk


@pytest.mark.django_db
def test_every_operation_is_in_the_table() -> None:
    assert set(Caller().operations) == set(EXPECTED)


@pytest.mark.parametrize("operation", EXPECTED)
@pytest.mark.parametrize("who", CALLERS)
def test_an_operation_answers_each_caller_as_the_table_says(
    callers: dict[str, Caller], watched: Any, operation: str, who: str
) -> None:
    Judging(watched)(found())
    if operation == "clearRule":
        switched_off(watched.team)
    answer = callers[who](operation, **arguments(operation, watched, Recommendation.objects.get()))
    assert answer.status_code == EXPECTED[operation][CALLERS.index(who)], answer.content
    if answer.status_code >= 400:
        assert answer["Content-Type"] == "application/problem+json"
        problem = answer.json()
        assert problem["status"] == answer.status_code
        assert problem["title"]
        assert problem["code"]
        assert problem["detail"].endswith(".")
        if answer.status_code in (401, 404):
            assert watched.name not in answer.content.decode()


@pytest.mark.parametrize("operation", [one for one in EXPECTED if one.startswith("list") and one not in _OF_A_SERVER])
def test_lists_hold_nothing_of_another_team(callers: dict[str, Caller], watched: Any, operation: str) -> None:
    Judging(watched)(found())
    answer = callers["outsider"](operation).json()
    assert watched.pk not in str(answer)
    assert answer["next"] is None


@pytest.mark.parametrize("token", ["", "x", "tm_" + "a" * 43, "Bearer", "é"])
def test_a_token_that_is_none_is_refused_with_the_way_to_get_one(watched: Any, token: str) -> None:
    caller = Caller()
    answer = caller.client.get("/api/v1/servers", headers={"Authorization": f"Bearer {token}"})
    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, 'Bearer realm="Tidemark"')
    assert "create_token" in answer.json()["detail"]


def test_a_session_cookie_does_not_let_anybody_in(watched: Any, owner: Any) -> None:
    caller = Caller()
    caller.client.force_login(owner)
    assert caller("listServers").status_code == 401


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("get", "/api/v1/nothing", 404),
        ("get", "/api/v2/servers", 404),
        ("put", "/api/v1/servers", 405),
        ("post", "/api/v1/rules", 405),
    ],
)
def test_addresses_and_methods_that_there_are_not_get_a_problem_document(
    owner: Any, token_of: Callable[[Any], str], method: str, path: str, status: int
) -> None:
    caller = Caller(token_of(owner))
    answer = caller.client.generic(method.upper(), path, headers=caller.headers)
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json")
    assert answer.json()["status"] == status


def test_a_fault_of_ours_is_a_problem_document_without_its_trace(
    callers: dict[str, Caller], watched: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from advisor.api import documents

    def fail(row: Any) -> None:
        raise RuntimeError("the secret cause")

    monkeypatch.setattr(documents, "server", fail)
    answer = callers["owner"]("getServer", id=watched.pk)
    assert (answer.status_code, answer.json()["code"]) == (500, "fault")
    assert b"secret cause" not in answer.content
