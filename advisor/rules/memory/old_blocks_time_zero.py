"""A single scan pushes everything else out of the buffer pool.

Why it matters
    Pages that a scan reads enter the list of pages three eighths from its end, and move to the front only when they
    are accessed again after innodb_old_blocks_time. At 0 the next row of the same page is enough, so that one dump,
    one report or one forgotten index fills the pool with pages that nobody asks for twice.

How it is computed
    innodb_old_blocks_time is 0. The default of one second is proposed.

When to dismiss it
    Nothing but short look-ups runs here, and no dump is ever taken from this server.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class OldBlocks(Settings):
    """How long a page has to stay before another access makes it young, in milliseconds."""

    innodb_old_blocks_time: int


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-performance-midpoint_insertion.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(blocks: OldBlocks) -> Finding | Passed:
    if blocks.innodb_old_blocks_time > 0:
        return Passed(blocks.measured())
    return Finding(
        (
            Item(
                message=Message("innodb_old_blocks_time is 0: any scan may flush the buffer pool"),
                evidence=blocks.measured(),
                proposal=(SetVariable("innodb_old_blocks_time", 1000),),
                expected=Message("Pages that are in use stay while a scan goes by."),
                price=(
                    Price(
                        PriceKind.READ_LATENCY, Message("pages that are read twice within a second stay old at first")
                    ),
                ),
                would_change_our_mind=Message("A load without any scan or dump."),
            ),
        )
    )


rule.fires(
    "Set to 0",
    scene("mysql 8.0.33", {"innodb_old_blocks_time": 0}),
    proposes={"innodb_old_blocks_time": 1000},
)
rule.fires(
    "Set to 0 on MariaDB",
    scene("mariadb 10.11.18", {"innodb_old_blocks_time": 0}),
    proposes={"innodb_old_blocks_time": 1000},
)
rule.passes("The default", scene("mysql 8.0.33", {"innodb_old_blocks_time": 1000}))
rule.passes("Another value on MariaDB", scene("mariadb 10.11.18", {"innodb_old_blocks_time": 500}))
