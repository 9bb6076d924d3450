"""Connecting to a real server: what is sent, what is told, and every way in which it does not work."""

from __future__ import annotations

import os
import re
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from collector.connection import MARKER, check_driver, connect
from collector.errors import (
    Denied,
    HostNotAllowed,
    NotAServer,
    Refused,
    Restarting,
    StatementFailed,
    TargetError,
    TooLarge,
    TooManyConnections,
    TooSlow,
    Unsupported,
    WrongPassword,
)
from collector.secret import Secret
from collector.target import Target, from_url
from tests.hostile.fake import FakeServer, Peer
from tests.servers import DISTRIBUTION_SERVER, RunningServer, start_server


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with start_server(DISTRIBUTION_SERVER, options={"general_log": "ON"}) as running:
        yield running


def target(server: RunningServer, **values: object) -> Target:
    given = {"user": server.user, "password": Secret(server.password), "host": "127.0.0.1", "port": server.port}
    return Target(unrestricted=True, **{**given, **values})  # type: ignore[arg-type]


def test_the_driver_is_the_one_whose_behaviour_was_measured() -> None:
    check_driver()
    assert "MARIADB_TLS_DISABLE_PEER_VERIFICATION" not in os.environ


def test_a_connection_knows_whom_it_talks_to_and_what_it_cost(server: RunningServer) -> None:
    with connect(target(server)) as connection:
        assert connection.account == "tidemark@127.0.0.1"
        assert connection.looks_like_mariadb
        assert connection.port == server.port
        assert connection.version_text == server.value("@@version")
        assert connection.cost.statements == 3
        sent = connection.cost.sent_bytes
        connection.query("SELECT 1")
        assert connection.cost.statements == 4
        assert connection.cost.sent_bytes - sent == len(f"/* {MARKER} */ SELECT 1")
        # The best of some looks: between two clocks that are read one after the other a busy machine may do else.
        assert min(abs(connection.server_clock(time.monotonic()) - time.time()) for _ in range(5)) < 1


def test_a_socket_works_as_well_as_an_address(server: RunningServer) -> None:
    with connect(target(server, host="", socket=str(server.socket))) as connection:
        assert connection.account == "tidemark@localhost"


def test_localhost_is_an_address_and_not_a_socket_of_this_machine(server: RunningServer) -> None:
    with connect(target(server, host="localhost")) as connection:
        assert connection.account == "tidemark@127.0.0.1"


def test_every_statement_says_who_asks_and_the_session_is_bounded(server: RunningServer) -> None:
    with connect(target(server), idle_seconds=45) as connection:
        said = connection.query(
            "SHOW SESSION VARIABLES WHERE Variable_name IN ('max_statement_time', 'lock_wait_timeout',"
            " 'wait_timeout', 'autocommit', 'character_set_results')"
        ).pairs()
        thread = connection.thread_id
    assert float(said["max_statement_time"] or 0) == 3
    assert said["lock_wait_timeout"] == "2"
    assert said["wait_timeout"] == "45"
    assert said["character_set_results"] == "utf8mb4"
    ours = [
        line
        for line in server.general_log().splitlines()
        if re.search(rf"\t\s*{thread} Query|^\s*{thread} Query", line)
    ]
    assert ours
    assert all("/* tidemark */" in line for line in ours)


def test_several_statements_in_one_are_refused(server: RunningServer) -> None:
    with connect(target(server)) as connection:
        with pytest.raises(Unsupported):
            connection.query("SELECT 1; SELECT 2")
        assert connection.query("SELECT 3").rows == [("3",)]


def test_bytes_that_are_no_text_damage_one_cell_only(server: RunningServer) -> None:
    with connect(target(server)) as connection:
        rows = connection.query("SELECT 'näh', 0xFF61, NULL, ''")
    assert rows.rows == [("näh", "\ufffda", None, "")]
    assert rows.damaged == {(0, 1)}


def test_what_one_statement_may_not_do_leaves_the_connection_usable(server: RunningServer) -> None:
    limited = server.client_user("limited_1")
    with connect(from_url(limited.url, password_file=str(limited.password_file), unrestricted=True)) as connection:
        with pytest.raises(Denied):
            connection.query("SHOW ENGINE INNODB STATUS")
        with pytest.raises(Unsupported):
            connection.query("SELECT @@no_such_variable")
        with pytest.raises(StatementFailed):
            connection.query("SELECT SLEEP(30)")
        assert connection.is_open


def test_rows_and_bytes_are_capped(server: RunningServer) -> None:
    with connect(target(server)) as connection, pytest.raises(TooLarge):
        connection.query("SELECT 1 FROM information_schema.COLLATIONS a, information_schema.COLLATIONS b LIMIT 30000")
    with connect(target(server)) as connection:
        with pytest.raises(TooLarge):
            connection.query(
                "SELECT REPEAT('x', 1000) FROM information_schema.COLLATIONS a, information_schema.COLLATIONS b "
                "LIMIT 9000"
            )
        assert not connection.is_open


