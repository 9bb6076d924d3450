"""What holds for every address there is: no write without a token of the form, none by a GET, no way to another host.

The addresses come from the URL configuration, libraries' and API included; what is not classified in test_urls.PAGES
fails there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from advisor.teams import services
from advisor.teams.roles import Role
from tests.web.routes import routes
from tests.web.test_urls import HAVE_A_PAGE_OF_THEIR_OWN, PAGES, SIGNS_OUT, _address

UNSAFE = ("post", "put", "patch", "delete")
PASSWORD = "a horse, a battery and a staple"
#: They answer 403 to a person without a second factor, whatever their role.
ASKS_FOR_A_FACTOR = {"account_reauthenticate", "mfa_reauthenticate", "mfa_reauthenticate_webauthn"}
#: A login link signs in by one GET, as design promises; it changes nothing but the link and the session.
WRITES_BY_CONTRACT = {"login-link"}
#: The reader's own notices about a change are read when its page is: nothing that anybody else sees.
READS_NOTICES = {"change": "changes_notice"}
#: A session's own row, which each request may touch.
_SESSION_TABLES = re.compile(r'^\w+(?: OR \w+)?(?: INTO| FROM)?\s+["`]django_session["`]', re.IGNORECASE)
_WRITE = re.compile(r"^\s*(INSERT|UPDATE|DELETE|REPLACE|CREATE|DROP|ALTER)\b", re.IGNORECASE)

#: Ways to another host, as `next` has been seen to be abused. {host} is ours.
FOREIGN = [
    "http://evil.example",
    "https://evil.example/",
    "HTTPS://EVIL.EXAMPLE",
    "//evil.example",
    "///evil.example",
    "////evil.example",
    "/\\evil.example",
    "\\/evil.example",
    "\\\\evil.example",
    "/\\/evil.example",
    "http:evil.example",
    "http:/evil.example",
    "http:///evil.example",
    "https:evil.example",
    "https:\\\\evil.example",
    "http:\\/evil.example",
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    " javascript:alert(1)",
    "java\tscript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:msgbox(1)",
    "file:///etc/passwd",
    "ftp://evil.example",
    "mailto:x@evil.example",
    "http://testserver@evil.example",
    "http://testserver:80@evil.example",
    "http://evil.example#testserver",
    "http://evil.example?testserver",
    "http://testserver.evil.example",
    "http://evil.example\\@testserver",
    "//evil.example\\@testserver",
    "//testserver@evil.example",
    " //evil.example",
    "\t//evil.example",
    "\n//evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "/\r\n/evil.example",
    "\x00//evil.example",
    "\x01https://evil.example",
    "//evil%2eexample",
    "//%65vil.example",
    "//evil。example",
    "//ｅvil.example",
    "/%5cevil.example/%2f..//evil.example\r\nLocation: //evil.example",
    "https://[::ffff:6.6.6.6]/",
    "//6.6.6.6",
    "http://0x06060606/",
    "//[::1]@evil.example",
    "http://[evil",
    "x" * 5000 + "//evil.example",
]


def test_fifty_ways_out_are_tried() -> None:
    assert len(set(FOREIGN)) >= 50


@pytest.fixture
def admin(team: Any, person: Callable[..., Any]) -> Any:
    return person("ada", team, *Role, administrator=True)


def _stays_here(answer: Any) -> bool:
    """Whether a browser that follows the answer stays with us: a path of ours, as browsers read it."""
    to = answer.get("Location") or answer.get("HX-Redirect") or answer.get("HX-Location")
    if to is None:
        return bool(answer.status_code < 500)
    plain = re.sub(r"[\x00-\x20]", "", to).replace("\\", "/")
    return bool(re.match(r"/(?!/)", plain) and not re.search(r"[\r\n]", to))


def _by(team: Any, other_team: Any, person: Callable[..., Any], role: str) -> Client:
    client = Client()
    if role == "outsider":
        client.force_login(person("stranger", other_team, *Role))
    elif role != "anonymous":
        client.force_login(person(f"a-{role}", team, Role(role)))
    return client


def test_by_no_method_does_an_outsider_reach_what_a_team_owns(
    team: Any, other_team: Any, person: Callable[..., Any], busy: Any, advice: Any
) -> None:
    """Whoever holds every role elsewhere learns of nothing here, whatever the method."""
    client = _by(team, other_team, person, "outsider")
    owned = {name: page for name, page in PAGES.items() if page[2].get("outsider") == 404}
    assert len(owned) > 30
    reached = []
    for name, (takes, _, _) in owned.items():
        for method in ("get", "head", *UNSAFE):
            status = getattr(client, method)(_address(name, takes, busy, advice)).status_code
            if status not in (404, 405):
                reached.append(f"{method} {name}: {status}")
    assert reached == []


@pytest.mark.parametrize("role", ["viewer", "editor", "approver", "operator"])
def test_a_role_too_small_for_an_address_is_so_by_every_method(
    role: str, team: Any, other_team: Any, person: Callable[..., Any], busy: Any, advice: Any
) -> None:
    client = _by(team, other_team, person, role)
    refused = {name: page for name, page in PAGES.items() if page[2].get(role, page[2][""]) == 403}
    passed = []
    for name, (takes, _, _) in refused.items():
        if name in ASKS_FOR_A_FACTOR:
            continue
        for method in ("get", "head", *UNSAFE):
            status = getattr(client, method)(_address(name, takes, busy, advice)).status_code
            if status not in (403, 404, 405):
                passed.append(f"{method} {name}: {status}")
    assert passed == []


def test_by_no_method_does_somebody_unknown_pass_the_login(busy: Any, advice: Any) -> None:
    client = Client()
    passed = []
    for name, (takes, _, expected) in PAGES.items():
        if expected.get("anonymous", expected[""]) != 302 or name in HAVE_A_PAGE_OF_THEIR_OWN | SIGNS_OUT:
            continue
        for method in ("get", "head", *UNSAFE):
            answer = getattr(client, method)(_address(name, takes, busy, advice))
            to_login = answer.status_code == 302 and answer["Location"].startswith("/login")
            if not to_login and answer.status_code not in (403, 405):
                passed.append(f"{method} {name}: {answer.status_code}")
    assert passed == []


@pytest.mark.parametrize("method", UNSAFE)
def test_nothing_unsafe_passes_without_the_form_s_token(method: str, admin: Any, busy: Any, advice: Any) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(admin)
    passed = []
    for name, (takes, _, _) in PAGES.items():
        url = _address(name, takes, busy, advice)
        for headers in ({"HX-Request": "true"}, {"Origin": "https://evil.example"}, {"X-CSRFToken": "x" * 64}):
            answer = getattr(client, method)(url, headers=headers)
            if answer.status_code != 403:
                passed.append(f"{method} {name} with {headers}: {answer.status_code}")
    assert passed == []


def test_a_session_is_nothing_to_the_api(admin: Any) -> None:
    """Its addresses need no form's token, since a cookie does not count there."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(admin)
    answered = []
    paths = [re.sub(r"<[^>]+>", "x", route.path) for route in routes() if route.of_api]
    assert len(paths) > 10
    for path in paths:
        for method in ("get", *UNSAFE):
            status = getattr(client, method)(f"/{path}").status_code
            open_to_all = method == "get" and re.search(r"openapi\.json|docs$", path)
            if status not in (401, 403, 404, 405) and not open_to_all:
                answered.append(f"{method} {path}: {status}")
    assert answered == []


