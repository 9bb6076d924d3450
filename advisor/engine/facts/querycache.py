"""Facts about the query cache of MySQL 5.7 and MariaDB, and the one thing that is ever proposed for it."""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import HarmRates, Settings
from advisor.engine.outcome import Message, Price, PriceKind
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable

#: Whatever is found about it: the cache off, and its memory given back. One voice, so that no rule makes it larger
#: while another one switches it off.
SWITCHED_OFF: tuple[SetVariable, ...] = (SetVariable("query_cache_type", "OFF"), SetVariable("query_cache_size", 0))

#: What everybody gains by that.
FEWER_WAITS = Message("No statement waits for the cache's one lock, neither to ask it nor to throw results out.")


@dataclass(frozen=True)
class QueryCache(Settings):
    """Whether results are kept, and in how much memory (bytes)."""

    query_cache_type: str
    query_cache_size: int

    @property
    def is_on(self) -> bool:
        """Whether statements ask it: ON for all that can be cached, DEMAND for those that say SQL_CACHE."""
        return self.query_cache_type.upper() not in ("OFF", "0") and self.query_cache_size > 0


@dataclass(frozen=True)
class QueryCacheRates(HarmRates):
    """What the cache did, per second: answered, stored, could not store, threw out for want of memory."""

    qcache_hits: float
    qcache_inserts: float
    qcache_not_cached: float
    qcache_lowmem_prunes: float

    @property
    def asked(self) -> float:
        """Statements per second that could have been answered."""
        return self.qcache_hits + self.qcache_inserts + self.qcache_not_cached

    @property
    def hit_ratio(self) -> float:
        """The share that was answered."""
        return self.qcache_hits / self.asked if self.asked else 0.0

    def price(self) -> tuple[Price, ...]:
        """What switching it off costs: the statements that it answered run from now on."""
        return (
            Price(
                PriceKind.READ_LATENCY,
                Message("statements that were answered by the cache are executed"),
                Quantity(self.qcache_hits, Unit.PER_SECOND),
                Quantity(0, Unit.PER_SECOND),
            ),
        )
