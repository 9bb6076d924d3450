"""Applying approved plans to servers: at most once, written down before it is sent, read back, taken back.

``begin`` and ``roll_back`` are what pages and the API call; ``run`` is the task's body; ``recover`` and ``advance`` are
the tick's. Everything else is inside.
"""

from __future__ import annotations

from advisor.changes.applying.advancing import advance
from advisor.changes.applying.lasting import lasting
from advisor.changes.applying.recovering import recover
from advisor.changes.applying.running import run
from advisor.changes.applying.starting import CannotRollBack, begin, roll_back

__all__ = ["CannotRollBack", "advance", "begin", "lasting", "recover", "roll_back", "run"]
