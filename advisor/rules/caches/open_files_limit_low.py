"""Connections and tables are promised more files than may be open.

Why it matters
    Every connection is a file to the system, and every open table may be two. When the limit is reached, statements
    fail with "Too many open files", new connections are refused, and a server that cannot open its binary log
    stops. At a start the server itself would lower max_connections and table_open_cache to fit, with a warning that
    nobody reads.

How it is computed
    max_connections and twice table_open_cache are together more than open_files_limit, or 85 % of the files that
    may be open are open. The proposal is what the settings promise, rounded up to a thousand. One number for all of
    them: rules that want more tables or connections stay within the limit there is.

When to dismiss it
    Both were raised for a moment only. Where the service's own limit (LimitNOFILE, ulimit -n) is lower, that has to
    be raised with it: the server cannot go beyond it.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.caches import FileLimit
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When a limit is too low."""

    promised_ratio: float = threshold(
        1.0, unit=Unit.RATIO, meaning="files that the settings promise as a share of the limit"
    )
    open_ratio: float = threshold(
        0.85, unit=Unit.RATIO, meaning="files that are open as a share of the limit", leave_at=0.75
    )


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/server-system-variables.html",
        "https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables",
    ],
)


@rule.check
def check(files: FileLimit, p: Parameters) -> Finding | Passed:
    near = files.open_files >= p.open_ratio * files.limit
    if files.promised <= p.promised_ratio * files.limit and not near:
        return Passed(files.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "{open} files are open and {promised} promised, and {limit} may be open",
                    {
                        "open": Quantity(files.open_files, Unit.COUNT),
                        "promised": Quantity(files.promised, Unit.COUNT),
                        "limit": Quantity(files.limit, Unit.COUNT),
                    },
                ),
                evidence=files.measured(),
                proposal=(SetVariable("open_files_limit", files.wanted),),
                severity=Severity.CRITICAL if near else None,
                expected=Message("All connections and all tables of the cache can be open at once."),
                price=(
                    Price(
                        PriceKind.RESTART,
                        Message("the limit of the service (LimitNOFILE) has to allow it, too"),
                        Quantity(files.limit, Unit.COUNT),
                        Quantity(files.wanted, Unit.COUNT),
                    ),
                ),
                would_change_our_mind=Message("A table cache or a connection limit that was raised for a moment only."),
            ),
        )
    )


rule.fires(
    "A table cache of 20,000 with 20,000 files",
    scene(
        "mysql 8.0.33",
        {"table_open_cache": 20_000, "open_files_limit": 20_000, "max_connections": 500},
        gauges={"Open_files": 2},
    ),
    proposes={"open_files_limit": 41_000},
)
rule.fires(
    "MariaDB with 900 of 1,000 files open: critical",
    scene(
        "mariadb 10.11.18",
        {"table_open_cache": 400, "open_files_limit": 1000, "max_connections": 150, "extra_max_connections": 1},
        gauges={"Open_files": 900},
    ),
    proposes={"open_files_limit": 2000},
)
rule.passes(
    "Room for all of them",
    scene(
        "mysql 8.0.33",
        {"table_open_cache": 4000, "open_files_limit": 10_000, "max_connections": 151},
        gauges={"Open_files": 2},
    ),
)
rule.passes(
    "MariaDB's defaults",
    scene(
        "mariadb 10.11.18",
        {"table_open_cache": 2000, "open_files_limit": 16_384, "max_connections": 151, "extra_max_connections": 1},
        gauges={"Open_files": 40},
    ),
)
