"""The only module that opens connections to servers.

Everything a server sends is untrusted: it may ask for files or for the password in clear text, drip, flood, or
send bytes
that are no text. The rules that hold against that live here, so that no caller can forget one:

- ``local_infile`` off, multi-statements off, no compression, no option of a user's choosing;
- authentication methods from a closed list, given in an option file that holds no secret;
- a wall-clock limit that shuts the socket (collector/watchdog.py), row and byte limits, results read row by row;
- bytes are decoded by us, cell by cell, so that one bad byte costs one cell and not the answer;
- every statement carries a comment that says who asks.

One connection is used by one thread at a time.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import re
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any

# The low-level connection: what MySQLdb's own adds (conversions, SET NAMES, autocommit) would cost statements we
# do not need.
from MySQLdb import _mysql

from collector import addresses, caching_sha2, tls
from collector.errors import (
    USABLE,
    AddressDenied,
    Denied,
    HostBlocked,
    Hostile,
    HostNotAllowed,
    NotAServer,
    OutOfResources,
    PasswordExpired,
    Refused,
    Restarting,
    StatementFailed,
    TargetError,
    TlsMissing,
    TlsUntrusted,
    TooLarge,
    TooManyConnections,
    TooSlow,
    Unreachable,
    Unsupported,
    WrongDriver,
    WrongPassword,
    printable,
)
from collector.target import Target
from collector.watchdog import WATCHDOG, descriptor_of, sockets_to

CONNECT_SECONDS = 3
READ_SECONDS = 5
DEADLINE_SECONDS = 15.0
MOST_ROWS = 20_000
MOST_BYTES = 4 << 20
#: One packet; larger ones are refused by the driver itself before memory is taken for them.
_PACKET_BYTES = 8 << 20
#: What may come over the wire for one statement, everything included, before the socket is shut.
_WIRE_BYTES = 32 << 20
_FETCH_ROWS = 200
#: Authentication methods that never show the password to whoever answers.
_METHODS = "mysql_native_password,caching_sha2_password,client_ed25519"
#: Names the program in the server's process list and general log.
MARKER = "tidemark"
_LOCAL_FILES_OFF = 0

#: The largest unix time that a date can be made of here: the end of the year 9999.
_LATEST_CLOCK = 253_402_300_799.0

Row = tuple[str | None, ...]

# Verification can be switched off through the environment of the process; nobody who may set variables there means
# ours.
os.environ.pop("MARIADB_TLS_DISABLE_PEER_VERIFICATION", None)


def check_driver() -> None:
    """Raises WrongDriver unless mysqlclient is linked against MariaDB Connector/C 3.x: others mean other things."""
    version = str(_mysql.get_client_info())
    if not version.startswith("3."):
        raise WrongDriver(f"mysqlclient is linked against client library {version}, not MariaDB Connector/C 3.x.")


@dataclass(frozen=True)
class Rows:
    """A statement's answer. ``damaged`` holds (row, column) of cells that were not UTF-8 and have replacements."""

    columns: tuple[str, ...]
    rows: list[Row]
    size_bytes: int
    milliseconds: float
    damaged: frozenset[tuple[int, int]] = frozenset()

    def pairs(self) -> dict[str, str]:
        """Rows of two columns as a mapping; a NULL value becomes the empty text."""
        return {row[0]: row[1] or "" for row in self.rows if len(row) >= 2 and row[0] is not None}


@dataclass
class Cost:
    """What a connection has cost its server so far."""

    statements: int = 0
    rows: int = 0
    size_bytes: int = 0
    milliseconds: float = 0.0
    sent_bytes: int = 0


