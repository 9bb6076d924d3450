"""Facts about who can reach the data: addresses, TLS and its certificate, accounts as an inspection read them.

Passwords are never guessed and hashes never read: of an account it is known whether there is a password at all.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import ClassVar, Self

from advisor.engine import reading
from advisor.engine.declared import Settings, inspected
from advisor.engine.fact import Basis, Fact
from advisor.engine.observation import Observation
from advisor.engine.outcome import Inapplicable, Measured, Message, Missing
from advisor.engine.units import Quantity, Unit
from advisor.mysql.inspection import Row
from advisor.mysql.snapshot import ProbeState, Remedy, RemedyKind
from advisor.mysql.version import ServerVersion

# --- addresses ---------------------------------------------------------------------------------------------------


def _is_loopback(address: str) -> bool:
    """Whether an address is written as loopback. A name other than localhost is taken for one that can be reached."""
    word = address.strip().lower().strip("[]")
    if word == "localhost":
        return True
    try:
        return ipaddress.ip_address(word).is_loopback
    except ValueError:
        return False


def everywhere(addresses: str) -> bool:
    """Whether a list of addresses to listen on means all addresses of the machine, of one family at least."""
    for one in addresses.split(","):
        word = one.split("/")[0].strip()
        try:
            if word in ("", "*") or ipaddress.ip_address(word.strip("[]")).is_unspecified:
                return True
        except ValueError:
            continue
    return False


def reachable(addresses: str) -> bool:
    """Whether a list of addresses to listen on (separated by commas, each with /namespace or not) goes beyond loopback.

    Empty and ``*`` mean all addresses of the machine.
    """
    each = [one.split("/")[0] for one in addresses.split(",")]
    return not all(_is_loopback(one) for one in each)


#: Where a server does not tell on which addresses it listens (MariaDB before 10.3).
NOT_TOLD = "not told"


@dataclass(frozen=True)
class Listening(Settings):
    """On which addresses the server accepts connections."""

    skip_networking: bool
    bind_address: str = NOT_TOLD

    @property
    def beyond_loopback(self) -> bool:
        """Whether other machines can reach it, as far as the server itself decides and tells."""
        return self.bind_address != NOT_TOLD and not self.skip_networking and reachable(self.bind_address)

    @property
    def perhaps_beyond_loopback(self) -> bool:
        """The same, and true where the server does not tell."""
        return self.beyond_loopback or (self.bind_address == NOT_TOLD and not self.skip_networking)


# --- TLS ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TlsOffer(Fact):
    """Whether the server offers TLS, and the protocol versions it takes ("" where it does not tell)."""

    reads: ClassVar[tuple[str, ...]] = ("have_ssl", "Ssl_server_not_after (where there is no have_ssl)", "tls_version")

    offered: bool
    source: str
    versions: str

    @classmethod
    def read(cls, seen: Observation) -> Self:
        versions = reading.variable(seen, "tls_version") or ""
        have = reading.variable(seen, "have_ssl")
        if have is not None:
            return cls(have.upper() == "YES", "have_ssl", versions)
        # MySQL 8.4 has no such variable any more; it tells the dates of the certificate that it presents, or nothing.
        until = seen.snapshot.status.get("Ssl_server_not_after")
        if until is None or not seen.server.is_mysql:
            raise Missing(
                Remedy(RemedyKind.VERSION, "whether TLS is offered", f"{seen.server} does not show it to this account.")
            )
        return cls(bool(until) and bool(versions), "Ssl_server_not_after", versions)

    def measured(self) -> tuple[Measured, ...]:
        figures = [Measured("TLS offered", "yes" if self.offered else "no", Unit.TEXT, None, self.source)]
        if self.versions:
            figures.append(Measured("tls_version", self.versions, Unit.TEXT, None, "system variable"))
        return tuple(figures)


#: "Nov 18 11:26:43 2036 GMT", as OpenSSL prints it.
_PRINTED_DATE = "%b %d %H:%M:%S %Y GMT"


@dataclass(frozen=True)
class Certificate(Fact):
    """When the certificate that the server presents ends, and the statement that loads another one."""

    reads: ClassVar[tuple[str, ...]] = ("Ssl_server_not_after", "have_ssl")

    ends_on: str
    days_left: int
    reload: str

    @classmethod
    def read(cls, seen: Observation) -> Self:
        if not TlsOffer.read(seen).offered:
            raise Inapplicable(Message("This server offers no TLS, so that it presents no certificate."))
        printed = seen.snapshot.status.get("Ssl_server_not_after", "")
        if not printed:
            raise Missing(
                Remedy(
                    RemedyKind.ENABLE,
                    "when the certificate ends",
                    "The server tells it on encrypted connections only: have this server observed over TLS.",
                )
            )
        try:
            ends = datetime.strptime(" ".join(printed.split()), _PRINTED_DATE).replace(tzinfo=UTC).date()
            today = date.fromisoformat(seen.today)
        except ValueError as reason:
            raise Missing(
                Remedy(RemedyKind.VERSION, "when the certificate ends", f"{printed!r} is no date that can be read.")
            ) from reason
        return cls(ends.isoformat(), (ends - today).days, _how_to_reload(seen.server))

    def measured(self) -> tuple[Measured, ...]:
        return (
            Measured("certificate ends on", self.ends_on, Unit.TEXT, None, "Ssl_server_not_after"),
            Measured("days left", self.days_left, Unit.COUNT, None, "Ssl_server_not_after", lower_is_worse=True),
        )


def _how_to_reload(server: ServerVersion) -> str:
    """How a new certificate is taken up, as an imperative."""
    if server.is_mysql and server.number >= (8, 0, 16):
        return "run ALTER INSTANCE RELOAD TLS"
    if server.is_mariadb and server.number >= (10, 4, 0):
        return "run FLUSH SSL"
    return "restart the server"


# --- the grant tables --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GrantTables(Fact):
    """Whether accounts and privileges are looked at at all."""

    reads: ClassVar[tuple[str, ...]] = ("skip_grant_tables", "SHOW GRANTS")

    skipped: bool
    source: str

    @classmethod
    def read(cls, seen: Observation) -> Self:
        told = reading.variable(seen, "skip_grant_tables")
        if told is not None:
            return cls(reading.is_on(seen, "skip_grant_tables"), "skip_grant_tables")
        probe = seen.snapshot.probe("grants")
        # Servers without the variable refuse SHOW GRANTS with a sentence that names the option.
        if probe is not None and probe.state is ProbeState.FAILED and "skip-grant-tables" in probe.reason:
            return cls(True, "SHOW GRANTS")
        if probe is not None and probe.state is ProbeState.OK:
            return cls(False, "SHOW GRANTS")
        raise Missing(
            Remedy(RemedyKind.VERSION, "whether accounts are looked at", "Neither a variable nor SHOW GRANTS told it.")
        )

    def measured(self) -> tuple[Measured, ...]:
        told = "no" if self.skipped else "yes"
        return (Measured("accounts are looked at", told, Unit.TEXT, None, self.source),)


@dataclass(frozen=True)
class DefaultPlugin(Fact):
    """How passwords of new accounts are stored where CREATE USER does not say."""

    reads: ClassVar[tuple[str, ...]] = ("authentication_policy", "default_authentication_plugin")

    plugin: str
    variable: str

    @classmethod
    def read(cls, seen: Observation) -> Self:
        # The policy's first factor counts where it names a plugin; "*" leaves it to the older variable.
        first = (reading.variable(seen, "authentication_policy") or "").split(",")[0].strip().removeprefix("*:")
        if first and first != "*":
            return cls(first, "authentication_policy")
        older = reading.variable(seen, "default_authentication_plugin")
        if older:
            return cls(older, "default_authentication_plugin")
        reading.text(seen, "authentication_policy")
        return cls("caching_sha2_password", "authentication_policy")

    def measured(self) -> tuple[Measured, ...]:
        return (Measured("plugin of new accounts", self.plugin, Unit.TEXT, None, self.variable),)


# --- accounts ----------------------------------------------------------------------------------------------------

#: Accounts that the server makes for itself: locked, or of no use to anybody else.
OWN_ACCOUNTS = frozenset({"mysql.sys", "mysql.session", "mysql.infoschema", "mariadb.sys"})
#: Plugins with which a password decides; with all others the operating system, a directory or a key does.
PASSWORD_PLUGINS = frozenset(
    {
        "",
        "mysql_native_password",
        "mysql_old_password",
        "sha256_password",
        "caching_sha2_password",
        "ed25519",
        "parsec",
    }
)
#: So many accounts are named; the others are counted.
NAMED = 10

_NETWORK = re.compile(r"[0-9a-fA-F:.%_]+(?:/[0-9.]+)?")
_EVERYWHERE = re.compile(r"[%_.:]*|(?:0\.0\.0\.0|::)/(?:0|0\.0\.0\.0)")


def _printable(text: str) -> str:
    """A server may have any character in a name; none of them reaches a terminal."""
    return "".join(one if one.isprintable() else "?" for one in text)


@dataclass(frozen=True)
class Account:
    """One account that people or programs log in with."""

    user: str
    host: str
    plugin: str
    has_password: bool
    tls: str
    administrator: bool

    @property
    def name(self) -> str:
        """``user@host``; the anonymous user is written as two quotes."""
        return _printable(f"{self.user or chr(39) * 2}@{self.host or '%'}")

    @property
    def sql_name(self) -> str:
        """As it stands in statements."""
        user, host = (_printable(part).replace("\\", "\\\\").replace("'", "''") for part in (self.user, self.host))
        return f"'{user}'@'{host}'"

    @property
    def local(self) -> bool:
        """Whether it may log in from the server's own machine only."""
        return _is_loopback(self.host)

    @property
    def anywhere(self) -> bool:
        """Whether it may log in from any machine, of whatever network."""
        return _EVERYWHERE.fullmatch(self.host) is not None

    @property
    def by_name(self) -> bool:
        """Whether its host is a name, which has to be looked up to be compared."""
        return not self.local and not self.anywhere and _NETWORK.fullmatch(self.host) is None

    @property
    def by_password(self) -> bool:
        """Whether a password decides, and neither the operating system nor a directory, a key or a certificate."""
        return self.plugin in PASSWORD_PLUGINS and self.tls not in ("X509", "SPECIFIED")


