"""Made-up polls of a server for tests of the store: what is random is drawn from a seed that the caller names."""

from __future__ import annotations

import random

from advisor.mysql import series
from advisor.mysql.snapshot import Number, Poll

HOUR = 1_700_002_800  # a full hour


def run_of_polls(
    count: int, *, start: int = HOUR, spacing: int = 10, seed: int = 1, counters: int = 40
) -> list[tuple[int, Poll]]:
    """Consecutive polls of a busy server: (slot, poll)."""
    dice = random.Random(seed)
    lsn, checkpoint = 10_000_000_000, 9_950_000_000
    values = {f"Innodb_counter_{index}": dice.randrange(1 << 40) for index in range(counters)}
    polls = []
    for index in range(count):
        slot = start + index * spacing
        lsn += dice.randrange(40_000_000)
        checkpoint = max(checkpoint, lsn - dice.randrange(20_000_000, 90_000_000))
        for number, name in enumerate(values):
            if number % 3:
                values[name] += dice.randrange(1 << (number // 2))
        extra: dict[str, Number] = {
            series.LSN: lsn,
            series.CHECKPOINT_LSN: checkpoint,
            series.CHECKPOINT_AGE: lsn - checkpoint,
            series.EFFECTIVE_ASYNC_POINT: 75_000_000,
            series.EFFECTIVE_SYNC_POINT: 88_000_000,
            series.PRESSURE: (lsn - checkpoint) / 88_000_000,
            series.CAPACITY: 100_663_296,
            "Uptime_since_flush_status": 5000 + index * spacing,
            "Threads_running": dice.randrange(1, 40),
        }
        polls.append(
            (slot, Poll(float(slot), slot + 0.25, 5000 + index * spacing, {**values, **extra}, identity="server-a"))
        )
    return polls
