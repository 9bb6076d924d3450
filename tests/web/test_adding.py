"""Adding a server tries it first; a server that cannot be read is tried again at once when somebody asks."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from advisor.mysql.snapshot import Identity
from advisor.mysql.version import identify
from collector import process, servers
from collector.models import Server, ServerState, Shard
from collector.reports import ConnectionReport
from collector.servers import target_of
from collector.target import Target

pytestmark = pytest.mark.django_db

FORM = {"name": "alpha", "host": "127.0.0.1", "port": "1", "user": "tidemark", "password": "hunter2"}


@pytest.fixture
def client(owner: Any, sign_in: Callable[[Any], Client]) -> Client:
    return sign_in(owner)


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> list[Target]:
    """All servers answer; what was tried is kept."""
    tried: list[Target] = []

    def check(target: Target, **_: Any) -> ConnectionReport:
        tried.append(target)
        identity = Identity("u", "db", 3306, identify("10.11.6-MariaDB"))
        return ConnectionReport(True, target.address, target.tls_mode, identity=identity)

    monkeypatch.setattr(servers, "check_connection", check)
    return tried


def test_a_server_that_answers_is_added_with_one_press(client: Client, answering: list[Target]) -> None:
    answer = client.post(reverse("add-server"), FORM)
    assert answer.status_code == 302
    assert target_of(Server.objects.get()).password.reveal() == "hunter2"
    assert [target.password.reveal() for target in answering] == ["hunter2"]


def test_one_that_does_not_is_not_saved_and_the_page_says_why_and_what_to_do(client: Client) -> None:
    answer = client.post(reverse("add-server"), FORM)
    page = answer.content.decode()
    assert answer.status_code == 200
    assert Server.objects.count() == 0
    assert "Nothing is saved yet" in page
    assert "Check the port" in page
    assert "Save anyway" in page
    assert "hunter2" not in page


def kept_of(answer: Any) -> str:
    found = re.search(r'name="kept" value="([^"]+)"', answer.content.decode())
    assert found is not None
    return found[1]


def test_saved_anyway_it_has_the_password_that_was_typed_before(client: Client) -> None:
    kept = kept_of(client.post(reverse("add-server"), FORM))
    again = {**FORM, "password": "", "kept": kept, "anyway": "1"}
    assert client.post(reverse("add-server"), again).status_code == 302
    assert target_of(Server.objects.get()).password.reveal() == "hunter2"


def test_trying_again_needs_the_password_only_once(client: Client, answering: list[Target]) -> None:
    from collector import drafts

    place = ["tidemark", "127.0.0.1", "1", "", "", ""]
    person = client.session["_auth_user_id"]
    kept = drafts.seal({"password": "hunter2", "place": place}, person=person, purpose="add")
    assert client.post(reverse("add-server"), {**FORM, "password": "", "kept": kept}).status_code == 302
    assert [target.password.reveal() for target in answering] == ["hunter2"]


def test_a_password_typed_for_one_place_is_not_sent_to_another(
    client: Client, outsider: Any, sign_in: Callable[[Any], Client]
) -> None:
    kept = kept_of(client.post(reverse("add-server"), FORM))
    elsewhere = {**FORM, "host": "127.0.0.2", "password": "", "kept": kept, "anyway": "1"}
    answer = client.post(reverse("add-server"), elsewhere)
    assert answer.status_code == 422
    assert "Enter the password again" in answer.content.decode()
    theirs = {**FORM, "host": "10.0.0.1", "port": "3306", "password": "", "kept": kept, "anyway": "1"}
    assert sign_in(outsider).post(reverse("add-server"), theirs).status_code == 422
    assert Server.objects.count() == 0


def test_what_cannot_be_stored_is_said_before_anything_is_tried(client: Client, answering: list[Target]) -> None:
    assert client.post(reverse("add-server"), {**FORM, "name": "a/b"}).status_code == 422
    assert answering == []


def test_trying_now_makes_the_server_due_and_says_when_it_answers(client: Client, watched: Any) -> None:
    later = int(time.time()) + 900
    ServerState.objects.filter(server=watched).update(fast_slot=later, retry_at=later, failures=7)
    Shard.objects.update(owner=process.own_name(), lease_until=time.time() + 30)
    answer = client.post(reverse("server-try", args=[watched.pk]), follow=True)
    assert "alpha is tried within 10 seconds" in answer.content.decode()
    state = ServerState.objects.get(server=watched)
    assert (state.fast_slot, state.retry_at, state.failures) == (0, 0, 7)


def test_trying_now_is_honest_where_nobody_reads_or_nobody_should(client: Client, watched: Any) -> None:
    address = reverse("server-try", args=[watched.pk])
    assert "none does now" in client.post(address, follow=True).content.decode()
    Server.objects.update(enabled=False)
    assert "switch it on in its settings" in client.post(address, follow=True).content.decode()
    assert client.post(address, {"back": "fleet"})["Location"] == reverse("fleet")
