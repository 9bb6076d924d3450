"""The redo log is too small for the writes.

Why it matters
    InnoDB may overwrite redo only after the pages it changed were written. When the checkpoint age comes near the
    end of the log, flushing follows the log instead of the workload: pages are written again and again, and at the
    limit writers wait. A bigger log lets the same pages collect more changes before they are written once.

How it is computed
    The checkpoint age is compared with the age at which this very server slows its writers (MySQL: the effective
    sync point; MariaDB 10.5+: the maximum age). Too small is *proven* when the age was at the limit for at least 1
    % of the time and in two polls, or a counter of waits for redo space rose in two intervals, and half an hour of
    these writes would fill the log; *turned over* when a log below 256 MiB is written to its limit in less than 30
    seconds, the time over which InnoDB averages the rates that adaptive flushing steers by
    (innodb_flushing_avg_loops): polls then see the age by chance, and every changed page is written within that
    time; *likely* when the 95th percentile of the age stays above 90 % of the limit and twenty minutes of peak
    writes do not fit below the async point; and too small *for the hour* when the busiest hour writes more than 1.5
    capacities and the age stays above 70 %. MariaDB 10.5+ with innodb_max_dirty_pages_pct_lwm = 0 lets the age rise
    by design, so that only time at the limit counts there. Innodb_log_waits is no evidence: it counts waits for the
    log *buffer* and stays 0 on servers that stall on a full log.

    Two intervals with waits prove it however long was watched: a log that holds half an hour of its load shows none,
    and a single one may be a checkpoint that something else held up.

    The proposal is the biggest of: the peak rate for twenty minutes, divided by the async point's share of the log
    (0.75); the busiest hour (twice, where too small is proven); and twice the present size where it is proven. It is at
    least 256 MiB, at most a quarter of the free disk where that is stated, and rounded up to sizes a person would
    write (down, at a ceiling). Until an hour was observed (but for a twentieth of it), ten minutes take the place of
    twenty, and 4 GiB is the most that is proposed; until a day was, 16 GiB; never more than 64 GiB: enough that the
    same load stays clear of the limit, not so much that one busy minute could ask for half a disk. Where the log is
    proven too small, or turned over, and one of these bounds leaves no room (or innodb_dedicated_server sizes the log
    of a managed server by itself), the finding stays and names the bound.
    The growth of the log sequence number is used, never Innodb_os_log_written, which counts up to eight times as much
    where commits are small.

    What happened at the limit counts from the last change of InnoDB's settings or of the log's size on; how much was
    written counts from before it, too.

When to dismiss it
    The window shows a one-off import. Or recovery has to be short at any price: a bigger log takes longer to recover.
"""

from __future__ import annotations

from dataclasses import replace

from advisor.engine.evidence import lasts
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
from advisor.engine.scene import hours, scene, stated
from advisor.engine.units import DAY, GIB, HOUR, MIB, Quantity, Unit
from advisor.mysql.proposal import Investigate
from advisor.mysql.snapshot import Remedy, RemedyKind
from advisor.mysql.values import human_size

rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.1",
    parameters=RedoThresholds(),
    caused_by=[RedoPressure],
    raises=["innodb_redo_log_capacity", "innodb_log_file_size"],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-redo-log.html",
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-redo-log-buffer.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-redo-log",
    ],
)


@rule.check
def check(
    log: RedoLog, load: RedoLoad, pressure: RedoPressure, p: RedoThresholds
) -> Finding | Passed | NotApplicable | NotEvaluated:
    figures = log.measured() + load.measured() + pressure.measured()
    verdict = too_small(log, load, pressure, p)
    if log.self_sized and verdict is not TooSmall.PROVEN:
        return NotApplicable(Message("innodb_dedicated_server sizes the redo log of this managed server by itself."))
    if verdict is TooSmall.NOT:
        return Passed(figures)
    changes = enlarged(log, load, verdict, p)
    if isinstance(changes, Bound) and verdict not in (TooSmall.PROVEN, TooSmall.TURNED_OVER):
        # No harm was proven: where waiting would allow more it is waited for, else the size is the right one.
        return NotEvaluated((_WAIT[changes],)) if changes in _WAIT else Passed(figures)
    critical = (
        verdict is TooSmall.PROVEN
        and lasts(pressure.observed_seconds, HOUR)
        and pressure.at_limit_ratio >= p.critical_at_limit_ratio
    )
    before = busy_held_seconds(log, load, log.capacity_bytes)
    held = {
        "capacity": Quantity(log.capacity_bytes, Unit.BYTES),
        "time": Quantity(before, Unit.SECONDS),
    }
    item = Item(
        # The hour that decides is the busiest that is known: the present one may be idle.
        message=Message("The redo log of {capacity} holds {time} of the busiest writes", held)
        if load.hour_measured
        else Message("The redo log of {capacity} holds {time} of the present writes", held),
        evidence=figures,
        proposal=(Investigate(_advice(changes, log, p)),) if isinstance(changes, Bound) else changes,
        severity=Severity.CRITICAL if critical else None,
        would_change_our_mind=Message(
            "Less than {rate} of redo in the busiest hour.",
            {"rate": Quantity(log.capacity_bytes / 2, Unit.BYTES)},
        ),
    )
    if isinstance(changes, Bound):
        return Finding((item,))
    capacity = log.capacity_by(changes)
    longer = (
        Message("crash recovery may take longer, in the worst case, if the storage is an SSD: state it to be exact")
        if log.storage is None
        else Message("crash recovery may take longer, in the worst case")
    )
    return Finding(
        (
            replace(
                item,
                expected=Message(
                    "With {capacity} the same load takes {after} to reach the limit instead of {before}.",
                    {
                        "capacity": Quantity(capacity, Unit.BYTES),
                        "before": Quantity(before, Unit.SECONDS),
                        "after": Quantity(busy_held_seconds(log, load, capacity), Unit.SECONDS),
                    },
                ),
                price=(
                    Price(
                        PriceKind.DISK,
                        Message("{more} more disk", {"more": Quantity(capacity - log.capacity_bytes, Unit.BYTES)}),
                        Quantity(log.capacity_bytes, Unit.BYTES),
                        Quantity(capacity, Unit.BYTES),
                    ),
                    Price(
                        PriceKind.RECOVERY_TIME,
                        longer,
                        Quantity(recovery_seconds(log.capacity_bytes, log.storage), Unit.SECONDS),
                        Quantity(recovery_seconds(capacity, log.storage), Unit.SECONDS),
                    ),
                ),
            ),
        )
    )


