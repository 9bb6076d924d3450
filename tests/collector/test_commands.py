"""The commands that read a server: what they print, how they end, and what they do without a database of ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from django.core.management import ManagementUtility, call_command
from django.core.management.base import CommandError

from collector import resolve
from collector.errors import BadTarget
from collector.servers import add_server
from tests.servers import DISTRIBUTION_SERVER, RunningServer, start_server

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with start_server(DISTRIBUTION_SERVER, options={"innodb_flush_log_at_trx_commit": "2"}) as running:
        yield running


def manage(*arguments: str, data: Path | None = None, database_url: str = "") -> subprocess.CompletedProcess[str]:
    """A command in a process of its own, as a person runs it."""
    environment = {**os.environ, "TIDEMARK_DATA": str(data or ROOT / "nowhere")}
    if database_url:
        environment["TIDEMARK_DATABASE_URL"] = database_url
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """The same in this process, where no state of ours is at stake: exit status, stdout and stderr."""
    try:
        ManagementUtility(["manage.py", *arguments]).execute()
        status = 0
    except SystemExit as ended:
        status = int(ended.code or 0)
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def about(server: RunningServer, *arguments: str) -> tuple[str, ...]:
    """The arguments of a short observation."""
    return (
        *("advise", server.url, "--password-file", str(server.password_file), "--observe", "1", "--interval", "1"),
        *arguments,
    )


def test_advise_needs_nothing_of_ours_and_leaves_nothing_behind(server: RunningServer, tmp_path: Path) -> None:
    data = tmp_path / "none"
    done = manage(*about(server, "--format", "json"), data=data, database_url="mysql://nobody@127.0.0.1:1/nothing")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert not data.exists()
    document = json.loads(done.stdout)
    jsonschema.validate(document, json.loads((ROOT / "docs/advice.schema.json").read_text(encoding="utf-8")))
    assert document["observed"]["connections"] == 1
    assert document["server"]["flavor"] == "mariadb"
    assert {one["outcome"] for one in document["outcomes"]} <= {"finding", "passed", "not_applicable", "not_evaluated"}


def test_advise_says_by_its_exit_status_whether_something_was_found(
    server: RunningServer, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = told(capsys, *about(server, "--fail-on", "notice"))
    assert status == 1
    assert "innodb_flush_log_at_trx_commit" in out
    assert "SET GLOBAL" in out
    assert told(capsys, *about(server, "--fail-on", "critical"))[0] == 0


def test_what_is_stated_of_the_machine_is_judged_with(
    server: RunningServer, capsys: pytest.CaptureFixture[str]
) -> None:
    without = json.loads(told(capsys, *about(server, "--format", "json"))[1])
    assert without["host"]["memory_bytes"] == {"value": None, "origin": "unknown"}
    machine = ("--host-memory", "8G", "--host-cpus", "4", "--storage", "ssd")
    stated = json.loads(told(capsys, *about(server, "--format", "json", *machine))[1])
    assert stated["host"]["memory_bytes"] == {"value": 8 << 30, "origin": "stated"}
    assert stated["host"]["cpus"] == {"value": 4, "origin": "stated"}

    def said(document: dict[str, Any]) -> str:
        return next(
            str(one["outcome"]) for one in document["outcomes"] if one["rule"] == "memory.buffer-pool-exceeds-memory"
        )

    assert (said(without), said(stated)) == ("not_evaluated", "passed")


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_server_that_cannot_be_read_ends_with_3_and_one_clear_sentence(
    server: RunningServer, tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str], db: None
) -> None:
    wrong = tmp_path / "wrong"
    wrong.write_text("canary-wrong\n")
    cases = [
        (server.url, str(wrong), "wrong-password", "does not let the user tidemark in with this password"),
        ("mysql://watch@127.0.0.1:1", str(server.password_file), "refused", "nothing listens on that port"),
        ("mysql://watch@no-such-host.invalid", str(server.password_file), "name-unknown", "has no address"),
    ]
    for url, file, kind, sentence in cases:
        status, out, err = told(capsys, "advise", url, "--password-file", file, "--observe", "1", "--format", form)
        assert status == 3
        assert "Traceback" not in out + err
        assert "canary" not in out + err
        if form == "json":
            problem = json.loads(out)
            assert problem["kind"] == kind
            assert sentence in problem["title"]
            assert problem["detail"]
        else:
            assert out == ""
            assert sentence in err
            assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["mysql://a:canary@127.0.0.1"], "holds a password"),
        (["mysql://a@127.0.0.1", "--observe", "-1"], "no number of seconds"),
        (["mysql://a@127.0.0.1", "--host-memory", "1.5G"], "1536M"),
        (["mysql://a@127.0.0.1", "--host-cpus", "none"], "no number of CPUs"),
        (["mysql://a@127.0.0.1", "--password-file", "/none"], "cannot be read"),
        (["mysql://a@127.0.0.1", "--fail-on", "panic"], "panic"),
        (["unknown-name"], "unknown-name"),
    ],
)
def test_wrong_usage_ends_with_2_and_says_what_to_write(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str], db: None
) -> None:
    status, out, err = told(capsys, "advise", *arguments)
    assert status == 2
    assert sentence in err
    assert "Traceback" not in err
    assert "canary" not in out + err


def test_a_recording_is_advised_on_without_its_server(
    server: RunningServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "recorded"
    password = ("--password-file", str(server.password_file))
    status, out, err = told(
        capsys, "record_snapshot", server.url, str(path), *password, "--observe", "2", "--interval", "1"
    )
    assert (status, err) == (0, "")
    assert "3 polls" in out
    first = told(capsys, "advise", str(path), "--format", "json")
    assert first == told(capsys, "advise", str(path), "--format", "json")
    assert first[0] == 0
    assert json.loads(first[1])["server"]["version"] == server.version
    other = tmp_path / "not-a-recording"
    other.mkdir()
    (other / "file").write_text("x")
    assert told(capsys, "record_snapshot", server.url, str(other), *password)[0] == 2


def test_a_limited_account_gets_advice_and_is_told_the_grants_that_are_missing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with start_server(DISTRIBUTION_SERVER, grants="") as server:
        document = json.loads(told(capsys, *about(server, "--format", "json"))[1])
        status, out, _ = told(capsys, "collect", "--once", server.url, "--password-file", str(server.password_file))
    assert all(one["outcome"] != "not_evaluated" or one["missing"] for one in document["outcomes"])
    assert status == 0
    assert "GRANT PROCESS ON *.* TO 'tidemark'@'127.0.0.1'" in out
    assert "performance_schema = ON" in out


def test_collect_prints_every_probe_and_its_cost(server: RunningServer, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = told(capsys, "collect", "--once", server.url, "--password-file", str(server.password_file))
    assert status == 0
    for probe in ("variables", "status", "innodb_metrics", "variable_origins", "plugins", "grants", "replication"):
        assert probe in out
    assert "One connection, " in out
    status, _, err = told(capsys, "collect", "--once", "mysql://a@127.0.0.1:1")
    assert status == 3
    assert "nothing listens" in err


def test_a_registered_server_is_named_alone_or_with_its_team(
    server: RunningServer, team: Any, other_team: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    values: dict[str, Any] = {
        "host": "127.0.0.1",
        "port": server.port,
        "user": server.user,
        "password": server.password,
    }
    add_server(team=team, name="One", unrestricted=True, host_facts={"memory_bytes": 4 << 30}, **values)
    add_server(team=team, name="Two", unrestricted=True, **values)
    add_server(team=other_team, name="Two", unrestricted=True, **values)
    assert resolve.registered("one").name == "One"
    assert resolve.registered("databases/TWO").team == team
    with pytest.raises(BadTarget) as caught:
        resolve.registered("two")
    assert "Databases/Two" in str(caught.value)
    with pytest.raises(BadTarget):
        resolve.registered("three")
    call_command("advise", "one", observe=1.0, interval=1.0, format="json")
    document = json.loads(capsys.readouterr().out)
    assert document["host"]["memory_bytes"] == {"value": 4 << 30, "origin": "stated"}
    call_command("collect", "Databases/Two")
    assert "One connection" in capsys.readouterr().out
    with pytest.raises(CommandError):
        call_command("collect", "one", password_file=str(server.password_file))
