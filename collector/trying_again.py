"""A person asks for a server to be tried at once, whatever back-off it is in."""

from __future__ import annotations

import time
from enum import StrEnum

from collector import process, schedule
from collector.models import Server
from collector.watch import REFRESH_SECONDS

#: The holder of the shard notices within REFRESH_SECONDS, connects, and its answer reaches the page with the next
#: refresh. A connection that hangs is given up after six seconds.
ANSWER_SECONDS = REFRESH_SECONDS + 8


class Asked(StrEnum):
    """What came of asking: it is due at once, it is due and nobody reads its shard now, or it is not watched."""

    DUE = "due"
    NOBODY = "nobody"
    PAUSED = "paused"


def ask(*, server: Server) -> Asked:
    """Makes the server due through the schedule, so that only the holder of its shard ever connects. Asking twice
    before it was tried asks once.
    """
    if not schedule.try_now(server_id=server.pk):
        return Asked.PAUSED
    shard = server.shard
    held = bool(shard.owner) and time.time() < shard.lease_until and not process.is_provably_dead(shard.owner)
    return Asked.DUE if held else Asked.NOBODY
