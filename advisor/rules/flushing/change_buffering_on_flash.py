"""Changes of indexes are buffered although the data are on flash.

Why it matters
    The change buffer keeps changes of secondary index pages that are not in memory, to spare rotating disks a read for
    each. On flash that read costs little, while the buffer takes up to a quarter of the buffer pool, has to be merged
    at the worst of times (after a crash, at a shutdown, under reads), and was the cause of corrupted indexes on
    MariaDB, which switched it off by default in 10.5.15 and removed it in 11.0. MySQL switched it off in 8.4.

How it is computed
    From the setting and the storage that a person stated: anything but none on flash. What was buffered before is
    merged as pages are read.

When to dismiss it
    Secondary indexes are many times as big as the buffer pool, and inserts into them come in bulk.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.flushing import (
    STATE_STORAGE,
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


@dataclass(frozen=True)
class Buffering(Settings):
    """Which changes are buffered."""

    innodb_change_buffering: str


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2,<11.0"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-change-buffer.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-change-buffering",
    ],
)


@rule.check
def check(buffering: Buffering, storage: Storage, _log: OwnRedoLog) -> Finding | Passed | NotEvaluated:
    figures = buffering.measured() + storage.measured()
    if buffering.innodb_change_buffering.lower() == "none" or storage.kind == "hdd":
        return Passed(figures)
    if not storage.kind:
        return NotEvaluated((STATE_STORAGE,))
    return Finding(
        (
            Item(
                message=Message(
                    "innodb_change_buffering = {what} spares flash reads that it does not mind",
                    {"what": Quantity(buffering.innodb_change_buffering, Unit.TEXT)},
                ),
                evidence=figures,
                proposal=(SetVariable("innodb_change_buffering", "none"),),
                expected=Message("The pool holds pages instead of changes, and nothing is merged after a crash."),
                price=(
                    Price(PriceKind.WRITE_LATENCY, Message("a change of an index page that is not cached reads it")),
                ),
                would_change_our_mind=Message("Bulk inserts into secondary indexes far bigger than the buffer pool."),
            ),
        )
    )


rule.fires(
    "MySQL 8.0 with its default on flash",
    scene("mysql 8.0.33", {"innodb_change_buffering": "all"}, host=stated(storage="ssd")),
    proposes={"innodb_change_buffering": "none"},
)
rule.fires(
    "MariaDB 10.11 where somebody switched it on again",
    scene("mariadb 10.11.18", {"innodb_change_buffering": "inserts"}, host=stated(storage="ssd")),
    proposes={"innodb_change_buffering": "none"},
)
rule.passes("Rotating disks", scene("mysql 8.0.33", {"innodb_change_buffering": "all"}, host=stated(storage="hdd")))
rule.passes(
    "The default of MariaDB 10.11",
    scene("mariadb 10.11.18", {"innodb_change_buffering": "none"}, host=stated(storage="ssd")),
)
