"""Every lever that is offered to a real server is taken by it, read back, and put back by its undo."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from advisor.engine.lever import Situation, Trouble
from advisor.engine.levers import levers
from tests.servers import DISTRIBUTION_SERVER, RunningServer, start_server
from tests.servers.fixtures import server_params

from .test_statements_on_servers import becomes, run, settings_of, variables_of, version_of

#: Switched off or set late at the start, so that every lever the version has is offered.
OPTIONS = {
    "innodb_adaptive_flushing": "OFF",
    "innodb_adaptive_flushing_lwm": "50",
    "innodb_flush_neighbors": "1",
    "innodb_io_capacity": "100",
    "innodb_io_capacity_max": "200",
    "innodb_max_dirty_pages_pct_lwm": "0",
    "loose_innodb_flush_sync": "OFF",
}
NAMES = server_params([DISTRIBUTION_SERVER, "mysql-9.7", "mysql-8.0.33", "mysql-5.7.22"])


@pytest.fixture(scope="module", params=NAMES)
def target(request: pytest.FixtureRequest) -> Iterator[RunningServer]:
    with start_server(request.param, options=OPTIONS) as running:
        yield running


def test_each_lever_is_taken_read_back_and_put_back(target: RunningServer) -> None:
    before, version = settings_of(target), version_of(target)
    status = target.status("Innodb_redo%")
    at = Situation(version, variables_of(target), status, Trouble.WAITING, 1.0, 40.0, storage="ssd")
    offered = levers(at).offered
    names = {lever.name for lever in offered}
    assert {"innodb_adaptive_flushing", "innodb_io_capacity_max", "innodb_max_dirty_pages_pct_lwm"} <= names
    assert ("innodb_log_file_size" in names or "innodb_redo_log_capacity" in names) is (version.number != (5, 7, 22))
    for lever in offered:
        assert run(target, lever.statements) == [], lever.name
        for change in lever.changes:
            assert becomes(target, change.name, change.proposed)
        assert run(target, lever.undo) == [], lever.name
        for change in lever.changes:
            assert becomes(target, change.name, change.current)
    assert settings_of(target) == before