@contextmanager
def _writes() -> Iterator[list[str]]:
    """The statements meanwhile that change anything but a session."""
    seen: list[str] = []

    def watch(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if _WRITE.match(sql) and not _SESSION_TABLES.match(sql.strip()):
            seen.append(sql[:160])
        return execute(sql, params, many, context)

    with connection.execute_wrapper(watch):
        yield seen


def test_a_get_writes_nothing(admin: Any, busy: Any, advice: Any) -> None:
    client = Client()
    client.force_login(admin)
    wrote = []
    for name, (takes, _, _) in PAGES.items():
        if name in WRITES_BY_CONTRACT:
            continue
        url = _address(name, takes, busy, advice)
        with _writes() as seen:
            client.get(url)
        seen = [one for one in seen if READS_NOTICES.get(name, "-") not in one]
        if seen:
            wrote.append(f"{name}: {seen}")
    assert wrote == []
    assert client.get(reverse("account")).status_code == 200, "a GET signed the reader out"


def test_what_watches_for_writes_sees_one(team: Any) -> None:
    with _writes() as seen:
        services.ensure_team(name="Another")
    assert any("teams_team" in one for one in seen)


@pytest.mark.parametrize(
    "foreign",
    # Every fifth is quick, all of them are tried by ./check --ci.
    [pytest.param(way, id=str(n), marks=[pytest.mark.ci] * bool(n % 5)) for n, way in enumerate(FOREIGN)],
)
def test_no_next_leads_to_another_host(foreign: str, admin: Any, settings: Any) -> None:
    settings.ACCOUNT_RATE_LIMITS = False
    admin.set_password(PASSWORD)
    admin.save()
    signed_in = Client()
    signed_in.post(reverse("login"), {"login": "ada", "password": PASSWORD})
    answers = [
        Client().post(reverse("login"), {"login": "ada", "password": PASSWORD, "next": foreign}),
        Client().post(reverse("login", query={"next": foreign}), {"login": "ada", "password": PASSWORD}),
        signed_in.get(reverse("login", query={"next": foreign})),
        signed_in.post(reverse("account_reauthenticate"), {"password": PASSWORD, "next": foreign}),
        signed_in.post(reverse("look"), {"language": "en", "next": foreign}),
        signed_in.post(reverse("logout"), {"next": foreign}),
        Client().post(reverse("look"), {"language": "en", "next": foreign}),
        Client().post(reverse("mfa_login_webauthn"), {"credential": "{}", "next": foreign}),
    ]
    assert [number for number, answer in enumerate(answers) if not _stays_here(answer)] == []


@pytest.mark.parametrize(
    "spoofed",
    [
        {"HTTP_HOST": "evil.example"},
        {"HTTP_HOST": "evil.example:80"},
        {"HTTP_HOST": "testserver@evil.example"},
        {"HTTP_HOST": "testserver.evil.example"},
        {"HTTP_HOST": "evil.example\ttestserver"},
    ],
)
def test_a_foreign_host_is_refused_everywhere(spoofed: dict[str, str], admin: Any, busy: Any, advice: Any) -> None:
    client = Client()
    client.force_login(admin)
    for name, (takes, method, _) in PAGES.items():
        if name in SIGNS_OUT | {"healthz", "readyz"}:
            continue
        answer = getattr(client, method)(_address(name, takes, busy, advice), **spoofed)
        assert answer.status_code == 400, f"{name}: {answer.status_code}"
        assert b"evil" not in answer.content, name


def test_a_forwarded_host_changes_no_link(admin: Any) -> None:
    client = Client()
    client.force_login(admin)
    pages = [client.get(url, headers={"X-Forwarded-Host": "evil.example"}) for url in ("/", "/account", "/teams")]
    assert all(b"evil.example" not in page.content + page.serialize_headers() for page in pages)


def test_a_login_link_of_a_spoofed_host_is_printed_with_our_own_address(admin: Any) -> None:
    from advisor.teams.links import login_address

    secret = services.create_login_link(user=admin, now=timezone.now())
    assert login_address(secret).startswith("http://127.0.0.1:8000/login/")
