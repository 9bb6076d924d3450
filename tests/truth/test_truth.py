"""What must and must not be said, on real servers; every proposed statement is executed and undone there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from advisor.rules import all_rules
from tests.servers.fixtures import server_params
from tests.truth.cells import Cells
from tests.truth.scenario import EVERY, Scenario
from tests.truth.table import all_scenarios, tier


def _cells() -> Iterator[object]:
    for scenario in all_scenarios():
        for parameter in server_params(scenario.servers):
            (server,) = parameter.values
            marks = [mark for mark in parameter.marks if mark.name == "skip"]
            wanted = tier(scenario, server)
            if wanted != "quick":
                marks.append(getattr(pytest.mark, {"ci": "ci", "all": "matrix"}[wanted]))
            yield pytest.param(scenario, server, marks=marks, id=f"{scenario.name}-{server}")


@pytest.fixture(scope="module")
def cells(request: pytest.FixtureRequest) -> Iterator[Cells]:
    """All cells that were collected for this run, running ahead of the tests that look at them."""
    wanted: list[tuple[Scenario, str]] = []
    for item in request.session.items:
        if isinstance(item, pytest.Function) and item.originalname == "test_a_cell_of_the_truth_table":
            scenario, server = item.callspec.params["scenario"], item.callspec.params["server_name"]
            assert isinstance(scenario, Scenario)
            wanted.append((scenario, str(server)))
    running = Cells(wanted)
    yield running
    running.close()


@pytest.mark.parametrize(("scenario", "server_name"), list(_cells()))
def test_a_cell_of_the_truth_table(cells: Cells, scenario: Scenario, server_name: str) -> None:
    said = cells.said(scenario, server_name)
    assert said.faults == []


def test_an_empty_cell_says_why() -> None:
    for scenario in all_scenarios():
        assert scenario.elsewhere or set(scenario.servers) >= set(EVERY), scenario.name


def test_scenarios_name_rules_that_there_are() -> None:
    known = {rule.id for rule in all_rules()}
    for scenario in all_scenarios():
        named = scenario.fires | scenario.passes | scenario.silent | scenario.may | set(scenario.not_evaluated)
        assert named | set(scenario.severity) <= known, (scenario.name, named - known)
        for server, rules in scenario.but.items():
            assert server in scenario.servers, scenario.name
            assert set(rules) <= known, (scenario.name, server)


def test_every_rule_fires_and_passes_on_a_real_server() -> None:
    """A rule that only its own example can make fire does not count."""
    fires = {rule for scenario in all_scenarios() for rule in scenario.fires}
    passes = {rule for scenario in all_scenarios() for rule in scenario.passes}
    assert {rule.id for rule in all_rules()} - fires == set()
    assert {rule.id for rule in all_rules()} - passes == set()
