"""The replicas of a source as lines of an import."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from collector import replicas
from collector.models import Server
from collector.replicas import Answer, Replica
from tests.conftest import build_server

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(team_mate: Any, sign_in: Callable[[Any], Client]) -> Client:
    return sign_in(team_mate)


def ask(client: Client, server: Any, answer: Answer, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(replicas, "ask", lambda **_: answer)
    return str(client.post(reverse("server-replicas", args=[server.pk])).content.decode())


def test_nothing_is_asked_before_somebody_says_so(
    client: Client, watched: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replicas, "ask", lambda **_: pytest.fail("was asked"))
    page = client.get(reverse("server-replicas", args=[watched.pk])).content.decode()
    assert "Ask now" in page


def test_found_replicas_become_lines_that_the_import_checks(
    client: Client, team: Any, watched: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = build_server(team, "first", host="10.0.0.2", port=3306)
    found = (
        Replica("10.0.0.2", 3306, True, True),
        Replica("10.0.0.3", 3307, True, True),
        Replica("10.0.0.4", 3306, False, False),
    )
    page = ask(client, watched, Answer(found, ("Ports marked with ? are a guess.",)), monkeypatch)
    assert f'href="{reverse("server", args=[known.pk])}"' in page
    assert "10.0.0.4:3306 ?" in page
    assert "are a guess" in page
    box = re.search(r"<textarea[^>]*name=\"text\"[^>]*>([^<]*)</textarea>", page)
    assert box is not None
    text = html.unescape(box[1]).strip()
    assert text == "name,host,port\n10.0.0.3:3307,10.0.0.3,3307\n10.0.0.4,10.0.0.4,3306"
    checked = client.post(reverse("import-servers"), {"text": text, "user": "tidemark"}).content.decode()
    assert "2 servers will be added" in checked
    assert Server.objects.count() == 2


def test_no_replica_and_no_answer_are_said_with_the_next_step(
    client: Client, watched: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "No replica was found" in ask(client, watched, Answer(), monkeypatch)
    assert "Check the port" in ask(client, watched, Answer(failure="Check the port."), monkeypatch)


def test_the_source_that_is_not_there_is_told_from_the_real_try(client: Client, watched: Any) -> None:
    page = client.post(reverse("server-replicas", args=[watched.pk])).content.decode()
    assert "Nothing listens" in page or "Check the port" in page


def test_what_a_source_tells_is_text(client: Client, watched: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    hostile = '</textarea><script>alert(1)</script>"'
    page = ask(client, watched, Answer((Replica(hostile, 3306, True, True),), (hostile,)), monkeypatch)
    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;alert(1)") >= 3
