"""Pages are flushed one by one although each costs a rotating disk a seek.

Why it matters
    A rotating disk spends 5 to 10 ms on a seek and next to nothing on the pages beside it. With
    innodb_flush_neighbors = 0, the default of MySQL since 8.0 (it is meant for flash), dirty pages that lie side by
    side are written at different times, with a seek each.

How it is computed
    From the setting and the storage that a person stated: 0 on rotating disks. It is set to 1, which takes the dirty
    pages beside a page of the same extent along.

When to dismiss it
    A controller with a battery-backed cache orders the writes by itself.
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
from advisor.mysql.proposal import SetVariable

rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    raises=["innodb_flush_neighbors"],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html",
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-buffer-pool-flushing.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(neighbors: Neighbors, storage: Storage, _log: OwnRedoLog) -> Finding | Passed | NotEvaluated:
    figures = neighbors.measured() + storage.measured()
    if neighbors.innodb_flush_neighbors > 0 or storage.kind == "ssd":
        return Passed(figures)
    if not storage.kind:
        return NotEvaluated((STATE_STORAGE,))
    return Finding(
        (
            Item(
                message=Message("Each dirty page is written alone, on disks that seek for each"),
                evidence=figures,
                proposal=(SetVariable("innodb_flush_neighbors", 1),),
                expected=Message("Pages side by side are written with one seek."),
                price=(
                    Price(PriceKind.DISK_WRITES, Message("some pages are written before they collected all changes")),
                ),
                would_change_our_mind=Message("Flash, or a controller that orders writes by itself."),
            ),
        )
    )


rule.fires(
    "MySQL 8.0 with its default on rotating disks",
    scene("mysql 8.0.33", {"innodb_flush_neighbors": 0}, host=stated(storage="hdd")),
    proposes={"innodb_flush_neighbors": 1},
)
rule.fires(
    "MariaDB 10.11 that somebody tuned for flash and moved",
    scene("mariadb 10.11.18", {"innodb_flush_neighbors": 0}, host=stated(storage="hdd")),
    proposes={"innodb_flush_neighbors": 1},
)
rule.passes("MySQL 8.0 on flash", scene("mysql 8.0.33", {"innodb_flush_neighbors": 0}, host=stated(storage="ssd")))
rule.passes(
    "MariaDB with its default on rotating disks",
    scene("mariadb 10.11.18", {"innodb_flush_neighbors": 1}, host=stated(storage="hdd")),
)
