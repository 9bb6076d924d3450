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

    The proposal is the biggest of: the peak rate for twenty minutes, divided by the async point's share
    of the log (0.75); the busiest hour (twice, where too small is proven); and twice the present size where it is
    proven. It is at least 256 MiB, at most a quarter of the free disk where that is stated, and rounded to sizes a
    person would write. From less than an hour of observation, ten minutes take the place of twenty, and 4 GiB is
    the most that is proposed: enough that the same load stays clear of the limit, not so much that one busy minute
    could ask for half a disk. The growth of the log sequence number is used, never Innodb_os_log_written, which
    counts up to eight times as much where commits are small.

When to dismiss it
    The window shows a one-off import. Or recovery has to be short at any price: a bigger log takes longer to recover.
"""

from __future__ import annotations

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
    RedoThresholds,
    TooSmall,
    held_seconds,
    recovery_seconds,
    target_bytes,
    too_small,
)
from advisor.engine.rule import Rule
from advisor.engine.scene import hours, scene, stated
from advisor.engine.units import DAY, GIB, MIB, Quantity, Unit
from advisor.mysql.snapshot import Remedy, RemedyKind

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
    if log.self_sized:
        return NotApplicable(Message("innodb_dedicated_server sizes the redo log of this managed server by itself."))
    figures = log.measured() + load.measured() + pressure.measured()
    verdict = too_small(log, load, pressure, p)
    if verdict is TooSmall.NOT:
        return Passed(figures)
    wanted = target_bytes(log, load, verdict, p)
    changes = log.change_to(wanted)
    capacity = log.capacity_by(changes)
    if capacity <= log.capacity_bytes:
        if not load.hour_measured:
            return NotEvaluated(
                (
                    Remedy(
                        RemedyKind.WINDOW,
                        "redo written in an hour",
                        "The age reached its limit, but a log of this size is enlarged only on an hour of evidence.",
                    ),
                )
            )
        return Passed(figures)
    critical = (
        verdict is TooSmall.PROVEN and load.hour_measured and pressure.at_limit_ratio >= p.critical_at_limit_ratio
    )
    return Finding(
        (
            Item(
                message=Message(
                    "The redo log of {capacity} holds {time} of the present writes",
                    {
                        "capacity": Quantity(log.capacity_bytes, Unit.BYTES),
                        "time": Quantity(held_seconds(log, load), Unit.SECONDS),
                    },
                ),
                evidence=figures,
                proposal=changes,
                severity=Severity.CRITICAL if critical else None,
                expected=Message(
                    "With {capacity} the same load takes {after} to reach the limit instead of {before}.",
                    {
                        "capacity": Quantity(capacity, Unit.BYTES),
                        "before": Quantity(held_seconds(log, load), Unit.SECONDS),
                        "after": Quantity(
                            log.limit_bytes / log.capacity_bytes * capacity / load.mean_bytes_per_second, Unit.SECONDS
                        ),
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
                        Message("crash recovery may take longer, in the worst case"),
                        Quantity(recovery_seconds(log.capacity_bytes, log.storage), Unit.SECONDS),
                        Quantity(recovery_seconds(capacity, log.storage), Unit.SECONDS),
                    ),
                ),
                would_change_our_mind=Message(
                    "Less than {rate} of redo in the busiest hour.",
                    {"rate": Quantity(log.capacity_bytes / 2, Unit.BYTES)},
                ),
            ),
        )
    )


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
