"""Change requests over the API: the same rules as on pages, refusals by their codes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from advisor.changes.models import ChangeRequest, State
from advisor.teams import services as teams
from advisor.teams.roles import Role
from advisor.teams.scopes import Scope
from collector.models import Credential

from ..changes import building
from ..changes.building import Desk, request_for
from ..recommendations.building import Judging, found
from .calling import Caller


@pytest.fixture
def desk(db: None, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """People of which each may do everything: only being the author stands in the way."""
    desk = building.desk(monkeypatch)
    for person in (desk.author, desk.reviewer):
        for role in (Role.EDITOR, Role.APPROVER, Role.OPERATOR):
            teams.add_role(user=person, team=desk.team, role=role)
    return desk


@pytest.fixture
def author(desk: Desk, token_of: Callable[[Any], str]) -> Caller:
    return Caller(token_of(desk.author))


@pytest.fixture
def reviewer(desk: Desk, token_of: Callable[[Any], str]) -> Caller:
    return Caller(token_of(desk.reviewer))


def created(caller: Caller, desk: Desk, value: Any = 700, **further: Any) -> dict[str, Any]:
    changes = [{"server": desk.server.pk, "variable": "innodb_io_capacity", "value": value}]
    answer = caller("createChangeRequest", {"title": "More I/O", "reason": "noon", "changes": changes, **further})
    assert answer.status_code == 201, answer.content
    return dict(answer.json())


def submitted(caller: Caller, desk: Desk) -> dict[str, Any]:
    answer = caller("submitChangeRequest", {}, id=created(caller, desk)["id"])
    assert answer.status_code == 200, answer.content
    return dict(answer.json())


def approve(caller: Caller, change: dict[str, Any], plan_hash: str | None = None) -> Any:
    body = {"verdict": "approve", "text": "", "plan_hash": plan_hash or change["plan_hash"]}
    return caller("reviewChangeRequest", body, id=change["id"])


def test_a_request_goes_from_draft_to_approved(desk: Desk, author: Caller, reviewer: Caller) -> None:
    change = submitted(author, desk)
    assert (change["state"], len(change["plan_hash"])) == ("in_review", 64)
    assert approve(reviewer, change).status_code == 201
    now = author("getChangeRequest", id=change["id"]).json()
    assert now["state"] == "approved"
    assert now["plan"]["servers"][0]["steps"][0]["statement"] == "SET PERSIST `innodb_io_capacity` = 700"
    assert [one["person"] for one in now["reviews"]] == ["reviewer"]


def test_the_author_cannot_approve(desk: Desk, author: Caller) -> None:
    answer = approve(author, submitted(author, desk))
    assert (answer.status_code, answer.json()["code"]) == (409, "own-change")


def test_a_stale_hash_is_refused(desk: Desk, author: Caller, reviewer: Caller) -> None:
    answer = approve(reviewer, submitted(author, desk), "0" * 64)
    assert (answer.status_code, answer.json()["code"]) == (409, "stale-plan")


def test_nothing_is_applied_without_an_approval(desk: Desk, author: Caller, reviewer: Caller) -> None:
    change = submitted(author, desk)
    answer = reviewer("applyChangeRequest", {}, id=change["id"])
    assert (answer.status_code, answer.json()["code"]) == (409, "not-approved")
    assert {one["id"] for one in answer.json()["conditions"]} >= {"approvals"}
    assert author("getChangeRequest", id=change["id"]).json()["state"] == "in_review"


def test_without_an_account_for_applying_the_statements_are_offered(
    desk: Desk, author: Caller, reviewer: Caller
) -> None:
    change = submitted(author, desk)
    approve(reviewer, change)
    Credential.objects.filter(purpose="apply").delete()
    problem = reviewer("applyChangeRequest", {}, id=change["id"])
    assert (problem.status_code, problem.json()["code"]) == (409, "no-apply-credential")
    (statements,) = problem.json()["statements"]
    assert statements["sql"] == ["SET PERSIST `innodb_io_capacity` = 700"]
    assert statements["undo"][-1] == "RESET PERSIST IF EXISTS `innodb_io_capacity`"


def test_an_approved_request_is_applied_once(desk: Desk, author: Caller, reviewer: Caller) -> None:
    change = submitted(author, desk)
    approve(reviewer, change)
    answer = reviewer("applyChangeRequest", {}, id=change["id"])
    assert (answer.status_code, answer.json()["state"]) == (202, "applying"), answer.content
    assert [one["state"] for one in answer.json()["applications"]] == ["waiting"]
    again = reviewer("applyChangeRequest", {}, id=change["id"])
    assert (again.status_code, again.json()["code"]) == (409, "wrong-state")


@pytest.mark.parametrize(
    ("scopes", "status"), [({Scope.PROPOSE, Scope.APPLY}, 403), ({Scope.APPROVE}, 201), ({Scope.READ}, 403)]
)
def test_approving_by_token_takes_the_scope(desk: Desk, author: Caller, scopes: set[Scope], status: int) -> None:
    change = submitted(author, desk)
    token = teams.create_token(user=desk.reviewer, name="ci", scopes=scopes).text
    assert approve(Caller(token), change).status_code == status


def test_checks_that_are_not_ok_are_told_one_by_one(desk: Desk, author: Caller) -> None:
    change = created(author, desk, "fast")
    problem = author("submitChangeRequest", {}, id=change["id"])
    assert (problem.status_code, problem.json()["code"]) == (409, "not-ready")
    (failed,) = [one for one in problem.json()["checks"] if not one["ok"]]
    assert failed["id"] == "values"
    assert "'fast'" in failed["text"]


@pytest.mark.parametrize("variable", ["init_connect", "a`; DROP TABLE x; --", "plugin_dir", "GLOBAL.max_connections"])
def test_what_is_never_changed_does_not_get_in(desk: Desk, author: Caller, variable: str) -> None:
    change = {"server": desk.server.pk, "variable": variable, "value": "1"}
    problem = author("createChangeRequest", {"title": "x", "changes": [change]})
    assert (problem.status_code, problem.json()["code"]) == (422, "bad-change-request")
    assert not ChangeRequest.objects.exists()


def test_a_request_is_made_of_a_recommendation_alone(desk: Desk, author: Caller) -> None:
    Judging(desk.server)(found(variable="innodb_redo_log_capacity"))
    (advice,) = author("listRecommendations", server=desk.server.pk).json()["items"]
    answer = author("createChangeRequest", {"title": "Redo", "recommendation": advice["id"]})
    assert answer.status_code == 201, answer.content
    (wanted,) = answer.json()["changes"]
    assert (wanted["variable"], wanted["value"]) == ("innodb_redo_log_capacity", "268435456")
    author("submitChangeRequest", {}, id=answer.json()["id"])
    assert author("getRecommendation", id=advice["id"]).json()["state"] == "in_change"
    author("withdrawChangeRequest", {}, id=answer.json()["id"])
    assert author("getRecommendation", id=advice["id"]).json()["state"] == "open"


def test_an_update_lets_approvals_fall(desk: Desk, author: Caller, reviewer: Caller) -> None:
    change = submitted(author, desk)
    approve(reviewer, change)
    seen = author("getChangeRequest", id=change["id"]).json()["version"]
    body = {
        "title": "Less",
        "changes": [{"server": desk.server.pk, "variable": "innodb_io_capacity", "value": 300}],
        "version": seen,
    }
    answer = author("updateChangeRequest", body, id=change["id"])
    assert (answer.json()["state"], answer.json()["plan_hash"]) == ("draft", None)
    assert answer.json()["reviews"][0]["fallen_at"]
    late = author("updateChangeRequest", body, id=change["id"])
    assert (late.status_code, late.json()["code"]) == (409, "came-late")


def test_lists_are_filtered_by_state_and_server(desk: Desk, author: Caller) -> None:
    draft, other = created(author, desk), desk.add_server("beta")
    request_for(desk, servers=[other], state=State.IN_REVIEW)
    assert [one["id"] for one in author("listChangeRequests", state="draft").json()["items"]] == [draft["id"]]
    (at_beta,) = author("listChangeRequests", server=other.pk).json()["items"]
    assert at_beta["servers"] == [other.pk]


def test_a_list_costs_the_same_number_of_queries_however_long_it_is(
    desk: Desk, author: Caller, django_assert_max_num_queries: Any
) -> None:
    for number in range(12):
        created(author, desk, 300 + number)
    with django_assert_max_num_queries(10):
        assert len(author("listChangeRequests").json()["items"]) == 12
