"""The demo server with its load: the fault it shows is really there, and goes when its remedy is applied."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import MySQLdb
import pytest

from scripts.embedded.binaries import find_mariadbd
from scripts.embedded.demo_server import DemoServer, DemoUnavailable, prepare_demo_server
from scripts.embedded.places import ROOT, Places, make_all

GIB = 1 << 30


def connect(demo: DemoServer, user: str) -> Any:
    """A connection as one of the demo's accounts."""
    file = {"tidemark": demo.observe_password_file, "admin": demo.places.demo / "admin_password"}[user]
    connection = MySQLdb.connect(host="127.0.0.1", port=demo.port, user=user, passwd=file.read_text().strip())
    connection.autocommit(True)
    return connection


def rows(connection: Any, statement: str) -> list[tuple[Any, ...]]:
    cursor = connection.cursor()
    cursor.execute(statement)
    return list(cursor.fetchall())


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoServer]:
    """A prepared demo server, running."""
    places = Places(data=tmp_path_factory.mktemp("demo"))
    make_all(places)
    mariadbd = find_mariadbd()
    assert mariadbd is not None, "./check installs mariadb-server-core"
    prepared = prepare_demo_server(places, mariadbd)
    with (places.logs / "demo.log").open("wb") as log:
        process = subprocess.Popen(list(prepared.program().command), stdout=log, stderr=log)
    try:
        until = time.monotonic() + 30
        while not places.demo_socket.exists():
            assert process.poll() is None, (places.logs / "demo.log").read_text()
            assert time.monotonic() < until
            time.sleep(0.1)
        yield prepared
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)


@pytest.fixture
def load(demo: DemoServer) -> Iterator[subprocess.Popen[bytes]]:
    """The load beside it."""
    command = [
        sys.executable,
        "-m",
        "scripts.embedded.demo_load",
        str(demo.places.demo_socket),
        str(demo.load_password_file),
    ]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=5) == 0


def test_the_observing_account_may_see_and_change_nothing(demo: DemoServer) -> None:
    grants = " ".join(row[0] for row in rows(connect(demo, "tidemark"), "SHOW GRANTS"))
    for wanted in ("PROCESS", "BINLOG MONITOR", "SLAVE MONITOR", "SELECT ON `performance_schema`.*"):
        assert wanted in grants
    for too_much in ("SUPER", "ALL PRIVILEGES", "INSERT", "FILE", "SELECT ON *.*"):
        assert too_much not in grants


def test_no_account_is_without_a_password(demo: DemoServer) -> None:
    accounts = rows(
        connect(demo, "admin"), "SELECT user, host, authentication_string FROM mysql.user WHERE is_role = 'N'"
    )
    logins = {(user, host): password for user, host, password in accounts if user not in ("mariadb.sys", "PUBLIC")}
    here = "127.0.0.1"
    assert set(logins) == {("tidemark", here), ("tidemark_apply", here), ("load", "localhost"), ("admin", here)}
    assert all(logins.values())


def test_passwords_and_data_are_for_us_alone(demo: DemoServer) -> None:
    assert demo.places.demo.stat().st_mode & 0o777 == 0o700
    for file in demo.places.demo.iterdir():
        if file.is_file() and file.name != "port":
            assert file.stat().st_mode & 0o077 == 0, file.name


def test_preparing_again_keeps_port_data_and_passwords(demo: DemoServer, tmp_path: Path) -> None:
    places = Places(data=tmp_path)
    make_all(places)
    first = prepare_demo_server(places, demo.mariadbd)
    password = first.observe_password_file.read_text()
    made = (places.demo / "data" / "ibdata1").stat().st_mtime_ns
    again = prepare_demo_server(places, demo.mariadbd)
    assert (again.port, again.observe_password_file.read_text()) == (first.port, password)
    assert (places.demo / "data" / "ibdata1").stat().st_mtime_ns == made


def test_a_server_that_cannot_make_its_data_is_named_with_its_reason(tmp_path: Path) -> None:
    broken = tmp_path / "mariadbd"
    broken.write_text("#!/bin/sh\ncat >/dev/null\necho 'no space left'\nexit 1\n")
    broken.chmod(0o755)
    places = Places(data=tmp_path / "data")
    make_all(places)
    with pytest.raises(DemoUnavailable, match="no space left"):
        prepare_demo_server(places, broken)
    assert not (places.demo / "data").exists()


@pytest.mark.ci
@pytest.mark.usefixtures("load")
def test_the_load_reaches_the_limit_of_the_small_log_and_not_of_a_large_one(demo: DemoServer) -> None:
    admin = connect(demo, "admin")

    def status() -> dict[str, int]:
        names = "'Innodb_checkpoint_age', 'Innodb_checkpoint_max_age', 'Innodb_lsn_current'"
        return {name: int(value) for name, value in rows(admin, f"SHOW GLOBAL STATUS WHERE Variable_name IN ({names})")}

    def pressures(seconds: float) -> list[float]:
        found, until = [], time.monotonic() + seconds
        while time.monotonic() < until:
            now = status()
            found.append(now["Innodb_checkpoint_age"] / now["Innodb_checkpoint_max_age"])
            time.sleep(0.2)
        return found

    until = time.monotonic() + 60
    filled = "SELECT TABLE_ROWS FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'shop' AND TABLE_ROWS > 20000"
    while not rows(admin, filled):
        assert time.monotonic() < until, "the table was never filled"
        time.sleep(0.5)
    before, began = status()["Innodb_lsn_current"], time.monotonic()
    small = pressures(15)
    redo_bytes_per_second = (status()["Innodb_lsn_current"] - before) / (time.monotonic() - began)
    assert 0.5e6 < redo_bytes_per_second < 10e6
    assert sum(pressure > 0.9 for pressure in small) >= len(small) / 3
    assert max(small) > 0.95
    rows(admin, f"SET GLOBAL innodb_log_file_size = {GIB}")
    time.sleep(3)
    assert max(pressures(5)) < 0.5