def _flag(row: Row, column: str) -> bool:
    return row.get(column) == "1"


@dataclass(frozen=True)
class Accounts(Fact):
    """Accounts that can log in: not locked, no roles, none of the server's own."""

    basis: ClassVar[Basis] = Basis.INSPECTED
    reads: ClassVar[tuple[str, ...]] = ("mysql.user (MariaDB 10.4 and later: mysql.global_priv)",)

    everyone: tuple[Account, ...]

    @classmethod
    def read(cls, seen: Observation) -> Self:
        return cls(
            tuple(
                Account(
                    user=row.get("user") or "",
                    host=row.get("host") or "",
                    plugin=row.get("plugin") or "",
                    # None: the plugin needs none of the server's.
                    has_password=row.get("has_password") != "0",
                    tls=row.get("tls") or "",
                    administrator=_flag(row, "administrator"),
                )
                for row in inspected(seen, "accounts")
                if not _flag(row, "locked") and not _flag(row, "is_role") and row.get("user") not in OWN_ACCOUNTS
            )
        )

    def measured(self) -> tuple[Measured, ...]:
        """How many there are."""
        return (Measured("accounts that can log in", len(self.everyone), Unit.COUNT, None, "inspection"),)


@dataclass(frozen=True)
class Administrators(Fact):
    """Accounts that may change any setting, act as anybody or give away their rights.

    Raises Missing where somebody's rights could not be read: nobody is taken for harmless then.
    """

    basis: ClassVar[Basis] = Basis.INSPECTED
    reads: ClassVar[tuple[str, ...]] = ("mysql.user, mysql.global_grants (MariaDB 10.4 and later: mysql.global_priv)",)

    everyone: tuple[Account, ...]

    @classmethod
    def read(cls, seen: Observation) -> Self:
        if any(row.get("administrator") is None for row in inspected(seen, "accounts")):
            probe = seen.inspection.probe("accounts") if seen.inspection is not None else None
            told = probe.reason if probe is not None else ""
            raise Missing(Remedy(RemedyKind.GRANT, "who administrates", told or "Inspect the server again."))
        return cls(tuple(one for one in Accounts.read(seen).everyone if one.administrator))


