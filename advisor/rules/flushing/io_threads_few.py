"""InnoDB has fewer threads for its I/O than by default.

Why it matters
    innodb_read_io_threads and innodb_write_io_threads complete what was read ahead and what is flushed, and bound how
    many requests InnoDB has on its way (256 for each of them). Fewer than 4 save next to nothing, and let read-ahead
    and flushing wait on a device that answers many requests at once.

How it is computed
    From the settings: one of them is below 4, the default of all versions (MySQL 8.4 and later read with half as many
    threads as there are CPUs, but 4 at least). It is set to 4.

When to dismiss it
    A server on a small machine, for whose memory each thread counts.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.redo import OwnRedoLog
from advisor.engine.outcome import (
    Finding,
    Item,
    Message,
    Passed,
    Price,
    PriceKind,
    Severity,
)
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Threads(Settings):
    """How many threads complete reads and writes."""

    innodb_read_io_threads: int
    innodb_write_io_threads: int


@dataclass(frozen=True)
class Parameters(Thresholds):
    """How few are few."""

    threads: float = threshold(4, unit=Unit.COUNT, meaning="threads of either kind, at least")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    raises=["innodb_read_io_threads", "innodb_write_io_threads"],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(threads: Threads, _log: OwnRedoLog, p: Parameters) -> Finding | Passed:
    wanted = int(p.threads)
    proposal = []
    if threads.innodb_read_io_threads < wanted:
        proposal.append(SetVariable("innodb_read_io_threads", wanted))
    if threads.innodb_write_io_threads < wanted:
        proposal.append(SetVariable("innodb_write_io_threads", wanted))
    if not proposal:
        return Passed(threads.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "InnoDB reads with {reads} and writes with {writes} threads",
                    {
                        "reads": Quantity(threads.innodb_read_io_threads, Unit.COUNT),
                        "writes": Quantity(threads.innodb_write_io_threads, Unit.COUNT),
                    },
                ),
                evidence=threads.measured(),
                proposal=tuple(proposal),
                expected=Message("More requests on their way to the device at once."),
                price=(Price(PriceKind.MEMORY, Message("some hundred KiB for each thread")),),
                would_change_our_mind=Message("A device that answers one request after the other."),
            ),
        )
    )


rule.fires(
    "One of each on MySQL 8.0",
    scene("mysql 8.0.33", {"innodb_read_io_threads": 1, "innodb_write_io_threads": 1}),
    proposes={"innodb_read_io_threads": 4, "innodb_write_io_threads": 4},
)
rule.fires(
    "Two for writes on MariaDB 10.11",
    scene("mariadb 10.11.18", {"innodb_read_io_threads": 8, "innodb_write_io_threads": 2}),
    proposes={"innodb_write_io_threads": 4},
)
rule.passes("Sixteen of each", scene("mysql 5.7.22", {"innodb_read_io_threads": 16, "innodb_write_io_threads": 16}))
rule.passes(
    "The default of MariaDB 11.8", scene("mariadb 11.8.6", {"innodb_read_io_threads": 4, "innodb_write_io_threads": 4})
)