class Connection:
    """An open connection to one server. Made by ``connect``."""

    def __init__(self, target: Target, driver: Any, deadline_seconds: float) -> None:
        self.target = target
        self.cost = Cost()
        try:
            self.handshake_version = printable(driver.get_server_info(), 80)
        except UnicodeDecodeError:
            self.handshake_version = ""
        self.thread_id = int(driver.thread_id())
        #: TLS cipher and protocol in use; empty where the connection is not encrypted.
        self.tls_cipher = ""
        self.tls_version = ""
        #: The account that the server sees us as.
        self.account = ""
        #: Who the server says it is, to notice another one behind the address.
        self.hostname = ""
        self.port = 0
        self.version_text = ""
        #: The server's wall clock minus our monotonic clock, in seconds: see ``server_clock``.
        self.clock_offset = 0.0
        self.deadline_seconds = deadline_seconds
        #: How many connections the server saw until this one was open.
        self.dialled = 1
        self._driver: Any = driver
        self._socket = _socket_of(driver)
        self._until: float | None = None

    @property
    def is_open(self) -> bool:
        return self._driver is not None

    @property
    def looks_like_mariadb(self) -> bool:
        """By the greeting: enough to choose session settings, not to judge."""
        return "mariadb" in self.handshake_version.lower()

    def server_clock(self, monotonic: float) -> float:
        """The server's wall clock at an instant of our monotonic clock, in unix seconds with fraction."""
        return monotonic + self.clock_offset

    @contextlib.contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """All statements inside share one wall-clock limit."""
        before = self._until
        until = time.monotonic() + seconds
        self._until = until if before is None else min(before, until)
        try:
            yield
        finally:
            self._until = before

    def query(self, sql: str, *, max_rows: int = MOST_ROWS, max_bytes: int = MOST_BYTES) -> Rows:
        """Runs one statement and reads its answer.

        Raises Denied, Unsupported or StatementFailed where only this statement failed; after any other TargetError the
        connection is closed.
        """
        if self._driver is None:
            raise Restarting(f"The connection to {self.target.address} is closed.")
        began = time.monotonic()
        seconds = self.deadline_seconds if self._until is None else min(self.deadline_seconds, self._until - began)
        if seconds <= 0:
            self.close()
            raise TooSlow(f"{self.target.address} did not answer all questions in time.")
        self.cost.statements += 1
        raised: TargetError | None = None
        with WATCHDOG.watch(seconds, self._descriptor, _WIRE_BYTES) as watch:
            try:
                rows = self._read(sql, max_rows, max_bytes, began)
            except (_mysql.Error, UnicodeDecodeError, MemoryError, ValueError) as error:
                raised = self._explain(error, watch.expired, watch.flooded, seconds)
            except TargetError as error:
                raised = error
        if raised is not None:
            if not isinstance(raised, USABLE):
                self.close()
            raise raised
        self.cost.rows += len(rows.rows)
        self.cost.size_bytes += rows.size_bytes
        self.cost.milliseconds += rows.milliseconds
        return rows

    def close(self) -> None:
        """Ends the connection; does nothing if it is over already. Never waits for the server."""
        driver, self._driver = self._driver, None
        if driver is None:
            return
        with contextlib.suppress(Exception), WATCHDOG.watch(1.0, self._descriptor):
            driver.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _descriptor(self) -> int | None:
        """The socket's descriptor; None once it is closed, even if the number is somebody else's by now."""
        return descriptor_of(*self._socket)

    def _read(self, sql: str, max_rows: int, max_bytes: int, began: float) -> Rows:
        statement = f"/* {MARKER} */ {sql}".encode()
        self.cost.sent_bytes += len(statement)
        self._driver.query(statement)
        result = self._driver.use_result()
        if result is None:
            return Rows((), [], 0, (time.monotonic() - began) * 1000)
        columns = tuple(printable(column[0], 100) for column in result.describe())
        rows: list[Row] = []
        damaged: list[tuple[int, int]] = []
        size = 0
        while part := result.fetch_row(_FETCH_ROWS, 0):
            for cells in part:
                decoded: list[str | None] = []
                for number, cell in enumerate(cells):
                    if cell is None:
                        decoded.append(None)
                        continue
                    size += len(cell)
                    try:
                        decoded.append(cell.decode("utf-8"))
                    except UnicodeDecodeError:
                        decoded.append(cell.decode("utf-8", "replace"))
                        damaged.append((len(rows), number))
                rows.append(tuple(decoded))
            if len(rows) > max_rows or size > max_bytes:
                raise TooLarge(
                    f"{self.target.address} sent more than {max_rows:,} rows or {max_bytes >> 20} MiB to one question."
                )
        return Rows(columns, rows, size, (time.monotonic() - began) * 1000, frozenset(damaged))

    def _explain(self, error: Exception, expired: bool, flooded: bool, seconds: float) -> TargetError:
        if expired:
            return TooSlow(f"{self.target.address} did not answer within {seconds:.0f} s, so the connection was cut.")
        if flooded:
            return TooLarge(f"{self.target.address} sent more than {_WIRE_BYTES >> 20} MiB to one question.")
        if not isinstance(error, _mysql.Error):
            return NotAServer(f"{self.target.address} sent an answer that cannot be read.")
        return _explain_statement(self.target, *_number_and_text(error))


