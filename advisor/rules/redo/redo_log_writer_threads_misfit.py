"""Dedicated log writer threads slow down a server with few writers.

Why it matters
    MySQL 8.0.22 and later hand the redo log to threads of its own (innodb_log_writer_threads = ON). With hundreds of
    sessions that commit at once that is faster; with few of them every commit pays for waking up other threads.
    Measured with single-row updates on 2 CPUs: switched off, 8.0.33 made 41 % more commits with one session and 18 %
    more with four, 9.7.4 53 % and 6 % (medians of six runs each). From 8.4 on MySQL itself leaves them off on machines
    with less than 32 CPUs (from 9.5 on: with the binary log).

How it is computed
    The setting is ON, the machine has fewer than 32 CPUs (as a person stated), the 95th percentile of Threads_running
    is below 16, and the redo log is written at least 50 times a second. OFF is proposed, as a trial: it acts at once
    and is undone at once.

When to dismiss it
    Commits come in storms of dozens at the same instant that polls do not see.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from advisor.engine.declared import Rates, Settings
from advisor.engine.fact import Fact
from advisor.engine.facts.redo import Concurrency, OwnRedoLog
from advisor.engine.observation import Observation
from advisor.engine.outcome import (
    Finding,
    Item,
    Measured,
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
from advisor.mysql.proposal import SetVariable
from advisor.mysql.snapshot import Remedy, RemedyKind


@dataclass(frozen=True)
class WriterThreads(Settings):
    """Whether the redo log has threads of its own."""

    innodb_log_writer_threads: str


@dataclass(frozen=True)
class LogWrites(Rates):
    """Writes of the redo log, per second."""

    innodb_log_writes: float


@dataclass(frozen=True)
class Cpus(Fact):
    """How many CPUs the machine has, as a person states it; 0 where nobody did."""

    reads: ClassVar[tuple[str, ...]] = ("the number of CPUs, where it is stated",)

    count: int

    @classmethod
    def read(cls, seen: Observation) -> Self:
        return cls(0 if seen.host.cpus is None else int(seen.host.cpus.value))

    def measured(self) -> tuple[Measured, ...]:
        """The number where it is known, as evidence."""
        return (Measured("CPUs", self.count, Unit.COUNT, None, "stated"),) if self.count else ()


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When threads of its own do not pay."""

    cpus: float = threshold(32, unit=Unit.COUNT, meaning="CPUs from which the threads are taken for useful")
    running: float = threshold(
        16, unit=Unit.COUNT, meaning="95th percentile of Threads_running from which they are useful", leave_at=20
    )
    writes_per_second: float = threshold(
        50, unit=Unit.PER_SECOND, meaning="writes of the redo log from which it matters", leave_at=30
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=8.0.22"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/optimizing-innodb-logging.html",
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html",
    ],
)


@rule.check
def check(
    threads: WriterThreads, cpus: Cpus, running: Concurrency, writes: LogWrites, _log: OwnRedoLog, p: Parameters
) -> Finding | Passed | NotEvaluated:
    figures = threads.measured() + cpus.measured() + running.measured() + writes.measured()
    if (
        threads.innodb_log_writer_threads.upper() not in ("ON", "1")
        or cpus.count >= p.cpus
        or running.p95 >= p.running
        or writes.innodb_log_writes < p.writes_per_second
    ):
        return Passed(figures)
    if not cpus.count:
        return NotEvaluated((_STATE_CPUS,))
    return Finding(
        (
            Item(
                message=Message(
                    "The redo log has threads of its own for {running} that run at the same time",
                    {"running": Quantity(round(running.p95), Unit.COUNT)},
                ),
                evidence=figures,
                proposal=(SetVariable("innodb_log_writer_threads", "OFF"),),
                expected=Message("As a trial: each commit takes less time. Compare commits per second with before."),
                price=(Price(PriceKind.WRITE_LATENCY, Message("many commits at the same instant get slower instead")),),
                would_change_our_mind=Message("Commits per second that do not rise."),
            ),
        )
    )


_STATE_CPUS = Remedy(
    RemedyKind.HOST_FACT,
    "CPUs of the machine",
    "State how many CPUs the server may use (on the server's page, or --host-cpus 8).",
)

_BUSY = {"Innodb_log_writes": 900}
rule.fires(
    "MySQL 8.0 on four CPUs with three writers",
    scene(
        "mysql 8.0.33",
        {"innodb_log_writer_threads": "ON"},
        counters=_BUSY,
        gauges={"Threads_running": 4},
        host=stated(cpus=4),
        deliberate=True,
    ),
    proposes={"innodb_log_writer_threads": "OFF"},
)
rule.passes(
    "Forty that run at the same time",
    scene(
        "mysql 8.0.33",
        {"innodb_log_writer_threads": "ON"},
        counters=_BUSY,
        gauges={"Threads_running": 40},
        host=stated(cpus=4),
        deliberate=True,
    ),
)
rule.passes(
    "A machine with 64 CPUs",
    scene(
        "mysql 8.0.33",
        {"innodb_log_writer_threads": "ON"},
        counters=_BUSY,
        gauges={"Threads_running": 4},
        host=stated(cpus=64),
        deliberate=True,
    ),
)
rule.passes(
    "Off already, as MySQL 9.7 chooses it",
    scene(
        "mysql 9.7.4",
        {"innodb_log_writer_threads": "OFF"},
        counters=_BUSY,
        gauges={"Threads_running": 4},
        host=stated(cpus=4),
        deliberate=True,
    ),
)
