"""An installation of its own, filled, and served by gunicorn on loopback: for looking at pages and measuring them."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Installation:
    """``base`` is its address, ``session`` the cookie of its administrator; the rest is what furnish.py printed."""

    base: str
    session: str
    servers: dict[str, str]
    values: dict[str, str]
    pages: list[tuple[str, str]]
    changes: list[str]


@contextmanager
def installation(folder: Path, *what: str, workers: int = 2) -> Iterator[Installation]:
    """Fills ``folder`` with what ``furnish`` makes of these arguments, and serves it while the context lasts."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "advisor.settings",
        "TIDEMARK_DATA": str(folder),
        "TIDEMARK_SECRET_KEY": "made-up fleet " * 4,
        "TIDEMARK_CREDENTIAL_KEYS": "YmVuY2htYXJrLWJlbmNobWFyay1iZW5jaG1hcmstYiE=",
        "TIDEMARK_LOG_LEVEL": "ERROR",
        # Nothing is judged here: a broker within the process answers whoever asks for the queues.
        "TIDEMARK_BROKER_URL": "memory://",
        "PYTHONPATH": str(ROOT),
    }

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(arguments)}: {done.stderr[-2000:]}")
        return done.stdout

    run("manage.py", "migrate", "--noinput")
    run("manage.py", "collectstatic", "--noinput")
    filled = json.loads(run("-m", "tests.web.furnish", *what).splitlines()[-1])
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    base = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "gunicorn", "-w", str(workers), "--threads", "4", "-b", f"127.0.0.1:{port}"]
    web = subprocess.Popen(
        [*command, "--timeout", "120", "advisor.wsgi"],
        cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        _wait_for(f"{base}/healthz", web)
        told = {name: filled[name] for name in ("session", "servers", "values", "pages")}
        yield Installation(base, **told, changes=filled.get("changes", []))
    finally:
        web.terminate()
        try:
            web.wait(40)
        except subprocess.TimeoutExpired:
            # A machine that is busy with something else must not cost what was measured.
            web.kill()
            web.wait()


def _wait_for(address: str, web: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 60
    while True:
        try:
            urllib.request.urlopen(address, timeout=5).close()  # noqa: S310 -- our own address
            return
        except (urllib.error.URLError, OSError):
            if web.poll() is not None or time.monotonic() > until:
                raise
            time.sleep(0.2)
