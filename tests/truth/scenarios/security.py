"""What is said of servers whose doors stand open, by their settings and by their accounts."""

from __future__ import annotations

import atexit
import datetime
import ipaddress
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from MySQLdb import Error

from tests.servers import RunningServer
from tests.servers.certificate import self_signed_certificate
from tests.truth.exceptions import only_on
from tests.truth.scenario import EVERY, MARIADB, MYSQL, Options, Scenario

_OLD_MYSQL = "mysql-5.7.22"
_OLD_MARIADB = "mariadb-10.2.11"
_MODERN_MYSQL = tuple(name for name in MYSQL if name != _OLD_MYSQL)
_NAMED_OPTIONS = tuple(name for name in MARIADB if name not in (_OLD_MARIADB, "mariadb-10.5"))

#: Loopback in a spelling that no reader of settings can know for it: to them this server listens on a network, and yet
#: nobody else can reach it.
_LOOKS_LIKE_A_NETWORK = "127.1"

#: A person's accounts as they should not be. Passwords are of accounts that live as long as a test.
_BAD_ACCOUNTS = (
    "CREATE USER ''@'10.1.%'",
    "CREATE USER 'report'@'10.1.%'",
    "CREATE USER 'app'@'%' IDENTIFIED BY 'tide-mark.7'",
    "CREATE USER 'app'@'web1.example.com' IDENTIFIED BY 'tide-mark.7'",
    *(f"CREATE USER 'boss{number}'@'%' IDENTIFIED BY 'tide-mark.7'" for number in range(6)),
    *(f"GRANT ALL PRIVILEGES ON *.* TO 'boss{number}'@'%' WITH GRANT OPTION" for number in range(6)),
)


@cache
def _certificate(days: int) -> tuple[str, str]:
    """The files (certificate, key) of a certificate for localhost that ends in so many days."""
    folder = Path(tempfile.mkdtemp(prefix="tm-certificate-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=days))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.IPv4Address("127.0.0.1"))]), critical=False
        )
        .sign(private, hashes.SHA256())
    )
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    key.touch(0o600)
    key.write_bytes(
        private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
    )
    certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    return str(certificate), str(key)


def _open(server: str) -> Options:
    """As open as a server starts, with nobody but this machine to reach it."""
    options: dict[str, str | None] = {
        "bind_address": _LOOKS_LIKE_A_NETWORK,
        "local_infile": "ON",
        "secure_file_priv": "",
    }
    if server == "mysql-9.7":
        options["tls_version"] = ""
    elif server in MYSQL:
        options["default_authentication_plugin"] = "mysql_native_password"
        options["skip_ssl"] = None
    else:
        options |= {"skip_ssl": None, "secure_auth": "OFF"}
    if server in ("mysql-8.0.33", "mysql-9.7"):
        options |= {"log_raw": "ON", "general_log": "ON"}
    if server in _NAMED_OPTIONS:
        options["allow_suspicious_udfs"] = None
    if server in MARIADB and server != _OLD_MARIADB:
        options["proxy_protocol_networks"] = "*"
    return options


def _open_accounts(server: RunningServer) -> None:
    with closing(server.connect()) as connection:
        cursor = connection.cursor()
        for statement in _BAD_ACCOUNTS:
            cursor.execute(statement)
        if server.name in _MODERN_MYSQL:
            cursor.execute("CREATE USER 'old'@'10.1.%' IDENTIFIED WITH sha256_password BY 'tide-mark.7'")
        elif server.flavor == "mariadb":
            cursor.execute("CREATE USER 'old'@'10.1.%' IDENTIFIED VIA mysql_old_password USING '0123456789abcdef'")
        cursor.execute(_change_source(server, encrypted=False))


def _change_source(server: RunningServer, *, encrypted: bool) -> str:
    """A channel that is set up and never started."""
    if server.name == "mysql-9.7":
        return f"CHANGE REPLICATION SOURCE TO SOURCE_HOST = '10.9.9.9', SOURCE_SSL = {int(encrypted)}"
    return f"CHANGE MASTER TO MASTER_HOST = '10.9.9.9', MASTER_SSL = {int(encrypted)}"


