"""Made-up full snapshots for tests of the store."""

from __future__ import annotations

import random
from collections.abc import Mapping

from advisor.mysql.snapshot import Identity, Metric, Snapshot
from advisor.mysql.version import identify

from .polls import HOUR


def run_of_snapshots(
    count: int,
    *,
    start: int = HOUR,
    spacing: int = 60,
    seed: int = 1,
    counters: int = 60,
    uptime: int = 50_000,
    identity: str = "server-a",
    variables: Mapping[str, str] | None = None,
) -> list[tuple[int, Snapshot]]:
    """Consecutive snapshots of a busy MariaDB server: (slot, snapshot). Each third counter stands still."""
    dice = random.Random(seed)
    values = {f"Handler_made_up_{index}": dice.randrange(1 << 40) for index in range(counters)}
    searches = 1000
    found = []
    for index in range(count):
        for number, name in enumerate(values):
            if number % 3:
                values[name] += dice.randrange(1 << (number // 3 + 1))
        searches += dice.randrange(500)
        since = index * spacing
        status = {
            **{name: str(value) for name, value in values.items()},
            "Uptime": str(uptime + since),
            "Uptime_since_flush_status": str(uptime + since),
            "Questions": str(1_000_000 + 60 * index),
            "Connections": str(2_000 + index),
            "Threads_cached": str(dice.randrange(8)),
            "Innodb_buffer_pool_load_status": "Buffer pool(s) load completed",
        }
        found.append(
            (
                start + since,
                Snapshot(
                    taken_at=start + since + 0.5,
                    server_clock=start + since + 0.25,
                    uptime_seconds=uptime + since,
                    identity=Identity(identity, "h", 3306, identify("10.11.6-MariaDB", "mariadb.org")),
                    variables=dict(variables or {"innodb_io_capacity": "200"}),
                    status=status,
                    metrics={
                        "adaptive_hash_searches": Metric("adaptive_hash_index", True, searches),
                        "log_lsn_checkpoint_age": Metric("log", False, 7),
                    },
                ),
            )
        )
    return found
