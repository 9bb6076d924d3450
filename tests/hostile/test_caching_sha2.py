"""A server that asks for the password itself, as caching_sha2_password may: it never sees it on a plain connection."""

from __future__ import annotations

import base64
from collections.abc import Callable

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa

from collector import connection as connecting
from collector.connection import connect
from collector.errors import Hostile, TargetError, TlsMissing
from tests.hostile.fake import PASSWORD, FakeServer, Peer

SCRAMBLE = b"abcdefghijklmnopqrst"
KEY = rsa.generate_private_key(65537, 2048)
PEM = KEY.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
#: The protocol's.
PADDING = padding.OAEP(padding.MGF1(hashes.SHA1()), hashes.SHA1(), None)  # noqa: S303
WANTS_PASSWORD, WANTS_KEY = b"\x01\x04", b"\x02"


def switching(peer: Peer) -> None:
    """Names the method after the login."""
    peer.greet(version=b"8.0.36")
    peer.read()
    peer.packet(b"\xfecaching_sha2_password\0" + SCRAMBLE + b"\0")
    peer.read()


def greeting(peer: Peer) -> None:
    """Names the method in the greeting already."""
    peer.greet(version=b"8.0.36", plugin=b"caching_sha2_password")
    peer.read()


def seen_in(server: FakeServer) -> bool:
    """Whether the password can be read from what was sent, as it is or in a common coating."""
    sent = server.received
    raw = PASSWORD.encode()
    return any(form in sent for form in (raw, base64.b64encode(raw)[:-4], raw.hex().encode(), raw[:8]))


@pytest.mark.parametrize("start", [switching, greeting])
@pytest.mark.parametrize("mode", ["opportunistic", "insecure"])
def test_a_server_without_tls_that_wants_the_password_gets_no_byte_of_it_in_clear(
    mode: str, start: Callable[[Peer], None]
) -> None:
    asked: list[bytes] = []

    def script(peer: Peer) -> None:
        start(peer)
        peer.packet(WANTS_PASSWORD)
        asked.append(peer.read())
        peer.error(1045, b"Access denied", b"28000")
        peer.read()

    with FakeServer(script) as server:
        with pytest.raises(TargetError):
            connect(server.target(tls_mode=mode), deadline_seconds=3)
        assert asked == [WANTS_KEY]
        assert not seen_in(server)


def test_on_loopback_the_password_is_encrypted_with_the_server_s_key() -> None:
    opened: list[bytes] = []

    def script(peer: Peer) -> None:
        switching(peer)
        peer.packet(WANTS_PASSWORD)
        assert peer.read() == WANTS_KEY
        peer.packet(b"\x01" + PEM)
        hidden = KEY.decrypt(peer.read(), PADDING)
        opened.append(bytes(one ^ SCRAMBLE[place % 20] for place, one in enumerate(hidden)))
        peer.ok()
        while True:
            peer.answer(peer.query())

    with FakeServer(script) as server, connect(server.target()) as connection:
        assert connection.is_open
        assert not seen_in(server)
    assert opened == [PASSWORD.encode() + b"\0"]


def test_over_a_network_without_tls_nothing_is_sent_since_the_key_may_be_anyone_s(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connecting, "_is_on_loopback", lambda *_: False)

    def script(peer: Peer) -> None:
        switching(peer)
        peer.packet(WANTS_PASSWORD)
        before.append(len(peer.received))
        peer.read()

    before: list[int] = []
    with FakeServer(script) as server:
        with pytest.raises(TlsMissing) as caught:
            connect(server.target(tls_mode="insecure"), deadline_seconds=3)
        assert len(server.received) == before[0]
        assert not seen_in(server)
    assert "was not sent" in caught.value.sentence
    assert "Switch TLS on" in caught.value.next_step


EC_PEM = (
    ec.generate_private_key(ec.SECP256R1())
    .public_key()
    .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
)


@pytest.mark.parametrize(
    "key",
    [b"", b"no key", PEM[:100], PEM + b"x" * 100_000, EC_PEM, b"\xff" * 300],
    ids=["empty", "words", "cut", "long", "another kind", "bytes"],
)
def test_what_is_no_key_gets_no_password(key: bytes) -> None:
    after: list[bytes] = []

    def script(peer: Peer) -> None:
        switching(peer)
        peer.packet(WANTS_PASSWORD)
        peer.read()
        peer.packet(b"\x01" + key)
        after.append(peer.read())

    with FakeServer(script) as server:
        with pytest.raises(TargetError) as caught:
            connect(server.target(), deadline_seconds=3)
        assert after == []
        assert not seen_in(server)
    if key:
        assert isinstance(caught.value, Hostile)


def test_a_server_that_remembers_the_password_gets_its_hash_only() -> None:
    def script(peer: Peer) -> None:
        switching(peer)
        peer.packet(b"\x01\x03")
        peer.ok()
        while True:
            peer.answer(peer.query())

    with FakeServer(script) as server, connect(server.target()) as connection:
        assert connection.is_open
        assert not seen_in(server)


def test_a_login_that_makes_no_sense_is_an_error_and_no_password() -> None:
    for told in (b"\x01\x05", b"\x01", b"\x01\x04\x04", b"\x00", b"\x01" + b"\x04" * 5000):

        def script(peer: Peer, told: bytes = told) -> None:
            switching(peer)
            peer.packet(told)
            peer.read()
            peer.read()

        with FakeServer(script) as server:
            with pytest.raises(TargetError):
                connect(server.target(), deadline_seconds=3)
            assert not seen_in(server), told
