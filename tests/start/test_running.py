"""./start with everything it runs: the way in, one installation a data folder, ends that leave nothing."""

import os
import re
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from http.cookiejar import CookieJar
from pathlib import Path

import pytest

from scripts.embedded.leftovers import find_leftovers
from scripts.embedded.places import ROOT, Places
from tests.servers import DISTRIBUTION_SERVER, start_server
from tests.start.running import Start, browse, free_port

pytestmark = pytest.mark.ci


def eventually(what: Callable[[], object], seconds: float = 30) -> bool:
    """Whether it becomes true in time."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if what():
            return True
        time.sleep(0.2)
    return False


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder that has been set up, so that each start is a second one."""
    data = tmp_path_factory.mktemp("data")
    ran = subprocess.run(
        [str(ROOT / "start"), "--setup"],
        env={**os.environ, "TIDEMARK_DATA": str(data)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return data


@pytest.fixture
def start(installation: Path) -> Iterator[Start]:
    """`./start --no-demo` whose pages answer."""
    with Start(installation, "--no-demo") as started:
        started.address = started.login_link()
        yield started


def test_setting_up_starts_nothing(installation: Path) -> None:
    assert find_leftovers(Places(data=installation.resolve())) == []
    assert (installation / "keys" / "credential_keys").stat().st_mode & 0o777 == 0o600


def test_the_link_signs_in_once_and_stands_in_no_log(start: Start, installation: Path) -> None:
    cookies = CookieJar()
    assert browse(start.address, cookies) == 200
    assert [cookie.name for cookie in cookies if "session" in cookie.name]
    spent = CookieJar()
    browse(start.address, spent)
    assert not [cookie.name for cookie in spent if "session" in cookie.name]
    secret = start.address.rsplit("/", 1)[1]
    time.sleep(1)
    for file in (installation / "log").iterdir():
        assert secret not in file.read_text(errors="replace"), file.name
    assert not [line for line in start.lines if secret in line and not line.startswith("Log in: ")]


def test_a_second_start_on_the_same_data_says_where_the_first_one_is(start: Start, installation: Path) -> None:
    second = subprocess.run(
        [str(ROOT / "start"), "--no-demo"],
        env={**os.environ, "TIDEMARK_DATA": str(installation)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert second.returncode == 3
    assert f"http://127.0.0.1:{start.port}" in second.stderr
    assert str(start.process.pid) in second.stderr
    assert start.process.poll() is None


def test_commands_print_links_to_the_running_pages(start: Start, installation: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TIDEMARK_")}
    made = subprocess.run(
        [str(ROOT / "manage.py"), "create_user", f"person{start.port}"],
        env={**environment, "TIDEMARK_DATA": str(installation)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"http://127.0.0.1:{start.port}/" in made.stdout


@pytest.mark.parametrize("program", ["gunicorn", "redis-server", "collect@"])
def test_a_killed_child_comes_back(start: Start, program: str) -> None:
    assert eventually(lambda: start.processes(program))
    before = start.processes(program)
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    assert eventually(lambda: start.processes(program) and not set(start.processes(program)) & set(before))
    assert eventually(lambda: browse(f"http://127.0.0.1:{start.port}/healthz", CookieJar()) == 200)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_everything_in_time(start: Start, how: signal.Signals) -> None:
    assert len(start.processes()) >= 6
    assert start.stop(how) < 25
    assert start.process.returncode == 0
    assert start.processes() == []


def test_nothing_survives_a_start_that_was_killed(start: Start) -> None:
    start.process.kill()
    assert eventually(lambda: not start.processes(), 25)


def test_what_a_killed_supervisor_left_is_ended_by_the_next_start(start: Start, installation: Path) -> None:
    supervisor = int((start.places.run / "supervisor.pid").read_text())
    os.kill(start.process.pid, signal.SIGKILL)
    os.kill(supervisor, signal.SIGKILL)
    start.process.wait()
    left = start.processes()
    assert left
    with Start(installation, "--no-demo") as again:
        again.wait_for_line(r"^Ended \d+ processes that an earlier ./start had left behind")
        again.login_link()
        assert not set(left) & set(again.processes())


def test_when_the_supervisor_is_killed_everything_ends_and_it_is_said(start: Start) -> None:
    os.kill(int((start.places.run / "supervisor.pid").read_text()), signal.SIGKILL)
    assert start.process.wait(timeout=25) == 1
    assert start.processes() == []
    assert any("supervisor was ended from outside" in line for line in start.lines)


def test_a_strangers_port_is_left_to_them(installation: Path) -> None:
    with socket.socket() as stranger:
        stranger.bind(("127.0.0.1", 0))
        stranger.listen()
        taken = stranger.getsockname()[1]
        with Start(installation, "--no-demo", port=taken) as start:
            told = start.wait_for_line(rf"^Port {taken} is taken by another program; taking (\d+)")
            assert start.login_link().startswith(f"http://127.0.0.1:{told[1]}/")


def test_a_second_start_answers_within_ten_seconds(installation: Path) -> None:
    seconds: list[float] = []
    while not seconds or (min(seconds) >= 10 and len(seconds) < 5):  # Other tests run beside this one.
        with Start(installation, "--no-demo") as start:
            start.login_link()
            seconds.append(time.monotonic() - start.began)
    assert min(seconds) < 10


def test_a_deep_data_folder_works(tmp_path: Path) -> None:
    deep = tmp_path / ("deep-folder-name/" * 8)
    with Start(deep, "--no-demo") as start:
        start.login_link()
        assert eventually(start.places.redis_socket.exists)
        start.stop(signal.SIGTERM)
    for file in start.places.run.iterdir():
        file.unlink()
    start.places.run.rmdir()


def test_a_key_that_others_can_read_stops_the_start_with_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "keys").mkdir(mode=0o700)
    key = tmp_path / "keys" / "secret_key"
    key.write_text("k" * 60)
    key.chmod(0o644)
    with Start(tmp_path, "--no-demo") as start:
        assert start.process.wait(timeout=20) == 1
        assert eventually(lambda: start.lines)
        assert re.search(r"secret_key can be read by other users", start.lines[-1])


def test_without_a_terminal_a_password_file_is_asked_for(installation: Path) -> None:
    with Start(installation, "--no-demo", "mysql://observer@127.0.0.1:1") as start:
        assert start.process.wait(timeout=20) == 2
        assert eventually(lambda: start.lines)
        assert "--password-file" in start.lines[-1]
        assert start.processes() == []


def test_a_named_server_is_registered_at_once(installation: Path, tmp_path: Path) -> None:
    password = tmp_path / "password"
    with start_server(DISTRIBUTION_SERVER) as server:
        os.mkfifo(password)  # As a shell makes for <(command): it can be read once.
        threading.Thread(target=password.write_text, args=[f"{server.password}\n"], daemon=True).start()
        url = f"mysql://{server.user}@127.0.0.1:{server.port}"
        with Start(installation, "--no-demo", "--password-file", str(password), url) as start:
            start.login_link()
            assert "It answers" in start.wait_for_line(rf'^Server "127\.0\.0\.1:{server.port}": (.*)$')[1]


def test_a_named_server_that_does_not_answer_is_told_and_the_product_runs(installation: Path, tmp_path: Path) -> None:
    password = tmp_path / "password"
    password.write_text("not-for-the-log\n")
    nobody = free_port()
    with Start(installation, "--no-demo", "--password-file", str(password), f"mysql://o@127.0.0.1:{nobody}") as start:
        start.login_link()
        told = start.wait_for_line(rf'^Server "127\.0\.0\.1:{nobody}": (.*)$')[1]
        assert told.startswith("It cannot be read yet: ")
        assert "GRANT" not in told
        assert start.process.poll() is None
        assert not [line for line in start.lines if "not-for-the-log" in line or "Traceback" in line]
