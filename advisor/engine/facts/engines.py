"""Facts about engines that more than one rule asks for."""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings


@dataclass(frozen=True)
class StatisticsSample(Settings):
    """Pages of each index that an estimate looks at."""

    innodb_stats_persistent_sample_pages: int
