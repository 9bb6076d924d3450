"""Neighbours of a flushed page are written although the data are on flash.

Why it matters
    With innodb_flush_neighbors = 1 or 2 InnoDB writes the dirty neighbours of a page together with it, which saves
    rotating disks a seek. Flash has no seeks to save: the neighbours are written before they have collected their
    changes, the same work costs more writes, and the device wears.

How it is computed
    From the setting and the kind of storage that a person stated: not 0 on flash. It is set to 0, the default of MySQL
    since 8.0. MariaDB 10.4 and later leave neighbours alone by themselves where they see flash, so that the rule does
    not hold there.

When to dismiss it
    What is called flash is a network volume that charges for each operation, and merges neighbours into one.
"""

from __future__ import annotations

from advisor.engine.facts.flushing import (
    STATE_STORAGE,
    Neighbors,
    Storage,
)
from advisor.engine.facts.redo import OwnRedoLog
from advisor.engine.outcome import (
    Finding,
    Item,
    Message,
    NotEvaluated,
    Passed,
    Price,
    PriceKind,
    Severity,
)
from advisor.engine.rule import Rule
from advisor.engine.scene import scene, stated
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable

rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2,<10.4"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html",
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-buffer-pool-flushing.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(neighbors: Neighbors, storage: Storage, _log: OwnRedoLog) -> Finding | Passed | NotEvaluated:
    figures = neighbors.measured() + storage.measured()
    if neighbors.innodb_flush_neighbors == 0 or storage.kind == "hdd":
        return Passed(figures)
    if not storage.kind:
        return NotEvaluated((STATE_STORAGE,))
    return Finding(
        (
            Item(
                message=Message(
                    "innodb_flush_neighbors = {present} writes pages together that flash writes as well alone",
                    {"present": Quantity(neighbors.innodb_flush_neighbors, Unit.COUNT)},
                ),
                evidence=figures,
                proposal=(SetVariable("innodb_flush_neighbors", 0),),
                expected=Message("Fewer page writes for the same changes, and less wear."),
                price=(
                    Price(
                        PriceKind.OVERHEAD, Message("writes are smaller and more scattered, which flash does not mind")
                    ),
                ),
                would_change_our_mind=Message("Rotating disks below what was stated to be flash."),
            ),
        )
    )


rule.fires(
    "MySQL 5.7 with its default on flash",
    scene("mysql 5.7.22", {"innodb_flush_neighbors": 1}, host=stated(storage="ssd")),
    proposes={"innodb_flush_neighbors": 0},
)
rule.fires(
    "Whole extents on MariaDB 10.2",
    scene("mariadb 10.2.11", {"innodb_flush_neighbors": 2}, host=stated(storage="ssd")),
    proposes={"innodb_flush_neighbors": 0},
)
rule.passes(
    "MySQL 8.0 with its default on flash",
    scene("mysql 8.0.33", {"innodb_flush_neighbors": 0}, host=stated(storage="ssd")),
)
rule.passes("Rotating disks", scene("mariadb 10.2.11", {"innodb_flush_neighbors": 1}, host=stated(storage="hdd")))
rule.passes(
    "MySQL 5.7 on rotating disks", scene("mysql 5.7.22", {"innodb_flush_neighbors": 1}, host=stated(storage="hdd"))
)
