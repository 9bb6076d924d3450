"""The table: all scenarios, the run in which each server's cell is tried, and the cells, some of them side by side."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from tests.servers import CI_SERVERS, DISTRIBUTION_SERVER
from tests.truth import scenarios
from tests.truth.running import Said, run
from tests.truth.scenario import Scenario

#: A cell mostly waits for its observation to end, so that some of them share two cores.
SIDE_BY_SIDE = 3


@cache
def all_scenarios() -> tuple[Scenario, ...]:
    """Every scenario of every topic, in the order of their names, which are unique."""
    found: list[Scenario] = []
    for module in iter_modules(scenarios.__path__, f"{scenarios.__name__}."):
        found += import_module(module.name).SCENARIOS
    names = [one.name for one in found]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"scenarios of the same name: {sorted(twice)}")
    return tuple(sorted(found, key=lambda one: one.name))


def tier(scenario: Scenario, server: str) -> str:
    """The cheapest run with this cell: quick, ci or all."""
    if scenario.quick and server == DISTRIBUTION_SERVER:
        return "quick"
    ci = [name for name in (DISTRIBUTION_SERVER, *CI_SERVERS) if name in scenario.servers]
    return "ci" if server in ci else "all"


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
            return self._runner(scenario, server)
        finally:
            for _ in range(places):
                self._places.release()

    def said(self, scenario: Scenario, server: str) -> Said:
        """What was said in that cell; raises what its run raised."""
        return self._futures[scenario.name, server].result()

    def close(self) -> None:
        """Runs nothing more that was not begun, and waits for what was."""
        self._pool.shutdown(cancel_futures=True)
