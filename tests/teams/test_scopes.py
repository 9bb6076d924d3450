"""A token never may more than its scopes and its person together, whatever asks."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.core.management import CommandError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from advisor.teams import access, services
from advisor.teams.models import ApiToken, AuditEntry
from advisor.teams.roles import ALLOWED, Action, Role
from advisor.teams.scopes import ACTIONS, Scope
from tests.teams.test_commands import run


def as_token(user: Any, *scopes: Scope) -> Any:
    """The person as a request by such a token carries them."""
    made = services.create_token(user=user, scopes=scopes)
    return services.user_of_token(text=made.text, now=timezone.now())


@pytest.mark.parametrize("scope", list(Scope))
@pytest.mark.parametrize("role", list(Role))
def test_what_a_token_may_is_what_scope_and_role_both_allow(person: Any, team: Any, scope: Scope, role: Role) -> None:
    speaking = as_token(person("ed", team, role), scope)
    allowed = access.access_to(speaking, team.pk)
    assert allowed is not None
    assert {action for action in Action if allowed.may(action)} == ALLOWED[role] & ACTIONS[scope]


def test_without_scopes_a_token_may_all_that_its_person_may(owner: Any, team: Any) -> None:
    allowed = access.access_to(as_token(owner), team.pk)
    assert allowed is not None
    assert all(allowed.may(action) for action in Action)


def test_every_action_is_in_some_scope() -> None:
    assert frozenset().union(*ACTIONS.values()) == frozenset(Action)


def test_only_the_scope_approve_reviews(owner: Any, team: Any) -> None:
    for scope in Scope:
        allowed = access.access_to(as_token(owner, scope), team.pk)
        assert allowed is not None
        assert allowed.may(Action.REVIEW_CHANGE) is (scope is Scope.APPROVE)
    with pytest.raises(PermissionDenied, match=r"This token's scopes do not allow this\. It takes one of: approve"):
        access.access_to(as_token(owner, Scope.READ), team.pk).require(Action.REVIEW_CHANGE)  # type: ignore[union-attr]


def test_a_scope_that_nobody_knows_any_more_allows_nothing(owner: Any, team: Any, watched: Any) -> None:
    made = services.create_token(user=owner)
    ApiToken.objects.update(scopes="reports")
    speaking = services.user_of_token(text=made.text, now=timezone.now())
    assert speaking is not None
    assert access.access_to(speaking, team.pk) is None
    assert not access.servers_for(speaking).exists()


def test_any_address_is_the_scope_admin_s(owner: Any) -> None:
    assert access.may_name_any_address(as_token(owner))
    assert access.may_name_any_address(as_token(owner, Scope.ADMIN))
    assert not access.may_name_any_address(as_token(owner, Scope.PROPOSE))


def test_through_the_api_a_reading_token_reads_and_does_not_delete(owner: Any, watched: Any) -> None:
    text = services.create_token(user=owner, scopes=[Scope.READ]).text
    headers = {"Authorization": f"Bearer {text}"}
    assert Client().get(f"/api/v1/servers/{watched.pk}", headers=headers).status_code == 200
    refused = Client().delete(f"/api/v1/servers/{watched.pk}", headers=headers)
    assert refused.status_code == 403
    assert "scopes" in refused.json()["detail"]


def test_the_command_narrows_and_ends_a_token(owner: Any) -> None:
    text = run("create_token", "owner", "--scope", "read", "--scope", "apply", "--expires", "90d").splitlines()[-1]
    kept = ApiToken.objects.get()
    assert kept.scopes == "read apply"
    assert kept.expires_at is not None
    assert timedelta(days=89) < kept.expires_at - timezone.now() <= timedelta(days=90)
    assert services.user_of_token(text=text, now=timezone.now()) == owner
    assert services.user_of_token(text=text, now=timezone.now() + timedelta(days=91)) is None


@pytest.mark.parametrize("when", ["yesterday", "2020-01-01", "0d", "-1d"])
def test_an_end_that_cannot_be_is_refused(owner: Any, when: str) -> None:
    with pytest.raises(CommandError):
        run("create_token", "owner", f"--expires={when}")
    assert not ApiToken.objects.exists()


def test_the_page_makes_a_token_shows_it_once_and_revokes_it(owner: Any) -> None:
    client = Client()
    client.force_login(owner)
    page = reverse("tokens")
    made = client.post(page, {"name": "backup <b>", "scopes": ["read"], "expires": "30"})
    text = made.context["made"].text
    assert text in made.content.decode()
    assert "no-store" in made["Cache-Control"]
    listed = client.get(page).content.decode()
    assert text not in listed
    assert "backup &lt;b&gt;" in listed
    kept = ApiToken.objects.get()
    assert kept.scopes == "read"
    client.post(reverse("token-revoke", args=[kept.pk]))
    assert services.user_of_token(text=text, now=timezone.now()) is None
    told = list(AuditEntry.objects.filter(action__startswith="token.").values_list("action", "subject"))
    assert [action for action, _ in told] == ["token.created", "token.revoked"]
    assert not any(text in subject for _, subject in told)


def test_nothing_ticked_is_not_everything(owner: Any) -> None:
    client = Client()
    client.force_login(owner)
    assert client.post(reverse("tokens"), {"name": "x", "expires": "30"}).status_code == 422
    assert not ApiToken.objects.exists()


def test_tokens_of_others_are_neither_seen_nor_revoked(owner: Any, viewer: Any) -> None:
    theirs = services.create_token(user=viewer, name="theirs").token
    client = Client()
    client.force_login(owner)
    assert "theirs" not in client.get(reverse("tokens")).content.decode()
    assert client.post(reverse("token-revoke", args=[theirs.pk])).status_code == 404
    assert ApiToken.objects.filter(pk=theirs.pk).exists()
