"""Facts about the optimizer: its switches, and what look-ups and multi-range reads do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from advisor.engine import reading
from advisor.engine.declared import Rates, Settings
from advisor.engine.fact import Fact
from advisor.engine.observation import Observation
from advisor.engine.outcome import Inapplicable, Measured, Message, Missing
from advisor.engine.units import Unit
from advisor.mysql.catalogue import CATALOGUE
from advisor.mysql.snapshot import Remedy, RemedyKind

#: The plugin was deprecated in 8.0.22 and is gone in 8.3.
_MEMCACHED_DEPRECATED = (8, 0, 22)
_MEMCACHED_GONE = (8, 3, 0)

#: Flags whose default changed between maintenance releases of one series, so that nobody knows the right one.
_UNSETTLED = frozenset({"cset_narrowing", "hash_join_cardinality"})


def flags(text: str) -> dict[str, str]:
    """``mrr=on,mrr_cost_based=off`` as a mapping."""
    parts = (part.partition("=") for part in text.split(",") if "=" in part)
    return {name.strip(): value.strip().lower() for name, _, value in parts}


@dataclass(frozen=True)
class OptimizerSwitches(Fact):
    """The flags of optimizer_switch, and those that are not as this version has them by default."""

    reads: ClassVar[tuple[str, ...]] = ("optimizer_switch", "the defaults of the version")

    present: dict[str, str]
    changed: dict[str, str]
    unverified: bool

    @classmethod
    def read(cls, seen: Observation) -> Self:
        present = flags(reading.text(seen, "optimizer_switch"))
        known = CATALOGUE.find("optimizer_switch", seen.server)
        if known is None or known.default is None:
            raise Missing(
                Remedy(
                    RemedyKind.VERSION,
                    "the default of optimizer_switch",
                    f"This release of Tidemark does not know the default flags of {seen.server}.",
                )
            )
        default = flags(known.default)
        changed = {
            name: value
            for name, value in present.items()
            if default.get(name, value) != value and name not in _UNSETTLED
        }
        return cls(present, changed, not known.verified)

    def measured(self) -> tuple[Measured, ...]:
        """The changed flags, as evidence."""
        text = ",".join(f"{name}={value}" for name, value in sorted(self.changed.items()))
        return (Measured("flags of optimizer_switch that differ", text or "none", Unit.TEXT, None, "system variable"),)


@dataclass(frozen=True)
class MultiRangeRead(Fact):
    """Whether the optimizer sorts row ids before it reads rows by a secondary index, as it is set for everybody.

    ``always``: without asking whether it is worth it. ``hint``: how one statement alone is run with it.
    """

    reads: ClassVar[tuple[str, ...]] = ("optimizer_switch",)

    always: bool
    setting: str
    hint: str
    key_access: bool
    key_access_hint: str

    @classmethod
    def read(cls, seen: Observation) -> Self:
        switch = flags(reading.text(seen, "optimizer_switch"))
        is_on, by_cost = switch.get("mrr") == "on", switch.get("mrr_cost_based") == "on"
        if seen.server.is_mariadb:
            level = reading.variable(seen, "join_cache_level") or "2"
            hint = "SET STATEMENT optimizer_switch='mrr=on' FOR SELECT ..."
            key_hint = "SET STATEMENT join_cache_level=8, optimizer_switch='mrr=on,mrr_sort_keys=on' FOR SELECT ..."
            key_access = level.isdigit() and int(level) >= 5
        else:
            hint = "SELECT /*+ MRR(table) */ ..."
            key_hint = "SELECT /*+ MRR(table) BKA(table) */ ..."
            key_access = switch.get("batched_key_access") == "on"
        text = ",".join(f"{name}={switch[name]}" for name in ("mrr", "mrr_cost_based") if name in switch)
        return cls(is_on and not by_cost, text, hint, key_access, key_hint)

    def measured(self) -> tuple[Measured, ...]:
        """The flags, as evidence."""
        return (Measured("optimizer_switch", self.setting, Unit.TEXT, None, "system variable"),)


@dataclass(frozen=True)
class ReadsByKey(Rates):
    """Look-ups by a key, rows read on in index order and in table order, statements, and reads of pages, per second.

    ``innodb_buffer_pool_reads`` are those from disk, ``innodb_buffer_pool_read_requests`` all of them.
    """

    handler_read_key: float
    handler_read_next: float
    handler_read_rnd_next: float
    questions: float
    innodb_buffer_pool_read_requests: float
    innodb_buffer_pool_reads: float


@dataclass(frozen=True)
class MemcachedPlugin(Fact):
    """Whether daemon_memcached is installed. ``offered`` and ``deprecated`` say what this version thinks of it."""

    reads: ClassVar[tuple[str, ...]] = ("information_schema.PLUGINS",)

    installed: bool
    offered: bool
    deprecated: bool

    @classmethod
    def read(cls, seen: Observation) -> Self:
        plugins = seen.snapshot.plugins
        if not plugins:
            probe = seen.snapshot.probe("plugins")
            if probe is not None and probe.remedy is not None:
                raise Missing(probe.remedy)
            raise Missing(Remedy(RemedyKind.VERSION, "plugins", f"{seen.server} does not show its plugins."))
        number = seen.server.number
        return cls(
            installed=plugins.get("daemon_memcached", "").upper() == "ACTIVE",
            offered=seen.server.is_mysql and number < _MEMCACHED_GONE,
            deprecated=number >= _MEMCACHED_DEPRECATED,
        )

    def measured(self) -> tuple[Measured, ...]:
        """As evidence."""
        text = "installed" if self.installed else "not installed"
        return (Measured("plugin daemon_memcached", text, Unit.TEXT, None, "information_schema.PLUGINS"),)


@dataclass(frozen=True)
class CacheAdvice(Fact):
    """What can take look-ups by key off this server, by its flavor and version."""

    reads: ClassVar[tuple[str, ...]] = ("version",)

    advice: str

    @classmethod
    def read(cls, seen: Observation) -> Self:
        if not seen.snapshot.variables:
            raise Inapplicable(Message("Nothing is known of this server."))
        common = (
            "Prepare the statement once for each session, keep connections in a pool, fetch several keys at a time "
            "(WHERE id IN (...)), and keep rows that change rarely in a cache beside the database"
        )
        number = seen.server.number
        if seen.server.is_mysql and number < _MEMCACHED_DEPRECATED:
            return cls(
                f"{common}. The daemon_memcached plugin of this version answers such look-ups without SQL at a "
                "fraction of the cost, but it is deprecated from 8.0.22 and gone in 8.3: take it only where no "
                "upgrade is near."
            )
        if seen.server.is_mysql and number < _MEMCACHED_GONE:
            return cls(
                f"{common}. Do not begin with the daemon_memcached plugin: it is deprecated here and gone in MySQL 8.3."
            )
        return cls(f"{common}. This server has no memcached plugin.")


@dataclass(frozen=True)
class IndexDives(Settings):
    """How many values of a list are looked up in the index; 0 for all."""

    eq_range_index_dive_limit: int
