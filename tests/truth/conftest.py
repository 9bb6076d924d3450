"""Prints the truth table: what became of each scenario on each server."""

from __future__ import annotations

import re
from typing import Any

from tests.truth.scenario import EVERY

_CELL = re.compile(r"test_a_cell_of_the_truth_table\[(?P<name>.+)\]$")
_SIGNS = {"passed": "ok", "failed": "FAILED", "error": "FAILED", "skipped": "gone"}


def table(outcomes: dict[str, str]) -> list[str]:
    """Lines of the table of these cells, by the name of their test (``scenario-server``)."""
    servers = sorted(EVERY, key=len, reverse=True)
    rows: dict[str, dict[str, str]] = {}
    for name, outcome in outcomes.items():
        server = next((one for one in servers if name.endswith(f"-{one}")), None)
        if server is not None:
            rows.setdefault(name.removesuffix(f"-{server}"), {})[server] = _SIGNS.get(outcome, outcome)
    columns = [server for server in EVERY if any(server in row for row in rows.values())]
    width = max((len(name) for name in rows), default=0)
    lines = [" ".join([" " * width, *(f"{server:>16}" for server in columns)])]
    for name in sorted(rows):
        lines.append(" ".join([f"{name:<{width}}", *(f"{rows[name].get(server, '.'):>16}" for server in columns)]))
    return lines


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """After a run with more than a few cells."""
    outcomes = {}
    for outcome in _SIGNS:
        for report in terminalreporter.stats.get(outcome, ()):
            found = _CELL.search(getattr(report, "nodeid", ""))
            if found and (report.when == "call" or outcome != "passed"):
                outcomes[found["name"]] = outcome
    if len(outcomes) > 1:
        terminalreporter.section("truth table: scenario x server")
        terminalreporter.write("\n".join(table(outcomes)) + "\n")