def named(accounts: Iterable[Account], what: str) -> tuple[Measured, ...]:
    """How many these are and up to ten of them by name, as evidence."""
    found = sorted(account.name for account in accounts)
    figures = [Measured(what, len(found), Unit.COUNT, None, "inspection")]
    if found:
        more = f", and {len(found) - NAMED} more" if len(found) > NAMED else ""
        figures.append(Measured("accounts", ", ".join(found[:NAMED]) + more, Unit.TEXT, None, "inspection"))
    return tuple(figures)


def listed(statements: Iterable[str]) -> str:
    """Up to ten statements in one line, and how many more there are."""
    each = list(statements)
    more = f"; and {len(each) - NAMED} more" if len(each) > NAMED else ""
    return "; ".join(each[:NAMED]) + more


def counted(accounts: Iterable[Account]) -> Quantity:
    """How many, for a message."""
    return Quantity(len(tuple(accounts)), Unit.COUNT)


#: Plugins that a version still takes and that should not be used there any more, each with the reason.
_WEAK_EVERYWHERE = (("mysql_old_password", "its hash is broken in seconds"),)
_WEAK_ON_MYSQL_8 = (
    ("mysql_native_password", "an unsalted SHA-1, off by default in MySQL 8.4 and gone in 9.0"),
    ("sha256_password", "deprecated: caching_sha2_password does the same, faster"),
)


