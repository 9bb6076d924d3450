"""Accounts of caching_sha2_password on real servers, which ask for the password itself until they remember it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from collector import connection as connecting
from collector.connection import connect
from collector.errors import TlsMissing, WrongPassword
from collector.secret import Secret
from collector.target import Target
from tests.servers import DISTRIBUTION_SERVER, RunningServer, start_server
from tests.servers.fixtures import server_params

USER, PASSWORD = "sha", "canary pässword 77'\\ with some length to it"
MYSQL = server_params(["mysql-8.0.33", "mysql-9.7"])


def _made(server: RunningServer) -> RunningServer:
    quoted = PASSWORD.replace("\\", "\\\\").replace("'", "''")
    server.sql(f"CREATE USER {USER}@'%' IDENTIFIED WITH caching_sha2_password BY '{quoted}'")
    return server


@pytest.fixture(params=MYSQL)
def plain(request: pytest.FixtureRequest) -> Iterator[RunningServer]:
    with start_server(request.param, options={"tls_version": "", "general_log": "ON"}) as server:
        yield _made(server)


@pytest.fixture(params=MYSQL)
def encrypting(request: pytest.FixtureRequest) -> Iterator[RunningServer]:
    with start_server(request.param, options={"general_log": "ON"}) as server:
        yield _made(server)


def target(server: RunningServer, mode: str, password: str = PASSWORD) -> Target:
    return Target(
        user=USER,
        password=Secret(password),
        host="127.0.0.1",
        port=server.port,
        tls_mode=mode,
        unrestricted=True,
    )


def connections(server: RunningServer) -> int:
    return int(server.status("Connections")["Connections"])


@pytest.mark.parametrize("mode", ["opportunistic", "insecure"])
def test_without_tls_a_server_that_does_not_remember_the_password_gets_it_under_its_key(
    plain: RunningServer, mode: str
) -> None:
    for _ in ("unknown to the server", "remembered"):
        before = connections(plain)
        with connect(target(plain, mode)) as connection:
            assert connection.tls_cipher == ""
            assert connection.account == f"{USER}@%"
        # Ours, and the one that asks.
        assert connections(plain) - before == 2


def test_without_tls_over_a_network_it_is_refused_until_the_server_remembers_the_password(
    plain: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(connecting, "_is_on_loopback", lambda *_: False)
        with pytest.raises(TlsMissing):
            connect(target(plain, "insecure"))
    connect(target(plain, "insecure")).close()
    monkeypatch.setattr(connecting, "_is_on_loopback", lambda *_: False)
    connect(target(plain, "insecure")).close()


@pytest.mark.parametrize("mode", ["opportunistic", "insecure"])
def test_with_tls_it_is_one_encrypted_connection(encrypting: RunningServer, mode: str) -> None:
    for _ in ("unknown to the server", "remembered"):
        before = connections(encrypting)
        with connect(target(encrypting, mode)) as connection:
            assert connection.tls_cipher
        assert connections(encrypting) - before == 2


def test_a_wrong_password_is_told_as_such_with_and_without_tls(plain: RunningServer, encrypting: RunningServer) -> None:
    for server in (plain, encrypting):
        for password in ("wrong", ""):
            with pytest.raises(WrongPassword):
                connect(target(server, "opportunistic", password))


def test_mariadb_is_read_on_one_connection_with_and_without_tls() -> None:
    with start_server(DISTRIBUTION_SERVER) as server:
        before = connections(server)
        connect(
            Target(
                user=server.user,
                password=Secret(server.password),
                host="127.0.0.1",
                port=server.port,
                unrestricted=True,
            )
        ).close()
        assert connections(server) - before == 2
