"""A whole installation for tests, with a data folder, product database, Redis, workers and beats of its own."""

from __future__ import annotations

import base64
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from scripts.embedded.binaries import find_redis

ROOT = Path(__file__).resolve().parents[2]


def until(what: str, true: Callable[[], Any], seconds: float = 30.0, every: float = 0.02) -> Any:
    """Waits until ``true()`` is; its value. Fails with ``what`` was waited for."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := true():
            return found
        time.sleep(every)
    raise AssertionError(f"waited {seconds:.0f} s in vain: {what}")


class Child:
    """A process of ours, with its output in a file."""

    def __init__(self, command: list[str], environment: dict[str, str], output: Path) -> None:
        self.output = output
        with output.open("ab") as file:
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self.process.pid

    def text(self) -> str:
        return self.output.read_text(encoding="utf-8", errors="replace")

    def kill(self) -> None:
        """kill -9 and wait until it is gone."""
        with suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()

    def terminate(self, seconds: float = 20.0) -> float:
        """SIGTERM; how long it took. Fails if it does not end in time."""
        began = time.monotonic()
        self.process.terminate()
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"did not end within {seconds} s of SIGTERM:\n{self.text()[-3000:]}") from None
        return time.monotonic() - began


class Installation:
    """Made by ``installation()``."""

    def __init__(self, folder: Path, database_url: str = "") -> None:
        self.folder = folder
        self.data = folder / "data"
        self.data.mkdir()
        self.socket = folder / "r"
        self.database = self.data / "tidemark.sqlite3"
        self.children: list[Child] = []
        keep = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "LD_LIBRARY_PATH") if name in os.environ}
        self.environment = {
            **keep,
            "TIDEMARK_DATA": str(self.data),
            "TIDEMARK_BROKER_URL": f"redis+socket://{self.socket}",
            "TIDEMARK_SECRET_KEY": "only-for-this-test-" + "x" * 40,
            "TIDEMARK_CREDENTIAL_KEYS": base64.urlsafe_b64encode(b"k" * 32).decode(),
            "TIDEMARK_AUDIT_KEYS": base64.urlsafe_b64encode(b"a" * 32).decode(),
            "DJANGO_SETTINGS_MODULE": "advisor.settings",
            "PYTHONUNBUFFERED": "1",
            "C_FORCE_ROOT": "1",
            "PYTHONPATH": str(ROOT),
            **({"TIDEMARK_DATABASE_URL": database_url} if database_url else {}),
        }
        self.python(
            "from django.core.management import call_command; call_command('migrate', verbosity=0, skip_checks=True)"
        )

    def python(self, code: str) -> str:
        """Runs code in a process with Django set up; its output."""
        done = subprocess.run(
            [sys.executable, "-c", f"import django\ndjango.setup()\n{code}"],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr[-4000:]
        return done.stdout

    def add_server(self, name: str, port: int, user: str, password: str, *, fast: int, full: int = 60) -> str:
        """Registers a server on loopback; its id. The interval may be shorter than what people may choose."""
        return self.python(
            f"""
from collector.models import Server
from collector.servers import add_server
from advisor.teams.services import ensure_team
made = add_server(team=ensure_team(name="Tests"), name={name!r}, host="127.0.0.1", port={port}, user={user!r},
                  password={password!r}, unrestricted=True, tls_mode="insecure")
Server.objects.filter(pk=made.pk).update(fast_interval_seconds={fast}, full_interval_seconds={full})
print(made.pk, end="")
"""
        )

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Asks the product database, past Django."""
        connection = sqlite3.connect(f"file:{self.database}?mode=ro", uri=True, timeout=20)
        try:
            return connection.execute(sql, values).fetchall()
        finally:
            connection.close()

    def slots(self, server_id: str) -> list[int]:
        """Slots of the polls that are stored."""
        return [
            row[0]
            for row in self.rows("SELECT slot FROM collector_opensample WHERE server_id = ? ORDER BY slot", server_id)
        ]

    def gaps(self, server_id: str) -> list[tuple[float, float | None, str]]:
        return self.rows(
            "SELECT started_at, ended_at, why FROM collector_gap WHERE server_id = ? ORDER BY started_at", server_id
        )

    def state(self, server_id: str) -> dict[str, Any]:
        names = ("fast_slot", "full_slot", "failures", "error_kind", "error", "retry_at", "cost")
        row = self.rows(f"SELECT {', '.join(names)} FROM collector_serverstate WHERE server_id = ?", server_id)[0]
        return {**dict(zip(names, row, strict=True)), "cost": json.loads(row[-1])}

    def events(self, server_id: str) -> list[str]:
        return [
            row[0] for row in self.rows("SELECT kind FROM journal_event WHERE server_id = ? ORDER BY id", server_id)
        ]

    def polls(self, server_id: str) -> list[Any]:
        """The stored polls themselves."""
        from collector.store.columns import unpack_polls

        rows = self.rows("SELECT slot, payload FROM collector_opensample WHERE server_id = ? ORDER BY slot", server_id)
        return unpack_polls(rows).polls()

    @contextmanager
    def write_lock(self) -> Iterator[None]:
        """Holds the product database's one write lock: whoever wants to commit waits."""
        connection = sqlite3.connect(self.database, isolation_level=None, timeout=20)
        try:
            connection.execute("BEGIN IMMEDIATE")
            yield
        finally:
            connection.close()

    # --- processes -------------------------------------------------------------------------------------------------

    def start(self, name: str, command: list[str]) -> Child:
        child = Child(command, self.environment, self.folder / f"{name}.log")
        self.children.append(child)
        return child

    def start_redis(self) -> Child:
        # As ./start finds it: with the package redis-tools alone there is no program of the name redis-server.
        redis = find_redis(self.folder)
        assert redis is not None, "./check installs redis-tools"
        child = self.start(
            "redis",
            [
                str(redis),
                "--port",
                "0",
                "--unixsocket",
                str(self.socket),
                "--dir",
                str(self.folder),
                "--save",
                "",
                "--appendonly",
                "no",
            ],
        )
        until("redis answers", self.socket.exists)
        return child

    def celery(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "celery", "--quiet", "--app", "advisor.celery", *arguments]

    def start_worker(self, name: str = "collect") -> Child:
        return self.start(
            name,
            self.celery(
                *("worker", "--without-gossip", "--without-mingle", "--loglevel", "INFO", "--pool", "threads"),
                *("--concurrency", "4", "--queues", "collect", "--hostname", f"{name}@test"),
            ),
        )

    def start_beat(self, name: str = "beat") -> Child:
        return self.start(
            name, self.celery("beat", "--loglevel", "INFO", "--schedule", str(self.folder / name), "--pidfile", "")
        )

    def end(self) -> None:
        for child in reversed(self.children):
            if child.process.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
                child.process.wait()


@contextmanager
def installation(database_url: str = "") -> Iterator[Installation]:
    """A fresh installation without any process; all that were started end with it. SQLite unless a URL is given."""
    # A unix socket's path has to be short, which pytest's own folders are not.
    with tempfile.TemporaryDirectory(prefix="tm-") as name:
        made = Installation(Path(name), database_url)
        try:
            yield made
        finally:
            made.end()
