"""What `advise` must say of each real server.

Nothing while it idles; its own variable when the redo log is far too small for the load; nothing any more once its own
SQL or option file was applied; and "passed" with a log that is big enough.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.servers import RunningServer, start_server
from tests.servers.fixtures import every_server, server_params
from tests.servers.load import write_load

ROOT = Path(__file__).resolve().parents[2]
RULE = "redo.redo-log-undersized"
MIB = 1 << 20

#: The variable each version must be told to change, whether that needs a restart, how many files share the capacity.
VARIABLE = {
    "mysql-5.7.22": ("innodb_log_file_size", True, 2),
    "mysql-8.0.12": ("innodb_log_file_size", True, 2),
    "mysql-8.0.33": ("innodb_redo_log_capacity", False, 1),
    "mysql-9.7": ("innodb_redo_log_capacity", False, 1),
    "mariadb-10.2.11": ("innodb_log_file_size", True, 2),
    "mariadb-10.5": ("innodb_log_file_size", True, 1),
    "mariadb-10.11": ("innodb_log_file_size", False, 1),
    "mariadb-11.4.5": ("innodb_log_file_size", False, 1),
    "mariadb-11.8": ("innodb_log_file_size", False, 1),
}
#: Row bytes per second of the load; the redo is about twice as much.
LOAD_BYTES_PER_SECOND = 2_000_000


def redo_options(name: str, capacity_bytes: int) -> dict[str, str | None]:
    variable, needs_restart, files = VARIABLE[name]
    options: dict[str, str | None] = {variable: str(capacity_bytes // files)}
    if variable == "innodb_log_file_size" and not needs_restart:
        # MariaDB 10.9+ starts with a redo log smaller than its log buffer, but does not go back to one at run time.
        options["innodb_log_buffer_size"] = "2M"
    return options


def advise(server: RunningServer, seconds: int) -> dict[str, Any]:
    """The advice of the command line, valid against the schema that others rely on."""
    done = subprocess.run(
        [
            *(sys.executable, "manage.py", "advise", server.url, "--password-file", str(server.password_file)),
            *("--observe", str(seconds), "--interval", "2", "--format", "json"),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=seconds + 90,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    jsonschema.validate(document, json.loads((ROOT / "docs/advice.schema.json").read_text(encoding="utf-8")))
    return document


def outcome(document: Mapping[str, Any], rule: str = RULE) -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in document["outcomes"] if one["rule"] == rule)
    return found


def recommendation(document: Mapping[str, Any]) -> dict[str, Any]:
    found = [one for one in document["recommendations"] if RULE in one["rules"]]
    assert found, f"no recommendation of {RULE}: {outcome(document)}"
    one: dict[str, Any] = found[0]
    return one


def changed_variables(document: Mapping[str, Any]) -> list[str]:
    return [
        change["name"]
        for one in document["recommendations"]
        for change in one["changes"]
        if change["kind"] == "variable"
    ]


@pytest.fixture(params=server_params([name for name in every_server() if name in VARIABLE]))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_table_names_every_server_that_can_be_started() -> None:
    assert set(every_server()) == set(VARIABLE)


def test_an_idle_server_gets_no_sizing_advice_and_is_told_why(name: str) -> None:
    with start_server(name) as server:
        document = advise(server, 8)
    told = outcome(document)
    assert told["outcome"] == "not_evaluated", told
    assert {one["kind"] for one in told["missing"]} == {"window"}
    assert document["observed"]["connections"] == 1
    assert not {
        "innodb_log_file_size",
        "innodb_redo_log_capacity",
        "innodb_io_capacity",
        "innodb_buffer_pool_size",
    } & set(changed_variables(document))


def test_a_redo_log_far_too_small_is_found_and_its_own_statements_end_the_finding(name: str) -> None:
    variable, needs_restart, _ = VARIABLE[name]
    with start_server(name, options=redo_options(name, 8 * MIB)) as server:
        with write_load(server, seconds=90, bytes_per_second=LOAD_BYTES_PER_SECOND):
            time.sleep(8)
            document = advise(server, 24)
        one = recommendation(document)
        change = next(change for change in one["changes"] if change["name"] == variable)
        assert one["confidence"] == "low"
        assert change["needs_restart"] is needs_restart
        assert bool(one["sql"]) is not needs_restart
        names = changed_variables(document)
        assert len(names) == len(set(names)), "one variable in two recommendations"

        if needs_restart:
            lines = (line.partition("=") for line in one["option_file"] if "=" in line)
            server.restart({key.strip(): value.strip() for key, _, value in lines})
        else:
            for statement in one["sql"]:
                server.sql(statement)
        assert int(server.sql(f"SELECT @@GLOBAL.{variable}")[0][0] or 0) == int(change["proposed"])

        with write_load(server, seconds=90, bytes_per_second=LOAD_BYTES_PER_SECOND):
            time.sleep(8)
            again = advise(server, 24)
        assert outcome(again)["outcome"] != "finding", outcome(again)

        if not needs_restart:
            for statement in one["undo"]:
                server.sql(statement)
            until = time.monotonic() + 60
            while server.sql(f"SELECT @@GLOBAL.{variable}")[0][0] != change["current"] and time.monotonic() < until:
                time.sleep(1)
            assert server.sql(f"SELECT @@GLOBAL.{variable}")[0][0] == change["current"]


def test_the_same_load_with_a_gibibyte_of_redo_passes_with_figures(name: str) -> None:
    with (
        start_server(name, options=redo_options(name, 1024 * MIB)) as server,
        write_load(server, seconds=90, bytes_per_second=LOAD_BYTES_PER_SECOND),
    ):
        time.sleep(8)
        document = advise(server, 24)
    told = outcome(document)
    assert told["outcome"] == "passed", told
    assert any(figure["unit"] == "bytes/s" and figure["value"] > 0 for figure in told["evidence"]), told["evidence"]
