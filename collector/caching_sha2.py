"""How a password is proved to accounts of ``caching_sha2_password``, in place of the driver's own way.

Such an account is let in by a hash while the server remembers it; else the server asks for the password itself. The
driver's plugin answers that by what it was *told* of TLS, not by what the connection has: with TLS wished for and
none offered it sends the password in clear text. Whether there is TLS is known only once the server has greeted, and
looking beforehand would cost a connection more. So the function of the plugin is replaced by ours, which looks at the
connection at the moment when the password is asked for:

- encrypted, or a socket of this machine: the password, as the protocol wants it;
- plain text on loopback: the password encrypted with the server's RSA key, which nobody who listens can open;
- plain text over a network: nothing. Whoever sits on the way could give a key of his own.

Connections that are not opened by ``collector.connection`` (the product's own database) keep the driver's function.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import partial
from itertools import cycle
from typing import Any

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from MySQLdb import _mysql

from collector.errors import WrongDriver
from collector.secret import Secret

_NAME = b"caching_sha2_password"
#: From mysql/client_plugin.h and mysql/plugin_auth.h: kind and major version of the interface, and what is returned.
_AUTHENTICATION, _INTERFACE = 2, 1
_OK, _ERROR = -1, 0
_SCRAMBLE_BYTES = 20
_REMEMBERED, _PASSWORD_WANTED, _KEY_WANTED = b"\x03", b"\x04", b"\x02"
#: The server's key: what is longer than this is not read, what is outside of these sizes is no key of a server.
_LONGEST_KEY_BYTES = 8192
_KEY_BITS = range(1024, 16_385)


class Refusal(Enum):
    """Why the password was kept back."""

    PLAIN_TEXT = "plain-text"
    NO_KEY = "no-key"


@dataclass
class Login:
    """One login of ours. ``refusal`` is set where the password itself was asked for and not given."""

    password: Secret
    #: A socket of this machine: nobody is on the way.
    by_socket: bool
    on_loopback: bool
    refusal: Refusal | None = None


class _Vio(ctypes.Structure):
    """``struct st_plugin_vio``: how a plugin talks to the server."""


_Read = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Vio), ctypes.POINTER(ctypes.c_void_p))
_Write = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Vio), ctypes.c_char_p, ctypes.c_int)
_Authenticate = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Vio), ctypes.c_void_p)
_Vio._fields_ = [("read_packet", _Read), ("write_packet", _Write), ("info", ctypes.c_void_p)]


class _Plugin(ctypes.Structure):
    """``struct st_mysql_client_plugin_AUTHENTICATION``."""

    _fields_ = [
        ("type", ctypes.c_int),
        ("interface_version", ctypes.c_uint),
        ("name", ctypes.c_char_p),
        ("author", ctypes.c_char_p),
        ("desc", ctypes.c_char_p),
        ("version", ctypes.c_uint * 3),
        ("license", ctypes.c_char_p),
        ("mysql_api", ctypes.c_void_p),
        ("init", ctypes.c_void_p),
        ("deinit", ctypes.c_void_p),
        ("options", ctypes.c_void_p),
        ("authenticate_user", ctypes.c_void_p),
    ]


_current = threading.local()
_lock = threading.Lock()
#: What has to live as long as the driver: our function, which it calls, and its own one.
_installed: list[Any] = []


@contextlib.contextmanager
def proving(password: Secret, *, by_socket: bool, on_loopback: bool) -> Iterator[Login]:
    """Logins of this thread inside the block are proved as this module says. Raises WrongDriver."""
    install()
    login = Login(password, by_socket, on_loopback)
    _current.login = login
    try:
        yield login
    finally:
        _current.login = None


def install() -> None:
    """Replaces the plugin's function, once in a process. Raises WrongDriver where the driver's library is unknown."""
    with _lock:
        if _installed:
            return
        try:
            # Names are looked up in what the driver is linked against too, so that this is the very same library.
            library = ctypes.CDLL(_mysql.__file__)
            library.mysql_init.restype = ctypes.c_void_p
            library.mysql_close.argtypes = [ctypes.c_void_p]
            library.mysql_close.restype = None
            library.mysql_get_ssl_cipher.argtypes = [ctypes.c_void_p]
            library.mysql_get_ssl_cipher.restype = ctypes.c_char_p
            find = library.mysql_client_find_plugin
        except (OSError, AttributeError):
            raise WrongDriver(
                "The driver's client library cannot be looked into, so that passwords could not be protected.",
                "Install libmariadb-dev and build mysqlclient again.",
            ) from None
        find.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
        find.restype = ctypes.c_void_p
        handle = library.mysql_init(None)
        try:
            address = find(handle, _NAME, _AUTHENTICATION)
        finally:
            library.mysql_close(handle)
        if not address:
            # Without the plugin such an account is refused by the driver: no password can go anywhere.
            _installed.append(library)
            return
        plugin = _Plugin.from_address(address)
        if plugin.type != _AUTHENTICATION or plugin.interface_version >> 8 != _INTERFACE or plugin.name != _NAME:
            raise WrongDriver(
                "The driver's client library has another way of logging in than the one that is known.",
                "Install libmariadb-dev (Connector/C 3.x) and build mysqlclient again.",
            )
        theirs = _Authenticate(plugin.authenticate_user)
        ours = _Authenticate(partial(_authenticate, library, theirs))
        _installed.extend([library, theirs, ours])
        plugin.authenticate_user = ctypes.cast(ours, ctypes.c_void_p).value


def _authenticate(library: ctypes.CDLL, theirs: Any, vio: Any, mysql: int) -> int:
    """Called by the driver. What it raises would be swallowed by ctypes and taken for 0, which means a failure."""
    login: Login | None = getattr(_current, "login", None)
    if login is None:
        return int(theirs(vio, mysql))
    scramble = _read(vio)
    if scramble is None or len(scramble) < _SCRAMBLE_BYTES:
        return _ERROR
    scramble = scramble[:_SCRAMBLE_BYTES]
    password = login.password.reveal().encode()
    if not password:
        return _OK if _write(vio, b"\0") else _ERROR
    if not _write(vio, _hashed(password, scramble)):
        return _ERROR
    told = _read(vio)
    if told == _REMEMBERED:
        return _OK
    if told != _PASSWORD_WANTED:
        return _ERROR
    # TLS, where there is any, was agreed upon with the first packet that we sent.
    if login.by_socket or library.mysql_get_ssl_cipher(mysql):
        return _OK if _write(vio, password + b"\0") else _ERROR
    if not login.on_loopback:
        login.refusal = Refusal.PLAIN_TEXT
        return _ERROR
    if not _write(vio, _KEY_WANTED):
        return _ERROR
    told = _read(vio)
    if told is None:
        return _ERROR
    encrypted = _encrypted(password, scramble, told)
    if encrypted is None:
        login.refusal = Refusal.NO_KEY
        return _ERROR
    return _OK if _write(vio, encrypted) else _ERROR


def _read(vio: Any) -> bytes | None:
    """The server's next packet, None where the connection broke or the server sent an error."""
    packet = ctypes.c_void_p()
    length = vio.contents.read_packet(vio, ctypes.byref(packet))
    if length < 0 or not packet.value:
        return None
    return ctypes.string_at(packet.value, min(length, _LONGEST_KEY_BYTES + 1))