def test_a_wrong_password_is_told_apart_from_a_missing_one(server: RunningServer) -> None:
    with pytest.raises(WrongPassword) as caught:
        connect(target(server, password=Secret("canary-wrong")))
    assert "with this password" in str(caught.value)
    assert "canary" not in str(caught.value)
    with pytest.raises(WrongPassword) as caught:
        connect(target(server, password=Secret("")))
    assert "without a password" in str(caught.value)


def test_a_port_nobody_listens_on_is_refused_and_says_so(server: RunningServer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(Refused) as caught:
        connect(target(server, port=port))
    assert "nothing listens" in str(caught.value)
    with pytest.raises(Refused):
        connect(target(server, host="", socket="/tmp/no-such-socket"))


def test_another_service_s_port_is_no_server(server: RunningServer) -> None:
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while not over.is_set():
                try:
                    one, _ = listener.accept()
                except OSError:
                    return
                with one:
                    one.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

        threading.Thread(target=serve, daemon=True).start()
        try:
            with pytest.raises(NotAServer):
                connect(target(server, port=listener.getsockname()[1]))
        finally:
            over.set()
            listener.shutdown(socket.SHUT_RDWR)


def test_a_server_without_a_free_connection_says_which_limit(server: RunningServer) -> None:
    limited = server.client_user("limited_2")
    server.sql("ALTER USER limited_2@127.0.0.1 WITH MAX_USER_CONNECTIONS 1")
    one = from_url(limited.url, password_file=str(limited.password_file), unrestricted=True)
    with connect(one), pytest.raises(TooManyConnections) as caught:
        connect(one)
    assert "account" in str(caught.value)


@pytest.mark.parametrize("mode", ["opportunistic", "verify-identity"])
@pytest.mark.parametrize(
    ("number", "kind", "part"),
    [
        (1129, "host-blocked", "FLUSH HOSTS"),
        (1130, "host-not-allowed", "for the address of the machine"),
        (1040, "too-many-connections", "max_connections"),
        (1053, "restarting", "shutting down"),
    ],
)
def test_an_error_in_place_of_a_greeting_is_told_for_what_it_is(mode: str, number: int, kind: str, part: str) -> None:
    def refuse(peer: Peer) -> None:
        # Before the greeting no state stands in front of the words.
        peer.packet(b"\xff" + number.to_bytes(2, "little") + b"in the server's own words")
        peer.read()

    with FakeServer(refuse) as fake, pytest.raises(TargetError) as caught:
        connect(fake.target(tls_mode=mode))
    assert caught.value.kind == kind
    assert part in str(caught.value)


def test_a_full_server_and_a_machine_that_may_not_connect_are_told_apart() -> None:
    with start_server(DISTRIBUTION_SERVER, options={"max_connections": "10"}) as server:
        limited = server.client_user("limited_3")
        one = from_url(limited.url, password_file=str(limited.password_file), unrestricted=True)
        held = [server.connect() for _ in range(10)]
        try:
            with pytest.raises(TooManyConnections):
                connect(one)
        finally:
            for connection in held:
                connection.close()
        server.sql("RENAME USER tidemark@127.0.0.1 TO tidemark@10.9.8.7")
        server.sql("DROP USER limited_3@127.0.0.1")
        with pytest.raises(HostNotAllowed):
            connect(target(server))


def test_a_lost_connection_is_told_and_closed() -> None:
    with start_server(DISTRIBUTION_SERVER) as server:
        connection = connect(target(server))
        server.kill()
        with pytest.raises(Restarting):
            connection.query("SELECT 1")
        assert not connection.is_open
        with pytest.raises(Restarting):
            connection.query("SELECT 1")
        with pytest.raises(Refused):
            connect(target(server))


def test_all_statements_of_a_poll_share_one_deadline(server: RunningServer) -> None:
    with connect(target(server)) as connection:
        began = time.monotonic()

        def ask_a_hundred_times() -> None:
            with connection.within(1.0):
                for _ in range(100):
                    connection.query("SELECT SLEEP(0.4)")

        with pytest.raises(TooSlow):
            ask_a_hundred_times()
        # With a deadline for each statement it would be forty seconds.
        assert time.monotonic() - began < 20


def test_connections_side_by_side_do_not_disturb_each_other(server: RunningServer) -> None:
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for _ in range(5):
                with connect(target(server)) as connection:
                    assert connection.query(f"SELECT {number}").rows == [(str(number),)]
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []


def test_no_error_holds_the_password(server: RunningServer) -> None:
    secret = Secret("canary-password")
    for values in (
        {"password": secret},
        {"password": secret, "port": 1},
        {"password": secret, "host": "nowhere.invalid"},
    ):
        with pytest.raises(TargetError) as caught:
            connect(target(server, **{"tls_mode": "insecure", **values}))
        assert "canary" not in repr(caught.value) + str(caught.value) + repr(caught.value.__dict__)
