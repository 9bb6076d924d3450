"""Whole extents are read since some of their pages were.

Why it matters
    With innodb_random_read_ahead InnoDB reads all 64 pages of an extent once 13 of them are in the pool, in
    whatever order they came. On most loads nobody asks for the others, which push useful pages out; it was taken
    out of InnoDB once for that reason and came back as an option, off by default.

How it is computed
    innodb_random_read_ahead is ON, by the setting alone: no counter tells which of the pages that it read were
    used.

When to dismiss it
    A measurement with this load shows that it reads less with it: small tables that are read in scattered order
    from rotating disks.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class RandomReadAhead(Settings):
    """Whether scattered pages make InnoDB read their whole extent."""

    innodb_random_read_ahead: bool


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-performance-read_ahead.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(ahead: RandomReadAhead) -> Finding | Passed:
    if not ahead.innodb_random_read_ahead:
        return Passed(ahead.measured())
    return Finding(
        (
            Item(
                message=Message("innodb_random_read_ahead is on: extents are read that nobody may ask for"),
                evidence=ahead.measured(),
                proposal=(SetVariable("innodb_random_read_ahead", False),),
                expected=Message(
                    "Only pages that somebody asks for, and those of scans in order, take room in the pool."
                ),
                price=(Price(PriceKind.READ_LATENCY, Message("scattered reads of one extent go to disk one by one")),),
                would_change_our_mind=Message("A measurement in which it helped this load."),
            ),
        )
    )


rule.fires(
    "It was switched on",
    scene("mysql 8.0.33", {"innodb_random_read_ahead": "ON"}),
    proposes={"innodb_random_read_ahead": False},
)
rule.fires(
    "On MariaDB, too",
    scene("mariadb 10.11.18", {"innodb_random_read_ahead": "ON"}),
    proposes={"innodb_random_read_ahead": False},
)
rule.passes("Off, the default", scene("mysql 8.0.33", {"innodb_random_read_ahead": "OFF"}))
rule.passes("Off on MariaDB", scene("mariadb 10.11.18", {"innodb_random_read_ahead": "OFF"}))
