"""One POST to an address that a person typed: dialled as it was checked, ended in time, no redirect followed."""

from __future__ import annotations

import http.client
import os
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from collector.addresses import Checked, Place, check_place
from collector.errors import TargetError, printable
from collector.watchdog import WATCHDOG, descriptor_of

#: From the first packet to the last byte of the answer that is read.
DEADLINE_SECONDS = 10.0
_CONNECT_SECONDS = 4.0
#: So much of an answer is kept, and no more of it is read than this and its header.
ANSWER_BYTES = 1024
_PORTS = (443, 8443)


class BadAddress(ValueError):
    """An address that Tidemark does not call; the message says why."""


@dataclass(frozen=True)
class Address:
    """A URL taken apart. ``path`` has its query."""

    host: str
    port: int
    tls: bool
    path: str


@dataclass(frozen=True)
class Answer:
    """What came back. ``status`` is None where nothing did: ``error`` says why."""

    status: int | None
    text: str = ""
    error: str = ""

    @property
    def ok(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


def read_address(url: str, *, unrestricted: bool) -> Address:
    """Takes a URL apart. Raises BadAddress for what is no plain http(s) address; plain http is for administrators."""
    if len(url) > 500 or not url.isascii() or not url.isprintable() or " " in url:
        raise BadAddress("An address has at most 500 plain characters without blanks.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise BadAddress("This is not an address: write https://host/path.") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadAddress("This is not an address: write https://host/path.")
    if parts.username is not None or parts.password is not None:
        raise BadAddress("An address with a user or password in it would show them to everybody: leave them out.")
    if parts.scheme == "http" and not unrestricted:
        raise BadAddress("Deliveries go through https only: an administrator of Tidemark may name others.")
    tls = parts.scheme == "https"
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Address(parts.hostname, port or (443 if tls else 80), tls, path)


def check_address(url: str, *, unrestricted: bool) -> tuple[Address, Checked]:
    """The address and where it is dialled. Raises BadAddress; which rule denied it is for administrators only."""
    address = read_address(url, unrestricted=unrestricted)
    try:
        return address, check_place(Place(address.host, address.port, unrestricted), _PORTS)
    except TargetError as error:
        if unrestricted:
            raise BadAddress(str(error)) from None
        raise BadAddress("Tidemark could not reach this address, or does not call it.") from None


def post(
    url: str, body: bytes, headers: Mapping[str, str], *, unrestricted: bool, context: ssl.SSLContext | None = None
) -> Answer:
    """Sends the body and reads the beginning of the answer. Never raises: what went wrong is in the answer.

    The name is looked up and checked at each call, and the checked address is the one that is dialled, so that a name
    that points elsewhere a moment later changes nothing.
    """
    try:
        address, checked = check_address(url, unrestricted=unrestricted)
    except BadAddress as error:
        return Answer(None, error=str(error))
    try:
        plain = socket.create_connection((checked.dial, address.port), timeout=_CONNECT_SECONDS)
    except OSError as error:
        return Answer(None, error=f"No connection: {printable(error.strerror or str(error))}.")
    descriptor, inode = plain.fileno(), os.fstat(plain.fileno()).st_ino
    with WATCHDOG.watch(DEADLINE_SECONDS, lambda: descriptor_of(descriptor, inode)) as watch:
        try:
            return _exchange(plain, address, body, headers, context)
        except (OSError, http.client.HTTPException, ValueError) as error:
            if watch.expired:
                return Answer(None, error=f"No whole answer within {DEADLINE_SECONDS:.0f} s.")
            return Answer(None, error=f"{type(error).__name__}: {printable(str(error))}")
        finally:
            plain.close()


def _exchange(
    plain: socket.socket, address: Address, body: bytes, headers: Mapping[str, str], context: ssl.SSLContext | None
) -> Answer:
    connection = http.client.HTTPConnection(address.host, address.port)
    # Set before the first request, so that http.client dials nothing by itself.
    connection.sock = (
        (context or ssl.create_default_context()).wrap_socket(plain, server_hostname=address.host)
        if address.tls
        else plain
    )
    try:
        connection.sock.settimeout(DEADLINE_SECONDS)
        connection.request("POST", address.path, body=body, headers={**headers, "Connection": "close"})
        response = connection.getresponse()
        text = response.read(ANSWER_BYTES).decode("utf-8", "replace")
        return Answer(response.status, printable(text, ANSWER_BYTES))
    finally:
        connection.close()
