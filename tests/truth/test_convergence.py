"""All advice of a loaded server is applied, and it is observed again: nothing is taken back, and it falls silent."""

from __future__ import annotations

import time
from collections.abc import Mapping
from itertools import pairwise

import pytest

from advisor.engine.advice import prepare
from advisor.engine.evaluation import Judgement, judge
from advisor.engine.observation import HostFacts, Observation
from advisor.mysql.values import parse_real
from advisor.recommendations.observing import observation
from advisor.rules import all_rules
from collector import resolve
from collector.observe import observe
from tests.servers import RunningServer, start_server
from tests.servers.fixtures import server_params
from tests.truth.running import execute, option_lines
from tests.truth.scenarios.general import busy, redo

ROUNDS = 2


def _judged(server: RunningServer) -> tuple[Observation, Judgement]:
    observed = observe(
        resolve.target(server.url, password_file=str(server.password_file), defaults_group=""),
        seconds=14,
        interval=2,
    )
    seen = observation(observed, HostFacts())
    return seen, judge(seen, all_rules(), strict=True)


@pytest.mark.parametrize("name", server_params())
def test_applied_advice_ends_in_silence_after_two_rounds(name: str) -> None:
    """The server begins with a redo log that is far too small, slow flushing, early flushing and relaxed commits."""
    options: dict[str, str | None] = {
        **redo(name, 8),
        "innodb_io_capacity": "100",
        "innodb_io_capacity_max": "150",
        "innodb_max_dirty_pages_pct": "20",
        "innodb_flush_log_at_trx_commit": "2",
        "loose_innodb_adaptive_flushing": "OFF",
        "sort_buffer_size": "64M",
    }
    changed: dict[str, list[str]] = {}
    with start_server(name, options=options) as server:
        for round_number in range(ROUNDS + 1):
            with busy(server):
                time.sleep(3)
                seen, judgement = _judged(server)
            wanted = _wanted(seen, judgement)
            if round_number == 0:
                assert wanted, "a server with so many faults must be told something"
            if not wanted:
                break
            assert round_number < ROUNDS, f"after {ROUNDS} rounds it is still told: {wanted}"
            _apply(server, seen, judgement, options)
            for variable, value in wanted.items():
                changed.setdefault(variable, [seen.snapshot.variables.get(variable, "")]).append(value)
    for variable, values in changed.items():
        numbers = [parse_real(value) for value in values if value.replace(".", "").isdigit()]
        rises = [later >= earlier for earlier, later in pairwise(numbers)]
        assert len(set(rises)) <= 1, f"{variable} went up and down: {values}"


def _wanted(seen: Observation, judgement: Judgement) -> Mapping[str, str]:
    return {name: str(value) for one in judgement.recommendations for name, value in one.variables.items()}


def _apply(server: RunningServer, seen: Observation, judgement: Judgement, options: dict[str, str | None]) -> None:
    """Everything at once, as a DBA would who trusts the advice: at run time what can be, the rest by a restart."""
    lines: list[str] = []
    for one in prepare(seen, judgement).recommendations:
        assert one.refused == ""
        lines += one.rendered.option_file
        assert execute(server, one.rendered.sql) == ""
    if any(one.rendered.needs_restart for one in prepare(seen, judgement).recommendations):
        for given, value in option_lines(lines).items():
            options.pop(f"loose_{given}", None)
            options[given] = value
        server.restart(options)