def _half_open(server: str) -> Options:
    """TLS with a certificate that ends and old versions where the server still takes them, asked of nobody."""
    certificate, key = _certificate(10)
    options: dict[str, str | None] = {
        "bind_address": _LOOKS_LIKE_A_NETWORK,
        "ssl_cert": certificate,
        "ssl_key": key,
    }
    if server in MYSQL:
        options["ssl_ca"] = certificate
    if server == _OLD_MYSQL:
        options["tls_version"] = "TLSv1,TLSv1.1"
    elif server == "mysql-8.0.12":
        options["tls_version"] = "TLSv1,TLSv1.1,TLSv1.2"
    elif server in MARIADB and server != _OLD_MARIADB:
        options["tls_version"] = "TLSv1.1,TLSv1.2,TLSv1.3"
    if server == "mysql-8.0.33":
        options |= _memcached(_LOOKS_LIKE_A_NETWORK) | _protocol_x(_LOOKS_LIKE_A_NETWORK, 31_451)
        options["bind_address"] = "127.0.0.1"
    return options


def _closed(server: str) -> Options:
    """What a careful person sets."""
    certificate, key = (str(path) for path in self_signed_certificate())
    options: dict[str, str | None] = {
        "bind_address": _LOOKS_LIKE_A_NETWORK,
        "local_infile": "OFF",
        "ssl_cert": certificate,
        "ssl_key": key,
    }
    if server in MYSQL:
        options["ssl_ca"] = certificate
    if server == "mysql-8.0.12":
        options["tls_version"] = "TLSv1.2"
    if server == "mysql-8.0.33":
        options |= _memcached("127.0.0.1") | _protocol_x("127.0.0.1", 31_453)
    return options


def _memcached(address: str) -> dict[str, str | None]:
    return {
        "plugin_load_add": "daemon_memcached=libmemcached.so",
        "daemon_memcached_option": f"-u root -l {address} -p 31452",
    }


def _protocol_x(address: str, port: int) -> dict[str, str | None]:
    return {"mysqlx": "ON", "mysqlx_bind_address": address, "mysqlx_port": str(port), "mysqlx_socket": f"x{port}.sock"}


def _closed_accounts(server: RunningServer) -> None:
    server.sql("CREATE USER 'app'@'10.1.%' IDENTIFIED BY 'tide-mark.7' REQUIRE SSL")
    server.sql(_change_source(server, encrypted=True))


@contextmanager
def _root_with_a_password(server: RunningServer) -> Iterator[None]:
    """The tests' administrator has no password; for as long as the server is observed it has one."""
    with closing(server.connect()) as connection:
        cursor = connection.cursor()
        cursor.execute("ALTER USER 'root'@'localhost' IDENTIFIED BY 'tide-mark.7'")
        try:
            yield
        finally:
            # MariaDB 10.2 does not take an empty password away by ALTER USER.
            mariadb = server.flavor == "mariadb"
            cursor.execute(
                f"{'SET PASSWORD FOR' if mariadb else 'ALTER USER'} 'root'@'localhost' "
                f"{'=' if mariadb else 'IDENTIFIED BY'} ''"
            )


@contextmanager
def _weak_new_passwords(server: RunningServer) -> Iterator[None]:
    """Switched on only when the observing account has its password: else it would get a weak one, too."""
    if server.flavor == "mariadb":
        server.sql("SET GLOBAL old_passwords = ON")
    if server.name == "mysql-9.7":
        server.sql("SET GLOBAL authentication_policy = 'sha256_password,,'")
    yield


