"""A server that does as it is told: it speaks just enough of the protocol to misbehave at any point of it.

    with FakeServer(script) as server: connect(server.target())

A script is a function of one ``Peer``; it runs in a thread of its own for each connection. What the client sent is
kept.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from collector.secret import Secret
from collector.target import Target

PASSWORD = "canary-password-8d1f"

CLIENT_SSL = 0x0800
_CAPABILITIES = 0x00000001 | 0x00000200 | 0x00008000 | 0x00080000 | 0x00000008 | 0x00002000 | 0x01000000 * 0
_PLUGIN_AUTH = 0x00080000


class Peer:
    """One connection of a client, from the server's side."""

    def __init__(self, one: socket.socket) -> None:
        self.socket = one
        self.received = b""
        self.sequence = 0

    def packet(self, body: bytes) -> None:
        """Sends one packet with the next sequence number."""
        self.socket.sendall(len(body).to_bytes(3, "little") + bytes([self.sequence & 255]) + body)
        self.sequence += 1

    def read(self) -> bytes:
        """The body of the client's next packet."""
        header = self._exactly(4)
        self.sequence = header[3] + 1
        return self._exactly(int.from_bytes(header[:3], "little"))

    def _exactly(self, count: int) -> bytes:
        got = b""
        while len(got) < count:
            part = self.socket.recv(count - len(got))
            if not part:
                raise ConnectionError("the client is gone")
            got += part
        self.received += got
        return got

    def greet(
        self, *, tls: bool = False, version: bytes = b"10.11.6-MariaDB", plugin: bytes = b"mysql_native_password"
    ) -> None:
        capabilities = _CAPABILITIES | (CLIENT_SSL if tls else 0)
        self.packet(
            b"\x0a" + version + b"\0" + struct.pack("<I", 7) + b"abcdefgh" + b"\0"
            + struct.pack("<H", capabilities & 0xFFFF) + bytes([45]) + struct.pack("<H", 2)
            + struct.pack("<H", capabilities >> 16) + bytes([21]) + bytes(10) + b"ijklmnopqrst\0" + plugin + b"\0"
        )  # fmt: skip

    def login(self, **greeting: Any) -> None:
        """Greets, takes whatever the client sends for a login, and lets it in."""
        self.greet(**greeting)
        self.read()
        self.ok()

    def ok(self) -> None:
        self.packet(b"\x00\x00\x00\x02\x00\x00\x00")

    def error(self, number: int, text: bytes, state: bytes = b"HY000") -> None:
        self.packet(b"\xff" + struct.pack("<H", number) + b"#" + state + text)

    def ask_for_file(self, path: bytes = b"/etc/hostname") -> None:
        self.packet(b"\xfb" + path)

    def column(self, name: bytes) -> None:
        def text(value: bytes) -> bytes:
            return lenenc(len(value)) + value

        self.packet(
            text(b"def")
            + text(b"") * 3
            + text(name) * 2
            + b"\x0c"
            + struct.pack("<HIBHB", 45, 1024, 253, 0, 0)
            + b"\0\0"
        )

    def eof(self) -> None:
        self.packet(b"\xfe\x00\x00\x02\x00")

    def head(self, names: Sequence[bytes]) -> None:
        self.packet(lenenc(len(names)))
        for name in names:
            self.column(name)
        self.eof()

    def row(self, cells: Sequence[bytes | None]) -> None:
        self.packet(b"".join(b"\xfb" if cell is None else lenenc(len(cell)) + cell for cell in cells))

    def rows(self, names: Sequence[bytes], rows: Sequence[Sequence[bytes | None]]) -> None:
        self.head(names)
        for row in rows:
            self.row(row)
        self.eof()

    def flood(self) -> None:
        """Rows of two cells and 1,000 bytes without end, until the client goes."""
        self.head([b"Variable_name", b"Value"])
        body = lenenc(4) + b"name" + lenenc(1000) + b"x" * 1000
        packet = len(body).to_bytes(3, "little")
        many = b"".join(packet + bytes([(self.sequence + number) & 255]) + body for number in range(256))
        while True:
            self.socket.sendall(many)

    def query(self) -> str:
        """The text of the client's next statement."""
        body = self.read()
        if body[:1] == b"\x01":
            raise ConnectionError("the client said good-bye")
        return body[1:].decode("utf-8", "replace")

    def answer(
        self, sql: str, variables: Sequence[Sequence[bytes | None]] = (), status: Sequence[Sequence[bytes | None]] = ()
    ) -> None:
        """Answers as a small MariaDB would: what our connection prepares with, variables, status, and nothing else."""
        if "SET SESSION" in sql:
            self.ok()
        elif "CURRENT_USER()" in sql:
            now = f"{time.time():.6f}".encode()
            self.rows(
                [b"a", b"b", b"c", b"d", b"e"], [[b"tidemark@localhost", now, b"fake", b"3306", b"10.11.6-MariaDB"]]
            )
        elif "SHOW SESSION STATUS" in sql:
            self.rows([b"Variable_name", b"Value"], [[b"Ssl_cipher", b""]])
        elif "SHOW GLOBAL VARIABLES" in sql:
            self.rows([b"Variable_name", b"Value"], variables)
        elif "SHOW GLOBAL STATUS" in sql:
            self.rows([b"Variable_name", b"Value"], status)
        else:
            self.error(1142, b"SELECT command denied", b"42000")

    def serve(self, until: str = "", **answers: Any) -> str:
        """Logs in and answers statements until one holds the text ``until``: that one is left to the script."""
        self.login()
        while True:
            sql = self.query()
            if until and until in sql:
                return sql
            self.answer(sql, **answers)


