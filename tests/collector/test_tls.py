"""How far a connection is trusted, against a real MariaDB with certificates made here."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from collector.connection import connect
from collector.errors import BadTarget, TlsMissing, TlsUntrusted
from collector.observe import observe
from collector.secret import Secret
from collector.target import Target
from collector.tls import check_authority
from tests.collector.certificates import Authority
from tests.hostile.fake import FakeServer, Peer
from tests.servers import DISTRIBUTION_SERVER, RunningServer, start_server
from tests.servers.fixtures import server_params


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


@pytest.fixture(scope="module", params=server_params([DISTRIBUTION_SERVER, "mysql-9.7"]))
def trusted(
    request: pytest.FixtureRequest, authority: Authority, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningServer]:
    """A server whose certificate is for 127.0.0.1."""
    options = authority.write_server(tmp_path_factory.mktemp("tls"), "127.0.0.1")
    with start_server(str(request.param), options=options) as server:
        yield server


@pytest.fixture(scope="module")
def misnamed(authority: Authority, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server whose certificate is for another name than its address."""
    options = authority.write_server(tmp_path_factory.mktemp("tls"), "db.example.test")
    # Connector/C 3.4 does not compare names on 127.0.0.1 itself, so that another loopback address is listened on.
    with start_server(DISTRIBUTION_SERVER, options={**options, "bind_address": "127.0.0.2"}) as server:
        server.sql("RENAME USER tidemark@127.0.0.1 TO tidemark@'%'")
        yield server


def target(server: RunningServer, mode: str, authority: str = "", host: str = "127.0.0.1") -> Target:
    return Target(
        user=server.user,
        password=Secret(server.password),
        host=host,
        port=server.port,
        tls_mode=mode,
        tls_ca=authority,
        unrestricted=True,
    )


@pytest.mark.parametrize("mode", ["verify-identity", "verify-ca"])
def test_a_certificate_of_the_given_authority_is_trusted(
    mode: str, trusted: RunningServer, authority: Authority
) -> None:
    with connect(target(trusted, mode, authority.pem)) as connection:
        assert connection.tls_cipher
        assert connection.tls_version in {"TLSv1.2", "TLSv1.3"}


@pytest.mark.parametrize("mode", ["verify-identity", "verify-ca"])
def test_a_certificate_of_another_authority_is_refused(mode: str, trusted: RunningServer) -> None:
    with pytest.raises(TlsUntrusted) as caught:
        connect(target(trusted, mode, Authority("Another Authority").pem))
    assert caught.value.reason == "chain"
    assert "did not sign" in caught.value.sentence


def test_the_system_s_authorities_do_not_trust_a_private_one(trusted: RunningServer) -> None:
    with pytest.raises(TlsUntrusted):
        connect(target(trusted, "verify-identity"))


def test_a_certificate_for_another_name_is_refused_with_the_name_as_the_reason(
    misnamed: RunningServer, authority: Authority
) -> None:
    with pytest.raises(TlsUntrusted) as caught:
        connect(target(misnamed, "verify-identity", authority.pem, "127.0.0.2"))
    assert caught.value.reason == "name"
    assert "another name than 127.0.0.2" in caught.value.sentence


def test_verify_ca_takes_a_certificate_for_another_name(misnamed: RunningServer, authority: Authority) -> None:
    with connect(target(misnamed, "verify-ca", authority.pem, "127.0.0.2")) as connection:
        assert connection.tls_cipher


def test_an_expired_certificate_is_refused(authority: Authority, tmp_path: Path) -> None:
    options = authority.write_server(tmp_path, "127.0.0.1", expired=True)
    with start_server(DISTRIBUTION_SERVER, options=options) as server:
        for mode in ("verify-identity", "verify-ca"):
            with pytest.raises(TlsUntrusted):
                connect(target(server, mode, authority.pem))


def test_loopback_takes_tls_where_it_is_offered_and_says_so(trusted: RunningServer) -> None:
    with connect(target(trusted, "opportunistic")) as connection:
        assert connection.tls_cipher


