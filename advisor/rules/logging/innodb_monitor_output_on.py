"""InnoDB writes its whole status into the error log each fifteen seconds.

Why it matters
    innodb_status_output = ON is for looking at a problem for some minutes. Left on, the error log grows by ten to
    hundreds of MB a day, and what matters in it is no longer found. The server switches it on by itself when it meets
    very long waits, and after a crash it is not always switched off.

How it is computed
    From the setting alone: innodb_status_output is ON. innodb_status_output_locks alone writes nothing: it only adds
    the locks to what SHOW ENGINE INNODB STATUS shows.

When to dismiss it
    Someone is looking at a problem with it right now.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class MonitorOutput(Settings):
    """Whether InnoDB's status is written into the error log, and the locks with it."""

    innodb_status_output: bool
    innodb_status_output_locks: bool


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-enabling-monitors.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-monitors",
    ],
)


@rule.check
def check(output: MonitorOutput) -> Finding | Passed:
    if not output.innodb_status_output:
        return Passed(output.measured())
    return Finding(
        (
            Item(
                message=Message("InnoDB writes its whole status into the error log each fifteen seconds"),
                evidence=output.measured(),
                proposal=(SetVariable("innodb_status_output", False),),
                expected=Message("The error log holds what went wrong, and little else."),
                price=(Price(PriceKind.OVERHEAD, Message("SHOW ENGINE INNODB STATUS still tells it on request")),),
                would_change_our_mind=Message("Someone who is looking at a problem with it right now."),
            ),
        )
    )


rule.fires("Left on", scene("mysql 8.0.33", {"innodb_status_output": "ON"}), proposes={"innodb_status_output": False})
rule.fires(
    "Left on, MariaDB",
    scene("mariadb 10.11.18", {"innodb_status_output": "ON", "innodb_status_output_locks": "ON"}),
    proposes={"innodb_status_output": False},
)
rule.passes("As installed", scene("mysql 8.0.33"))
rule.passes("More in SHOW only", scene("mariadb 10.11.18", {"innodb_status_output_locks": "ON"}))
