"""Where a server is and how to get in: a frozen value, made from a row, a URL or an option file's group."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import unquote, urlsplit

from collector.errors import BadTarget
from collector.secret import Secret

DEFAULT_PORT = 3306
TLS_MODES = ("verify-identity", "verify-ca", "opportunistic", "insecure")

#: Letters, digits, dots, hyphens and underscores: names that resolvers know. Addresses are told apart before.
_HOST = re.compile(r"(?=.{1,253}$)[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,62})(?:\.[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,62}))*\.?")
#: A unix socket's path fits 107 bytes on Linux.
LONGEST_SOCKET_BYTES = 107


@dataclass(frozen=True)
class Target:
    """One server to connect to. ``socket`` wins over host and port.

    ``unrestricted`` is set where an administrator or the command line named the address (see collector/addresses.py).
    """

    user: str
    password: Secret = field(default_factory=lambda: Secret(""))
    host: str = ""
    port: int = DEFAULT_PORT
    socket: str = ""
    tls_mode: str = ""
    tls_ca: str = ""
    unrestricted: bool = False

    def __post_init__(self) -> None:
        """Raises BadTarget, naming the field, for what cannot be a server."""
        if self.socket:
            check_socket(self.socket)
        else:
            check_host(self.host)
            check_port(self.port)
        if not self.user or len(self.user) > 80 or any(ord(one) < 32 for one in self.user):
            raise BadTarget("The user name is missing or has characters that no account has.", field="user")
        if not self.tls_mode:
            object.__setattr__(self, "tls_mode", default_tls_mode(self.host, self.socket))
        if self.tls_mode not in TLS_MODES:
            raise BadTarget(
                f"{self.tls_mode!r} is no TLS mode: choose one of {', '.join(TLS_MODES)}.", field="tls_mode"
            )
        if self.tls_mode == "opportunistic" and not (self.socket or is_loopback(self.host)):
            raise BadTarget(
                "The TLS mode opportunistic is for loopback and sockets only: over a network it would trust anyone.",
                "Choose verify-identity or verify-ca, or insecure if you accept the risk.",
                field="tls_mode",
            )

    @property
    def address(self) -> str:
        """Where it is, as people write it."""
        if self.socket:
            return self.socket
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def key(self) -> str:
        """What tells two targets' connections apart: a changed address or account is another connection."""
        return f"{self.user}@{self.address}"


def is_loopback(host: str) -> bool:
    """Whether the name or address is this machine itself, without asking a resolver."""
    if host.rstrip(".").lower() in {"localhost", "ip6-localhost"}:
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def default_tls_mode(host: str, socket: str = "") -> str:
    """Verified by name over a network; on loopback and sockets TLS is taken where it is offered."""
    return "opportunistic" if socket or is_loopback(host) else "verify-identity"


def check_host(host: str) -> None:
    """Raises BadTarget for what is neither an address nor a host name."""
    if not host:
        raise BadTarget("The host is missing: give a name, an address, or a socket's path.", field="host")
    if "%" in host:
        raise BadTarget(
            "An address with a zone (%eth0) cannot be used: give the address or the name alone.", field="host"
        )
    try:
        ip_address(host)
    except ValueError:
        if _HOST.fullmatch(host) is None or re.fullmatch(r"[0-9.]+|0[xX][0-9a-fA-F]+", host):
            raise BadTarget(f"{host[:80]!r} is neither a host name nor an address.", field="host") from None


def check_port(port: int) -> None:
    """Raises BadTarget for what is no TCP port."""
    if not 1 <= port <= 65_535:
        raise BadTarget(f"{port} is no port: write a number from 1 to 65535.", field="port")


def check_socket(path: str) -> None:
    """Raises BadTarget for a path that cannot be a socket's."""
    if not path.startswith("/") or "\0" in path or len(os.fsencode(path)) > LONGEST_SOCKET_BYTES:
        raise BadTarget(
            f"The socket's path has to begin with / and to have at most {LONGEST_SOCKET_BYTES} bytes.", field="socket"
        )