def connect(
    target: Target,
    *,
    deadline_seconds: float = DEADLINE_SECONDS,
    idle_seconds: int = 30,
    read_seconds: int = READ_SECONDS,
) -> Connection:
    """Opens a connection and prepares its session.

    ``deadline_seconds`` limits connecting as a whole, and afterwards each statement. ``idle_seconds`` is how long
    the server may keep it without a question: an orphan then goes away by itself. ``read_seconds`` is how long it may
    be silent while it answers: a statement that works before it answers needs more. Raises TargetError.
    """
    check_driver()
    until = time.monotonic() + deadline_seconds
    checked = addresses.check(target)
    try:
        connection, encrypted = _dial(target, checked, until, deadline_seconds, read_seconds)
    except OSError as error:
        # The driver tells what is wrong with a server by errors of its own: this one is of our own machine.
        raise OutOfResources(
            f"Tidemark could not prepare a connection to {target.address}: {(error.strerror or str(error)).lower()}."
        ) from None
    try:
        with connection.within(_left(until)):
            _check_peer(connection, checked)
            _prepare(connection, idle_seconds)
            if encrypted and not connection.tls_cipher:
                raise TlsMissing(f"The connection to {target.address} is not encrypted, although it has to be.")
    except TargetError:
        connection.close()
        raise
    except BaseException:
        connection.close()
        raise
    return connection


def _dial(
    target: Target, checked: addresses.Checked, until: float, deadline_seconds: float, read_seconds: int
) -> tuple[Connection, bool]:
    """An open connection, and whether it has to be encrypted. Raises TargetError and OSError."""
    with tempfile.TemporaryDirectory(prefix="tidemark-") as name:
        folder = Path(name)
        options = tls.options(target, checked.dial, folder, _left(until), _mysql.get_client_info())
        dialled = options.dialled + 1
        try:
            connection = _open(target, checked, options, folder, until, deadline_seconds, read_seconds)
        except TlsUntrusted as error:
            if options.required or error.reason != "protocol":
                raise
            # An old server whose TLS nobody speaks any more: plain text is accepted in this mode anyway.
            dialled += 1
            connection = _open(target, checked, tls.NONE, folder, until, deadline_seconds, read_seconds)
    connection.dialled = dialled
    return connection, options.required


def _left(until: float) -> float:
    return max(0.001, until - time.monotonic())


# Connecting to one address at a time, so that the socket the watchdog finds is the one it is looking for.
_dialling: dict[tuple[str, int] | str, threading.Lock] = {}
_dialling_lock = threading.Lock()