@dataclass(frozen=True)
class WeakPlugins(Fact):
    """Which plugins are weak on this version, and whether the next version no longer has them."""

    reads: ClassVar[tuple[str, ...]] = ("version",)

    reasons: tuple[tuple[str, str], ...]
    urgent: frozenset[str]

    @classmethod
    def read(cls, seen: Observation) -> Self:
        modern = seen.server.is_mysql and seen.server.number >= (8, 0, 0)
        urgent = {"mysql_old_password"}
        if seen.server.is_mysql and seen.server.number >= (8, 4, 0):
            urgent.add("mysql_native_password")
        return cls(_WEAK_EVERYWHERE + (_WEAK_ON_MYSQL_8 if modern else ()), frozenset(urgent))


# --- replication -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class UnencryptedChannels(Fact):
    """Whom this replica reads from over the network, and from whom of them in clear (``host:port``)."""

    reads: ClassVar[tuple[str, ...]] = ("SHOW REPLICA STATUS",)

    remote: tuple[str, ...]
    in_clear: tuple[str, ...]

    @classmethod
    def read(cls, seen: Observation) -> Self:
        probe = seen.snapshot.probe("replication")
        if probe is not None and probe.state is not ProbeState.OK and probe.remedy is not None:
            raise Missing(probe.remedy)
        remote, in_clear = [], []
        for row in seen.snapshot.replication:
            host = row.get("source_host") or row.get("master_host") or ""
            # A channel of a group has no host: the group has TLS settings of its own.
            if not host or _is_loopback(host):
                continue
            name = _printable(f"{host}:{row.get('source_port') or row.get('master_port') or 3306}")
            remote.append(name)
            if (row.get("source_ssl_allowed") or row.get("master_ssl_allowed")) == "No":
                in_clear.append(name)
        if not remote:
            raise Inapplicable(Message("This server reads from no source on another machine."))
        return cls(tuple(sorted(remote)), tuple(sorted(in_clear)))

    def measured(self) -> tuple[Measured, ...]:
        clear = ", ".join(self.in_clear[:NAMED]) or "none"
        return (
            Measured("sources on other machines", len(self.remote), Unit.COUNT, None, "replica status"),
            Measured("read in clear", clear, Unit.TEXT, None, "replica status"),
        )