@dataclass(frozen=True)
class Address:
    """What a mysql:// URL says. ``user`` may be empty."""

    user: str
    host: str
    port: int
    socket: str


def parse_url(url: str) -> Address:
    """Reads ``mysql://user@host:3306``, ``mysql://us%40er@[::1]:3307`` or ``mysql://user@/run/mysqld/mysqld.sock``.

    Raises BadTarget; a URL with a password in it is refused, since command lines are seen by everyone on the machine.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"mysql", "mariadb"}:
        raise BadTarget("A server's URL begins with mysql://, such as mysql://user@host:3306.", field="url")
    if parts.password is not None:
        raise BadTarget(
            "The URL holds a password, which everyone on this machine could read.",
            "Leave it out, and give --password-file or --defaults-group.",
            field="url",
        )
    if parts.query or parts.fragment:
        raise BadTarget("A server's URL has no ? and no #: options are given by their own names.", field="url")
    user = unquote(parts.username or "")
    path = unquote(parts.path)
    try:
        port = parts.port
        host = unquote(parts.hostname or "")
    except ValueError:
        raise BadTarget("The URL's port is no number from 1 to 65535.", field="port") from None
    if not host and path not in {"", "/"}:
        check_socket(path)
        return Address(user, "", DEFAULT_PORT, path)
    if path not in {"", "/"}:
        raise BadTarget("A server's URL names no schema: leave out what follows the port.", field="url")
    check_host(host)
    check_port(DEFAULT_PORT if port is None else port)
    return Address(user, host, DEFAULT_PORT if port is None else port, "")


def is_url(text: str) -> bool:
    """Whether the text is meant as a server's URL."""
    return text.startswith(("mysql://", "mariadb://"))


def read_password_file(path: str) -> Secret:
    """The first line of a file. Raises BadTarget where it cannot be read or is empty."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise BadTarget(f"The password file {path} cannot be read: {reason}.", field="password_file") from None
    if not lines or not lines[0]:
        raise BadTarget(f"The password file {path} is empty: its first line is the password.", field="password_file")
    return Secret(lines[0])


def from_url(
    url: str,
    *,
    password: Secret | None = None,
    password_file: str = "",
    defaults_group: str = "",
    tls_mode: str = "",
    tls_ca: str = "",
    unrestricted: bool = False,
) -> Target:
    """A target from a URL and, for what it does not say, a password file or a group of the person's own option file.

    Raises BadTarget.
    """
    address = parse_url(url)
    group = read_defaults_group(defaults_group) if defaults_group else {}
    user = address.user or group.get("user", "")
    if not user:
        raise BadTarget("The URL names no user: write mysql://user@host:3306.", field="user")
    if password is None:
        if password_file:
            password = read_password_file(password_file)
        else:
            password = Secret(group.get("password", ""))
    return Target(
        user=user,
        password=password,
        host=address.host,
        port=address.port,
        socket=address.socket,
        tls_mode=tls_mode,
        tls_ca=tls_ca,
        unrestricted=unrestricted,
    )


def read_defaults_group(group: str, path: Path | None = None) -> dict[str, str]:
    """One group of the person's own option file (``~/.my.cnf``), names with underscores.

    Only what names an account is used by the caller: no driver option is ever taken from a file. Raises BadTarget.
    """
    path = path or Path.home() / ".my.cnf"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise BadTarget(f"The option file {path} cannot be read.", field="defaults_group") from None
    found: dict[str, str] = {}
    present = inside = False
    for line in map(str.strip, lines):
        if line.startswith("["):
            inside = line.strip("[]").strip() == group
            present = present or inside
        elif inside and line and line[0] not in "#;!":
            name, _, value = line.partition("=")
            value = value.strip()
            if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
                value = value[1:-1]
            found[name.strip().replace("-", "_")] = value
    if not present:
        raise BadTarget(f"The option file {path} has no group [{group}].", field="defaults_group")
    return found
