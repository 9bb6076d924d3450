"""An InnoDB in small, page by page, that knows nothing of the model: a flush list, hot pages that change at random, and
the page cleaner's formula of MySQL with its averages, second by second.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from advisor.mysql import redo
from advisor.mysql.version import ServerVersion, identify

MIB = 1 << 20
MYSQL: ServerVersion = identify("8.0.36", "MySQL Community Server - GPL")
MARIADB: ServerVersion = identify("10.11.18-MariaDB", "mariadb.org binary distribution")


@dataclass(frozen=True)
class Reading:
    """What a poll would show."""

    at: float
    lsn: float
    age: float
    dirty: int
    flushed: float
    limits: redo.RedoLimits
    capacity: int


@dataclass
class Emulated:
    """One server. ``hot_pages`` change at random, each change writing ``change_bytes`` of redo."""

    capacity: int
    io_capacity: int = 200
    io_capacity_max: int = 2000
    hot_pages: int = 20_000
    change_bytes: float = 3000.0
    pool_pages: int = 65_536
    seed: int = 1

    def variables(self) -> dict[str, str]:
        return {
            "innodb_redo_log_capacity": str(self.capacity),
            "innodb_page_size": "16384",
            "innodb_thread_concurrency": "0",
            "innodb_io_capacity": str(self.io_capacity),
            "innodb_io_capacity_max": str(self.io_capacity_max),
            "innodb_max_dirty_pages_pct": "90",
            "innodb_max_dirty_pages_pct_lwm": "10",
            "innodb_adaptive_flushing_lwm": "10",
            "innodb_adaptive_flushing": "ON",
        }

    def run(
        self, seconds: int, wanted: Callable[[float], float], *, poll: int = 10, step: int = 1, start: float = 0.0
    ) -> list[Reading]:
        """Polls of so many seconds under ``wanted(at)`` bytes of redo a second; writers wait at the limit."""
        limits = redo.limits(MYSQL, capacity_bytes=self.capacity, page_size=16384)
        dice = np.random.default_rng(self.seed)
        oldest = np.full(self.hot_pages, np.inf)
        lsn, checkpoint, flushed = 1e9, 1e9, 0.0
        average_pages, average_lsn = 0.0, 0.0
        readings = []
        for second in range(0, seconds, step):
            room = max(limits.effective_sync_bytes - (lsn - checkpoint), 0.0)
            written = min(wanted(start + second) * step, room)
            changes = int(written / self.change_bytes)
            touched = dice.integers(0, self.hot_pages, changes)
            clean = touched[np.isinf(oldest[touched])]
            oldest[clean] = lsn + written * dice.random(clean.size)
            lsn += written
            average_lsn += (written / step - average_lsn) * min(step / 30, 1.0)
            dirty = int(np.isfinite(oldest).sum())
            age = lsn - checkpoint
            by_dirty = 100 * dirty / self.pool_pages
            by_dirty = by_dirty / 91 if by_dirty >= 10 else 0.0
            share = 100 * age / limits.effective_async_bytes
            by_age = 0.0
            if age >= 0.1 * self.capacity:
                by_age = (self.io_capacity_max // self.io_capacity) * share * math.sqrt(share) / 750
            follow = float((oldest < checkpoint + average_lsn * step).sum()) / step
            pages = (self.io_capacity * max(by_dirty, by_age) + average_pages + follow) / 3
            pages = min(pages, self.io_capacity_max) * step
            if age >= limits.effective_sync_bytes * 0.99:
                pages = max(pages, self.io_capacity_max * 2 * step)
            average_pages += (pages / step - average_pages) * min(step / 30, 1.0)
            count = min(int(pages), dirty)
            if count:
                first = np.argpartition(oldest, count - 1)[:count]
                oldest[first] = np.inf
                flushed += count
            checkpoint = min(float(oldest.min()), lsn)
            if second % poll == 0:
                left = int(np.isfinite(oldest).sum())
                readings.append(Reading(start + second, lsn, lsn - checkpoint, left, flushed, limits, self.capacity))
        return readings
