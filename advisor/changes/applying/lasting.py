"""Whether an applied value will survive a restart, by where the server says that its values come from.

SET PERSIST lasts by itself. What SET GLOBAL changed lasts once the server's own option file says the same, which is
known for certain only when a restart has read it: until then it is "running only, lost at the next restart".
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from advisor.mysql.snapshot import Snapshot
from advisor.mysql.values import same


class Lasts(StrEnum):
    """How long a value stays."""

    #: SET PERSIST keeps it.
    PERSISTED = "persisted"
    #: A start read it from an option file or the command line.
    FILE = "file"
    #: It runs, and the next restart loses it: the option-file lines are still to be added.
    RUNNING_ONLY = "running_only"
    #: The server has another value.
    GONE = "gone"
    #: It does not tell where values come from.
    UNKNOWN = "unknown"


_FROM_A_START = frozenset({"option_file", "command_line"})


def lasting(part: Mapping[str, Any], snapshot: Snapshot | None) -> dict[str, Lasts]:
    """For each variable of a server's part of a plan, how long the approved value stays, by the newest snapshot."""
    return {change["variable"]: _of(change, snapshot) for change in part["changes"]}


def _of(change: Mapping[str, Any], snapshot: Snapshot | None) -> Lasts:
    name, wanted = change["variable"], change["proposed"]
    if snapshot is None or name not in snapshot.variables:
        return Lasts.UNKNOWN
    if not same(snapshot.variables[name], wanted):
        return Lasts.GONE
    kept = (snapshot.persisted or {}).get(name)
    if kept is not None and same(kept, wanted):
        return Lasts.PERSISTED
    origin = snapshot.origins.get(name)
    if origin is None:
        return Lasts.UNKNOWN
    return Lasts.FILE if origin.kind in _FROM_A_START else Lasts.RUNNING_ONLY
