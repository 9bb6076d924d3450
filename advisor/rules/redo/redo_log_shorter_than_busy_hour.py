"""The redo log holds less than forty minutes of the busiest writes.

Why it matters
    A log that is turned over within the hour makes InnoDB write every page that changes all the time again within the
    hour. While flushing keeps up nobody waits, so that it is no fault; but the same work with fewer writes leaves the
    device to the reads, and the next peak meets a log with room. One busy hour is the classic size.

How it is computed
    From a day of observation: the busiest hour writes more than 1.5 times the capacity, and the age is above 30 % of
    its limit for 5 % of the time (below that flushing is far ahead, and more room would stay empty). The sizes are
    those of the rule about a redo log that is too small, which comes first: where that fires, this one does not.
    Nothing is said where free disk, the server or the evidence leave no room for a log that holds the hour.

When to dismiss it
    Recovery from a crash has to be short, or an import made the busiest hour.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.evidence import HIGH_COVERAGE
from advisor.engine.facts.redo import RedoLoad, RedoLog, RedoPressure
from advisor.engine.outcome import (
    Finding,
    Item,
    Message,
    NotApplicable,
    NotEvaluated,
    Passed,
    Price,
    PriceKind,
    Severity,
)
from advisor.engine.redo_sizing import (
    Bound,
    RedoThresholds,
    TooSmall,
    busy_held_seconds,
    enlarged,
    recovery_seconds,
    too_small,
)
from advisor.engine.rule import Rule
from advisor.engine.scene import hours, scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import DAY, GIB, KIB, Quantity, Unit
from advisor.mysql.snapshot import Remedy, RemedyKind


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When a log is short for its hour."""

    hour_capacities: float = threshold(
        1.5, unit=Unit.RATIO, meaning="redo of the busiest hour as a multiple of the capacity", leave_at=1.3
    )
    p95_ratio: float = threshold(
        0.30, unit=Unit.RATIO, meaning="95th percentile of age / limit from which the log is used", leave_at=0.25
    )
    observed_seconds: float = threshold(DAY, unit=Unit.SECONDS, meaning="observation that it takes", leave_at=DAY)


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    raises=["innodb_redo_log_capacity", "innodb_log_file_size"],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-redo-log.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(
    log: RedoLog, load: RedoLoad, pressure: RedoPressure, redo: RedoThresholds, p: Parameters
) -> Finding | Passed | NotApplicable | NotEvaluated:
    figures = log.measured() + load.measured() + pressure.measured()
    if too_small(log, load, pressure, redo) is not TooSmall.NOT:
        return NotApplicable(Message("The rule about a redo log that is too small speaks of this one."))
    if load.observed_seconds < HIGH_COVERAGE * p.observed_seconds:
        return NotEvaluated((_DAY,))
    changes = enlarged(log, load, TooSmall.FOR_THE_HOUR, redo)
    if (
        load.busiest_hour_bytes <= p.hour_capacities * log.capacity_bytes
        or pressure.p95 < p.p95_ratio
        or isinstance(changes, Bound)
        or load.busiest_hour_bytes > p.hour_capacities * log.capacity_by(changes)
    ):
        return Passed(figures)
    capacity = log.capacity_by(changes)
    return Finding(
        (
            Item(
                message=Message(
                    "The redo log of {capacity} holds {time} of the busiest hour",
                    {
                        "capacity": Quantity(log.capacity_bytes, Unit.BYTES),
                        "time": Quantity(busy_held_seconds(log, load, log.capacity_bytes), Unit.SECONDS),
                    },
                ),
                evidence=figures,
                proposal=changes,
                expected=Message("Pages that change all the time are written less often for the same work."),
                price=(
                    Price(
                        PriceKind.DISK,
                        Message("{more} more disk", {"more": Quantity(capacity - log.capacity_bytes, Unit.BYTES)}),
                        Quantity(log.capacity_bytes, Unit.BYTES),
                        Quantity(capacity, Unit.BYTES),
                    ),
                    Price(
                        PriceKind.RECOVERY_TIME,
                        Message("crash recovery may take longer, in the worst case"),
                        Quantity(recovery_seconds(log.capacity_bytes, log.storage), Unit.SECONDS),
                        Quantity(recovery_seconds(capacity, log.storage), Unit.SECONDS),
                    ),
                ),
                would_change_our_mind=Message("Pages flushed per second that stay the same with the bigger log."),
            ),
        )
    )


_DAY = Remedy(RemedyKind.WINDOW, "a day of redo", "Needs 24 h of observation, the busiest hours among them.")

rule.fires(
    "MySQL 8.0 with 1 GiB for 3 GiB an hour, and flushing that keeps up",
    scene(
        "mysql 8.0.33",
        {"innodb_redo_log_capacity": GIB},
        redo_per_second=900 * KIB,
        pressure=[0.5],
        digests=hours(26, redo_per_hour=3 * GIB, pressure=0.5, capacity_bytes=GIB),
    ),
    proposes={"innodb_redo_log_capacity": 3 * GIB},
)
rule.fires(
    "MariaDB 10.11 likewise",
    scene(
        "mariadb 10.11.18",
        {"innodb_log_file_size": GIB},
        redo_per_second=900 * KIB,
        pressure=[0.8],
        digests=hours(26, redo_per_hour=3 * GIB, pressure=0.8, capacity_bytes=GIB),
    ),
    proposes={"innodb_log_file_size": 3 * GIB},
)
rule.passes(
    "An hour that fits",
    scene(
        "mysql 8.0.33",
        {"innodb_redo_log_capacity": 4 * GIB},
        redo_per_second=900 * KIB,
        pressure=[0.5],
        digests=hours(26, redo_per_hour=3 * GIB, pressure=0.5, capacity_bytes=4 * GIB),
    ),
)
rule.passes(
    "Flushing is far ahead: a bigger log would stay empty",
    scene(
        "mysql 8.0.33",
        {"innodb_redo_log_capacity": GIB},
        redo_per_second=900 * KIB,
        pressure=[0.1],
        digests=hours(26, redo_per_hour=3 * GIB, pressure=0.1, capacity_bytes=GIB),
    ),
)
rule.passes(
    "An hour that fits, on MariaDB",
    scene(
        "mariadb 10.11.18",
        {"innodb_log_file_size": 4 * GIB},
        redo_per_second=900 * KIB,
        pressure=[0.8],
        digests=hours(26, redo_per_hour=3 * GIB, pressure=0.8, capacity_bytes=4 * GIB),
    ),
)
