"""Who may do what: every role with every action, and nothing of another team's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.http import Http404

from advisor.teams import access, services
from advisor.teams.roles import ALLOWED, Action, Role

from ..conftest import build_server

EXPECTED = {
    Action.SEE: set(Role),
    Action.ACKNOWLEDGE: set(Role) - {Role.VIEWER},
    Action.DISMISS: set(Role) - {Role.VIEWER},
    Action.ANNOTATE: set(Role) - {Role.VIEWER},
    Action.ADD_SERVER: {Role.EDITOR, Role.ADMIN},
    Action.CHANGE_SERVER: {Role.EDITOR, Role.ADMIN},
    Action.INSPECT_SERVER: {Role.EDITOR, Role.OPERATOR, Role.ADMIN},
    Action.SET_RULES: {Role.APPROVER, Role.ADMIN},
    Action.DELETE_SERVER: {Role.ADMIN},
    Action.PROPOSE_CHANGE: {Role.EDITOR, Role.ADMIN},
    Action.REVIEW_CHANGE: {Role.APPROVER, Role.ADMIN},
    Action.APPLY_CHANGE: {Role.OPERATOR, Role.ADMIN},
    Action.SET_POLICIES: {Role.ADMIN},
    Action.SEE_AUDIT: set(Role) - {Role.VIEWER},
    Action.MANAGE_TEAM: {Role.ADMIN},
}


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("action", list(Action))
def test_every_role_may_what_this_table_says(role: Role, action: Action) -> None:
    may = access.Access("team", frozenset({role}))
    assert may.may(action) is (role in EXPECTED[action])
    if role not in EXPECTED[action]:
        with pytest.raises(PermissionDenied, match="It takes one of"):
            may.require(action)


def test_an_unknown_action_is_an_error_and_no_refusal() -> None:
    with pytest.raises(TypeError, match="no_such"):
        access.Access("team", frozenset(Role)).may("no_such")  # type: ignore[arg-type]


def test_every_role_has_its_actions() -> None:
    assert set(ALLOWED) == set(Role)


def test_a_person_sees_the_servers_of_their_teams_and_no_others(
    team: Any, other_team: Any, viewer: Any, outsider: Any
) -> None:
    mine, theirs = build_server(team, "mine"), build_server(other_team, "theirs")
    assert list(access.servers_for(viewer)) == [mine]
    assert list(access.servers_for(outsider)) == [theirs]
    assert list(access.servers_for(AnonymousUser())) == []
    with pytest.raises(Http404):
        access.get_server(outsider, mine.pk)


def test_two_roles_in_a_team_do_not_show_a_server_twice(team: Any, person: Callable[..., Any]) -> None:
    build_server(team, "mine")
    both = person("both", team, Role.APPROVER, Role.OPERATOR, Role.EDITOR)
    assert access.servers_for(both).count() == 1


def test_somebody_whose_account_is_off_sees_nothing(team: Any, viewer: Any) -> None:
    server = build_server(team, "mine")
    viewer.is_active = False
    viewer.save()
    with pytest.raises(Http404):
        access.get_server(viewer, server.pk)


def test_roles_do_not_reach_from_one_team_into_another(team: Any, other_team: Any, outsider: Any) -> None:
    services.add_role(user=outsider, team=team, role=Role.VIEWER)
    _, here = access.get_server(outsider, build_server(team, "mine").pk)
    _, there = access.get_server(outsider, build_server(other_team, "theirs").pk)
    assert not here.may(Action.DELETE_SERVER)
    assert there.may(Action.DELETE_SERVER)


def test_the_only_team_that_would_do_is_taken_and_several_have_to_be_named(
    team: Any, other_team: Any, viewer: Any, team_mate: Any
) -> None:
    assert access.team_for(team_mate, Action.ADD_SERVER)[0] == team
    with pytest.raises(PermissionDenied):
        access.team_for(viewer, Action.ADD_SERVER)
    with pytest.raises(Http404):
        access.team_for(viewer, Action.SEE, other_team.name)
    services.add_role(user=team_mate, team=other_team, role=Role.EDITOR)
    with pytest.raises(access.AmbiguousTeam, match="Databases, Others"):
        access.team_for(team_mate, Action.ADD_SERVER)
    assert access.team_for(team_mate, Action.ADD_SERVER, "OTHERS")[0] == other_team


def test_only_administrators_of_tidemark_itself_may_name_any_address(owner: Any, outsider: Any) -> None:
    assert access.may_name_any_address(owner)
    assert not access.may_name_any_address(outsider)
    assert not access.may_name_any_address(AnonymousUser())