@contextmanager
def _old_password_in_a_loop(server: RunningServer) -> Iterator[None]:
    """A program with a password that is not right any more: four tries a second, for a minute at most."""
    ended = threading.Event()

    def knock() -> None:
        for _ in range(240):
            with suppress(Error):
                server.connect(user="tidemark", password="of-last-year").close()
            if ended.wait(0.25):
                return

    thread = threading.Thread(target=knock, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(10)


@contextmanager
def _grant_tables_skipped(server: RunningServer) -> Iterator[None]:
    server.restart({"skip_grant_tables": None})
    yield


_ACCOUNTS = frozenset(
    {
        "security.anonymous-accounts",
        "security.passwordless-accounts",
        "security.administrators-from-anywhere",
        "security.administrators-many",
        "security.accounts-from-anywhere",
        "security.accounts-named-by-host",
    }
)
#: Rules about what only some versions have or tell, each with the servers that do.
_TOLD = tuple(name for name in EVERY if name != _OLD_MARIADB)
_PARTLY: dict[str, tuple[str, ...]] = {
    "security.local-infile-on": _TOLD,
    "security.secure-file-priv-open": _TOLD,
    "security.tls-not-offered": _TOLD,
    # MySQL 5.7 has no weak one that still works; MariaDB 10.2 shows no plugin of an account with an old hash.
    "security.weak-authentication-plugins": tuple(name for name in EVERY if name not in (_OLD_MYSQL, _OLD_MARIADB)),
    "security.default-authentication-plugin-weak": _MODERN_MYSQL,
    "security.old-passwords-on": MARIADB,
    "security.secure-auth-off": MARIADB,
    "security.passwords-in-logs": ("mysql-8.0.33", "mysql-9.7"),
    "security.suspicious-functions-allowed": _NAMED_OPTIONS,
    "security.client-addresses-forgeable": tuple(name for name in MARIADB if name != _OLD_MARIADB),
    # MariaDB 10.5.0 to 10.5.8 show no replication; the servers here are newer.
    "security.replication-unencrypted": EVERY,
}
_HERE_NOT = "this version does not have it, or does not tell"


SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        name="open-doors",
        what="No TLS, files within reach, old passwords, and accounts as an installation of long ago left them",
        options=_open,
        setup=_open_accounts,
        load=_weak_new_passwords,
        seconds=3,
        interval=1,
        inspect=True,
        fires=_ACCOUNTS | frozenset(_PARTLY),
        severity={
            "security.anonymous-accounts": "critical",
            "security.passwordless-accounts": "critical",
            "security.administrators-from-anywhere": "warning",
            "security.accounts-from-anywhere": "notice",
        },
        but=only_on(_PARTLY, _HERE_NOT),
        quick=True,
    ),
    Scenario(
        name="doors-half-open",
        what="TLS with old versions and a certificate that ends, asked of nobody; forgotten ports, an old password",
        options=_half_open,
        setup=("CREATE USER 'app'@'10.1.%' IDENTIFIED BY 'tide-mark.7'",),
        load=_old_password_in_a_loop,
        inspect=True,
        fires=frozenset(
            {
                "security.certificate-expiring",
                "security.tls-versions-old",
                "security.tls-not-required",
                "security.memcached-open",
                "security.protocol-x-open",
                "security.logins-refused",
            }
        ),
        but=only_on(
            {
                "security.logins-refused": MARIADB,
                "security.certificate-expiring": _TOLD,
                "security.tls-versions-old": (_OLD_MYSQL, "mysql-8.0.12", *(n for n in MARIADB if n != _OLD_MARIADB)),
                "security.tls-not-required": tuple(name for name in EVERY if name != "mysql-8.0.33"),
                "security.memcached-open": ("mysql-8.0.33",),
                "security.protocol-x-open": ("mysql-8.0.33",),
            },
            _HERE_NOT,
        ),
        quick=True,
    ),
    Scenario(
        name="doors-closed",
        what="A server and accounts as a careful person leaves them: nothing of it is found",
        options=_closed,
        setup=_closed_accounts,
        load=_root_with_a_password,
        seconds=3,
        interval=1,
        inspect=True,
        passes=_ACCOUNTS
        | frozenset(_PARTLY)
        | {
            "security.certificate-expiring",
            "security.tls-versions-old",
            "security.tls-not-required",
            "security.memcached-open",
            "security.protocol-x-open",
            "security.grant-tables-skipped",
        },
        but=only_on(
            {
                **_PARTLY,
                "security.certificate-expiring": _TOLD,
                "security.local-infile-on": EVERY,
                "security.secure-file-priv-open": EVERY,
                "security.tls-not-offered": EVERY,
                "security.weak-authentication-plugins": EVERY,
                "security.tls-versions-old": tuple(n for n in EVERY if n not in (_OLD_MYSQL, _OLD_MARIADB)),
                "security.memcached-open": ("mysql-8.0.33",),
                "security.protocol-x-open": ("mysql-8.0.33",),
            },
            _HERE_NOT,
        ),
        quick=True,
    ),
    Scenario(
        name="grant-tables-skipped",
        what="A server that was left with skip_grant_tables",
        servers=(_OLD_MYSQL, *MARIADB),
        elsewhere="MySQL 8 and later close the network while grant tables are skipped, and start without it",
        load=_grant_tables_skipped,
        seconds=3,
        interval=1,
        fires=frozenset({"security.grant-tables-skipped"}),
        severity={"security.grant-tables-skipped": "critical"},
        applied=False,
    ),
    Scenario(
        name="accounts-out-of-sight",
        what="Without the right to read accounts nothing is said of them but the GRANT",
        grants="PROCESS",
        setup=("CREATE USER ''@'10.1.%'",),
        seconds=3,
        interval=1,
        inspect=True,
        not_evaluated=dict.fromkeys(_ACCOUNTS, "GRANT SELECT ON"),
        applied=False,
        quick=True,
    ),
)
