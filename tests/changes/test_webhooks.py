"""Webhooks: whom is told, what is sent and signed, what becomes of it when nobody listens."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.db import transaction

from advisor.changes import webhooks, webhooks_delivery, webhooks_http
from advisor.changes.models import ChangeRequest, Delivery, State, Webhook
from advisor.teams.audit import AuditError
from advisor.teams.models import AuditEntry
from collector import vault

NOW = datetime(2026, 11, 22, 1, 0, tzinfo=UTC)


class Receiver:
    """Listens on loopback, keeps what it gets, and answers as told."""

    def __init__(self) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.status, self.body = 204, b""
        self.headers: dict[str, str] = {}
        self.hold: Callable[[Any], None] | None = None
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.got.append((dict(self.headers), body))
                if outer.hold is not None:
                    return outer.hold(self)
                self.send_response(outer.status)
                for name, value in outer.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(outer.body)

            def do_GET(self) -> None:
                outer.got.append(({"GET": self.path}, b""))

            def log_message(self, *arguments: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook?x=1"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    one = Receiver()
    yield one
    one.server.shutdown()
    one.server.server_close()


@pytest.fixture
def change(team: Any, owner: Any) -> ChangeRequest:
    return ChangeRequest.objects.create(
        team=team, number=7, title="Redo log to 4 GiB", author=owner, author_name="owner", state=State.APPROVED,
        created_at=NOW, changed_at=NOW,
    )  # fmt: skip


def hook(team: Any, owner: Any, url: str, *states: str) -> webhooks.NewWebhook:
    return webhooks.add_webhook(team=team, name="chat", url=url, states=states, unrestricted=True, actor=owner, now=NOW)


def announced(change: ChangeRequest, event: str = "change.approved") -> Delivery:
    with transaction.atomic():
        (one,) = webhooks.announce(change_request=change, event=event, at=NOW)
    return one


def test_what_is_sent_is_signed_over_its_instant_and_body(
    team: Any, owner: Any, change: ChangeRequest, receiver: Receiver
) -> None:
    made = hook(team, owner, receiver.url)
    one = announced(change)
    assert webhooks_delivery.deliver(delivery_id=one.pk, now=NOW)
    headers, body = receiver.got[0]
    sent = json.loads(body)
    assert (sent["event"], sent["change"]["id"], sent["change"]["state"]) == ("change.approved", change.pk, "approved")
    stamp, digest = (part.split("=", 1)[1] for part in headers["Tidemark-Signature"].split(","))
    wanted = hmac.new(made.secret.reveal().encode(), f"{stamp}.".encode() + body, hashlib.sha256).hexdigest()
    assert (digest, int(stamp)) == (wanted, NOW.timestamp())
    assert headers["Tidemark-Delivery"] == sent["id"] == one.pk
    one.refresh_from_db()
    assert (one.state, one.status, one.attempts) == ("delivered", 204, 1)
    assert not webhooks_delivery.deliver(delivery_id=one.pk, now=NOW + timedelta(days=1))
    assert len(receiver.got) == 1


def test_nothing_is_told_of_what_was_rolled_back(team: Any, owner: Any, change: ChangeRequest) -> None:
    hook(team, owner, "http://127.0.0.1:9/x")
    with transaction.atomic():
        webhooks.announce(change_request=change, event="change.approved", at=NOW)
        transaction.set_rollback(True)
    assert not Delivery.objects.exists()


def test_only_the_states_that_were_chosen_of_the_same_team_while_it_is_on(
    team: Any, other_team: Any, owner: Any, change: ChangeRequest
) -> None:
    everything = hook(team, owner, "http://127.0.0.1:9/a").webhook
    kept = hook(team, owner, "http://127.0.0.1:9/b", "kept").webhook
    hook(other_team, owner, "http://127.0.0.1:9/c")
    told = webhooks.announce(change_request=change, event="change.approved", at=NOW)
    assert [one.webhook for one in told] == [everything]
    change.state = State.KEPT
    told = webhooks.announce(change_request=change, event="change.kept", at=NOW)
    assert {one.webhook for one in told} == {everything, kept}
    webhooks.set_enabled(webhook=kept, enabled=False, actor=owner, now=NOW)
    told = webhooks.announce(change_request=change, event="change.kept", at=NOW)
    assert [one.webhook for one in told] == [everything]


def test_a_delivery_in_vain_is_tried_again_later_and_later_and_given_up_in_the_end(
    team: Any, owner: Any, change: ChangeRequest, receiver: Receiver
) -> None:
    hook(team, owner, receiver.url)
    receiver.status, receiver.body = 500, b"<b>broken</b>\r\n\x1b[31m" + b"x" * 5000
    one = announced(change)
    now, waits = NOW, []
    while one.state == Delivery.State.WAITING:
        assert webhooks_delivery.due(now) == [one.pk]
        assert not webhooks_delivery.deliver(delivery_id=one.pk, now=now)
        one.refresh_from_db()
        waits.append(round((one.due_at - now).total_seconds()))
        assert webhooks_delivery.due(now) == []
        now = one.due_at
    assert tuple(waits[:-1]) == webhooks_delivery.WAITS_SECONDS
    assert (one.state, one.attempts, one.status) == ("given_up", len(webhooks_delivery.WAITS_SECONDS) + 1, 500)
    assert one.answer.startswith("<b>broken</b> [31mxxx")
    assert len(one.answer.encode()) <= 1024
    assert len({body for _, body in receiver.got}) == 1


def test_a_receiver_that_is_gone_for_good_is_asked_no_more(
    team: Any, owner: Any, change: ChangeRequest, receiver: Receiver
) -> None:
    hook(team, owner, receiver.url)
    receiver.status = 410
    one = announced(change)
    webhooks_delivery.deliver(delivery_id=one.pk, now=NOW)
    one.refresh_from_db()
    assert one.state == "given_up"


def test_no_redirect_is_followed(team: Any, owner: Any, change: ChangeRequest, receiver: Receiver) -> None:
    hook(team, owner, receiver.url)
    receiver.status, receiver.headers = 302, {"Location": receiver.url.replace("hook", "else")}
    one = announced(change)
    assert not webhooks_delivery.deliver(delivery_id=one.pk, now=NOW)
    assert len(receiver.got) == 1


def test_a_receiver_that_drips_is_cut_off(
    team: Any, owner: Any, change: ChangeRequest, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhooks_http, "DEADLINE_SECONDS", 0.4)
    over = threading.Event()

    def drip(handler: Any) -> None:
        while not over.wait(0.05):
            handler.wfile.write(b"H")
            handler.wfile.flush()

    receiver.hold = lambda handler: drip(handler)
    hook(team, owner, receiver.url)
    one = announced(change)
    try:
        webhooks_delivery.deliver(delivery_id=one.pk, now=NOW)
    finally:
        over.set()
    one.refresh_from_db()
    assert "No whole answer" in one.error
    assert one.state == "waiting"


def test_two_workers_that_hear_of_one_delivery_send_it_once(
    team: Any, owner: Any, change: ChangeRequest, receiver: Receiver
) -> None:
    hook(team, owner, receiver.url)
    one = announced(change)
    calls: list[bool] = []

    def meanwhile(handler: Any) -> None:
        handler.send_response(204)
        handler.end_headers()

    receiver.hold = meanwhile
    calls.append(webhooks_delivery.deliver(delivery_id=one.pk, now=NOW))
    calls.append(webhooks_delivery.deliver(delivery_id=one.pk, now=NOW))
    assert calls == [True, False]
    assert len(receiver.got) == 1


@pytest.mark.parametrize(
    "url",
    [
        "", "hook", "ftp://example.test/x", "http://example.test/x", "https://user:p@example.test/x", "https:///x",
        "https://127.0.0.1/x", "https://localhost/x", "https://2130706433/x", "https://[::1]/x",
        "https://[::ffff:127.0.0.1]/x", "https://169.254.169.254/latest", "https://metadata.google.internal/",
        "https://0.0.0.0/", "https://10.0.0.1:22/", "https://10.0.0.1:3306/", "https://[fe80::1]/",
        "https://example.test/a b", "https://example.test:99999/", "https://[64:ff9b::7f00:1]/", "https://ex\nample/",
    ],
)  # fmt: skip
def test_addresses_that_tidemark_does_not_call_are_refused_without_saying_why(team: Any, owner: Any, url: str) -> None:
    with pytest.raises(webhooks.BadWebhook) as caught:
        webhooks.add_webhook(team=team, name="x", url=url, actor=owner, now=NOW)
    assert caught.value.field == "url"
    assert not Webhook.objects.exists()


def test_a_name_that_points_elsewhere_later_is_not_called(
    team: Any, owner: Any, change: ChangeRequest, receiver: Receiver
) -> None:
    made = hook(team, owner, receiver.url).webhook
    Webhook.objects.filter(pk=made.pk).update(unrestricted=False)
    one = announced(change)
    webhooks_delivery.deliver(delivery_id=one.pk, now=NOW)
    one.refresh_from_db()
    assert (one.state, receiver.got) == ("waiting", [])
    assert one.error


def test_the_secret_is_sealed_and_bound_to_its_webhook(
    team: Any, owner: Any, change: ChangeRequest, receiver: Receiver
) -> None:
    made, other = hook(team, owner, receiver.url), hook(team, owner, receiver.url)
    assert made.secret.reveal().startswith("tmwh_")
    raw = bytes(Webhook.objects.get(pk=made.webhook.pk).sealed)
    assert made.secret.reveal().encode() not in raw
    Webhook.objects.filter(pk=made.webhook.pk).update(sealed=bytes(other.webhook.sealed))
    Webhook.objects.filter(pk=other.webhook.pk).delete()
    one = announced(change)
    webhooks_delivery.deliver(delivery_id=one.pk, now=NOW)
    one.refresh_from_db()
    assert "does not belong" in one.error
    assert receiver.got == []


def test_what_is_done_to_webhooks_is_recorded_without_secret_and_path(team: Any, owner: Any) -> None:
    made = hook(team, owner, "http://127.0.0.1:9/services/T0/B0/abcdef")
    webhooks.set_enabled(webhook=made.webhook, enabled=False, actor=owner, now=NOW)
    webhooks.delete_webhook(webhook=made.webhook, actor=owner, now=NOW)
    told = [one for one in AuditEntry.objects.order_by("sequence") if one.action.startswith("webhook.")]
    assert [one.action for one in told] == ["webhook.added", "webhook.paused", "webhook.deleted"]
    assert "abcdef" not in "".join(one.data + one.subject for one in told)


def test_without_an_audit_no_webhook_is_made(team: Any, owner: Any, settings: Any) -> None:
    settings.AUDIT_KEYS = [base64.urlsafe_b64encode(b"short").decode()]
    with pytest.raises(AuditError):
        hook(team, owner, "http://127.0.0.1:9/x")
    assert not Webhook.objects.exists()


def test_what_was_told_long_ago_is_thrown_away(team: Any, owner: Any, change: ChangeRequest) -> None:
    hook(team, owner, "http://127.0.0.1:9/x")
    announced(change)
    assert webhooks_delivery.delete_old(NOW + timedelta(days=29)) == 0
    assert webhooks_delivery.delete_old(NOW + timedelta(days=31)) == 1


def test_a_new_credential_key_seals_the_secrets_of_webhooks_too(
    team: Any, owner: Any, change: ChangeRequest, receiver: Receiver, settings: Any
) -> None:
    made = hook(team, owner, receiver.url)
    settings.CREDENTIAL_KEYS = [base64.urlsafe_b64encode(b"n" * 32).decode(), *settings.CREDENTIAL_KEYS]
    assert vault.rotate() == vault.Rotation(1, 0, ())
    assert vault.rotate() == vault.Rotation(0, 1, ())
    settings.CREDENTIAL_KEYS = settings.CREDENTIAL_KEYS[:1]
    sealed = Webhook.objects.get()
    place = {"team_id": team.pk, "server_id": sealed.pk, "purpose": webhooks.PURPOSE}
    assert vault.open_sealed(sealed.sealed, **place) == made.secret
    assert AuditEntry.objects.filter(action="credential.sealed_anew").count() == 1