#: What is waited for where no harm was proven yet, and only the evidence is too little for a bigger log.
_WAIT = {
    Bound.HOUR_OF_EVIDENCE: Remedy(
        RemedyKind.WINDOW,
        "redo written in an hour",
        "The age comes near its limit, but a log of this size is enlarged only on an hour of evidence.",
    ),
    Bound.DAY_OF_EVIDENCE: Remedy(
        RemedyKind.WINDOW,
        "redo written in a day",
        "The age comes near its limit, but a log of this size is enlarged only on a day of evidence.",
    ),
}


def _advice(bound: Bound, log: RedoLog, p: RedoThresholds) -> str:
    """Why the log cannot be proposed bigger though its load needs it, and what is left to do."""

    def size(value: float | None) -> str:
        return human_size(int(value or 0))

    flush = "Else let flushing keep further ahead (innodb_io_capacity) or write less redo."
    return {
        Bound.MANAGED: "innodb_dedicated_server sizes the redo log of this managed server by its instance: take a "
        f"bigger instance class, or switch it off there and set the size. {flush}",
        Bound.SERVER: f"This server takes no redo log above {size(log.largest_bytes)}. {flush}",
        Bound.DISK: f"Of the {size(log.free_disk_bytes)} of free disk that were stated a redo log may take "
        f"{size(p.free_disk_ratio * (log.free_disk_bytes or 0))}, which leaves no room for a bigger one that helps: "
        f"give it more disk, or state the free disk anew where it has changed. {flush}",
        Bound.CEILING: f"Above {size(p.ceiling_bytes)} no size is proposed: recovery from a crash would take too long "
        f"for what it gains. {flush}",
        Bound.DAY_OF_EVIDENCE: f"More than {size(p.day_ceiling_bytes)} is proposed only from a day of observation: "
        "keep observing this load.",
        Bound.HOUR_OF_EVIDENCE: f"More than {size(p.short_ceiling_bytes)} is proposed only from an hour of "
        "observation: observe this load for an hour.",
    }[bound]


_STALLING = [1.0, 0.97, 1.0, 1.0, 0.99, 1.0, 0.95]
rule.fires(
    "MySQL 8.0.33 with 8 MiB, stalling for a minute",
    scene(
        "mysql 8.0.33",
        {"innodb_redo_log_capacity": 8 * MIB},
        redo_per_second=2 * MIB,
        pressure=_STALLING,
    ),
    proposes={"innodb_redo_log_capacity": 1792 * MIB},
)
rule.fires(
    "MariaDB 10.11 with 8 MiB: another variable, the same arithmetic",
    scene("mariadb 10.11.18", {"innodb_log_file_size": 8 * MIB}, redo_per_second=MIB, pressure=_STALLING),
    proposes={"innodb_log_file_size": 832 * MIB},
)
rule.fires(
    "MySQL 5.7 with two files of 4 MiB: the proposal is per file",
    scene("mysql 5.7.22", {"innodb_log_file_size": 4 * MIB}, redo_per_second=MIB, pressure=_STALLING),
    proposes={"innodb_log_file_size": 416 * MIB},
)
rule.fires(
    "A day on which writers waited for one hour in ten",
    scene(
        "mysql 8.0.33",
        {"innodb_redo_log_capacity": GIB},
        redo_per_second=2 * MIB,
        pressure=[0.8],
        digests=hours(24, redo_per_hour=7 * GIB, pressure=0.8, capacity_bytes=GIB, at_limit_ratio=0.1),
    ),
    proposes={"innodb_redo_log_capacity": 14 * GIB},
)
rule.fires(
    "The same day with 4 GiB on a disk with 8 GiB free: no size is proposed, the bound is named",
    scene(
        "mysql 8.0.33",
        {"innodb_redo_log_capacity": 4 * GIB},
        redo_per_second=2 * MIB,
        pressure=[0.8],
        digests=hours(24, redo_per_hour=7 * GIB, pressure=0.8, capacity_bytes=4 * GIB, at_limit_ratio=0.1),
        host=stated(free_disk_bytes=8 * GIB),
    ),
)
rule.passes(
    "The same load with 1 GiB",
    scene("mysql 8.0.33", {"innodb_redo_log_capacity": GIB}, redo_per_second=2 * MIB, pressure=[0.05, 0.1, 0.15]),
)
rule.passes(
    "A MariaDB whose age is high by design, and never at the limit",
    scene("mariadb 11.8.6", {"innodb_log_file_size": 96 * MIB}, redo_per_second=MIB, pressure=[0.9, 0.93]),
)
rule.passes(
    "A day without time at the limit",
    scene(
        "mysql 8.0.33",
        {"innodb_redo_log_capacity": 8 * GIB},
        redo_per_second=MIB,
        pressure=[0.4],
        uptime_seconds=40 * DAY,
        digests=hours(24, redo_per_hour=4 * GIB, pressure=0.4, capacity_bytes=8 * GIB),
        host=stated(free_disk_bytes=100 * GIB),
    ),
)
