"""Recording: each scenario starts one real server, puts it under its load, and records what is observed of it."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field

from django.core.management import call_command

from tests.recorded.judging import FOLDER
from tests.servers import start_server
from tests.servers.load import write_load

MIB = 1 << 20


@dataclass(frozen=True)
class Scenario:
    """A server, its options, its load in row bytes per second (0: idle), and what is stated of the machine."""

    server: str
    options: Mapping[str, str | None] = field(default_factory=dict)
    bytes_per_second: float = 0.0
    grants: str = "PROCESS"
    host: Mapping[str, int | str] = field(default_factory=dict)
    seconds: int = 20


_FILES = {"innodb_log_file_size": "4M"}
_FILE = {"innodb_log_file_size": "8M", "innodb_log_buffer_size": "2M"}
_CAPACITY = {"innodb_redo_log_capacity": "8M"}
_BUSY = 1_000_000

SCENARIOS: Mapping[str, Scenario] = {
    "mysql-5.7.22-small-redo": Scenario("mysql-5.7.22", _FILES, _BUSY),
    "mysql-5.7.22-no-grants": Scenario("mysql-5.7.22", _FILES, _BUSY, grants="USAGE"),
    "mysql-8.0.12-small-redo": Scenario("mysql-8.0.12", _FILES, _BUSY),
    "mysql-8.0.33-small-redo": Scenario("mysql-8.0.33", _CAPACITY, _BUSY),
    "mysql-8.0.33-enough-redo": Scenario(
        "mysql-8.0.33", {"innodb_redo_log_capacity": "1G"}, _BUSY, host={"memory_bytes": 1024 * MIB}
    ),
    "mysql-9.7-small-redo": Scenario("mysql-9.7", _CAPACITY, _BUSY),
    "mysql-9.7-idle": Scenario("mysql-9.7"),
    "mariadb-10.2.11-small-redo": Scenario("mariadb-10.2.11", _FILES, _BUSY),
    "mariadb-10.5-small-redo": Scenario("mariadb-10.5", _FILE, _BUSY),
    "mariadb-10.11-small-redo": Scenario("mariadb-10.11", _FILE, _BUSY),
    "mariadb-10.11-careless": Scenario(
        "mariadb-10.11",
        {
            "innodb_max_dirty_pages_pct": "10",
            "innodb_flush_log_at_trx_commit": "2",
            "log_bin": None,
            "innodb_buffer_pool_size": "512M",
        },
        _BUSY,
        host={"memory_bytes": 512 * MIB},
    ),
    "mariadb-11.4.5-small-redo": Scenario("mariadb-11.4.5", _FILE, _BUSY),
    "mariadb-11.8-small-redo": Scenario("mariadb-11.8", _FILE, _BUSY),
    "mariadb-11.8-idle": Scenario("mariadb-11.8"),
}


def record(name: str) -> None:
    """Records one scenario in place of what was there."""
    scenario = SCENARIOS[name]
    path = FOLDER / name
    with start_server(scenario.server, options=scenario.options) as server, ExitStack() as stack:
        watcher = server.client_user("watcher", scenario.grants)
        if scenario.bytes_per_second:
            stack.enter_context(write_load(server, seconds=120, bytes_per_second=scenario.bytes_per_second))
            time.sleep(5)
        call_command(
            "record_snapshot",
            watcher.url,
            str(path),
            password_file=str(watcher.password_file),
            observe=scenario.seconds,
            interval=5.0,
            what=f"{name}: {scenario.bytes_per_second / 1e6:g} MB of rows a second",
        )
    if scenario.host:
        (path / "host.json").write_text(json.dumps(scenario.host) + "\n")
