"""How fast a server moves its checkpoint: InnoDB's flushing heuristics, said in bytes of redo per second.

The page cleaner asks, each second, for

    pages = (io_capacity * pressure + pages flushed lately + pages needed to keep up with the log) / 3

up to ``innodb_io_capacity_max`` (``page_cleaner_flush_pages_recommendation`` in buf0flu.cc; MySQL and MariaDB alike).
Over more than the 30 seconds of ``innodb_flushing_avg_loops`` the second and third terms follow the first and the
writes: with F = pages flushed and w/k = pages that the log's growth asks for, F = (io_capacity * p + F + w/k) / 3, so

    checkpoint advance = k * F = (k * io_capacity * p + w) / 2        bytes per second

where w is the redo written per second and k the bytes of redo that one written page releases. It balances the writes
where k * io_capacity * p = w: **the server steers by the share p, and p by the age as a share of the async point**, so
that a bigger log does not simply divide the age. What a bigger log changes is how long a burst lasts until it fills
the log, and k: pages that change again before they are written are written once for several changes.

``p`` differs. MySQL, and MariaDB up to 10.4: the larger of the dirty pages' share and
``(io_max DIV io_capacity) * lsn^1.5 / 750`` with lsn in percent of the async point, 0 below
``innodb_adaptive_flushing_lwm``. MariaDB 10.5+ with ``innodb_max_dirty_pages_pct_lwm`` = 0 (its default): 1 whatever
the age is, ``innodb_io_capacity_max`` from the async point on, and no bound at the maximum age.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from advisor.mysql.redo import RedoLimits
from advisor.mysql.version import ServerVersion


@dataclass(frozen=True)
class Points:
    """Where a log of one capacity makes the server change how it flushes; ages in bytes."""

    capacity_bytes: int
    async_bytes: int
    sync_bytes: int
    limit_bytes: int

    @classmethod
    def of(cls, capacity_bytes: int, limits: RedoLimits) -> Points:
        """From the limits of that capacity. Without a sync point of its own (MariaDB 10.5+) the limit stands in."""
        sync = limits.sync_point_bytes
        return cls(
            capacity_bytes=capacity_bytes,
            async_bytes=limits.effective_async_bytes,
            sync_bytes=limits.effective_sync_bytes if sync is None else sync - limits.margin_bytes,
            limit_bytes=limits.effective_sync_bytes,
        )


@dataclass(frozen=True)
class FlushSettings:
    """The settings that flushing obeys. Percentages are 0-100, io capacities are pages per second.

    ``bursts_at_async``: MariaDB 10.5+, which flushes at innodb_io_capacity_max from the async point on, and whose
    ``pressure`` ignores the age while innodb_max_dirty_pages_pct_lwm is 0. ``checkpoint_seconds``: MySQL 8 writes its
    checkpoint up to so much later than its pages while it is busy.
    """

    io_capacity: float
    io_capacity_max: float
    adaptive: bool
    adaptive_lwm_percent: float
    dirty_lwm_percent: float
    dirty_max_percent: float
    pool_pages: float
    bursts_at_async: bool
    checkpoint_seconds: float = 0.0

    @classmethod
    def read(cls, server: ServerVersion, variables: Mapping[str, str], pool_pages: float) -> FlushSettings:
        """From the variables as the server prints them; a missing one has the default of most versions."""
        io_capacity = max(_number(variables, "innodb_io_capacity", 200), 1.0)
        io_max = _number(variables, "innodb_io_capacity_max", 2 * io_capacity)
        if io_max >= 2**32 - 1:
            # MariaDB's way of writing "computed".
            io_max = max(2 * io_capacity, 2000)
        return cls(
            io_capacity=io_capacity,
            io_capacity_max=max(io_max, io_capacity),
            adaptive=variables.get("innodb_adaptive_flushing", "ON").upper() in ("ON", "1"),
            adaptive_lwm_percent=_number(variables, "innodb_adaptive_flushing_lwm", 10),
            dirty_lwm_percent=_number(variables, "innodb_max_dirty_pages_pct_lwm", 10),
            dirty_max_percent=_number(variables, "innodb_max_dirty_pages_pct", 90),
            pool_pages=max(pool_pages, 1.0),
            bursts_at_async=server.is_mariadb and server.number >= (10, 5, 0),
            checkpoint_seconds=7.0 if server.is_mysql and server.number >= (8, 0, 0) else 0.0,
        )

    @property
    def ignores_age(self) -> bool:
        """Whether the age rises to the async point by design, under any load that one io_capacity does not hold."""
        return self.bursts_at_async and self.dirty_lwm_percent == 0

    @property
    def follows_writes(self) -> float:
        """Which part of the writes the checkpoint follows by itself, and thereby 1 - the part that is left to age."""
        return 0.0 if self.ignores_age else 0.5

    @property
    def heuristics_part(self) -> float:
        """Which part of k * io_capacity * p is flushed. A MariaDB that ignores the age keeps no average of its writes
        either: of the three terms only the first is left (67 pages a second of an io_capacity of 200 were seen).
        """
        return 1 / 3 if self.ignores_age else 0.5

    def pressure(self, age_bytes: float, dirty_pages: float, points: Points) -> float:
        """What innodb_io_capacity is multiplied by at this age and with so many dirty pages: 0 and up."""
        dirty = 100.0 * dirty_pages / self.pool_pages
        by_age = self._by_age(age_bytes, points)
        if self.bursts_at_async:
            filled = age_bytes >= self.adaptive_lwm_percent / 100 * points.capacity_bytes
            threshold = self.dirty_lwm_percent or self.dirty_max_percent
            if not filled and dirty < threshold:
                return 0.0
            if self.dirty_lwm_percent == 0 or dirty < self.dirty_lwm_percent:
                return 1.0
            return max(by_age, dirty / self.dirty_max_percent)
        if self.dirty_lwm_percent > 0:
            by_dirty = dirty / (self.dirty_max_percent + 1) if dirty >= self.dirty_lwm_percent else 0.0
        else:
            by_dirty = 1.0 if dirty >= self.dirty_max_percent else 0.0
        return max(by_age, by_dirty)

    def _by_age(self, age_bytes: float, points: Points) -> float:
        if age_bytes < self.adaptive_lwm_percent / 100 * points.capacity_bytes:
            return 0.0
        if not self.adaptive and age_bytes < points.async_bytes:
            return 0.0
        share = 100.0 * age_bytes / points.async_bytes
        # An integer division in the servers: 1.9 counts as 1.
        factor = max(int(self.io_capacity_max // self.io_capacity), 1)
        return float(factor * share**1.5 / 750.0)


@dataclass(frozen=True)
class Coalescing:
    """How many bytes of redo one written page releases, by the age: known as ``bytes_per_page`` at ``age_bytes``.

    With N pages that change again and again, and b bytes of redo for each change, a page is written once in
    age + b * N bytes of redo: k = b + age / N. ``pages`` is N; infinite where no page changes twice, so that k stays
    what it was. Below the known age k falls, and stays above 0.
    """

    bytes_per_page: float
    age_bytes: float
    pages: float

    def at(self, age_bytes: float) -> float:
        """Bytes of redo that a written page releases at this age."""
        if self.pages <= 0:
            return self.bytes_per_page
        bent = self.bytes_per_page + (age_bytes - self.age_bytes) / self.pages
        return max(bent, self.bytes_per_page * min(1.0, age_bytes / max(self.age_bytes, 1.0)), 1.0)

    def dirty_pages(self, age_bytes: float) -> float:
        """Pages that are dirty at this age: each is dirty for as long as its redo is not released."""
        return age_bytes / self.at(age_bytes)


def _number(variables: Mapping[str, str], name: str, default: float) -> float:
    try:
        return float(variables.get(name, default))
    except ValueError:
        return default
