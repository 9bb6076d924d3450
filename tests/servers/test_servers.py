"""The harness itself: every server starts, answers, restarts on its port, survives a crash, and is gone afterwards."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.servers import (
    CI_SERVERS,
    DISTRIBUTION_SERVER,
    SERVERS,
    ServerDidNotStart,
    ServerNotAvailable,
    places,
    running,
    start_server,
)
from tests.servers.fixtures import server_params
from tests.servers.load import ROW_BYTES, run_write_load, write_load

HERE = Path(__file__).resolve().parent


@pytest.mark.parametrize("name", server_params())
def test_a_server_starts_answers_restarts_crashes_and_is_gone_after(name: str) -> None:
    with start_server(name, options={"general_log": "ON"}, grants="PROCESS") as server:
        folder, port, pid = server.folder, server.port, server.pid
        version = server.value("VERSION()")
        assert version is not None
        assert version.startswith(server.version)
        assert ("MariaDB" in version) is (server.flavor == "mariadb")
        assert server.sql("SELECT NULL, 1, 'x'") == [(None, "1", "x")]
        assert server.sql("SELECT CURRENT_USER()", user=server.user, password=server.password) == [
            (f"{server.user}@localhost",)
        ]
        assert server.password_file.read_text().strip() == server.password
        assert server.password_file.stat().st_mode & 0o077 == 0
        assert "SELECT NULL, 1, 'x'" in server.general_log()

        server.restart({"innodb-buffer-pool-size": "32M"})
        assert server.port == port
        assert server.pid != pid
        assert server.value("@@GLOBAL.innodb_buffer_pool_size") == str(32 << 20)

        server.sql("CREATE DATABASE kept")
        server.kill()
        server.start()
        assert server.sql("SHOW DATABASES LIKE 'kept'") == [("kept",)]
        pid = server.pid
    assert not Path(f"/proc/{pid}").exists()
    assert not folder.exists()
    with socket.socket() as probe, pytest.raises(ConnectionRefusedError):
        probe.connect(("127.0.0.1", port))


@pytest.mark.parametrize("name", server_params())
def test_an_account_of_another_page_size_and_its_grants_come_from_the_call(name: str) -> None:
    with start_server(name, options={"innodb_page_size": "8k"}, grants="") as server:
        assert server.value("@@GLOBAL.innodb_page_size") == "8192"
        account = server.client_user("observer", "PROCESS; SELECT ON mysql.*", "p'w%")
        shown = " ".join(str(row[0]) for row in server.sql("SHOW GRANTS", user="observer", password=account.password))
        assert "PROCESS" in shown
        assert account.url == f"mysql://observer@127.0.0.1:{server.port}"
        driver = pytest.importorskip("MySQLdb")
        connection = driver.connect(host="127.0.0.1", port=server.port, user=account.user, password=account.password)
        connection.close()
        with pytest.raises(driver.OperationalError):
            driver.connect(host="127.0.0.1", port=server.port, user=account.user, password="wrong")


def test_two_servers_of_one_version_do_not_meet() -> None:
    with start_server(DISTRIBUTION_SERVER) as one, start_server(DISTRIBUTION_SERVER) as other:
        one.sql("CREATE DATABASE only_here")
        assert one.port != other.port
        assert other.sql("SHOW DATABASES LIKE 'only_here'") == []


def test_a_server_that_cannot_start_says_why() -> None:
    with (
        pytest.raises(ServerDidNotStart, match=r"no.such.option"),
        start_server(DISTRIBUTION_SERVER, options={"no_such_option": "1"}),
    ):
        pytest.fail("It started.")


def test_an_unknown_name_says_which_are_known() -> None:
    with pytest.raises(ServerNotAvailable, match=r"mysql-9\.7"), start_server("mysql-4.1"):
        pytest.fail("It started.")


@pytest.mark.parametrize(
    ("extent", "name"), [("quick", "mysql-9.7"), ("quick", "mysql-8.0.33"), ("ci", "mysql-8.0.33")]
)
def test_a_server_outside_the_extent_is_refused_though_this_machine_has_it(
    monkeypatch: pytest.MonkeyPatch, extent: str, name: str
) -> None:
    own = places.find(DISTRIBUTION_SERVER)
    monkeypatch.setattr(places, "find", lambda _name: own)
    monkeypatch.setenv("TIDEMARK_CHECK", extent)
    with pytest.raises(ServerNotAvailable, match=f"--{extent} has no server '{name}'"):
        start_server(name).__enter__()


def test_each_extent_has_the_servers_it_promises() -> None:
    everything = {*SERVERS, DISTRIBUTION_SERVER}
    inside = {
        extent: {name for name in everything if not places.outside_extent(name, extent)}
        for extent in ("quick", "ci", "all", "")
    }
    assert inside["quick"] == {DISTRIBUTION_SERVER}
    assert inside["ci"] == set(CI_SERVERS)
    assert inside["all"] == inside[""] == everything


def test_a_test_that_names_a_server_that_can_no_longer_be_had_is_skipped(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gone = {"mysql-9.7": {"since": "2027-03-01", "why": "The artifact was withdrawn."}}
    monkeypatch.setattr(places, "unobtainable", lambda: gone)
    with pytest.raises(ServerNotAvailable, match=r"cannot be had since 2027-03-01: The artifact was withdrawn"):
        start_server("mysql-9.7").__enter__()
    (tmp_path / "test_one.py").write_text(
        "from tests.servers import places, start_server\n"
        f"places.unobtainable = lambda: {gone!r}\n"
        "def test_one():\n"
        "    with start_server('mysql-9.7'):\n"
        "        raise AssertionError('It started.')\n"
    )
    ran = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-rs",
            "-p",
            "no:cacheprovider",
            "--noconftest",
            tmp_path / "test_one.py",
        ],
        cwd=HERE.parents[1],
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "1 skipped" in ran.stdout
    assert "mysql-9.7 cannot be had since 2027-03-01" in ran.stdout


@pytest.fixture
def orphan() -> tuple[int, Path]:
    """A server whose test process was killed before it could stop it."""
    program = (
        "import sys, time; from tests.servers import *\n"
        "with start_server(DISTRIBUTION_SERVER) as s: print(s.pid, s.folder, flush=True); time.sleep(600)"
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=HERE.parent.parent)
    assert child.stdout is not None
    pid, folder = child.stdout.readline().split()
    child.kill()
    child.wait()
    child.stdout.close()
    return int(pid), Path(folder)


def test_a_server_left_by_a_killed_test_process_is_ended_by_the_next_start(orphan: tuple[int, Path]) -> None:
    pid, folder = orphan
    assert Path(f"/proc/{pid}").exists()
    with start_server(DISTRIBUTION_SERVER):
        deadline = time.monotonic() + 10
        while _alive(pid) and time.monotonic() < deadline:
            time.sleep(0.05)
    assert not _alive(pid)
    assert not folder.exists()


def _alive(pid: int) -> bool:
    # An orphan is reaped by whatever became its parent, which may take its time.
    return running._process_mark(pid) != ""


def test_a_write_load_keeps_to_its_rate_and_ends(server: running.RunningServer) -> None:
    load = run_write_load(server, seconds=3, threads=2, bytes_per_second=400_000)
    assert 0.5 * 3 * 400_000 <= load.row_bytes_written <= 1.2 * 3 * 400_000 + 2 * 100 * ROW_BYTES
    assert load.commits == load.rows_written // 100


@pytest.mark.parametrize("name", server_params())
def test_a_write_load_drives_a_small_redo_log_to_its_limit(name: str) -> None:
    """Within 20 s the age passes 90 % of the point above which this version flushes synchronously."""
    new = name in {"mysql-8.0.33", "mysql-9.7"}
    old_pair = name in {"mysql-5.7.22", "mysql-8.0.12", "mariadb-10.2.11"}
    options = {"innodb_redo_log_capacity": "8M"} if new else {"innodb_log_file_size": "4M" if old_pair else "8M"}
    with start_server(name, options={**options, "innodb_monitor_enable": "log%"}) as server:
        ages: list[int] = []
        limits: set[int] = set()
        with write_load(server, seconds=20, threads=4) as load:
            while load.running and (not ages or max(ages) < 0.9 * max(limits)):
                counters = {
                    str(row[0]): int(row[1] or 0)
                    for row in server.sql(
                        "SELECT NAME, COUNT FROM information_schema.INNODB_METRICS WHERE NAME IN "
                        "('log_lsn_checkpoint_age', 'log_max_modified_age_sync', 'log_max_modified_age_async')"
                    )
                }
                ages.append(counters["log_lsn_checkpoint_age"])
                limits.add(counters.get("log_max_modified_age_sync", counters["log_max_modified_age_async"] * 8 // 7))
                time.sleep(0.05)
        assert max(ages) >= 0.9 * max(limits), f"highest age {max(ages)}, limit {max(limits)}, {load}"


def test_fetch_refuses_a_name_it_does_not_know() -> None:
    run = subprocess.run([sys.executable, HERE / "fetch", "mysql-4.1"], capture_output=True, text=True, timeout=60)
    assert run.returncode == 2
    assert "mysql-4.1" in run.stderr
    assert "Traceback" not in run.stderr


def test_fetch_refuses_what_differs_from_its_record() -> None:
    """A Maven that brings other bytes under the same version: nothing is unpacked, and the sentence says so."""
    with tempfile.TemporaryDirectory() as folder:
        maven = Path(folder) / "mvn"
        maven.write_text(
            f"#!{sys.executable}\nimport sys, pathlib\n"
            "out = pathlib.Path(next(a.split('=')[1] for a in sys.argv if a.startswith('-DoutputDirectory=')))\n"
            "out.mkdir(parents=True)\n(out / 'x.jar').write_bytes(b'something else')\n"
        )
        maven.chmod(0o755)
        cache = Path(folder) / "cache"
        environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "TIDEMARK_TEST_SERVERS": str(cache)}
        run = subprocess.run(
            [sys.executable, HERE / "fetch", "mysql-5.7.22"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert run.returncode == 1
        assert "not what was recorded" in run.stdout
        assert [path.name for path in cache.iterdir()] == ["fetch.lock"]


def test_every_server_of_the_record_has_been_received_once() -> None:
    for name, entry in places.recorded().items():
        assert len(entry["sha256"]) == 64, name
        assert (entry["source"] == "maven") is ("artifact" in entry), name
