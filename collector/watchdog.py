"""The wall-clock limit on everything that talks to a server.

The driver's own timeouts start anew with every byte, so that a peer which drips one byte a second is never cut.
One thread
of ours per process looks at the clock and at the number of bytes that came in, and shuts the socket: whatever the
driver
was doing there then ends with an error, in C code as well.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator

#: How often sockets are looked at for the bytes they received: at 1 GB/s about 50 MB can come in between.
TICK_SECONDS = 0.05
#: Offset of tcpi_bytes_received in Linux's struct tcp_info: 8 bytes, 24 words of 4, pacing rates and bytes
#: acknowledged.
_BYTES_RECEIVED_AT = 8 + 24 * 4 + 3 * 8

FindSocket = Callable[[], int | None]


class Watch:
    """One watched operation. ``expired`` and ``flooded`` say whether, and why, the socket was shut."""

    def __init__(self, deadline: float, find: FindSocket, most_bytes: int | None) -> None:
        self.deadline = deadline
        self.expired = False
        self.flooded = False
        self._find = find
        self._most_bytes = most_bytes
        self._baseline: int | None = None

    @property
    def cut(self) -> bool:
        return self.expired or self.flooded

    def look(self, now: float) -> bool:
        """Shuts the socket if it is time to. True when there is nothing more to look for."""
        if now >= self.deadline:
            self.expired = True
            # Before the driver has made its socket there is none to shut: it is looked for again with the next tick.
            return self._shut()
        if self._most_bytes is not None:
            received = self._received()
            if received is not None:
                if self._baseline is None:
                    self._baseline = received
                if received - self._baseline > self._most_bytes:
                    self.flooded = True
                    return self._shut()
        return False

    def begin(self) -> None:
        """Remembers how many bytes the connection has received before this operation."""
        if self._most_bytes is not None:
            self._baseline = self._received()

    def _received(self) -> int | None:
        with _duplicate(self._find()) as one:
            return received_bytes(one) if one is not None else None

    def _shut(self) -> bool:
        with _duplicate(self._find()) as one:
            if one is None:
                return False
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            return True


def received_bytes(one: socket.socket) -> int | None:
    """How many bytes a TCP connection has received so far; None for unix sockets and where the system does not tell."""
    if one.family == socket.AF_UNIX:
        return None
    try:
        info = one.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
        return int(struct.unpack_from("=Q", info, _BYTES_RECEIVED_AT)[0])
    except (OSError, struct.error):
        return None


def descriptor_of(number: int, inode: int) -> int | None:
    """The descriptor of a socket; None once it is closed, even if the number is somebody else's by now."""
    try:
        return number if os.fstat(number).st_ino == inode else None
    except OSError:
        return None


@contextlib.contextmanager
def _duplicate(descriptor: int | None) -> Iterator[socket.socket | None]:
    """A second handle on the socket, so that the driver may close its own without us touching a stranger's."""
    if descriptor is None:
        yield None
        return
    try:
        one = socket.socket(fileno=os.dup(descriptor))
    except OSError:
        yield None
        return
    try:
        yield one
    finally:
        one.close()


class Watchdog:
    """Watches any number of operations of one process with one thread, which is started when it is first needed."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._watches: set[Watch] = set()
        self._thread: threading.Thread | None = None
        self._process = 0

    @contextlib.contextmanager
    def watch(self, seconds: float, find: FindSocket, most_bytes: int | None = None) -> Iterator[Watch]:
        """Shuts the socket that ``find`` names after so many seconds, or after it received so many bytes more."""
        watch = Watch(time.monotonic() + seconds, find, most_bytes)
        watch.begin()
        with self._condition:
            self._start()
            self._watches.add(watch)
            self._condition.notify()
        try:
            yield watch
        finally:
            with self._condition:
                self._watches.discard(watch)

    def _start(self) -> None:
        # A fork has our memory, but not our thread.
        if self._process != os.getpid() or self._thread is None or not self._thread.is_alive():
            if self._process != os.getpid():
                self._watches = set()
            self._process = os.getpid()
            self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            with self._condition:
                # Most operations are over before the first tick, so that the thread sleeps whenever nothing is watched.
                while not self._watches:
                    self._condition.wait()
                self._condition.wait(TICK_SECONDS)
                now = time.monotonic()
                # Looking happens inside the lock: a watch that is no longer in the set is never acted upon.
                self._watches -= {watch for watch in self._watches if watch.look(now)}


WATCHDOG = Watchdog()


def sockets_to(peer: tuple[str, int] | str) -> dict[int, int]:
    """This process's connected sockets to one peer (address and port, or a unix socket's path): descriptor -> inode."""
    found: dict[int, int] = {}
    for name in os.listdir("/proc/self/fd"):
        descriptor = int(name)
        try:
            link = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            continue
        if not link.startswith("socket:["):
            continue
        with _duplicate(descriptor) as one:
            if one is not None and _is_to(one, peer):
                found[descriptor] = int(link[8:-1])
    return found


def _is_to(one: socket.socket, peer: tuple[str, int] | str) -> bool:
    try:
        if isinstance(peer, str):
            return one.family == socket.AF_UNIX and one.getpeername() == peer
        if one.family not in (socket.AF_INET, socket.AF_INET6):
            return False
        name = one.getpeername()
    except OSError:
        # A socket that is still connecting has no peer yet; its connect timeout is the driver's, which holds there.
        return False
    return (str(name[0]), int(name[1])) == peer
