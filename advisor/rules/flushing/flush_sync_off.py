"""Flushing is held back while writers wait for it.

Why it matters
    With innodb_flush_sync = OFF InnoDB obeys innodb_io_capacity_max even when the redo log is full: every writer waits
    until pages were written at that leisurely rate. ON, the default, lets it write as fast as the device does, until
    the log has room again. OFF is meant to spare reads from bursts, and does as long as the log never fills.

How it is computed
    innodb_flush_sync is OFF, and the checkpoint age was at its limit in two polls, or counters of waits for redo space
    rose in two intervals. Where the redo log is too small and can be enlarged that comes first: then the rule is not
    evaluated.

When to dismiss it
    Reads matter more than writers here, and it was decided that writers wait.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.redo import RedoLoad, RedoLog, RedoPressure
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
from advisor.engine.redo_sizing import ENLARGE_FIRST, RedoThresholds, can_enlarge
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import GIB, MIB
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class SyncFlushing(Settings):
    """Whether flushing at the limit ignores innodb_io_capacity_max."""

    innodb_flush_sync: bool


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-configuring-io-capacity.html",
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(
    sync: SyncFlushing, log: RedoLog, load: RedoLoad, pressure: RedoPressure, redo: RedoThresholds
) -> Finding | Passed | NotEvaluated:
    figures = sync.measured() + pressure.measured()
    if sync.innodb_flush_sync or not pressure.stalls_proven:
        return Passed(figures)
    if can_enlarge(log, load, pressure, redo):
        return NotEvaluated((ENLARGE_FIRST,))
    return Finding(
        (
            Item(
                message=Message("Writers wait at a full redo log while flushing keeps to innodb_io_capacity_max"),
                evidence=figures,
                proposal=(SetVariable("innodb_flush_sync", "ON"),),
                expected=Message("A full log is emptied as fast as the device writes, and the waits are shorter."),
                price=(Price(PriceKind.READ_LATENCY, Message("reads wait behind the burst while the log is emptied")),),
                would_change_our_mind=Message("A decision that reads come first."),
            ),
        )
    )


rule.fires(
    "MySQL 8.0 at its limit with a log that holds an hour",
    scene(
        "mysql 8.0.33",
        {"innodb_flush_sync": "OFF", "innodb_redo_log_capacity": 8 * GIB},
        redo_per_second=MIB,
        pressure=[1.0],
    ),
    proposes={"innodb_flush_sync": "ON"},
)
rule.fires(
    "MariaDB 10.11 likewise",
    scene(
        "mariadb 10.11.18",
        {"innodb_flush_sync": "OFF", "innodb_log_file_size": 8 * GIB},
        redo_per_second=MIB,
        pressure=[1.0],
    ),
    proposes={"innodb_flush_sync": "ON"},
)
rule.passes(
    "OFF, and the log never fills",
    scene(
        "mysql 8.0.33",
        {"innodb_flush_sync": "OFF", "innodb_redo_log_capacity": 8 * GIB},
        redo_per_second=MIB,
        pressure=[0.5],
    ),
)
rule.passes(
    "ON at the limit: other rules say why",
    scene(
        "mariadb 10.11.18",
        {"innodb_flush_sync": "ON", "innodb_log_file_size": 8 * GIB},
        redo_per_second=MIB,
        pressure=[1.0],
    ),
)