def test_an_account_that_requires_tls_works_in_every_mode_that_encrypts(
    trusted: RunningServer, authority: Authority
) -> None:
    trusted.sql("ALTER USER tidemark@127.0.0.1 REQUIRE SSL")
    try:
        for mode, pem in (("verify-identity", authority.pem), ("verify-ca", authority.pem), ("insecure", "")):
            connect(target(trusted, mode, pem)).close()
    finally:
        trusted.sql("ALTER USER tidemark@127.0.0.1 REQUIRE NONE")


def test_a_server_without_tls_is_refused_by_the_modes_that_verify() -> None:
    # From 11.4 on MariaDB makes itself a certificate unless told not to.
    with start_server(DISTRIBUTION_SERVER, options={"skip_ssl": None}) as server:
        for mode in ("verify-identity", "verify-ca"):
            with pytest.raises(TlsMissing) as caught:
                connect(target(server, mode, Authority().pem))
            assert "offers no TLS" in caught.value.sentence
        with connect(target(server, "opportunistic")) as connection:
            assert connection.tls_cipher == ""


@pytest.mark.parametrize("mode", ["verify-identity", "verify-ca"])
def test_encryption_that_encrypts_nothing_is_not_taken_for_tls(mode: str, authority: Authority, tmp_path: Path) -> None:
    files = authority.write_server(tmp_path, "127.0.0.1")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(str(files["ssl_cert"]), str(files["ssl_key"]))
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("eNULL:@SECLEVEL=0")

    def script(peer: Peer) -> None:
        peer.greet(tls=True)
        peer.read()
        peer.socket = context.wrap_socket(peer.socket, server_side=True)
        peer.read()

    with FakeServer(script) as server:
        with pytest.raises(TlsUntrusted):
            connect(server.target(tls_mode=mode, tls_ca=authority.pem))
        # The request for TLS is in plain text and names nobody; nothing follows it.
        assert b"tidemark" not in server.received


def test_an_authority_that_is_no_certificate_is_refused_with_its_field(authority: Authority) -> None:
    check_authority(authority.pem)
    with pytest.raises(BadTarget) as caught:
        check_authority("no certificate")
    assert caught.value.field == "tls_ca"


def test_tls_that_nobody_speaks_any_more_is_refused_over_a_network_and_does_without_on_loopback(
    authority: Authority, tmp_path: Path
) -> None:
    options = {**authority.write_server(tmp_path, "127.0.0.1"), "tls_version": "TLSv1.1"}
    with start_server(DISTRIBUTION_SERVER, options=options) as server:
        for mode in ("verify-identity", "verify-ca"):
            with pytest.raises(TlsUntrusted) as caught:
                connect(target(server, mode, authority.pem))
            assert caught.value.reason == "protocol"
            assert "TLS 1.2" in str(caught.value)
        for mode in ("opportunistic", "insecure"):
            with connect(target(server, mode)) as connection:
                assert connection.tls_cipher == ""


def test_an_observation_counts_the_connections_that_the_server_saw(
    trusted: RunningServer, authority: Authority
) -> None:
    for mode, dialled in (("verify-identity", 1), ("opportunistic", 1), ("verify-ca", 2)):
        before = int(trusted.status("Connections")["Connections"])
        observed = observe(target(trusted, mode, authority.pem), seconds=0, interval=1)
        after = int(trusted.status("Connections")["Connections"])
        # The second question is a connection, too.
        assert observed.connections == after - before - 1 == dialled, mode


def test_a_certificate_that_signed_itself_is_refused_and_so_is_its_own_word(
    authority: Authority, tmp_path: Path
) -> None:
    itself = Authority("db.example.test")
    options = itself.write_self_signed(tmp_path)
    with start_server(DISTRIBUTION_SERVER, options=options) as server:
        for mode in ("verify-identity", "verify-ca"):
            with pytest.raises(TlsUntrusted):
                connect(target(server, mode, authority.pem))
        with connect(target(server, "opportunistic")) as connection:
            assert connection.tls_cipher