VARIABLES: list[list[bytes | None]] = [
    [b"version", b"10.11.6-MariaDB"],
    [b"version_comment", b"mariadb.org binary distribution"],
    [b"hostname", b"fake"],
    [b"port", b"3306"],
    [b"innodb_page_size", b"16384"],
    [b"innodb_log_file_size", b"100663296"],
    [b"performance_schema", b"OFF"],
    [b"log_bin", b"OFF"],
]
STATUS: list[list[bytes | None]] = [[b"Uptime", b"100"], [b"Questions", b"5"]]


def lenenc(number: int) -> bytes:
    """A length as the protocol writes it."""
    if number < 251:
        return bytes([number])
    if number < 1 << 16:
        return b"\xfc" + struct.pack("<H", number)
    if number < 1 << 24:
        return b"\xfd" + number.to_bytes(3, "little")
    return b"\xfe" + struct.pack("<Q", number)


class FakeServer:
    """Listens on loopback; each connection runs the script in a thread. Ends with its block, threads included."""

    def __init__(self, script: Callable[[Peer], object]) -> None:
        self._script = script
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.peers: list[Peer] = []
        self._threads: list[threading.Thread] = []
        self._over = threading.Event()

    @property
    def received(self) -> bytes:
        """Everything that clients sent."""
        return b"".join(peer.received for peer in self.peers)

    def target(self, **values: Any) -> Target:
        given = {"user": "tidemark", "password": Secret(PASSWORD), "host": "127.0.0.1", "unrestricted": True}
        return Target(port=self.port, **{**given, **values})

    def __enter__(self) -> FakeServer:
        thread = threading.Thread(target=self._accept, daemon=True)
        thread.start()
        self._threads.append(thread)
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for peer in self.peers:
            with contextlib.suppress(OSError):
                peer.socket.shutdown(socket.SHUT_RDWR)
            peer.socket.close()
        for thread in self._threads:
            thread.join(5)

    def _accept(self) -> None:
        while not self._over.is_set():
            try:
                one, _ = self._listener.accept()
            except OSError:
                return
            peer = Peer(one)
            self.peers.append(peer)
            thread = threading.Thread(target=self._run, args=(peer,), daemon=True)
            thread.start()
            self._threads.append(thread)

    def _run(self, peer: Peer) -> None:
        with contextlib.suppress(OSError, ConnectionError, ValueError):
            self._script(peer)
        with contextlib.suppress(OSError):
            peer.socket.close()

    def wait_over(self) -> None:
        """Keeps a script from ending (and so from closing the connection) until the block ends."""
        self._over.wait(60)


def drip(peer: Peer, data: bytes, seconds: float = 40, gap: float = 0.25) -> None:
    """Sends data byte by byte, forever slow."""
    ends = time.monotonic() + seconds
    for byte in data:
        if time.monotonic() > ends:
            return
        peer.socket.sendall(bytes([byte]))
        time.sleep(gap)


@contextlib.contextmanager
def growth() -> Iterator[Callable[[], tuple[int, int]]]:
    """How many descriptors and threads more there are than at the beginning of the block."""
    import os

    def count() -> tuple[int, int]:
        return len(os.listdir("/proc/self/fd")), threading.active_count()

    before = count()
    yield lambda: (count()[0] - before[0], count()[1] - before[1])


def peak_growth_bytes(work: Callable[[], None]) -> int:
    """By how much the process's resident memory rose at most while ``work`` ran, seen every 10 ms."""
    import os

    page = os.sysconf("SC_PAGESIZE")

    def resident() -> int:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * page

    before = highest = resident()
    over = threading.Event()

    def watch() -> None:
        nonlocal highest
        while not over.wait(0.01):
            highest = max(highest, resident())

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        work()
    finally:
        over.set()
        watching.join()
    return highest - before
