"""A pool of daemon threads that closes its database connections and never keeps a process from ending.

The standard library's pool joins its threads when the interpreter ends, so that one server which hangs for fifteen
seconds would hold up the end of the worker. Ours are abandoned then: what they still read would not be written anyway.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable

from django.db import close_old_connections, connections

log = logging.getLogger(__name__)

#: A thread without work for this long ends, and with it its database connection.
_IDLE_SECONDS = 60.0
#: So many threads keep their database connection between two readings; the others are there for servers that hang.
_CONNECTIONS = 8


class Pool:
    """Runs callables side by side, at most ``most`` at a time; the others wait in order."""

    def __init__(self, name: str, most: int) -> None:
        self._name, self._most = name, most
        self._work: deque[Callable[[], None]] = deque()
        self._changed = threading.Condition()
        self._threads = 0
        self._idle = 0
        self._closed = False

    def submit(self, work: Callable[[], None]) -> None:
        """Queues ``work``; it is dropped once the pool is closed. What it raises is logged."""
        with self._changed:
            if self._closed:
                return
            self._work.append(work)
            if self._idle < len(self._work) and self._threads < self._most:
                self._threads += 1
                keeps = self._threads <= _CONNECTIONS
                threading.Thread(target=self._run, args=(keeps,), name=self._name, daemon=True).start()
            self._changed.notify()

    def close(self, wait_seconds: float) -> bool:
        """Drops what has not begun and waits for the rest; True if all of it ended in time."""
        with self._changed:
            self._closed = True
            self._work.clear()
            self._changed.notify_all()
            return self._changed.wait_for(lambda: self._threads == 0, wait_seconds)

    def _run(self, keeps_connection: bool) -> None:
        try:
            while (work := self._next()) is not None:
                try:
                    work()
                except Exception:
                    log.exception("Work in the background failed")
                finally:
                    if keeps_connection:
                        # As at the end of a web request: one that broke or is too old is not used again.
                        close_old_connections()
                    else:
                        connections.close_all()
        finally:
            connections.close_all()

    def _next(self) -> Callable[[], None] | None:
        with self._changed:
            self._idle += 1
            try:
                self._changed.wait_for(lambda: self._work or self._closed, _IDLE_SECONDS)
                if self._work:
                    return self._work.popleft()
                # Decided under the lock, so that nothing is queued for a thread that is about to end.
                self._threads -= 1
                self._changed.notify_all()
                return None
            finally:
                self._idle -= 1
