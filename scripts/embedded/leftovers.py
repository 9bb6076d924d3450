"""Finding and ending processes of this installation that outlived their supervisor."""

import os
import signal
import time
from pathlib import Path

from scripts.embedded.places import Places


def find_leftovers(places: Places) -> list[int]:
    """Process ids of this user whose environment carries this installation's mark, our own process excepted.

    The mark (TIDEMARK_EMBEDDED=<data folder>) is given to supervised children only, and their children inherit it. A
    pid file alone would miss those, and could name a stranger after a reboot.
    """
    mark = b"TIDEMARK_EMBEDDED=" + os.fsencode(places.data)
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal() or int(entry.name) == os.getpid():
            continue
        try:
            if entry.stat().st_uid == os.geteuid() and mark in environment_of(entry):
                if not is_dead(entry):
                    found.append(int(entry.name))
        except OSError:
            continue  # It ended meanwhile, or it is not ours to look at.
    return found


def environment_of(entry: Path, tries: int = 5) -> list[bytes]:
    """The environment a process was started with. Raises OSError when it is gone, is not ours or is the kernel's.

    The kernel shows an empty one for the moment in which a process becomes another program, so nothing is asked again.
    """
    for _ in range(tries):
        if found := (entry / "environ").read_bytes():
            return found.split(b"\0")
        (entry / "exe").readlink()  # A thread of the kernel has none and raises: it is not worth the wait.
        time.sleep(0.01)
    return []


def is_dead(entry: Path) -> bool:
    """Whether a process is only waiting for its parent to notice that it ended. Raises OSError when it is gone."""
    return (entry / "stat").read_text().rpartition(")")[2].split()[0] in "ZX"


def end_leftovers(places: Places, *, patience_seconds: float) -> int:
    """End them, first politely and then by force; returns how many there were. The supervisor goes first.

    Otherwise it would bring back what was ended.
    """
    found = find_leftovers(places)
    supervisor = supervisor_pid(places)
    if supervisor in found:
        send(signal.SIGKILL, [supervisor])
    remaining = [pid for pid in found if pid != supervisor]
    send(signal.SIGTERM, remaining)
    until = time.monotonic() + patience_seconds
    while remaining and time.monotonic() < until:
        time.sleep(0.1)
        remaining = find_leftovers(places)
    send(signal.SIGKILL, remaining)
    until = time.monotonic() + 2
    while find_leftovers(places) and time.monotonic() < until:
        time.sleep(0.05)
    return len(found)


def supervisor_pid(places: Places) -> int | None:
    """What the supervisor's pid file says, if there is one. It may name a process that is not ours any more."""
    try:
        return int((places.run / "supervisor.pid").read_text())
    except (OSError, ValueError):
        return None


def send(what: signal.Signals, pids: list[int]) -> None:
    """Send a signal to each; one that is gone needs none."""
    for pid in pids:
        try:
            os.kill(pid, what)
        except ProcessLookupError:
            pass
