"""Who is in a team as what, and how one comes into it."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from advisor.teams import access, invitations, members, services
from advisor.teams.models import AuditEntry, Invitation
from advisor.teams.roles import Role

PASSWORD = "a horse, a battery and a staple"


def client_of(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def roles(user: Any, team: Any) -> set[Role]:
    found = access.access_to(user, team.pk)
    return set(found.roles) if found else set()


def invited(team: Any, owner: Any, *wanted: Role) -> str:
    return invitations.invite(
        team=team, email="grace@example.org", roles=wanted or [Role.EDITOR], actor=owner, now=timezone.now()
    ).secret


def test_a_member_may_hold_several_roles_from_the_next_request_on(team: Any, owner: Any, viewer: Any) -> None:
    page = client_of(owner)
    page.post(reverse("member", args=[team.pk, viewer.pk]), {"roles": ["approver", "operator"]})
    assert roles(viewer, team) == {Role.APPROVER, Role.OPERATOR}
    told = AuditEntry.objects.get(action="member.roles_changed")
    assert told.data == '{"after":["approver","operator"],"before":["viewer"]}'
    assert told.actor_name == "owner"


def test_who_is_removed_finds_nothing_at_the_next_request(team: Any, owner: Any, viewer: Any, watched: Any) -> None:
    theirs = client_of(viewer)
    assert theirs.get(reverse("server", args=[watched.pk])).status_code == 200
    client_of(owner).post(reverse("member-remove", args=[team.pk, viewer.pk]))
    assert theirs.get(reverse("server", args=[watched.pk])).status_code == 404
    assert theirs.get(reverse("team", args=[team.pk])).status_code == 404


@pytest.mark.parametrize("way", ["demoted", "removed"])
def test_the_last_admin_stays(team: Any, owner: Any, way: str) -> None:
    page = client_of(owner)
    if way == "demoted":
        answer = page.post(reverse("member", args=[team.pk, owner.pk]), {"roles": ["viewer"]}, follow=True)
    else:
        answer = page.post(reverse("member-remove", args=[team.pk, owner.pk]), follow=True)
    assert roles(owner, team) == {Role.ADMIN}
    assert "would be left without an admin" in answer.content.decode()
    assert not AuditEntry.objects.filter(action__in=["member.removed", "member.roles_changed"]).exists()


def test_an_admin_whose_account_is_off_is_none_that_is_left(team: Any, owner: Any, person: Any) -> None:
    gone = person("gone", team, Role.ADMIN)
    gone.is_active = False
    gone.save()
    with pytest.raises(members.LastAdmin):
        members.set_roles(user=owner, team=team, roles=[], now=timezone.now())
    assert roles(owner, team) == {Role.ADMIN}


def test_members_see_the_team_and_only_admins_the_forms(team: Any, viewer: Any, owner: Any) -> None:
    url = reverse("team", args=[team.pk])
    assert "Invite somebody" not in client_of(viewer).get(url).content.decode()
    assert "Invite somebody" in client_of(owner).get(url).content.decode()


def test_the_link_is_shown_once_and_kept_as_a_digest_only(team: Any, owner: Any) -> None:
    page = client_of(owner)
    page.post(reverse("team-invite", args=[team.pk]), {"email": "grace@example.org", "roles": ["editor"]})
    shown = page.get(reverse("team", args=[team.pk])).content.decode()
    link = re.search(r"http://127\.0\.0\.1:8000/invitation/([\w-]{43})", shown)
    assert link is not None
    assert link[1] not in page.get(reverse("team", args=[team.pk])).content.decode()
    assert link[1] not in "".join(str(vars(row)) for row in Invitation.objects.all())
    assert link[1] not in "".join(f"{row.subject}{row.data}" for row in AuditEntry.objects.all())


def test_it_goes_out_by_mail_where_mail_is_set_up(team: Any, owner: Any, settings: Any) -> None:
    secret = invited(team, owner)
    assert mail.outbox == []
    settings.EMAIL_HOST = "mail.example.org"
    secret = invited(team, owner)
    assert mail.outbox[0].to == ["grace@example.org"]
    assert f"/invitation/{secret}" in mail.outbox[0].body


def test_looking_accepts_nothing_and_a_new_account_joins_once(team: Any, owner: Any) -> None:
    secret = invited(team, owner, Role.EDITOR, Role.APPROVER)
    url = reverse("invitation", args=[secret])
    client = Client()
    assert "Join Databases" in client.get(url).content.decode()
    assert Invitation.objects.get().accepted_at is None
    joined = client.post(url, {"username": "grace", "password": PASSWORD})
    assert joined.status_code == 302
    grace = User.objects.get(username="grace")
    assert roles(grace, team) == {Role.EDITOR, Role.APPROVER}
    assert client.get(reverse("account")).status_code == 200
    assert Client().get(url).status_code == 410
    assert Client().post(url, {"username": "eve", "password": PASSWORD}).status_code == 410
    assert not User.objects.filter(username="eve").exists()


def test_an_account_that_is_there_joins_with_what_it_holds_already(
    team: Any, owner: Any, outsider: Any, other_team: Any
) -> None:
    url = reverse("invitation", args=[invited(team, owner)])
    client = client_of(outsider)
    assert client.post(url)["Location"] == reverse("team", args=[team.pk])
    assert roles(outsider, team) == {Role.EDITOR}
    assert roles(outsider, other_team) == {Role.ADMIN}


@pytest.mark.parametrize("name", ["owner", "OWNER", "two words", "<b>"])
def test_a_name_that_is_taken_or_odd_leaves_the_invitation_open(team: Any, owner: Any, name: str) -> None:
    url = reverse("invitation", args=[invited(team, owner)])
    assert Client().post(url, {"username": name, "password": PASSWORD}).status_code == 422
    assert Invitation.objects.get().accepted_at is None
    assert User.objects.count() == 1


def test_a_short_password_is_refused(team: Any, owner: Any) -> None:
    url = reverse("invitation", args=[invited(team, owner)])
    assert Client().post(url, {"username": "grace", "password": "short"}).status_code == 422


def test_an_invitation_ends_with_the_week_or_when_it_is_withdrawn(team: Any, owner: Any) -> None:
    late, taken_back = invited(team, owner), invited(team, owner)
    assert invitations.find(secret=late, now=timezone.now() + timedelta(days=6, hours=23)) is not None
    assert invitations.find(secret=late, now=timezone.now() + timedelta(days=7)) is None
    found = invitations.find(secret=taken_back, now=timezone.now())
    assert found is not None
    client_of(owner).post(reverse("invitation-withdraw", args=[team.pk, found.pk]))
    assert Client().get(reverse("invitation", args=[taken_back])).status_code == 410


def test_an_admin_of_another_team_withdraws_nothing_here(team: Any, owner: Any, outsider: Any, other_team: Any) -> None:
    found = invitations.find(secret=invited(team, owner), now=timezone.now())
    assert found is not None
    url = reverse("invitation-withdraw", args=[other_team.pk, found.pk])
    assert client_of(outsider).post(url).status_code == 404
    theirs = reverse("member-remove", args=[other_team.pk, owner.pk])
    assert client_of(outsider).post(theirs).status_code == 404
    assert Invitation.objects.exists()


def test_a_log_line_never_holds_an_invitation(team: Any, owner: Any, caplog: Any) -> None:
    import logging

    from advisor.teams.log_filter import WithoutLoginLinks

    secret = invited(team, owner)
    for text in (f"Not Found: /invitation/{secret}", f"GET /login?next=%2Finvitation%2F{secret}"):
        record = logging.LogRecord("x", logging.INFO, "", 0, text, (), None)
        WithoutLoginLinks().filter(record)
        assert secret not in record.getMessage()


def test_needing_a_login_link_ends_with_a_password(viewer: Any) -> None:
    assert services.needs_login_link(user=viewer)
    viewer.set_password(PASSWORD)
    assert not services.needs_login_link(user=viewer)
