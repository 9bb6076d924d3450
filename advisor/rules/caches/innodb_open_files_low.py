"""InnoDB closes files to open others.

Why it matters
    InnoDB keeps at most innodb_open_files of its tables' files open. Where more tables are in use, it closes the
    one that was not used for longest and opens the next, while holding a lock that all other reads and writes need
    for a moment.

How it is computed
    Innodb_num_open_files has reached 95 % of innodb_open_files. The proposal is twice the larger of both, at most
    what open_files_limit has room for beside the connections. MySQL from 8.0.28 on can change it while it runs, by
    the procedure innodb_set_open_files_limit().

When to dismiss it
    The tables beyond the limit are touched once a night, by a dump.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings, Status
from advisor.engine.facts.caches import FileLimit
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit, round_up
from advisor.mysql.proposal import Change, Investigate, SetVariable


@dataclass(frozen=True)
class OwnFiles(Settings):
    """How many files InnoDB keeps open at most."""

    innodb_open_files: int


@dataclass(frozen=True)
class OpenFiles(Status):
    """How many files InnoDB has open."""

    innodb_num_open_files: int


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When a limit is reached."""

    used_ratio: float = threshold(
        0.95, unit=Unit.RATIO, meaning="files open as a share of those allowed", leave_at=0.85
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    raises=["innodb_open_files"],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(own: OwnFiles, now: OpenFiles, files: FileLimit, p: Parameters) -> Finding | Passed:
    figures = own.measured() + now.measured() + files.measured()
    present = own.innodb_open_files
    if now.innodb_num_open_files < p.used_ratio * present:
        return Passed(figures)
    room = files.limit - files.max_connections - 10
    wanted = min(room, round_up(2 * max(present, now.innodb_num_open_files), 100))
    enough = wanted > present and now.innodb_num_open_files < p.used_ratio * wanted
    proposal: tuple[Change, ...] = (
        (SetVariable("innodb_open_files", wanted),)
        if enough
        else (Investigate("Raise open_files_limit first: InnoDB's files have no room beside the connections."),)
    )
    return Finding(
        (
            Item(
                message=Message(
                    "InnoDB has {open} files open, and {limit} are allowed",
                    {
                        "open": Quantity(now.innodb_num_open_files, Unit.COUNT),
                        "limit": Quantity(present, Unit.COUNT),
                    },
                ),
                evidence=figures,
                proposal=proposal,
                expected=Message("Files of tables in use stay open.") if enough else None,
                price=(
                    Price(
                        PriceKind.RESTART,
                        Message("read at the start"),
                        Quantity(present, Unit.COUNT),
                        Quantity(wanted, Unit.COUNT),
                    ),
                )
                if enough
                else (),
                would_change_our_mind=Message("A dump that opens every table once a night."),
            ),
        )
    )


rule.fires(
    "300 files for 2,000 tables",
    scene(
        "mysql 8.0.33",
        {"innodb_open_files": 300, "open_files_limit": 20_000, "table_open_cache": 4000, "max_connections": 151},
        gauges={"Innodb_num_open_files": 300},
    ),
    proposes={"innodb_open_files": 600},
)
rule.fires(
    "MariaDB at its default",
    scene(
        "mariadb 10.11.18",
        {"innodb_open_files": 2000, "open_files_limit": 16_384, "table_open_cache": 2000, "max_connections": 151},
        gauges={"Innodb_num_open_files": 1995},
    ),
    proposes={"innodb_open_files": 4000},
)
rule.passes(
    "A few of them",
    scene(
        "mysql 8.0.33",
        {"innodb_open_files": 4000, "open_files_limit": 20_000, "table_open_cache": 4000},
        gauges={"Innodb_num_open_files": 120},
    ),
)
rule.passes(
    "Some room on MariaDB",
    scene(
        "mariadb 10.11.18",
        {"innodb_open_files": 2000, "open_files_limit": 16_384, "table_open_cache": 2000},
        gauges={"Innodb_num_open_files": 1700},
    ),
)
