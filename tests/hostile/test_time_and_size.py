"""A server that never ends: silent, one byte at a time, or more than anybody asked for."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from collector.collect import read_snapshot
from collector.connection import connect
from collector.errors import TargetError, TooLarge, TooSlow
from tests.collector.certificates import Authority
from tests.hostile.fake import STATUS, VARIABLES, FakeServer, Peer, drip, growth, lenenc, peak_growth_bytes

DEADLINE_SECONDS = 2.0
#: What the deadline is held to: the watchdog's tick and a busy machine. Every script here misbehaves for 40 s or more.
GRACE_SECONDS = 15.0


def _silent(server: list[FakeServer], peer: Peer) -> None:
    server[0].wait_over()


def _dripping(server: list[FakeServer], peer: Peer) -> None:
    drip(peer, b"\xff" * 400)


def _at_accept(server: list[FakeServer], peer: Peer, misbehave: Callable[[list[FakeServer], Peer], None]) -> None:
    misbehave(server, peer)


def _at_greeting(server: list[FakeServer], peer: Peer, misbehave: Callable[[list[FakeServer], Peer], None]) -> None:
    # A header that promises a greeting of 80 bytes, and its first one.
    peer.socket.sendall(b"\x50\x00\x00\x00\x0a")
    misbehave(server, peer)


def _at_login(server: list[FakeServer], peer: Peer, misbehave: Callable[[list[FakeServer], Peer], None]) -> None:
    peer.greet()
    peer.read()
    misbehave(server, peer)


def _at_statement(server: list[FakeServer], peer: Peer, misbehave: Callable[[list[FakeServer], Peer], None]) -> None:
    peer.serve("CURRENT_USER()")
    misbehave(server, peer)


def _at_columns(server: list[FakeServer], peer: Peer, misbehave: Callable[[list[FakeServer], Peer], None]) -> None:
    peer.serve("CURRENT_USER()")
    peer.packet(lenenc(5))
    misbehave(server, peer)


def _in_a_row(server: list[FakeServer], peer: Peer, misbehave: Callable[[list[FakeServer], Peer], None]) -> None:
    peer.serve("CURRENT_USER()")
    peer.head([b"a", b"b", b"c", b"d", b"e"])
    peer.socket.sendall(b"\xff\x01\x00" + bytes([peer.sequence]) + b"\x05")
    misbehave(server, peer)


@pytest.mark.parametrize("misbehave", [_silent, _dripping])
@pytest.mark.parametrize("point", [_at_accept, _at_greeting, _at_login, _at_statement, _at_columns, _in_a_row])
def test_the_deadline_holds_wherever_a_server_falls_silent_or_drips(
    point: Callable[..., None], misbehave: Callable[..., None]
) -> None:
    servers: list[FakeServer] = []
    with FakeServer(lambda peer: point(servers, peer, misbehave)) as server:
        servers.append(server)
        began = time.monotonic()
        with pytest.raises(TargetError):
            connect(server.target(), deadline_seconds=DEADLINE_SECONDS)
        assert time.monotonic() - began < DEADLINE_SECONDS + GRACE_SECONDS


def _at_tls(server: list[FakeServer], peer: Peer, misbehave: Callable[[list[FakeServer], Peer], None]) -> None:
    peer.greet(tls=True)
    peer.read()
    # A handshake record that promises 16 KiB.
    peer.socket.sendall(b"\x16\x03\x03\x40\x00\x02")
    misbehave(server, peer)


@pytest.mark.parametrize("mode", ["verify-ca", "verify-identity", "insecure"])
@pytest.mark.parametrize("misbehave", [_silent, _dripping])
@pytest.mark.parametrize("point", [_at_accept, _at_greeting, _at_tls])
def test_the_deadline_holds_where_the_certificate_is_looked_at(
    point: Callable[..., None], misbehave: Callable[..., None], mode: str
) -> None:
    servers: list[FakeServer] = []
    with FakeServer(lambda peer: point(servers, peer, misbehave)) as server:
        servers.append(server)
        began = time.monotonic()
        with pytest.raises(TargetError) as caught:
            connect(server.target(tls_mode=mode, tls_ca=Authority().pem), deadline_seconds=DEADLINE_SECONDS)
        assert time.monotonic() - began < DEADLINE_SECONDS + GRACE_SECONDS
    if misbehave is _dripping and point is not _at_accept:
        assert isinstance(caught.value, TooSlow)


@pytest.mark.parametrize("misbehave", [_silent, _dripping])
def test_closing_waits_for_no_server(misbehave: Callable[..., None]) -> None:
    def script(peer: Peer) -> None:
        peer.login()
        for _ in range(3):
            peer.answer(peer.query())
        assert peer.read() == b"\x01"
        misbehave(servers, peer)

    servers: list[FakeServer] = []
    with FakeServer(script) as server, growth() as grown:
        servers.append(server)
        connection = connect(server.target())
        began = time.monotonic()
        connection.close()
        assert time.monotonic() - began < GRACE_SECONDS
        # The script's own end of the connection and its thread are in this process too, and the watchdog's thread.
        assert max(grown()) <= 3


def test_a_server_that_drips_its_rows_is_cut_at_the_deadline_of_the_snapshot() -> None:
    def script(peer: Peer) -> None:
        peer.serve("SHOW GLOBAL STATUS", variables=VARIABLES)
        peer.head([b"Variable_name", b"Value"])
        for number in range(1000):
            peer.row([f"Name_{number}".encode(), b"1"])
            time.sleep(0.05)

    with FakeServer(script) as server, connect(server.target()) as connection:
        began = time.monotonic()
        with pytest.raises(TooSlow):
            read_snapshot(connection, deadline_seconds=DEADLINE_SECONDS)
        assert time.monotonic() - began < DEADLINE_SECONDS + GRACE_SECONDS
        assert not connection.is_open


def test_a_hundred_bad_servers_leave_no_descriptor_and_no_thread_behind() -> None:
    def script(peer: Peer) -> None:
        peer.greet()
        peer.read()
        drip(peer, b"\xff" * 100, gap=0.05)

    with FakeServer(script) as server:
        with pytest.raises(TargetError):
            connect(server.target(), deadline_seconds=0.05)
        with growth() as grown:
            for _ in range(100):
                with pytest.raises(TargetError):
                    connect(server.target(), deadline_seconds=0.05)
            # The fake server's own ends of the connections are in this process too: they go when it notices.
            ends = time.monotonic() + 10
            while max(grown()) > 110 and time.monotonic() < ends:
                time.sleep(0.1)
            for peer in server.peers:
                peer.socket.close()
            for thread in server._threads[1:]:
                thread.join(10)
            descriptors, threads = grown()
        assert descriptors <= 1
        assert threads <= 1


def _endless_rows(peer: Peer) -> None:
    peer.serve("SHOW GLOBAL VARIABLES")
    peer.flood()


def _many_small_rows(peer: Peer) -> None:
    peer.serve("SHOW GLOBAL VARIABLES")
    peer.head([b"Variable_name", b"Value"])
    for _ in range(1_000_000):
        peer.row([b"a", b"b"])


def _one_huge_packet(peer: Peer) -> None:
    peer.serve("SHOW GLOBAL VARIABLES")
    peer.head([b"Variable_name", b"Value"])
    sequence = peer.sequence
    full = b"x" * 0xFFFFFF
    for number in range(40):
        peer.socket.sendall(b"\xff\xff\xff" + bytes([(sequence + number) & 255]) + full)


def _one_value_of_50_mb(peer: Peer) -> None:
    peer.serve("SHOW GLOBAL VARIABLES")
    peer.head([b"Variable_name", b"Value"])
    body = lenenc(4) + b"name" + lenenc(50_000_000) + b"x" * 50_000_000
    sequence = peer.sequence
    for start in range(0, len(body), 0xFFFFFF):
        part = body[start : start + 0xFFFFFF]
        peer.socket.sendall(len(part).to_bytes(3, "little") + bytes([sequence & 255]) + part)
        sequence += 1


def _columns_without_end(peer: Peer) -> None:
    peer.serve("SHOW GLOBAL VARIABLES")
    peer.packet(lenenc(65_535))
    while True:
        peer.column(b"c" * 200_000)


def _a_huge_greeting(peer: Peer) -> None:
    full = b"\x0a" + b"9" * 0xFFFFFE
    for number in range(40):
        peer.socket.sendall(b"\xff\xff\xff" + bytes([number]) + full)


@pytest.mark.parametrize(
    "flood",
    [_endless_rows, _many_small_rows, _one_huge_packet, _one_value_of_50_mb, _columns_without_end, _a_huge_greeting],
)
def test_a_flood_is_cut_early_and_costs_little_memory(flood: Callable[[Peer], None]) -> None:
    raised: list[TargetError] = []

    def work() -> None:
        try:
            with connect(server.target()) as connection:
                read_snapshot(connection)
        except TargetError as error:
            raised.append(error)

    with FakeServer(flood) as server:
        began = time.monotonic()
        grown = peak_growth_bytes(work)
        seconds = time.monotonic() - began
    assert raised
    assert seconds < 16
    assert grown < 300 << 20
    # A packet above the limit is dropped by the driver itself, which tells of it as of a lost connection.
    if flood in {_endless_rows, _many_small_rows, _columns_without_end}:
        assert isinstance(raised[0], TooLarge), raised


def test_what_a_good_server_says_is_kept_where_a_bad_cell_stands_beside_it() -> None:
    variables = [
        *VARIABLES,
        [b"bad_\xff_name", b"\xfe\xff"],
        [b"none", None],
        [b"port", b"1"],
        [b"big", b"y" * 1_000_000],
        [b"escaped", b"\x1b[2J<script>"],
    ]
    status = [
        *STATUS,
        [b"Infinite", b"inf"],
        [b"Nothing", b"nan"],
        [b"Huge", b"9" * 26],
        [b"Negative", b"-1"],
        [b"Empty", b""],
    ]

    def script(peer: Peer) -> None:
        peer.serve("never asked", variables=variables, status=status)

    with FakeServer(script) as server, connect(server.target()) as connection:
        snapshot = read_snapshot(connection)
    assert snapshot.identity.port == 3306
    assert snapshot.variables["innodb_page_size"] == "16384"
    assert len(snapshot.variables["big"]) == 16_384
    probe = snapshot.probe("variables")
    assert probe is not None
    assert "not UTF-8" in probe.reason
    assert "cut to" in probe.reason
    assert snapshot.uptime_seconds == 100
