"""The commands that let people and programs in, as design §4 promises them."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from advisor.teams import services
from advisor.teams.models import ApiToken, Membership, Team


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def roles(name: str) -> set[str]:
    return set(Membership.objects.filter(user__username=name).values_list("role", flat=True))


@pytest.mark.django_db
def test_the_first_person_brings_the_default_team_and_a_link_that_works() -> None:
    printed = run("create_user", "ada", "--admin")
    assert [team.name for team in Team.objects.all()] == ["Default"]
    assert roles("ada") == {"admin"}
    link = re.search(r"^Log in: http://127\.0\.0\.1:8000(/\S+)$", printed, re.MULTILINE)
    assert link is not None
    client = Client()
    assert client.get(link[1]).status_code == 302
    assert client.session["_auth_user_id"] == str(User.objects.get().pk)


@pytest.mark.django_db
def test_several_roles_may_be_given_and_none_is_viewer() -> None:
    run("create_user", "rita", "--role", "editor", "--role", "approver")
    run("create_user", "vera")
    assert roles("rita") == {"editor", "approver"}
    assert roles("vera") == {"viewer"}
    assert Team.objects.count() == 1
    assert not User.objects.get(username="rita").is_staff


def test_a_team_is_made_by_its_name_and_must_be_named_where_there_are_several(team: Any) -> None:
    run("create_user", "otto", "--team", "Ops")
    assert Membership.objects.get(user__username="otto").team.name == "Ops"
    run("create_user", "olga", "--team", "OPS")
    assert Team.objects.count() == 2
    with pytest.raises(CommandError, match="several teams: name one of Databases, Ops") as refused:
        run("create_user", "nobody")
    assert refused.value.returncode == 2
    assert not User.objects.filter(username="nobody").exists()


@pytest.mark.parametrize("name", ["ada", "ADA"])
def test_a_name_that_is_taken_is_refused_whatever_its_case(team: Any, name: str) -> None:
    run("create_user", "ada")
    with pytest.raises(CommandError, match="already a person called"):
        run("create_user", name)


@pytest.mark.parametrize("name", ["", "two words", "<b>", "a" * 151])
def test_a_name_that_cannot_be_used_is_refused_in_one_sentence(team: Any, name: str) -> None:
    with pytest.raises(CommandError) as refused:
        run("create_user", name)
    assert "\n" not in str(refused.value)
    assert not User.objects.exists()


def test_a_link_can_be_printed_for_another_address(viewer: Any) -> None:
    assert run("login_link", "viewer", "--base", "http://127.0.0.1:9999/").startswith(
        "Log in: http://127.0.0.1:9999/login/"
    )
    with pytest.raises(CommandError, match="no person called"):
        run("login_link", "nobody")


def test_the_token_stands_alone_on_the_last_line_and_is_stored_as_a_digest_only(viewer: Any) -> None:
    token = run("create_token", "viewer", "--name", "backup").strip().splitlines()[-1]
    assert re.fullmatch(r"[A-Za-z0-9_-]{32,}", token)
    stored = ApiToken.objects.get()
    assert token not in (stored.digest, stored.name, stored.prefix)
    assert services.user_of_token(text=token, now=timezone.now()) == viewer


def test_a_token_ends_with_its_date_its_account_or_its_deletion(viewer: Any) -> None:
    now = timezone.now()
    made = services.create_token(user=viewer, expires_at=now)
    assert services.user_of_token(text=made.text, now=now) is None
    other = services.create_token(user=viewer)
    assert services.user_of_token(text=other.text + "x", now=now) is None
    assert services.delete_token(user=viewer, token_id=other.token.pk, now=now)
    assert services.user_of_token(text=other.text, now=now) is None
    third = services.create_token(user=viewer)
    viewer.is_active = False
    viewer.save()
    assert services.user_of_token(text=third.text, now=now) is None
