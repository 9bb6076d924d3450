"""The redo log buffer takes hundreds of MiB that no transaction needs.

Why it matters
    The buffer only has to hold the redo of the transactions that run at this moment: it is written at every commit, and
    once a second. What is beyond that is memory that the buffer pool could use. Raising it again and again follows
    advice from averages since the server started, which never improve.

How it is computed
    innodb_log_buffer_size is above 256 MiB, and Innodb_log_waits did not rise between full snapshots (less than once in
    an hour). 64 MiB are proposed, the default of MySQL since 8.4.

When to dismiss it
    Single transactions write hundreds of MiB, outside of the window that was seen.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Rates
from advisor.engine.facts.redo import LogBuffer, OwnRedoLog
from advisor.engine.outcome import (
    Finding,
    Item,
    Message,
    Passed,
    Price,
    PriceKind,
    Severity,
    unused,
)
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import GIB, MIB, Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class LogWaits(Rates):
    """Waits for room in the buffer, and writes of it, per second."""

    innodb_log_waits: float
    innodb_log_writes: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When a buffer is too big."""

    largest_bytes: float = threshold(256 * MIB, unit=Unit.BYTES, meaning="innodb_log_buffer_size at most")
    proposed_bytes: float = threshold(64 * MIB, unit=Unit.BYTES, meaning="the proposal")
    waits_per_second: float = threshold(
        1 / 3600, unit=Unit.PER_SECOND, meaning="waits for room from which nothing is too big", leave_at=1 / 2400
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/optimizing-innodb-logging.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(buffer: LogBuffer, waits: LogWaits, _log: OwnRedoLog, p: Parameters) -> Finding | Passed:
    figures = buffer.measured() + waits.measured()
    present = buffer.innodb_log_buffer_size
    if present <= p.largest_bytes or waits.innodb_log_waits >= p.waits_per_second:
        return Passed(figures)
    wanted = int(p.proposed_bytes)
    return Finding(
        (
            Item(
                message=Message(
                    "Nobody waits for room in a redo log buffer of {size}", {"size": Quantity(present, Unit.BYTES)}
                ),
                evidence=unused(figures),
                proposal=(SetVariable("innodb_log_buffer_size", wanted),),
                expected=Message(
                    "{memory} become free for the buffer pool.", {"memory": Quantity(present - wanted, Unit.BYTES)}
                ),
                price=(
                    Price(
                        PriceKind.WRITE_LATENCY,
                        Message("a transaction that writes more redo than that waits for the log"),
                    ),
                ),
                would_change_our_mind=Message("Innodb_log_waits that rises."),
            ),
        )
    )


rule.fires(
    "1 GiB on MySQL 8.0",
    scene(
        "mysql 8.0.33",
        {"innodb_log_buffer_size": GIB},
        counters={"Innodb_log_waits": 0, "Innodb_log_writes": 400},
        deliberate=True,
    ),
    proposes={"innodb_log_buffer_size": 64 * MIB},
)
rule.fires(
    "512 MiB on MariaDB 10.11",
    scene(
        "mariadb 10.11.18",
        {"innodb_log_buffer_size": 512 * MIB, "innodb_log_file_size": GIB},
        counters={"Innodb_log_waits": 0, "Innodb_log_writes": 400},
        deliberate=True,
    ),
    proposes={"innodb_log_buffer_size": 64 * MIB},
)
rule.passes(
    "1 GiB that is waited for",
    scene(
        "mysql 8.0.33",
        {"innodb_log_buffer_size": GIB},
        counters={"Innodb_log_waits": 1, "Innodb_log_writes": 400},
        deliberate=True,
    ),
)
rule.passes(
    "64 MiB",
    scene(
        "mariadb 10.11.18",
        {"innodb_log_buffer_size": 64 * MIB},
        counters={"Innodb_log_waits": 0, "Innodb_log_writes": 400},
        deliberate=True,
    ),
)
rule.passes(
    "256 MiB is the most that is ever proposed",
    scene(
        "mysql 8.0.33",
        {"innodb_log_buffer_size": 256 * MIB},
        counters={"Innodb_log_waits": 0, "Innodb_log_writes": 400},
        deliberate=True,
    ),
)
