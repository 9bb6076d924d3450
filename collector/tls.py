"""How far a connection is trusted, told to the driver so that it cannot quietly do less.

What the driver does with its options was measured, not read: with libmariadb, ``ssl_mode=REQUIRED`` takes any
certificate
and falls back to plain text; only verification refuses a server without TLS. Verifying the chain alone is not
offered by it
in a way that also refuses plain text, so that for ``verify-ca`` the chain is verified by a handshake of our own,
and the
driver is then held to the certificate that was seen there.
"""

from __future__ import annotations

import hashlib
import os
import socket
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collector.errors import (
    BadTarget,
    NotAServer,
    TargetError,
    TlsMissing,
    TlsUntrusted,
    TooSlow,
    Unreachable,
    printable,
)
from collector.target import Target
from collector.watchdog import WATCHDOG, descriptor_of

#: Of the capabilities in a server's greeting: it offers TLS.
_CLIENT_SSL = 0x0800
#: What our own handshake announces: protocol 4.1, secure authentication, TLS.
_CAPABILITIES = 0x00000200 | 0x00008000 | 0x00080000 | _CLIENT_SSL
_LONGEST_GREETING_BYTES = 4096
#: How long one step of our own handshake may be silent, and how much may come over the wire for all of it.
SOCKET_SECONDS = 3.0
_MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class TlsOptions:
    """What the driver is told: keyword arguments, and lines for its closed option file."""

    arguments: dict[str, Any]
    lines: tuple[str, ...] = ()
    required: bool = False
    #: How many connections the server has seen before the driver's own.
    dialled: int = 0


#: Plain text, said explicitly.
NONE = TlsOptions({"ssl_mode": "DISABLED"})


def options(target: Target, dial: str, folder: Path, seconds: float, client_version: str) -> TlsOptions:
    """The driver's options for the target's mode.

    ``folder`` takes the certificate authority's file, ``seconds`` limit the whole of it, ``client_version`` is that
    of the driver's client library.

    Raises TlsMissing, TlsUntrusted and others where verify-ca's own look at the certificate fails.
    """
    if target.socket:
        return NONE
    if target.tls_mode in {"opportunistic", "insecure"}:
        # The word promises more than libmariadb does: TLS where it is offered, any certificate, else plain text.
        return TlsOptions({"ssl_mode": "REQUIRED"})
    authority = _authority(target, folder)
    versions = ("tls-version=TLSv1.2,TLSv1.3",)
    if target.tls_mode == "verify-identity":
        return TlsOptions({"ssl_mode": "VERIFY_IDENTITY", "ssl": {"ca": authority}}, versions, required=True)
    fingerprint = _fingerprint_of_verified(target, dial, authority, seconds, client_version)
    return TlsOptions(
        {"ssl_mode": "REQUIRED", "ssl": {"ca": authority}},
        (*versions, f"ssl-fp={fingerprint}"),
        required=True,
        dialled=1,
    )


def _authority(target: Target, folder: Path) -> str:
    """The file of certificate authorities: the target's own, else the system's."""
    if target.tls_ca:
        path = folder / "ca.pem"
        path.write_text(target.tls_ca, encoding="utf-8")
        return str(path)
    paths = ssl.get_default_verify_paths()
    for candidate in (paths.cafile, paths.openssl_cafile):
        if candidate and os.path.exists(candidate):
            return candidate
    raise TlsUntrusted(
        "This machine has no list of certificate authorities, and none was given.",
        "Give the certificate of the authority that signed the server's certificate.",
        reason="chain",
    )


def check_authority(text: str) -> None:
    """Raises BadTarget where the text holds no certificate."""
    try:
        ssl.create_default_context(cadata=text)
    except (ssl.SSLError, ValueError):
        raise BadTarget(
            "The certificate authority is not a certificate in PEM form (-----BEGIN CERTIFICATE-----).", field="tls_ca"
        ) from None


