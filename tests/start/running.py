"""A real `./start` in a process of its own, for tests about how it runs and ends."""

import os
import queue
import re
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from http.cookiejar import CookieJar
from pathlib import Path
from types import TracebackType
from typing import Self

from scripts.embedded.leftovers import find_leftovers
from scripts.embedded.places import ROOT, Places


def free_port() -> int:
    """A port nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Start:
    """`./start` with a data folder of its own. As a context manager it leaves nothing running."""

    def __init__(
        self, data: Path, *arguments: str, port: int | None = None, extra: Mapping[str, str] | None = None
    ) -> None:
        self.places = Places(data=data.resolve())
        self.port = port or free_port()
        self.address = ""
        self.lines: list[str] = []
        self._fresh: queue.Queue[str] = queue.Queue()
        self.began = time.monotonic()
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TIDEMARK_")}
        self.process = subprocess.Popen(
            [str(ROOT / "start"), "--port", str(self.port), *arguments],
            env={**environment, "TIDEMARK_DATA": str(data), **(extra or {})},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))
            self._fresh.put(line.rstrip("\n"))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                self.process.kill()
        for pid in find_leftovers(self.places):
            os.kill(pid, signal.SIGKILL)

    def wait_for_line(self, pattern: str, seconds: float = 90) -> re.Match[str]:
        """The first line from now on that has the pattern. Fails when ./start ends or is silent too long."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                found = re.search(pattern, self._fresh.get(timeout=0.2))
            except queue.Empty:
                assert self.process.poll() is None, "./start ended: " + " | ".join(self.lines[-6:])
                continue
            if found:
                return found
        raise AssertionError(f"no line with {pattern!r} in {seconds} s: " + " | ".join(self.lines[-6:]))

    def login_link(self) -> str:
        """The first administrator's link."""
        return self.wait_for_line(r"^Log in: (http://127\.0\.0\.1:\d+/\S+)$")[1]

    def stop(self, how: signal.Signals) -> float:
        """Send a signal and wait for the end; returns the seconds it took."""
        began = time.monotonic()
        self.process.send_signal(how)
        self.process.wait(timeout=30)
        return time.monotonic() - began

    def processes(self, word: str = "") -> list[int]:
        """Ids of the installation's processes whose command line has the word."""
        found = []
        for pid in find_leftovers(self.places):
            try:
                if word.encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
                    found.append(pid)
            except OSError:
                continue
        return found


def browse(address: str, cookies: CookieJar) -> int:
    """Status of a GET, redirects followed, with these cookies; 0 when nobody answers properly."""
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(cookies), urllib.request.ProxyHandler({}))
    try:
        with browser.open(address, timeout=20) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0
