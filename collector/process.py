"""Which process this is, and whether another one is provably gone."""

from __future__ import annotations

import os
import socket
from functools import cache
from pathlib import Path

_LONGEST = 120


def _place() -> str:
    """Machine, boot and process namespace: where process ids mean the same thing as here."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip().split("-")[0]
        namespace = "".join(filter(str.isdigit, os.readlink("/proc/self/ns/pid")))
    except OSError:
        # Not Linux: nothing can be proved of others, and their leases run out by themselves.
        boot, namespace = "unknown", str(os.getpid())
    return f"{socket.gethostname()[:60]}/{boot}/{namespace}"


def started_at(pid: int) -> str:
    """When the process started, in ticks since boot, which tells it from others of the same id; "" if it is gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    # The command's name stands in parentheses and may hold anything; the fields after it are numbers.
    fields = stat.rpartition(")")[2].split()
    state, start = fields[0], fields[19]
    # A zombie polls nothing any more: it only waits for its parent to take notice.
    return "" if state in {"Z", "X"} else start


@cache
def _name_of(pid: int) -> str:
    return f"{_place()}/{pid}/{started_at(pid)}"[:_LONGEST]


def own_name() -> str:
    """This process, in a form that tells it from every other one, also after the machine was restarted."""
    return _name_of(os.getpid())


def is_provably_dead(name: str) -> bool:
    """Whether the process of that name ran where we run and is gone. False where that cannot be told from here."""
    place, _, rest = name.rpartition("/")
    place, _, pid = place.rpartition("/")
    if place != _place() or not pid.isdigit() or not rest:
        return False
    return started_at(int(pid)) != rest
