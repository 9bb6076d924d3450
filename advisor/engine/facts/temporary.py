"""Facts about internal temporary tables: how large they may become in memory, and how many leave it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from advisor.engine.declared import HarmRates, Settings
from advisor.engine.observation import Observation


@dataclass(frozen=True)
class TemporaryTableLimits(Settings):
    """What bounds an internal temporary table in memory, in bytes.

    The MEMORY engine (MySQL 5.7, MariaDB, and MySQL 8+ on request) stops at the smaller of tmp_table_size and
    max_heap_table_size. TempTable (MySQL 8+) shares temptable_max_ram among all tables, and from 8.0.28 on stops a
    single one at tmp_table_size.
    """

    tmp_table_size: int
    max_heap_table_size: int
    internal_tmp_mem_storage_engine: str = "MEMORY"
    temptable_max_ram: int = 0
    big_tables: bool = False

    @classmethod
    def read(cls, seen: Observation) -> Self:
        found = super().read(seen)
        object.__setattr__(found, "_number", seen.server.number)
        return found

    @property
    def in_heap(self) -> bool:
        """Whether the MEMORY engine holds them."""
        return self.internal_tmp_mem_storage_engine.upper() == "MEMORY"

    @property
    def heap_bytes(self) -> int:
        """Where the MEMORY engine stops."""
        return min(self.tmp_table_size, self.max_heap_table_size)

    @property
    def has_temptable_with_blobs(self) -> bool:
        """Whether this server has TempTable, and it keeps BLOB and TEXT columns in memory (MySQL 8.0.13)."""
        release: tuple[int, int, int] = getattr(self, "_number", (0, 0, 0))
        return self.exists("internal_tmp_mem_storage_engine") and release >= (8, 0, 13)

    @property
    def temptable_has_a_limit_by_table(self) -> bool:
        """Whether tmp_table_size stops a single TempTable table (MySQL 8.0.28)."""
        release: tuple[int, int, int] = getattr(self, "_number", (0, 0, 0))
        return not self.in_heap and release >= (8, 0, 28)


@dataclass(frozen=True)
class TemporaryTables(HarmRates):
    """Internal temporary tables per second: made, made or continued on disk, and why, where the server tells (9.x)."""

    created_tmp_tables: float
    created_tmp_disk_tables: float
    count_hit_tmp_table_size: float = 0.0
    temptable_count_hit_max_ram: float = 0.0

    def too_many_on_disk(self, per_second: float, ratio: float) -> bool:
        """Whether more than these rates go to disk."""
        return self.created_tmp_disk_tables >= max(per_second, ratio * self.created_tmp_tables)

    @property
    def for_want_of_shared_memory(self) -> bool:
        """Whether at least half of them left memory since all tables together had used it up."""
        return self.temptable_count_hit_max_ram >= 0.5 * self.created_tmp_disk_tables > 0

    @property
    def for_another_reason(self) -> bool:
        """Whether the server tells that the size of single tables was the reason of less than half of them."""
        return (
            self.exists("count_hit_tmp_table_size")
            and self.count_hit_tmp_table_size < 0.5 * self.created_tmp_disk_tables
        )


@dataclass(frozen=True)
class SharedMemory(Settings):
    """What TempTable may take in all, in bytes."""

    temptable_max_ram: int