def _open(
    target: Target,
    checked: addresses.Checked,
    options: tls.TlsOptions,
    folder: Path,
    until: float,
    deadline_seconds: float,
    read_seconds: int,
) -> Connection:
    file = folder / "client.cnf"
    lines = [f"restricted-auth={_METHODS}", f"max-allowed-packet={_PACKET_BYTES}", *options.lines]
    if not target.socket:
        # "localhost" would otherwise mean a socket of this machine.
        lines.append("protocol=tcp")
    file.write_text("[client]\n" + "\n".join(lines) + "\n", encoding="ascii")
    peer: tuple[str, int] | str = target.socket or (checked.dial, target.port)
    by_name = target.tls_mode == "verify-identity" and not target.socket
    with _dialling_lock:
        lock = _dialling.setdefault(peer, threading.Lock())
    if not lock.acquire(timeout=_left(until)):
        raise TooSlow(f"Another connection to {target.address} is being opened and does not come to an end.")
    try:
        peers = [peer] if target.socket or not by_name else [(one, target.port) for one in checked.all]
        before = {inode for one in peers for inode in sockets_to(one).values()}

        def new_socket() -> int | None:
            for one in peers:
                for descriptor, inode in sockets_to(one).items():
                    if inode not in before:
                        return descriptor
            return None

        arguments: dict[str, Any] = {
            "user": target.user,
            "password": target.password.reveal(),
            "conv": {},
            "connect_timeout": max(1, min(CONNECT_SECONDS, int(_left(until)))),
            "read_timeout": read_seconds,
            "write_timeout": READ_SECONDS,
            "read_default_file": str(file),
            "charset": "utf8mb4",
            "client_flag": 0,
            "local_infile": _LOCAL_FILES_OFF,
            **options.arguments,
        }
        if target.socket:
            arguments |= {"unix_socket": target.socket}
        else:
            arguments |= {"host": target.host if by_name else checked.dial, "port": target.port}
        began = time.monotonic()
        with (
            caching_sha2.proving(
                target.password, by_socket=bool(target.socket), on_loopback=_is_on_loopback(target, checked)
            ) as login,
            WATCHDOG.watch(_left(until), new_socket, _WIRE_BYTES) as watch,
        ):
            try:
                driver = _mysql.connect(**arguments)
            except (_mysql.Error, UnicodeDecodeError, MemoryError, ValueError) as error:
                failure = error
            else:
                # Encoded by the driver into the connection; nothing of it stays in this frame.
                arguments.clear()
                return Connection(target, driver, deadline_seconds)
        arguments.clear()
    finally:
        lock.release()
    if watch.expired:
        raise TooSlow(f"{target.address} did not finish the login within {deadline_seconds:.0f} s.") from None
    if watch.flooded:
        raise TooLarge(f"{target.address} sent more than {_WIRE_BYTES >> 20} MiB before the login was over.") from None
    if login.refusal is not None:
        raise _explain_refusal(target, login.refusal) from None
    if not isinstance(failure, _mysql.Error):
        raise NotAServer(f"{target.address} sent a greeting that cannot be read.") from None
    raise _explain_connect(target, checked, *_number_and_text(failure), time.monotonic() - began) from None


def _is_on_loopback(target: Target, checked: addresses.Checked) -> bool:
    return not target.socket and all(ip_address(one).is_loopback for one in checked.all)


def _explain_refusal(target: Target, refusal: caching_sha2.Refusal) -> TargetError:
    where = target.address
    if refusal is caching_sha2.Refusal.PLAIN_TEXT:
        return TlsMissing(
            f"{where} asks for the password itself, which without TLS anyone on the way could read, "
            "so it was not sent.",
            "Switch TLS on at the server (ssl_cert, ssl_key): without it, accounts of caching_sha2_password are "
            "let in on loopback and sockets only.",
        )
    return Hostile(f"{where} asks for the password and gives no key to encrypt it with, so it was not sent.")


def _socket_of(driver: Any) -> tuple[int, int]:
    """The descriptor and inode of a connection's socket; the driver does not tell it while it is in use."""
    number = int(driver.fileno())
    return number, os.fstat(number).st_ino


def _check_peer(connection: Connection, checked: addresses.Checked) -> None:
    """The driver resolved the name again where it verifies it: it must have led to an address that was checked."""
    if connection.target.socket or connection.target.tls_mode != "verify-identity":
        return
    number = connection._descriptor()
    if number is None:
        raise Restarting(f"The connection to {connection.target.address} was lost.")
    one = socket.socket(fileno=os.dup(number))
    try:
        peer = str(one.getpeername()[0])
    except OSError:
        raise Restarting(f"The connection to {connection.target.address} was lost.") from None
    finally:
        one.close()
    if peer not in checked.all:
        raise AddressDenied(
            f"The name {connection.target.host} led to another address than the one that was checked a moment before."
        )


