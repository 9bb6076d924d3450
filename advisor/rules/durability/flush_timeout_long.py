"""A crash loses many seconds of commits, not one.

Why it matters
    Where commits are not written at once (innodb_flush_log_at_trx_commit 0 or 2), InnoDB writes the redo log every
    innodb_flush_log_at_timeout seconds. "About a second may be lost" is true of its default of 1 only: with 30, half
    a minute of acknowledged commits is gone after a power failure.

How it is computed
    From the settings: innodb_flush_log_at_trx_commit is neither 1 nor 3 and innodb_flush_log_at_timeout is above 1
    second. With durable commits the timeout does not matter and nothing is said.

When to dismiss it
    The data can be produced again, and somebody decided so.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.redo import OwnRedoLog
from advisor.engine.facts.settings import Durability
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class FlushTimeout(Settings):
    """Seconds between two writes of the redo log where commits do not wait for it."""

    innodb_flush_log_at_timeout: int


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(timeout: FlushTimeout, durability: Durability, _log: OwnRedoLog) -> Finding | Passed:
    figures = timeout.measured() + durability.measured()
    if durability.redo_is_durable or timeout.innodb_flush_log_at_timeout <= 1:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "A crash loses up to {time} of acknowledged commits",
                    {"time": Quantity(timeout.innodb_flush_log_at_timeout, Unit.SECONDS)},
                ),
                evidence=figures,
                proposal=(SetVariable("innodb_flush_log_at_timeout", 1),),
                expected=Message("Not more than about a second of commits is at stake."),
                price=(Price(PriceKind.DISK_WRITES, Message("the redo log is written and synced every second")),),
                would_change_our_mind=Message("Data that can be produced again."),
            ),
        )
    )


rule.fires(
    "Half a minute at stake",
    scene("mysql 8.0.33", {"innodb_flush_log_at_trx_commit": 2, "innodb_flush_log_at_timeout": 30}),
    proposes={"innodb_flush_log_at_timeout": 1},
)
rule.fires(
    "MariaDB, the smallest step above a second",
    scene("mariadb 10.11.18", {"innodb_flush_log_at_trx_commit": 0, "innodb_flush_log_at_timeout": 2}),
    proposes={"innodb_flush_log_at_timeout": 1},
)
rule.passes(
    "With durable commits the timeout does not matter",
    scene("mysql 8.0.33", {"innodb_flush_log_at_trx_commit": 1, "innodb_flush_log_at_timeout": 30}),
)
rule.passes(
    "Relaxed, and a second: another rule's matter",
    scene("mariadb 10.11.18", {"innodb_flush_log_at_trx_commit": 2, "innodb_flush_log_at_timeout": 1}),
)
