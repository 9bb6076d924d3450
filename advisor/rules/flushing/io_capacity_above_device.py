"""innodb_io_capacity is far above what the device writes.

Why it matters
    InnoDB takes innodb_io_capacity for what the device does by the way, and uses it up: while it is idle, above the
    low-water mark of dirty pages, and scaled by the age. Rotating disks write 100 to 200 scattered pages a second.
    MySQL 8.4 and later start with 10,000, which is meant for flash: on disks the queue then is always full, and reads
    wait behind it.

How it is computed
    From the setting and the storage that a person stated: above 500 pages/s on rotating disks, or above 100,000
    anywhere. Proposed are 200 and a maximum of 2,000 (the defaults before 8.4) on rotating disks, else 20,000 and
    40,000. Where the storage is not known and the value is 5,000 or more, the rule asks for it.

When to dismiss it
    Many disks behind a controller with a write cache, which were measured to take that much.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.flushing import (
    STATE_STORAGE,
    IoCapacity,
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
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Change, SetVariable


@dataclass(frozen=True)
class Parameters(Thresholds):
    """What a device may be asked for."""

    disk_pages_per_second: float = threshold(
        500, unit=Unit.PAGES_PER_SECOND, meaning="innodb_io_capacity at most on rotating disks"
    )
    proposed_disk_pages: float = threshold(
        200, unit=Unit.PAGES_PER_SECOND, meaning="the proposal for rotating disks; ten times that as the maximum"
    )
    any_pages_per_second: float = threshold(
        100_000, unit=Unit.PAGES_PER_SECOND, meaning="innodb_io_capacity at most anywhere"
    )
    proposed_pages: float = threshold(
        20_000, unit=Unit.PAGES_PER_SECOND, meaning="the proposal elsewhere; twice that as the maximum"
    )
    doubtful_pages_per_second: float = threshold(
        5000, unit=Unit.PAGES_PER_SECOND, meaning="innodb_io_capacity from which the storage has to be known"
    )


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-configuring-io-capacity.html",
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-page-flushing",
    ],
)


@rule.check
def check(io: IoCapacity, storage: Storage, _log: OwnRedoLog, p: Parameters) -> Finding | Passed | NotEvaluated:
    figures = io.measured() + storage.measured()
    rotating = storage.kind == "hdd"
    present = io.pages_per_second
    if present <= (p.disk_pages_per_second if rotating else p.any_pages_per_second):
        if not storage.kind and present >= p.doubtful_pages_per_second:
            return NotEvaluated((STATE_STORAGE,))
        return Passed(figures)
    capacity = int(p.proposed_disk_pages if rotating else p.proposed_pages)
    maximum = min(io.maximum_pages_per_second, capacity * (10 if rotating else 2))
    proposal: tuple[Change, ...] = (SetVariable("innodb_io_capacity", capacity),)
    if maximum != io.maximum_pages_per_second:
        # innodb_io_capacity goes down first: servers drag it along when the maximum falls below it.
        proposal = (*proposal, SetVariable("innodb_io_capacity_max", maximum))
    return Finding(
        (
            Item(
                message=Message(
                    "innodb_io_capacity = {present} asks {device} for more than it writes",
                    {
                        "present": Quantity(present, Unit.COUNT),
                        "device": Quantity("a rotating disk" if rotating else "any device", Unit.TEXT),
                    },
                ),
                evidence=figures,
                proposal=proposal,
                expected=Message("Background writes leave the device time for reads and for the redo log."),
                price=(
                    Price(
                        PriceKind.WRITE_LATENCY,
                        Message("a burst of changes takes longer to flush"),
                        Quantity(present, Unit.PAGES_PER_SECOND),
                        Quantity(capacity, Unit.PAGES_PER_SECOND),
                    ),
                ),
                would_change_our_mind=Message("A measurement in which the device took that many writes of 16 KiB."),
            ),
        )
    )


rule.fires(
    "MySQL 9.7 with its default of 10,000 on rotating disks",
    scene("mysql 9.7.4", host=stated(storage="hdd")),
    proposes={"innodb_io_capacity": 200, "innodb_io_capacity_max": 2000},
)
rule.fires(
    "MariaDB 10.11 with 4,000 on rotating disks",
    scene(
        "mariadb 10.11.18",
        {"innodb_io_capacity": 4000, "innodb_io_capacity_max": 8000},
        host=stated(storage="hdd"),
    ),
    proposes={"innodb_io_capacity": 200, "innodb_io_capacity_max": 2000},
)
rule.fires(
    "A million on flash",
    scene(
        "mysql 8.0.33",
        {"innodb_io_capacity": 1_000_000, "innodb_io_capacity_max": 2_000_000},
        host=stated(storage="ssd"),
    ),
    proposes={"innodb_io_capacity": 20_000, "innodb_io_capacity_max": 40_000},
)
rule.passes("MySQL 9.7 with its default on flash", scene("mysql 9.7.4", host=stated(storage="ssd")))
rule.passes("MySQL 8.0 with its default on rotating disks", scene("mysql 8.0.33", host=stated(storage="hdd")))
rule.passes("MariaDB with its default on rotating disks", scene("mariadb 10.11.18", host=stated(storage="hdd")))
rule.passes(
    "MariaDB with 4,000 on flash",
    scene(
        "mariadb 10.11.18",
        {"innodb_io_capacity": 4000, "innodb_io_capacity_max": 8000},
        host=stated(storage="ssd"),
    ),
)
