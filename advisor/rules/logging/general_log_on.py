"""Every statement of every session is written to the general log.

Why it matters
    The general log takes each statement as it arrives, with all the data in it: at 5,000 statements a second some ten
    GB an hour, written under one lock, and a file that holds what the tables hold without any of their grants. It is
    meant for looking at a problem for some minutes, and then it is forgotten.

How it is computed
    From the setting alone: general_log is ON.

When to dismiss it
    An auditor asks for it, and neither an audit plugin nor the disk space is a question.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class GeneralLog(Settings):
    """Whether every statement is written, and where to."""

    general_log: bool
    log_output: str


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/query-log.html",
        "https://mariadb.com/docs/server/server-management/server-monitoring-logs/general-query-log",
    ],
)


@rule.check
def check(log: GeneralLog) -> Finding | Passed:
    if not log.general_log:
        return Passed(log.measured())
    return Finding(
        (
            Item(
                message=Message("Every statement of every session is written to the general log"),
                evidence=log.measured(),
                proposal=(SetVariable("general_log", False),),
                expected=Message("No statement waits for that log, and its disk stops filling up."),
                price=(Price(PriceKind.OVERHEAD, Message("nothing but the log itself is lost")),),
                would_change_our_mind=Message("Someone who is looking at a problem with it right now."),
            ),
        )
    )


rule.fires("Forgotten on MySQL", scene("mysql 8.0.33", {"general_log": "ON"}), proposes={"general_log": False})
rule.fires("Forgotten on MariaDB", scene("mariadb 10.11.18", {"general_log": "ON"}), proposes={"general_log": False})
rule.passes("As installed", scene("mysql 8.0.33"))
rule.passes("As installed, MariaDB", scene("mariadb 10.11.18"))