def _write(vio: Any, data: bytes) -> bool:
    return int(vio.contents.write_packet(vio, data, len(data))) == 0


def _hashed(password: bytes, scramble: bytes) -> bytes:
    """SHA256(password) XOR SHA256(SHA256(SHA256(password)), scramble), from the protocol's documentation."""
    once = hashlib.sha256(password).digest()
    mask = hashlib.sha256(hashlib.sha256(once).digest() + scramble).digest()
    return _xor(once, mask)


def _encrypted(password: bytes, scramble: bytes, key_pem: bytes) -> bytes | None:
    """The password under the server's key (RSA with OAEP and SHA-1, as the protocol has it); None for a bad key."""
    if len(key_pem) > _LONGEST_KEY_BYTES:
        return None
    try:
        key = serialization.load_pem_public_key(key_pem.rstrip(b"\0"))
        if not isinstance(key, rsa.RSAPublicKey) or key.key_size not in _KEY_BITS:
            return None
        hidden = _xor(password + b"\0", scramble)
        # SHA-1 is the protocol's; its weakness to collisions does not matter for this padding.
        return key.encrypt(hidden, padding.OAEP(padding.MGF1(hashes.SHA1()), hashes.SHA1(), None))  # noqa: S303
    except (ValueError, UnsupportedAlgorithm):
        return None


def _xor(data: bytes, mask: bytes) -> bytes:
    return bytes(one ^ other for one, other in zip(data, cycle(mask), strict=False))
