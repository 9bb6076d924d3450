"""Tables are opened again and again since their cache is full.

Why it matters
    Each session that uses a table takes an open instance of it from table_open_cache. Where the cache is full,
    another one is closed first and the wanted one is opened anew: a lock of all sessions on older versions, a look
    into the dictionary, and a file on disk, for every statement.

How it is computed
    Between full snapshots tables were opened at least ten times a second while the cache was full: 90 % of it in
    use, or instances were thrown out of it (Table_open_cache_overflows). The proposal is half as much again, at
    most 20,000, and at most what open_files_limit has room for beside the connections; where that is no more than
    now, the limit comes first.

When to dismiss it
    A dump or a tool walks through thousands of tables once, or tables are created and dropped all the time.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import HarmRates, Status
from advisor.engine.facts.caches import FileLimit
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit, round_up
from advisor.mysql.proposal import Change, Investigate, SetVariable


@dataclass(frozen=True)
class OpenTables(Status):
    """How many tables are open in the cache."""

    open_tables: int


@dataclass(frozen=True)
class TableOpens(HarmRates):
    """Tables opened, and thrown out of the full cache, per second."""

    opened_tables: float
    table_open_cache_overflows: float = 0.0


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When a table cache is too small."""

    opened_per_second: float = threshold(10, unit=Unit.PER_SECOND, meaning="tables opened", leave_at=8)
    full_ratio: float = threshold(
        0.9, unit=Unit.RATIO, meaning="tables open as a share of the cache, from which on it is full", leave_at=0.8
    )
    overflows_per_second: float = threshold(
        1, unit=Unit.PER_SECOND, meaning="tables thrown out of the cache, from which on it is full", leave_at=0.7
    )
    growth_ratio: float = threshold(1.5, unit=Unit.RATIO, meaning="the proposed size as a multiple of the present one")
    largest: float = threshold(20_000, unit=Unit.COUNT, meaning="no larger cache is proposed")


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    caused_by=[TableOpens],
    raises=["table_open_cache"],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/table-cache.html",
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/system-variables/optimizing-table_open_cache",
    ],
)


@rule.check
def check(files: FileLimit, tables: OpenTables, opens: TableOpens, p: Parameters) -> Finding | Passed:
    present = files.table_open_cache
    cache = Measured("table_open_cache", present, Unit.COUNT, None, "system variable")
    figures = (cache, *tables.measured(), *opens.measured(), *files.measured())
    full = tables.open_tables >= p.full_ratio * present or opens.table_open_cache_overflows >= p.overflows_per_second
    if opens.opened_tables < p.opened_per_second or not full:
        return Passed(figures)
    wanted = min(int(p.largest), files.most_tables, max(400, round_up(p.growth_ratio * present, 100)))
    proposal: tuple[Change, ...] = (SetVariable("table_open_cache", wanted),)
    price: tuple[Price, ...] = (
        Price(
            PriceKind.MEMORY,
            Message("about 10 KiB and up to two files for each table more"),
            Quantity(present, Unit.COUNT),
            Quantity(wanted, Unit.COUNT),
        ),
    )
    if wanted <= present:
        proposal, price = (
            (
                Investigate(
                    "Raise open_files_limit first, or find out who opens so many tables: the cache is as large as it "
                    "may become."
                ),
            ),
            (),
        )
    return Finding(
        (
            Item(
                message=Message(
                    "{opened} tables a second are opened since the cache of {cache} is full",
                    {
                        "opened": Quantity(opens.opened_tables, Unit.COUNT),
                        "cache": Quantity(present, Unit.COUNT),
                    },
                ),
                evidence=figures,
                proposal=proposal,
                expected=Message("Statements find their tables open.") if price else None,
                price=price,
                would_change_our_mind=Message("A dump or a tool that walks through all tables."),
            ),
        )
    )


_OPENS = {"Opened_tables": 90, "Table_open_cache_overflows": 80}
rule.fires(
    "4,000 tables open and 90 more a second",
    scene(
        "mysql 8.0.33",
        {"table_open_cache": 4000, "open_files_limit": 20_000, "max_connections": 151},
        gauges={"Open_tables": 4000},
        counters=_OPENS,
        deliberate=True,
    ),
    proposes={"table_open_cache": 6000},
)
rule.fires(
    "MariaDB, as many as files allow",
    scene(
        "mariadb 10.11.18",
        {"table_open_cache": 2000, "open_files_limit": 5000, "max_connections": 151, "extra_max_connections": 1},
        gauges={"Open_tables": 1990},
        counters=_OPENS,
        deliberate=True,
    ),
    proposes={"table_open_cache": 2419},
)
rule.fires(
    "No files for more: the limit comes first",
    scene(
        "mysql 5.7.22",
        {"table_open_cache": 2400, "open_files_limit": 4900, "max_connections": 151},
        gauges={"Open_tables": 2400},
        counters=_OPENS,
        deliberate=True,
    ),
)
rule.passes(
    "The cache is filling after a restart",
    scene(
        "mysql 8.0.33",
        {"table_open_cache": 4000, "open_files_limit": 20_000, "max_connections": 151},
        gauges={"Open_tables": 900},
        counters={"Opened_tables": 90, "Table_open_cache_overflows": 0},
        deliberate=True,
    ),
)
rule.passes(
    "Hardly a table is opened",
    scene(
        "mariadb 10.11.18",
        {"table_open_cache": 2000, "open_files_limit": 20_000, "max_connections": 151},
        gauges={"Open_tables": 2000},
        counters={"Opened_tables": 0.5, "Table_open_cache_overflows": 0},
        deliberate=True,
    ),
)
