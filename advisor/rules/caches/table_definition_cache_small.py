"""Table definitions are read again and again since their cache is full.

Why it matters
    Before a table can be opened its definition is needed: from table_definition_cache, or read and parsed anew.
    With more tables in use than the cache holds (its default is 400 on MariaDB), every round over them reads each
    definition again, and with it InnoDB's statistics are forgotten.

How it is computed
    Between full snapshots at least five definitions a second were read while the cache was 90 % full. The proposal
    doubles it, to at least 2,000 and at most 10,000.

When to dismiss it
    A dump or a monitor walks through all tables: INFORMATION_SCHEMA.TABLES reads each of their definitions.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import HarmRates, Settings, Status
from advisor.engine.observation import Observation
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Change, Investigate, SetVariable


@dataclass(frozen=True)
class DefinitionCache(Settings):
    """How many table definitions are kept."""

    table_definition_cache: int


@dataclass(frozen=True)
class Definitions(Status):
    """How many are kept now."""

    open_table_definitions: int


@dataclass(frozen=True)
class DefinitionReads(HarmRates):
    """Definitions read, per second."""

    opened_table_definitions: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When a definition cache is too small."""

    read_per_second: float = threshold(5, unit=Unit.PER_SECOND, meaning="table definitions read", leave_at=4)
    full_ratio: float = threshold(
        0.9, unit=Unit.RATIO, meaning="definitions kept as a share of the cache, from which on it is full", leave_at=0.8
    )
    smallest: float = threshold(2000, unit=Unit.COUNT, meaning="no smaller cache is proposed")
    largest: float = threshold(10_000, unit=Unit.COUNT, meaning="no larger cache is proposed")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    caused_by=[DefinitionReads],
    raises=["table_definition_cache"],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/server-system-variables.html",
        "https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables",
    ],
)


@rule.check
def check(cache: DefinitionCache, kept: Definitions, reads: DefinitionReads, p: Parameters) -> Finding | Passed:
    figures = cache.measured() + kept.measured() + reads.measured()
    present = cache.table_definition_cache
    if reads.opened_table_definitions < p.read_per_second or kept.open_table_definitions < p.full_ratio * present:
        return Passed(figures)
    wanted = min(int(p.largest), max(2 * present, int(p.smallest)))
    proposal: tuple[Change, ...] = (SetVariable("table_definition_cache", wanted),)
    price: tuple[Price, ...] = (
        Price(
            PriceKind.MEMORY,
            Message("some KiB for each definition more"),
            Quantity(present, Unit.COUNT),
            Quantity(wanted, Unit.COUNT),
        ),
    )
    if wanted <= present:
        proposal, price = (Investigate("Find out who walks through so many tables: the cache is large."),), ()
    return Finding(
        (
            Item(
                message=Message(
                    "{read} table definitions a second are read since the cache of {cache} is full",
                    {
                        "read": Quantity(reads.opened_table_definitions, Unit.COUNT),
                        "cache": Quantity(present, Unit.COUNT),
                    },
                ),
                evidence=figures,
                proposal=proposal,
                expected=Message("Tables open without reading their definitions.") if price else None,
                price=price,
                would_change_our_mind=Message("A dump or a monitor that walks through all tables."),
            ),
        )
    )


def _scene(flavor: str, cache: int, kept: int, read: float) -> Observation:
    return scene(
        flavor,
        {"table_definition_cache": cache},
        gauges={"Open_table_definitions": kept},
        counters={"Opened_table_definitions": read},
        deliberate=True,
    )


rule.fires(
    "MariaDB's 400 for a thousand tables",
    _scene("mariadb 10.11.18", 400, 400, 60),
    proposes={"table_definition_cache": 2000},
)
rule.fires("2,000 on MySQL", _scene("mysql 8.0.33", 2000, 2000, 30), proposes={"table_definition_cache": 4000})
rule.passes("All tables are known", _scene("mariadb 10.11.18", 400, 390, 0))
rule.passes("The cache is filling", _scene("mysql 8.0.33", 2000, 300, 30))
