"""The supervisor as a child process: starting it, and ending it with everything it runs."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from scripts.embedded.leftovers import end_leftovers
from scripts.embedded.places import ROOT, Places

#: Everything has ended by then, counted from the request to stop: the promise is 25 s.
STOP_SECONDS = 21
PR_SET_PDEATHSIG = 1


class Supervision:
    """A running supervisor. Its programs are described in the settings file it was started with."""

    def __init__(self, places: Places, settings: Path, environment: Mapping[str, str]) -> None:
        self._places = places
        self._process = subprocess.Popen(
            [str(Path(sys.prefix) / "bin" / "supervisord"), "--nodaemon", "--configuration", str(settings)],
            cwd=ROOT,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            # Ctrl-C reaches the whole foreground group; in a session of its own the supervisor hears only from us.
            start_new_session=True,
            preexec_fn=end_with_parent,
        )

    @property
    def pid(self) -> int:
        """Process id of the supervisor."""
        return self._process.pid

    def is_running(self) -> bool:
        """Whether the supervisor lives; its programs are its own business."""
        return self._process.poll() is None

    def stop(self, meanwhile: Callable[[], None]) -> None:
        """End everything within 25 seconds; `meanwhile` is called over and over while it ends."""
        until = time.monotonic() + STOP_SECONDS
        if self.is_running():
            self._process.send_signal(signal.SIGTERM)
        while self.is_running() and time.monotonic() < until:
            meanwhile()
            time.sleep(0.1)
        if self.is_running():
            self._process.kill()
            self._process.wait()
        # A supervisor that ended well leaves nobody; one that was killed leaves everybody.
        end_leftovers(self._places, patience_seconds=1)
        meanwhile()


def end_with_parent() -> None:
    """Runs in the child before the supervisor's program: ask the kernel for SIGTERM when ./start itself is killed."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() == 1:  # It was killed before we could ask.
        os.kill(os.getpid(), signal.SIGTERM)