def _fingerprint_of_verified(target: Target, dial: str, authority: str, seconds: float, client_version: str) -> str:
    """The fingerprint of a certificate whose chain was verified, as the driver's ``ssl-fp`` understands it."""
    place: list[tuple[int, int]] = []
    failure: TargetError | None = None
    certificate = b""
    # A socket's own timeout begins anew with every byte: only a limit on the whole ends a server that drips.
    with WATCHDOG.watch(seconds, lambda: descriptor_of(*place[0]) if place else None, _MOST_BYTES) as watch:
        try:
            certificate = _verified_certificate(target, dial, authority, min(seconds, SOCKET_SECONDS), place)
        except TargetError as error:
            failure = error
    if watch.cut:
        raise TooSlow(f"{target.address} did not show its certificate within {seconds:.0f} s.")
    if failure is not None:
        raise failure
    # Before Connector/C 3.4 it knows SHA-1 only; that still means finding a second certificate for a given fingerprint.
    method = hashlib.sha1 if client_version.startswith(("3.1.", "3.2.", "3.3.")) else hashlib.sha256
    return ":".join(f"{byte:02X}" for byte in method(certificate, usedforsecurity=False).digest())


def _verified_certificate(
    target: Target, dial: str, authority: str, seconds: float, place: list[tuple[int, int]]
) -> bytes:
    """The certificate, its chain verified. ``seconds`` limit each step; ``place`` is told the socket and its inode."""
    context = ssl.create_default_context(cafile=authority)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.check_hostname = False
    # From 3.13 on Python also refuses certificates with formal faults that no other client minds, among them those that
    # MySQL and MariaDB make for themselves: whether a server is trusted must not depend on Python's version.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    try:
        with socket.create_connection((dial, target.port), timeout=seconds) as plain:
            place.append((plain.fileno(), os.fstat(plain.fileno()).st_ino))
            capabilities = _greeting(plain)
            if not capabilities & _CLIENT_SSL:
                raise TlsMissing(f"{target.address} offers no TLS, and this server was registered to be verified.")
            request = _CAPABILITIES.to_bytes(4, "little") + (1 << 24).to_bytes(4, "little") + bytes([45]) + bytes(23)
            plain.sendall(len(request).to_bytes(3, "little") + b"\x01" + request)
            with context.wrap_socket(plain, server_hostname=None) as encrypted:
                return encrypted.getpeercert(binary_form=True) or b""
    except ssl.SSLCertVerificationError as error:
        raise untrusted(target, error.verify_message or "") from None
    except ssl.SSLError as error:
        raise TlsUntrusted(
            f"{target.address} could not agree on TLS with us ({printable(error.reason or 'no reason given', 60)}).",
            "Tidemark takes TLS 1.2 and 1.3 only: see the server's tls_version.",
            reason="protocol",
        ) from None
    except TimeoutError:
        raise TooSlow(f"{target.address} did not answer within {seconds:.0f} s.") from None
    except OSError as error:
        raise Unreachable(f"{target.address} cannot be reached: {error.strerror or 'the connection broke'}.") from None


def untrusted(target: Target, why: str) -> TlsUntrusted:
    """The error for a certificate whose chain does not end at the authority."""
    return TlsUntrusted(
        f"{target.address} shows a certificate that the given authority did not sign"
        f"{': ' + printable(why, 80) if why else ''}.",
        "Give the certificate of the authority that signed it, or let the server use a certificate of that authority.",
        reason="chain",
    )


def _greeting(one: socket.socket) -> int:
    """The capabilities in a server's greeting. Raises NotAServer for anything else."""
    header = _exactly(one, 4)
    length = int.from_bytes(header[:3], "little")
    if not 30 <= length <= _LONGEST_GREETING_BYTES:
        raise NotAServer("What answers there does not greet as a MySQL or MariaDB server does.")
    body = _exactly(one, length)
    # Protocol version, server version up to a NUL, connection id (4), scramble (8), a zero, capabilities (2).
    end = body.find(b"\0", 1)
    if body[0] != 10 or end < 0 or len(body) < end + 16:
        raise NotAServer("What answers there does not greet as a MySQL or MariaDB server does.")
    return int.from_bytes(body[end + 14 : end + 16], "little")


def _exactly(one: socket.socket, count: int) -> bytes:
    received = b""
    while len(received) < count:
        part = one.recv(count - len(received))
        if not part:
            raise NotAServer("What answers there closed the connection without a greeting.")
        received += part
    return received
