"""The table: all scenarios, and in which run each cell is tried. Needs no Django, so that scripts may use it."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from tests.servers import CI_SERVERS, DISTRIBUTION_SERVER
from tests.truth import scenarios
from tests.truth.scenario import Scenario


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
