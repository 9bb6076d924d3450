"""Every page there is, found by walking the URL configuration, so that a page that comes later is seen by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.test import Client
from django.urls import URLPattern, reverse

from advisor.teams.urls import urlpatterns as teams_patterns
from advisor.web.urls import urlpatterns as web_patterns

#: What is asked of a page besides its bare address: other states of it. A part in braces is filled like an argument.
STATES: Mapping[str, tuple[str, ...]] = {
    "fleet": ("?state=all", "?state=all&q=nothing-is-called-so"),
    "server": ("?range=15m", "?range=7d"),
    "rules": ("?q=redo",),
}
#: Pages that need servers named in the query; without them they answer with the way back.
_NEEDS_QUERY: Mapping[str, str] = {"fleet-compare": "?ids={server_id},{other_id}"}


@dataclass(frozen=True)
class Page:
    """One page as a person opens it. ``name`` is its address' name, with the state's query where it is not bare."""

    name: str
    path: str


class Unfillable(AssertionError):
    """A page was added whose address takes something that this module knows no value of."""


def filling(server: Any, advice: Any, **more: str) -> dict[str, str]:
    """Values for the arguments of addresses."""
    return {
        "server_id": server.pk,
        "recommendation_id": advice.pk,
        "rule_id": advice.rule,
        "chart": "checkpoint-age",
        "form": "csv",
        "number": "1",
        "ending": "csv",
        "secret": "spent",
        # Annotations are deleted by a POST only, so that any number will do.
        "event_id": "1",
        "team_id": server.team_id,
        "provider_id": "oidc",
        # Members, invitations and tokens have no page of their own, only forms that are sent to them.
        "user_id": "1",
        "invitation_id": "1",
        "token_id": "1",
        "pk": "1",
        **more,
    }


#: Pages about a second factor, or that ask for one: to a person who has none there is nothing to show.
NEED_A_FACTOR = {
    "account_reauthenticate",
    "mfa_reauthenticate",
    "mfa_reauthenticate_webauthn",
    "mfa_deactivate_totp",
    "mfa_view_recovery_codes",
    "mfa_remove_webauthn",
    "mfa_edit_webauthn",
    "openid_connect_callback",
}


def addresses(values: Mapping[str, str]) -> Iterator[Page]:
    """All addresses that can be filled, whatever they answer. Raises Unfillable."""
    for pattern in (*web_patterns, *teams_patterns):
        if not isinstance(pattern, URLPattern) or not pattern.name:
            continue
        wanted = re.findall(r"<(?:\w+:)?(\w+)>", str(pattern.pattern))
        if missing := [name for name in wanted if name not in values]:
            raise Unfillable(f"{pattern.name} takes {', '.join(missing)}: say in filling() what stands for it")
        path = reverse(pattern.name, kwargs={name: values[name] for name in wanted})
        bare = _NEEDS_QUERY.get(pattern.name, "")
        try:
            yield Page(pattern.name, path + bare.format(**values))
            for state in STATES.get(pattern.name, ()):
                yield Page(f"{pattern.name}{state}", path + state.format(**values))
        except KeyError as error:
            raise Unfillable(f"{pattern.name} needs {error} in its query") from error


def answers(client: Client, values: Mapping[str, str]) -> Iterator[tuple[Page, Any]]:
    """What each address answers to the client's GET. Raises AssertionError where one fails."""
    for page in addresses(values):
        answer = client.get(page.path)
        if page.name in NEED_A_FACTOR:
            assert answer.status_code in {403, 404}, f"{page.path} answered {answer.status_code}"
            continue
        # 410: a login link that is spent says so on a page.
        assert answer.status_code in {200, 302, 405, 410, 422}, f"{page.path} answered {answer.status_code}"
        yield page, answer


def is_page(answer: Any) -> bool:
    """Whether it is a whole HTML page; files, parts, redirects and forms' targets are not."""
    html = answer.headers.get("Content-Type", "").startswith("text/html") and not answer.streaming
    return bool(answer.status_code in {200, 410} and html and b"<html" in answer.content[:200])


def pages(client: Client, values: Mapping[str, str]) -> list[Page]:
    """The addresses that answer with a whole page."""
    return [page for page, answer in answers(client, values) if is_page(answer)]
