"""Every address for every kind of reader. A new view cannot be forgotten: the matrix is held against the URL
configuration.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from advisor.teams import services
from advisor.teams.models import Team
from advisor.teams.roles import Role
from tests.recommendations.building import switched_off
from tests.web.routes import routes

ROLES = ("anonymous", "outsider", "viewer", "editor", "approver", "operator", "admin")

#: What each reader gets. A redirect of somebody anonymous leads to the login page. "S", "R": the address takes a
#: server's, a recommendation's id; POST addresses answer a GET with 405 to whoever may post to them.
PAGES: dict[str, tuple[str, str, dict[str, int]]] = {
    "fleet": ("", "get", {"anonymous": 302, "": 200}),
    "fleet-csv": ("", "get", {"anonymous": 302, "": 200}),
    "fleet-json": ("", "get", {"anonymous": 302, "": 200}),
    "login": ("", "get", {"anonymous": 200, "": 302}),
    "logout": ("", "post", {"": 302}),
    "account": ("", "get", {"anonymous": 302, "": 200}),
    "look": ("", "post", {"": 302}),
    "add-server": (
        "",
        "get",
        {"anonymous": 302, "outsider": 200, "viewer": 403, "approver": 403, "operator": 403, "": 200},
    ),
    "add-server-check": (
        "",
        "post",
        {"anonymous": 302, "outsider": 200, "viewer": 403, "approver": 403, "operator": 403, "": 200},
    ),
    "import-servers": (
        "",
        "get",
        {"anonymous": 302, "outsider": 200, "viewer": 403, "approver": 403, "operator": 403, "": 200},
    ),
    "import-servers-confirm": (
        "",
        "post",
        {"anonymous": 302, "": 422, "viewer": 403, "approver": 403, "operator": 403},
    ),
    "fleet-compare": ("", "get", {"anonymous": 302, "": 200}),
    "fleet-compare-csv": ("", "get", {"anonymous": 302, "": 302}),
    "server": ("S", "get", {"anonymous": 302, "outsider": 404, "": 200}),
    "server-charts": ("S", "get", {"anonymous": 302, "outsider": 404, "": 200}),
    "server-newest": ("S", "get", {"anonymous": 302, "outsider": 404, "": 200}),
    "server-chart-export": ("chart", "get", {"anonymous": 302, "outsider": 404, "": 200}),
    "server-counters": ("S", "get", {"anonymous": 302, "outsider": 404, "": 200}),
    "server-counters-json": ("S", "get", {"anonymous": 302, "outsider": 404, "": 200}),
    "server-counters-csv": ("S", "get", {"anonymous": 302, "outsider": 404, "": 200}),
    "server-redo": ("S", "get", {"anonymous": 302, "outsider": 404, "": 200}),
    "server-redo-samples": ("S", "get", {"anonymous": 302, "outsider": 404, "": 200}),
    "server-redo-samples-json": ("S", "get", {"anonymous": 302, "outsider": 404, "": 200}),
    "server-counters-charts": ("S", "get", {"anonymous": 302, "outsider": 404, "": 200}),
    "server-counters-drawing": ("number", "get", {"anonymous": 302, "outsider": 404, "": 302}),
    "server-diff": ("S", "get", {"anonymous": 302, "outsider": 404, "": 200}),
    "server-diff-export": ("file", "get", {"anonymous": 302, "outsider": 404, "": 200}),
    "server-inspection": ("S", "get", {"anonymous": 302, "outsider": 404, "": 302}),
    "server-inspect": ("S", "post", {"anonymous": 302, "outsider": 404, "viewer": 403, "approver": 403, "": 302}),
    "server-try": ("S", "post", {"anonymous": 302, "outsider": 404, "viewer": 403, "approver": 403, "": 302}),
    "server-replicas": (
        "S",
        "get",
        {"anonymous": 302, "outsider": 404, "viewer": 403, "approver": 403, "operator": 403, "": 200},
    ),
    "server-levers": ("S", "get", {"anonymous": 302, "outsider": 404, "": 200}),
    "server-snapshot": ("S", "get", {"anonymous": 302, "outsider": 404, "": 200}),
    "server-snapshot-file": ("file", "get", {"anonymous": 302, "outsider": 404, "": 200}),
    "server-events": ("S", "get", {"anonymous": 302, "outsider": 404, "": 200}),
    "annotation-create": ("S", "post", {"anonymous": 302, "outsider": 404, "viewer": 403, "": 422}),
    "annotation-delete": ("SE", "post", {"anonymous": 302, "outsider": 404, "viewer": 403, "": 404}),
    "server-settings": (
        "S",
        "get",
        {"anonymous": 302, "outsider": 404, "viewer": 403, "approver": 403, "operator": 403, "": 200},
    ),
    "server-apply-account": ("S", "post", {"anonymous": 302, "outsider": 404, "": 403, "admin": 302}),
    "server-delete": ("S", "post", {"anonymous": 302, "outsider": 404, "": 403, "admin": 302}),
    "recommendation": ("SR", "get", {"anonymous": 302, "outsider": 404, "": 200}),
    "recommendation-acknowledge": ("SR", "post", {"anonymous": 302, "outsider": 404, "viewer": 403, "": 302}),
    "recommendation-dismiss": ("SR", "post", {"anonymous": 302, "outsider": 404, "viewer": 403, "": 422}),
    "recommendation-reopen": ("SR", "post", {"anonymous": 302, "outsider": 404, "viewer": 403, "": 302}),
    "recommendation-assign": ("SR", "post", {"anonymous": 302, "outsider": 404, "viewer": 403, "": 302}),
    "recommendation-comment": ("SR", "post", {"anonymous": 302, "outsider": 404, "viewer": 403, "": 422}),
    "rules": ("", "get", {"anonymous": 302, "": 200}),
    "rule": ("rule", "get", {"anonymous": 302, "": 200}),
    "rule-set": (
        "rule",
        "post",
        {"anonymous": 302, "outsider": 422, "viewer": 403, "editor": 403, "operator": 403, "": 422},
    ),
    "rule-clear": (
        "setting",
        "post",
        {"anonymous": 302, "outsider": 404, "viewer": 403, "editor": 403, "operator": 403, "": 302},
    ),
    "system": ("", "get", {"anonymous": 302, "": 200}),
    "changes": ("", "get", {"anonymous": 302, "": 200}),
    "change-new": ("", "get", {"anonymous": 302, "": 403, "outsider": 200, "editor": 200, "admin": 200}),
    "change-hint": ("", "get", {"anonymous": 302, "": 404}),
    "change": ("change", "get", {"anonymous": 302, "outsider": 404, "": 200}),
    "change-edit": ("change", "get", {"anonymous": 302, "outsider": 404, "": 403, "editor": 200, "admin": 200}),
    "change-submit": ("change", "post", {"anonymous": 302, "outsider": 404, "": 403, "editor": 422, "admin": 422}),
    "change-review": ("change", "post", {"anonymous": 302, "outsider": 404, "": 403, "approver": 422, "admin": 422}),
    "change-withdraw": ("change", "post", {"anonymous": 302, "outsider": 404, "": 403, "editor": 302, "admin": 302}),
    "change-schedule": ("change", "post", {"anonymous": 302, "outsider": 404, "": 403, "operator": 422, "admin": 422}),
    "change-apply": ("change", "post", {"anonymous": 302, "outsider": 404, "": 403, "operator": 302, "admin": 302}),
    "change-roll-back": ("change", "get", {"anonymous": 302, "outsider": 404, "": 403, "operator": 302, "admin": 302}),
    "change-keep": ("change", "post", {"anonymous": 302, "outsider": 404, "": 403, "operator": 302, "admin": 302}),
    "change-statements": ("change file", "get", {"anonymous": 302, "": 404}),  # a draft has no plan
    "policies": ("", "get", {"anonymous": 302, "": 403, "outsider": 200, "admin": 200}),
    "policy-set": ("", "post", {"anonymous": 302, "": 403, "outsider": 422, "admin": 422}),
    "policy-delete": ("policy", "post", {"anonymous": 302, "outsider": 404, "": 403, "admin": 302}),
    "notices": ("", "get", {"anonymous": 302, "": 200}),
    "notices-read": ("", "post", {"anonymous": 302, "": 302}),
    "healthz": ("", "get", {"": 200}),
    "readyz": ("", "get", {"": 200}),
    "team-webhooks": ("team", "get", {"anonymous": 302, "outsider": 404, "": 403, "admin": 200}),
    "webhook-set": ("team invitation", "post", {"anonymous": 302, "outsider": 404, "": 403, "admin": 404}),
    "webhook-delete": ("team invitation", "post", {"anonymous": 302, "outsider": 404, "": 403, "admin": 404}),
    "audit": ("", "get", {"anonymous": 302, "viewer": 403, "": 200}),
    "audit-csv": ("", "get", {"anonymous": 302, "viewer": 403, "": 200}),
    "audit-jsonl": ("", "get", {"anonymous": 302, "viewer": 403, "": 200}),
    "account_login": ("", "get", {"anonymous": 200, "": 302}),
    "account_logout": ("", "post", {"": 302}),
    "account_inactive": ("", "get", {"": 200}),
    "mfa_authenticate": ("", "get", {"anonymous": 302, "": 302}),
    "mfa_login_webauthn": ("", "get", {"": 302}),
    "socialaccount_login_cancelled": ("", "get", {"": 200}),
    "socialaccount_login_error": ("", "get", {"": 200}),
    "openid_connect_login": ("issuer", "post", {"": 404}),
    "openid_connect_callback": ("issuer", "get", {"": 404}),
    "login-link": ("secret", "get", {"": 410}),
    "account_reauthenticate": ("", "get", {"anonymous": 302, "": 403}),
    "usersessions_list": ("", "get", {"anonymous": 302, "": 200}),
    "mfa_index": ("", "get", {"anonymous": 302, "": 200}),
    "mfa_reauthenticate": ("", "get", {"anonymous": 302, "": 403}),
    "mfa_activate_totp": ("", "get", {"anonymous": 302, "": 200}),
    "mfa_deactivate_totp": ("", "get", {"anonymous": 302, "": 404}),
    "mfa_view_recovery_codes": ("", "get", {"anonymous": 302, "": 404}),
    "mfa_generate_recovery_codes": ("", "get", {"anonymous": 302, "": 200}),
    "mfa_list_webauthn": ("", "get", {"anonymous": 302, "": 200}),
    "mfa_add_webauthn": ("", "get", {"anonymous": 302, "": 200}),
    "mfa_reauthenticate_webauthn": ("", "get", {"anonymous": 302, "": 403}),
    "mfa_remove_webauthn": ("key", "get", {"anonymous": 302, "": 404}),
    "mfa_edit_webauthn": ("key", "get", {"anonymous": 302, "": 404}),
    "tokens": ("", "get", {"anonymous": 302, "": 200}),
    "token-revoke": ("token", "post", {"anonymous": 302, "": 404}),
    "teams": ("", "get", {"anonymous": 302, "": 302}),
    "team": ("team", "get", {"anonymous": 302, "outsider": 404, "": 200}),
    "team-invite": ("team", "post", {"anonymous": 302, "outsider": 404, "": 403, "admin": 422}),
    "invitation-withdraw": ("team invitation", "post", {"anonymous": 302, "outsider": 404, "": 403, "admin": 404}),
    "member": ("member", "post", {"anonymous": 302, "outsider": 404, "": 403, "admin": 302}),
    "member-remove": ("member", "post", {"anonymous": 302, "outsider": 404, "": 403, "admin": 302}),
    "invitation": ("secret", "get", {"": 410}),
    "invitation-with-issuer": ("secret", "post", {"": 302}),
}


#: They end the reader's session, on which the rest of the walk depends.
SIGNS_OUT = {"logout", "account_logout"}
#: They send somebody who is not signed in elsewhere than to the login page with a way back.
HAVE_A_PAGE_OF_THEIR_OWN = {"login", "account_login", "look", "mfa_authenticate", "mfa_login_webauthn"} | {
    "invitation-with-issuer"
}


def test_every_address_is_in_the_matrix() -> None:
    assert {route.name for route in routes() if not route.of_api} == set(PAGES)


@pytest.fixture
def reader(team: Any, other_team: Any, person: Callable[..., Any]) -> Callable[[str], Client]:
    def make(role: str) -> Client:
        client = Client()
        if role == "outsider":
            client.force_login(person("outsider", other_team, Role.ADMIN))
        elif role != "anonymous":
            client.force_login(person(role, team, Role(role)))
        return client

    return make


def _colleague(team: Team) -> Any:
    """A member whose roles may be changed and who may be removed; there again each time."""
    colleague, _ = User.objects.get_or_create(username="colleague")
    services.add_role(user=colleague, team=team, role=Role.VIEWER)
    return colleague


def _draft(server: Any) -> Any:
    """A change request that nobody has submitted: a new one each time, since some addresses end it."""
    from advisor.changes import services as changes

    writer, _ = User.objects.get_or_create(username="writer")
    wanted = [changes.Change(server, "innodb_io_capacity", "700")]
    return changes.create(
        team=server.team, actor=writer, title="More", reason="r", changes=wanted, now=timezone.now()
    )  # fmt: skip


def _policy(team: Team) -> Any:
    """A policy of the team, there again each time."""
    from advisor.changes import services as changes

    writer, _ = User.objects.get_or_create(username="writer")
    return changes.set_policy(team=team, actor=writer, now=timezone.now(), tag="some")


def _address(name: str, takes: str, server: Any, advice: Any) -> str:
    rule = "redo.redo-log-undersized"
    if takes == "issuer":
        return reverse(name, args=["oidc"])  # none is set up
    if takes == "secret":
        return reverse(name, args=["x" * 43])  # of no link
    if takes in ("key", "token"):
        return reverse(name, args=[1])  # nobody's
    if takes == "change":
        return reverse(name, args=[_draft(server).pk])
    if takes == "change file":
        return reverse(name, args=[_draft(server).pk, server.pk, "sql"])
    if takes == "policy":
        return reverse(name, args=[_policy(server.team).pk])
    if takes == "team":
        return reverse(name, args=[server.team_id])
    if takes == "team invitation":
        return reverse(name, args=[server.team_id, "x" * 16])  # nobody's
    if takes == "member":
        return reverse(name, args=[server.team_id, _colleague(server.team).pk])
    if takes == "setting":
        return reverse(name, args=[rule, switched_off(server.team, rule).pk])
    if takes == "chart":
        return reverse(name, args=[server.pk, "redo-rate", "csv"])
    if takes == "number":
        return reverse(name, args=[server.pk, 1])  # a chart, but no name is charted
    if takes == "file":
        return reverse(name, args=[server.pk, "csv"])
    if takes == "SE":
        return reverse(name, args=[server.pk, 1])  # an event, but nobody's annotation
    arguments = {"S": [server.pk], "SR": [server.pk, advice.pk], "rule": [rule], "": []}[takes]
    return reverse(name, args=arguments)


def test_every_address_answers_every_role_as_it_should(reader: Callable[[str], Client], busy: Any, advice: Any) -> None:
    wrong = []
    for role in ROLES:
        client = reader(role)
        for name, (takes, method, expected) in PAGES.items():
            if name in SIGNS_OUT:
                continue
            answer = getattr(client, method)(_address(name, takes, busy, advice))
            wanted = expected.get(role, expected[""])
            if answer.status_code != wanted:
                wrong.append(f"{role} {method} {name}: {answer.status_code} instead of {wanted}")
            if role == "anonymous" and answer.status_code == 302 and name not in HAVE_A_PAGE_OF_THEIR_OWN:
                assert answer["Location"].startswith("/login?next=")
    assert wrong == []


@pytest.mark.parametrize("name", [name for name, page in PAGES.items() if page[1] == "post" and name not in SIGNS_OUT])
def test_what_changes_something_takes_no_get(
    name: str, reader: Callable[[str], Client], busy: Any, advice: Any
) -> None:
    assert reader("admin").get(_address(name, PAGES[name][0], busy, advice)).status_code == 405


def test_a_post_without_a_token_is_refused_with_a_page(
    team: Any, person: Callable[..., Any], busy: Any, advice: Any
) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(person("ed", team, Role.EDITOR))
    answer = client.post(
        reverse("recommendation-acknowledge", args=[busy.pk, advice.pk]), headers={"HX-Request": "true"}
    )
    assert answer.status_code == 403
    assert "no longer valid" in answer.content.decode()


def test_a_recommendation_is_found_only_under_its_own_server(
    reader: Callable[[str], Client], busy: Any, advice: Any, watched: Any
) -> None:
    assert reader("admin").get(reverse("recommendation", args=[watched.pk, advice.pk])).status_code == 404


def test_pages_carry_the_policy_and_a_title_with_the_state(reader: Callable[[str], Client], busy: Any) -> None:
    answer = reader("viewer").get(reverse("server", args=[busy.pk]))
    policy = answer["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert "<title>(critical) orders-db-07" in answer.content.decode()


def test_a_person_without_a_team_sees_the_next_step(db: None) -> None:
    client = Client()
    client.force_login(User.objects.create_user("nobody"))
    assert Team.objects.count() == 0
    page = client.get("/")
    assert "No server is watched yet" in page.content.decode()
    assert "role editor or admin" in page.content.decode()