def _prepare(connection: Connection, idle_seconds: int) -> None:
    """Session settings, who we are there, the server's clock, and how the connection is encrypted: three statements."""
    idle = max(10, int(idle_seconds))
    common = f"SET SESSION lock_wait_timeout=2, wait_timeout={idle}, net_write_timeout=10"
    limit = ", max_statement_time=3" if connection.looks_like_mariadb else ", max_execution_time=3000"
    try:
        connection.query(common + limit)
    except USABLE:
        # A proxy or gateway that greets with another name, or a server before the variable: our own deadline holds
        # anyway.
        with contextlib.suppress(*USABLE):
            connection.query(common)
    began = time.monotonic()
    row = connection.query("SELECT CURRENT_USER(), UNIX_TIMESTAMP(SYSDATE(6)), @@hostname, @@port, @@version").rows
    ended = time.monotonic()
    if not row or len(row[0]) != 5:
        raise NotAServer(f"{connection.target.address} does not answer as a MySQL or MariaDB server does.")
    connection.account = printable(row[0][0] or "")
    connection.hostname = row[0][2] or ""
    connection.version_text = row[0][4] or ""
    try:
        connection.port = int(row[0][3] or 0)
        clock = float(row[0][1] or "")
    except ValueError:
        connection.port, clock = 0, math.nan
    # Written so that nan is refused, too: nothing could be stored or told of a server with such a clock.
    if not (0 <= connection.port <= 65_535 and 0 <= clock <= _LATEST_CLOCK):
        raise NotAServer(f"{connection.target.address} does not tell its time and its port.")
    connection.clock_offset = clock - (began + ended) / 2
    session = connection.query("SHOW SESSION STATUS WHERE Variable_name IN ('Ssl_cipher', 'Ssl_version')").pairs()
    connection.tls_cipher = printable(session.get("Ssl_cipher", ""), 60)
    connection.tls_version = printable(session.get("Ssl_version", ""), 20)


def _number_and_text(error: Exception) -> tuple[int, str]:
    """The driver's error number and text.

    Where a message is not UTF-8 the driver leaves an empty place in the exception's arguments: touching that one
    ends the
    process, and any server can bring it about. So the tuple's memory is looked at before its second item is.
    """
    arguments = error.args
    number = arguments[0] if arguments and isinstance(arguments[0], int) else 0
    if len(arguments) < 2 or _is_empty(arguments, 1):
        return number, ""
    return number, str(arguments[1])


def _is_empty(items: tuple[Any, ...], position: int) -> bool:
    """Whether a tuple made by C code has no object at that position. Items follow the header, one address each."""
    place = id(items) + tuple.__basicsize__ + position * ctypes.sizeof(ctypes.c_void_p)
    return ctypes.c_void_p.from_address(place).value is None


_BEFORE_TLS = re.compile(r"before completion of TLS handshake\..*?: (\d{4}) - (.*)", re.DOTALL)


def _explain_connect(target: Target, checked: addresses.Checked, number: int, text: str, seconds: float) -> TargetError:
    # Where TLS is wanted, the driver wraps an error that came in place of the greeting: nobody vouches for it yet.
    wrapped = _BEFORE_TLS.search(text)
    if wrapped:
        number, text = int(wrapped[1]), wrapped[2]
    where, lower = target.address, text.lower()
    if number in {2002, 2003, 2004}:
        return _why_not_connected(target, checked, seconds)
    if number == 2005:
        return Unreachable(f"The name {target.host} could not be resolved.")
    if number in {1045, 1698, 1044}:
        used = "with this password" if target.password else "without a password"
        return WrongPassword(f"{where} does not let the user {target.user} in {used}.")
    if number == 1130:
        return HostNotAllowed(f"{where} has no account that may connect from this machine.")
    if number == 1129:
        return HostBlocked(f"{where} has blocked this machine after too many broken connections.")
    if number in {1040, 1203, 1226, 1041, 1135}:
        return TooManyConnections(f"{where} takes no further connection from us ({_LIMITS[number]}).")
    if number in {1820, 1862}:
        return PasswordExpired(f"The password of {target.user} on {where} has expired.")
    if number in {3159, 1524} and "transport" in lower:
        return TlsMissing(f"{where} demands TLS, and this connection has none.", "Choose verify-identity or verify-ca.")
    if number in {1053, 1077, 1078, 1079, 1927}:
        return Restarting(f"{where} is shutting down or starting up.")
    if number in {5010, 2059, 1251, 2054, 2049, 1524} or "plugin" in lower:
        return Hostile(
            f"{where} asks for the password in a way that would show it to whoever answers there, so nothing was sent.",
            "Let the account use caching_sha2_password, mysql_native_password or ed25519; "
            "if it does, distrust this address.",
        )
    if number == 2026 or "ssl" in lower or "tls" in lower:
        return _explain_tls(target, lower)
    if number in {2012, 2013, 2006, 2055, 2027, 2007, 2014, 2000, 2020, 1043, 1047, 1159, 1158}:
        if seconds >= CONNECT_SECONDS - 0.2:
            return TooSlow(f"{where} accepts the connection but does not greet.")
        return NotAServer(
            f"{where} accepts the connection but does not greet as a MySQL or MariaDB server does, or cut it short.",
            "Check host and port; if a server starts or stops there, it is tried again shortly.",
        )
    return StatementFailed(f"{where} refused the login with error {number}: {printable(text)}", number=number)


