"""Sessions that each do one thing again and again while a server is observed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

from MySQLdb import Error

from tests.servers import RunningServer

#: What a session does in each turn: its cursor, and the number of the turn.
Turn = Callable[[Any, int], None]


@contextmanager
def sessions(server: RunningServer, *turns: Turn, seconds: float = 60.0, pause: float = 0.0) -> Iterator[None]:
    """One session for each of the turns, for at most so many seconds; all are gone when the block ends.

    Errors that a turn means to provoke (deadlocks, time-outs) end that turn only.
    """
    ended = threading.Event()
    until = time.monotonic() + seconds

    def work(turn: Turn) -> None:
        with closing(server.connect()) as connection:
            cursor = connection.cursor()
            number = 0
            while not ended.is_set() and time.monotonic() < until:
                try:
                    turn(cursor, number)
                except Error as refused:
                    if refused.args[0] not in _EXPECTED:
                        raise
                number += 1
                if pause:
                    ended.wait(pause)

    running = [threading.Thread(target=work, args=(turn,), daemon=True) for turn in turns]
    for one in running:
        one.start()
    try:
        yield
    finally:
        ended.set()
        for one in running:
            one.join(60)


#: Lock wait time-out and deadlock.
_EXPECTED = (1205, 1213)


def prepared(server: RunningServer, *statements: str) -> None:
    """Runs statements one after the other, as an administrator."""
    with closing(server.connect()) as connection:
        cursor = connection.cursor()
        for statement in statements:
            cursor.execute(statement)
