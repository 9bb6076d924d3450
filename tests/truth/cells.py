"""The cells of the truth table that one run tries, some of them side by side."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from tests.truth.running import Said, run
from tests.truth.scenario import Scenario, idle

#: A cell mostly waits for its observation to end, so that some of them share two cores.
SIDE_BY_SIDE = 3


class Cells:
    """Runs cells ahead of who asks for them. One that is to be ``alone`` waits for the others and holds them up."""

    def __init__(self, wanted: list[tuple[Scenario, str]], runner: Callable[[Scenario, str], Said] = run) -> None:
        self._pool = ThreadPoolExecutor(SIDE_BY_SIDE, thread_name_prefix="cell")
        self._places = threading.BoundedSemaphore(SIDE_BY_SIDE)
        self._door = threading.Lock()
        self._runner = runner
        self._futures: dict[tuple[str, str], Future[Said]] = {}
        # Those that want the machine for themselves come last, one after the other.
        for scenario, server in sorted(wanted, key=lambda cell: cell[0].alone):
            self._futures[scenario.name, server] = self._pool.submit(self._run, scenario, server)

    def _run(self, scenario: Scenario, server: str) -> Said:
        places = SIDE_BY_SIDE if scenario.alone else 1
        with self._door:
            for _ in range(places):
                self._places.acquire()
        try:
            said = self._runner(scenario, server)
        finally:
            for _ in range(places):
                self._places.release()
        return self._again(scenario, server) if said.faults and scenario.load is not idle else said

    def _again(self, scenario: Scenario, server: str) -> Said:
        """Once more with the machine to itself: how much a load does in ten seconds depends on who else works then."""
        with self._door:
            for _ in range(SIDE_BY_SIDE):
                self._places.acquire()
        try:
            return self._runner(scenario, server)
        finally:
            for _ in range(SIDE_BY_SIDE):
                self._places.release()

    def said(self, scenario: Scenario, server: str) -> Said:
        """What was said in that cell; raises what its run raised."""
        return self._futures[scenario.name, server].result()

    def close(self) -> None:
        """Runs nothing more that was not begun, and waits for what was."""
        self._pool.shutdown(cancel_futures=True)
