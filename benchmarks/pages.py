"""The server page with its six charts against a page that does nothing, from the same gunicorn, signed in."""

from __future__ import annotations

import http.client
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.peers import free_port
from benchmarks.ratio import Ratio, compare

ROOT = Path(__file__).resolve().parent.parent
REQUESTS = 30

#: Runs in a process of its own, since this one's settings belong to the checkout's data folder.
_FILL = """
import time
from django.conf import settings
from django.utils import timezone
from advisor.teams import services as teams
from collector import servers
from collector.store import store
from benchmarks.storage import recorded_hour
from dataclasses import replace
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
team = teams.ensure_team(name="Databases")
user = teams.create_user(name="bench", team=team, roles=(), administrator=True)
server = servers.add_server(team=team, name="bench", host="127.0.0.1", port=3306, socket="", user="nobody",
    password="x", tls_mode="opportunistic", tls_ca="", tags=[], fast_interval_seconds=10,
    full_interval_seconds=60, host_facts={},
    unrestricted=True, actor=user)
polls = recorded_hour()
first = int(time.time()) // 10 * 10 - 10 * len(polls)
for number, poll in enumerate(polls):
    slot = first + 10 * number
    store().append(server.id, slot, replace(poll, at=float(slot), server_clock=slot + 0.1,
                                            uptime_seconds=1000 + 10 * number))
session = SessionStore()
session[SESSION_KEY] = str(user.pk)
session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
session[HASH_SESSION_KEY] = user.get_session_auth_hash()
session.create()
print("FILLED", server.id, session.session_key)
"""


@contextmanager
def _web(folder: Path) -> Iterator[tuple[int, str, str]]:
    """A web process of two workers over an hour of recorded samples: (port, server id, session cookie)."""
    data = folder / "pages"
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir(parents=True)
    environment = {
        **os.environ,
        "TIDEMARK_DATA": str(data),
        "TIDEMARK_SECRET_KEY": "benchmark" * 6,
        "TIDEMARK_CREDENTIAL_KEYS": "YmVuY2htYXJrLWJlbmNobWFyay1iZW5jaG1hcmstYiE=",
        "PYTHONPATH": str(ROOT),
    }

    def manage(*arguments: str, text: str | None = None) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=environment,
            input=text,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    manage("migrate", "--noinput")
    manage("collectstatic", "--noinput")
    filled = next(line for line in manage("shell", text=_FILL).splitlines() if "FILLED" in line)
    server_id, session = filled[filled.index("FILLED") :].split()[1:]
    port = free_port()
    web = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", "-w", "2", "--threads", "4", "-b", f"127.0.0.1:{port}", "advisor.wsgi"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield port, server_id, session
    finally:
        web.terminate()
        web.wait(20)


def server_page_against_empty_page(folder: Path) -> tuple[list[Ratio], list[str]]:
    """Wall time to the last byte, one request after the other."""
    with _web(folder) as (port, server_id, session):
        headers = {"Cookie": f"tidemark_session={session}", "Accept-Encoding": "gzip"}
        sizes: dict[str, int] = {}

        def get(path: str) -> None:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            body = answer.read()
            if answer.status != 200:
                raise RuntimeError(f"{path} answered {answer.status}")
            sizes[path] = len(body)
            connection.close()

        for _ in range(100):
            try:
                get("/healthz")
                break
            except OSError:
                time.sleep(0.2)

        def each(path: str) -> float:
            began = time.perf_counter()
            for _ in range(REQUESTS):
                get(path)
            return (time.perf_counter() - began) / REQUESTS

        page = f"/s/{server_id}?range=1h"
        for path in (page, "/healthz"):
            each(path)
        ratio = compare(
            "server page, six SVG charts over an hour",
            "empty page of the same process (/healthz)",
            lambda: each(page),
            lambda: each("/healthz"),
            unit="ms",
            scale=1000,
            target=25,
        )
    return [ratio], [f"The server page is {sizes[page] / 1024:.0f} KB compressed, all six charts in it."]