_LIMITS = {
    1040: "max_connections is reached",
    1203: "max_user_connections is reached",
    1226: "the account's own limit is reached",
    1041: "it is out of resources",
    1135: "it cannot make another thread",
}


def _explain_tls(target: Target, lower: str) -> TargetError:
    where = target.address
    if "does not support" in lower or "ssl is required" in lower:
        return TlsMissing(f"{where} offers no TLS, and this server was registered to be verified.")
    if "hostname" in lower or "host name" in lower or "validation of ssl server certificate" in lower:
        return TlsUntrusted(
            f"{where} shows a certificate for another name than {target.host}.",
            "Register it under the name in its certificate, or verify the certificate alone (verify-ca).",
            reason="name",
        )
    if "fingerprint" in lower:
        return TlsUntrusted(
            f"{where} showed two different certificates within a moment.",
            "Find out what answers there: several servers behind one address need one certificate, or verify-identity.",
            reason="chain",
        )
    if "certificate" in lower or "verif" in lower:
        return tls.untrusted(target, "")
    return TlsUntrusted(
        f"{where} could not agree on TLS with us ({printable(lower, 80)}).",
        "Tidemark takes TLS 1.2 and 1.3: see the server's tls_version and its certificate.",
        reason="protocol",
    )


def _why_not_connected(target: Target, checked: addresses.Checked, seconds: float) -> TargetError:
    """The driver says of a refused port that the operation is in progress: the system is asked for the real reason."""
    where = target.address
    if target.socket:
        if not os.path.exists(target.socket):
            return Refused(f"There is no socket {target.socket}.", "Check the path, and whether the server runs.")
        if not os.access(target.socket, os.R_OK | os.W_OK):
            return Refused(
                f"The socket {target.socket} may not be opened by us.", "Check the permissions of its folder."
            )
        return Refused(f"Nothing listens on the socket {target.socket}.", "See whether the server runs.")
    if seconds >= CONNECT_SECONDS - 0.2:
        return Unreachable(f"{where} does not answer within {CONNECT_SECONDS} s.")
    try:
        with socket.create_connection((checked.dial, target.port), timeout=1):
            return NotAServer(f"{where} accepts the connection but does not greet as a MySQL or MariaDB server does.")
    except ConnectionRefusedError:
        return Refused(f"{where} refuses the connection: nothing listens on that port.")
    except OSError as error:
        return Unreachable(f"{where} cannot be reached: {(error.strerror or 'no answer').lower()}.")


def _explain_statement(target: Target, number: int, text: str) -> TargetError:
    where = target.address
    if number in {1044, 1045, 1142, 1143, 1227, 1370, 3619, 1698}:
        return Denied(f"The account may not do this: {printable(text, 160)}")
    if number in {1064, 1109, 1146, 1193, 1054, 1235, 1286, 1049, 1238, 1305, 1295}:
        return Unsupported(f"The server does not know this: {printable(text, 160)}")
    if number in {1969, 3024, 1317, 1205, 1907}:
        return StatementFailed(
            f"The server ended the statement because it took too long (error {number}).", number=number
        )
    if number == 2068 or "local infile" in text.lower() or "local data" in text.lower():
        return Hostile(f"{where} asked for a file of this machine instead of answering. Nothing was sent.")
    if number in {2006, 2013, 2055, 1053, 1077, 1079, 1927, 2002, 3169, 4031, 1159, 1158, 1152, 1184}:
        return Restarting(f"The connection to {where} was lost while it was asked.")
    if number == 2020 or number == 1153:
        return TooLarge(f"{where} sent a packet above {_PACKET_BYTES >> 20} MiB.")
    if number in {2027, 2014, 2000, 2012, 2007}:
        return NotAServer(f"{where} sent an answer that cannot be read.")
    if number in {2008, 5}:
        return TooLarge(f"{where} sent more than fits into memory.")
    if 2000 <= number < 3000:
        return Restarting(f"The connection to {where} broke (driver error {number}).")
    if number in {1820, 1862}:
        return PasswordExpired(f"The password of {target.user} on {where} has expired.")
    return StatementFailed(
        f"The server refused the statement with error {number}: {printable(text, 160)}", number=number
    )
