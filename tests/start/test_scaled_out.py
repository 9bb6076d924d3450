"""The processes of docker-compose.yml with its variables, a Redis with a password and a MariaDB as product database.

No container engine is needed: each command runs as it stands in the file, with the services' names replaced by loopback
addresses and the secrets' files by files of the test.
"""

import base64
import json
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from scripts.embedded.binaries import find_redis
from scripts.embedded.places import ROOT
from tests.servers import DISTRIBUTION_SERVER, RunningServer, start_server
from tests.start.running import free_port

pytestmark = pytest.mark.matrix

SERVICES: dict[str, Any] = YAML(typ="safe").load(ROOT / "docker-compose.yml")["services"]


class Installation:
    """The compose file's processes on loopback."""

    def __init__(self, folder: Path, database: RunningServer) -> None:
        self.folder = folder
        self.web_port, self.redis_port = free_port(), free_port()
        self.database = database
        self.started: list[subprocess.Popen[bytes]] = []
        for name in ("secret_key", "credential_keys", "audit_key", "database_password", "redis_password"):
            (folder / name).write_text(base64.urlsafe_b64encode(secrets.token_bytes(32)).decode())

    def environment(self, service: str) -> dict[str, str]:
        """The service's variables as a container would have them."""
        found = {name: value for name, value in os.environ.items() if not name.startswith("TIDEMARK_")}
        found["PATH"] = f"{Path(sys.executable).parent}:{found['PATH']}"
        found["TIDEMARK_DATA"] = str(self.folder / "data")
        found["C_FORCE_ROOT"] = "1"
        for name, value in SERVICES[service]["environment"].items():
            text = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", str(value))
            text = text.replace("/run/secrets/", f"{self.folder}/")
            text = text.replace("tidemark@database:3306", f"product@127.0.0.1:{self.database.port}")
            found[name] = text.replace("redis:6379", f"127.0.0.1:{self.redis_port}")
        return found

    def run(self, service: str) -> subprocess.Popen[bytes]:
        """Start the service's command as it stands in the file."""
        command = [word.replace("/tmp/", f"{self.folder}/") for word in SERVICES[service]["command"]]
        command = [word.replace("0.0.0.0:8000", f"127.0.0.1:{self.web_port}") for word in command]
        return self.spawn(service, command, self.environment(service))

    def spawn(self, name: str, command: list[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.started.append(process)
        return process

    def run_redis(self) -> None:
        """The redis service's own script, with its paths and a port of ours."""
        program = find_redis(self.folder)
        assert program is not None
        script = SERVICES["redis"]["command"][2].replace("$$", "$").replace("/run/secrets/", f"{self.folder}/")
        script = script.replace("/run/redis/", f"{self.folder}/").replace("--dir /data", f"--dir {self.folder}")
        script = script.replace("exec redis-server", f"exec {program}")
        self.spawn("redis", ["sh", "-c", f"{script} --port {self.redis_port} --bind 127.0.0.1"], dict(os.environ))

    def manage(self, *arguments: str) -> str:
        """A ./manage.py command in the web service's environment."""
        ran = subprocess.run(
            [str(ROOT / "manage.py"), *arguments],
            env=self.environment("web"),
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    def check_health(self, service: str) -> subprocess.CompletedProcess[str]:
        """One run of the service's health check as it stands in the file."""
        kind, *words = SERVICES[service]["healthcheck"]["test"]
        replaced = [
            word.replace("127.0.0.1:8000", f"127.0.0.1:{self.web_port}")
            .replace("/tmp ", f"{self.folder} ")
            .replace("$$", "$")
            for word in words
        ]
        command = ["sh", "-c", *replaced] if kind == "CMD-SHELL" else replaced
        # An engine sets HOSTNAME in every container, to the name that the container's programs see.
        environment = {**self.environment(service), "HOSTNAME": socket.gethostname()}
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)

    def stop(self) -> None:
        for process in reversed(self.started):
            process.send_signal(signal.SIGTERM)
        for process in self.started:
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)

    def said(self) -> str:
        return "\n".join(f"--- {file.name}\n{file.read_text()[-2000:]}" for file in sorted(self.folder.glob("*.log")))


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Everything running, with the product's tables made by the migrate service."""
    with start_server(DISTRIBUTION_SERVER) as database:
        running = Installation(tmp_path_factory.mktemp("compose"), database)
        password = (running.folder / "database_password").read_text()
        database.sql("CREATE DATABASE tidemark CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci")
        for host in ("127.0.0.1", "localhost"):
            database.sql(f"CREATE USER 'product'@'{host}' IDENTIFIED BY '{password}'")
            database.sql(f"GRANT ALL ON tidemark.* TO 'product'@'{host}'")
        try:
            running.run_redis()
            assert running.run("migrate").wait(timeout=180) == 0, running.said()
            running.manage("collectstatic", "--noinput")
            for service in ("web", "collect", "judge", "apply", "beat"):
                running.run(service)
            yield running
        finally:
            running.stop()


@pytest.fixture(scope="module")
def target() -> Iterator[RunningServer]:
    """A server to watch: the product refuses to watch its own."""
    with start_server(DISTRIBUTION_SERVER) as server:
        yield server


def ask(installation: Installation, path: str, token: str = "") -> Any:
    """An answer of the REST API."""
    request = urllib.request.Request(f"http://127.0.0.1:{installation.web_port}{path}")
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    with urllib.request.urlopen(request, timeout=20) as answer:  # noqa: S310 - our own pages
        return json.loads(answer.read())


def test_a_server_is_collected_and_judged_by_processes_that_share_only_database_and_broker(
    installation: Installation, target: RunningServer
) -> None:
    installation.manage("create_user", "admin", "--admin")
    token = installation.manage("create_token", "admin").strip().splitlines()[-1]
    password = installation.folder / "target_password"
    password.write_text(target.password)
    url = f"mysql://{target.user}@127.0.0.1:{target.port}"
    installation.manage("add_server", url, "--name", "target", "--password-file", str(password))
    until, judged = time.monotonic() + 120, False
    while time.monotonic() < until and not judged:
        # The judgement is written by another process than the one that collects, and neither is the one that is asked.
        judged = bool(installation.database.sql("SELECT 1 FROM tidemark.recommendations_judgement LIMIT 1"))
        time.sleep(1)
    assert judged, f"nothing was judged in two minutes: {installation.said()}"
    servers = ask(installation, "/api/v1/servers", token)["items"]
    assert [server["name"] for server in servers] == ["target"]


def test_the_health_checks_of_the_file_pass(installation: Installation) -> None:
    for service in ("web", "collect", "judge", "apply", "beat"):
        until, ran = time.monotonic() + 60, None
        while time.monotonic() < until:
            ran = installation.check_health(service)
            if ran.returncode == 0:
                break
            time.sleep(2)
        assert ran is not None
        assert ran.returncode == 0, f"{service}: {ran.stdout}{ran.stderr}\n{installation.said()}"


def test_no_password_stands_in_an_argument_or_a_log(installation: Installation) -> None:
    kept = [(installation.folder / name).read_text() for name in ("database_password", "redis_password", "secret_key")]
    for process in installation.started:
        try:
            arguments = Path(f"/proc/{process.pid}/cmdline").read_text()
        except OSError:
            continue  # The migrate service has ended, as it should.
        assert not [one for one in kept if one in arguments]
    assert not [one for one in kept if one in installation.said()]


def test_a_worker_is_not_called_healthy_because_another_one_answers(installation: Installation) -> None:
    """The last test: it ends the collecting worker."""
    collecting = next(process for process in installation.started if "--queues=collect" in str(process.args))
    collecting.send_signal(signal.SIGTERM)
    collecting.wait(timeout=30)
    assert installation.check_health("judge").returncode == 0, installation.said()
    assert installation.check_health("collect").returncode != 0
