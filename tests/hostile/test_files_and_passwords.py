"""A server that asks for what is not its business: files of this machine, the password in clear text."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from collector.collect import read_snapshot
from collector.connection import connect
from collector.errors import Hostile, TargetError, TlsMissing
from tests.hostile.fake import PASSWORD, STATUS, VARIABLES, FakeServer, Peer

CANARY = "canary-file-content-51c0"


@pytest.fixture
def canary(tmp_path: Path) -> bytes:
    path = tmp_path / "secret.txt"
    path.write_text(CANARY)
    return str(path).encode()


@pytest.mark.parametrize(
    "point",
    [
        "SET SESSION",
        "CURRENT_USER()",
        "SHOW SESSION STATUS",
        "SHOW GLOBAL VARIABLES",
        "SHOW GLOBAL STATUS",
        "SHOW GRANTS",
    ],
)
def test_a_file_is_never_sent_whichever_statement_is_answered_with_a_request_for_it(point: str, canary: bytes) -> None:
    def script(peer: Peer) -> None:
        peer.serve(point, variables=VARIABLES, status=STATUS)
        peer.ask_for_file(canary)
        peer.read()
        peer.ok()

    began = time.monotonic()
    with FakeServer(script) as server:
        try:
            with connect(server.target()) as connection:
                snapshot = read_snapshot(connection)
        except Hostile:
            pass
        else:
            # A probe may report it; then nothing of what came after it was asked.
            assert any("asked for a file" in probe.reason for probe in snapshot.probes), snapshot.probes
            assert not connection.is_open
        assert CANARY.encode() not in server.received
    # The deadline of a snapshot is 15 s: nothing waited for it.
    assert time.monotonic() - began < 10


def test_a_file_is_never_sent_in_place_of_the_login(canary: bytes) -> None:
    def script(peer: Peer) -> None:
        peer.greet()
        peer.read()
        peer.ask_for_file(canary)
        peer.read()

    with FakeServer(script) as server:
        with pytest.raises(TargetError):
            connect(server.target())
        assert CANARY.encode() not in server.received


@pytest.mark.parametrize(
    "method",
    [
        b"mysql_clear_password",
        b"dialog",
        b"mysql_old_password",
        b"sha256_password",
        b"auth_gssapi_client",
        b"no_such_method",
    ],
)
def test_the_password_is_not_shown_to_a_server_that_asks_for_it_in_another_way(method: bytes) -> None:
    def script(peer: Peer) -> None:
        peer.greet()
        peer.read()
        peer.packet(b"\xfe" + method + b"\0" + b"abcdefghijklmnopqrst\0")
        peer.read()
        peer.read()

    with FakeServer(script) as server:
        with pytest.raises(Hostile) as caught:
            connect(server.target())
        assert PASSWORD.encode() not in server.received
    assert "nothing was sent" in str(caught.value)


@pytest.mark.parametrize("method", [b"mysql_clear_password", b"dialog"])
def test_the_password_is_not_shown_to_a_server_that_greets_with_clear_text(method: bytes) -> None:
    def script(peer: Peer) -> None:
        peer.greet(plugin=method)
        peer.read()
        peer.ok()

    with FakeServer(script) as server:
        with pytest.raises(TargetError):
            connect(server.target())
        assert PASSWORD.encode() not in server.received


@pytest.mark.parametrize("mode", ["verify-identity", "verify-ca"])
def test_a_server_that_offers_no_tls_gets_not_one_byte_of_a_login(mode: str) -> None:
    def script(peer: Peer) -> None:
        peer.greet(tls=False)
        peer.read()
        peer.ok()

    with FakeServer(script) as server:
        with pytest.raises(TlsMissing):
            connect(server.target(tls_mode=mode))
        assert server.received == b""


def test_errors_of_a_server_are_shown_without_markup_for_terminals_and_lines() -> None:
    def script(peer: Peer) -> None:
        peer.greet()
        peer.read()
        peer.error(1999, b"<script>\x1b[31m\r\nX-Injected: 1\x00" + b"\xe2\x80\xae" + b"A" * 400)

    with FakeServer(script) as server, pytest.raises(TargetError) as caught:
        connect(server.target())
    text = str(caught.value)
    assert not any(ord(one) < 32 or one == "\u202e" for one in text)
    assert len(text) < 400
    assert PASSWORD not in text


def test_an_error_message_that_is_no_text_does_not_end_the_process() -> None:
    """The driver leaves a hole in its exception there: touching it was a crash of the whole process."""

    def at_login(peer: Peer) -> None:
        peer.greet()
        peer.read()
        peer.error(1045, b"\xff\xfe no text \x80")

    def in_a_statement(peer: Peer) -> None:
        peer.serve("SHOW GRANTS", variables=VARIABLES, status=STATUS)
        peer.error(1142, b"\xff\xfe no text \x80", b"42000")
        while True:
            peer.answer(peer.query())

    with FakeServer(at_login) as server, pytest.raises(TargetError) as caught:
        connect(server.target())
    assert caught.value.kind == "wrong-password"
    with FakeServer(in_a_statement) as server, connect(server.target()) as connection:
        snapshot = read_snapshot(connection)
    report = snapshot.probe("grants")
    assert report is not None
    assert report.reason.startswith("The account may not do this")


def test_a_greeting_and_columns_that_are_no_text_are_told_in_a_sentence() -> None:
    def greeting(peer: Peer) -> None:
        peer.serve("CURRENT_USER()")
        peer.rows([b"\xff\xfe", b"b"], [[b"1", b"2"]])

    def script(peer: Peer) -> None:
        peer.greet(version=b"10.\xff\xfe-MariaDB")
        peer.read()
        peer.ok()
        peer.read()

    for one in (greeting, script):
        with FakeServer(one) as server, pytest.raises(TargetError):
            connect(server.target(), deadline_seconds=2)
