"""Tables are closed and flushed all the time.

Why it matters
    flush = ON writes and syncs every changed non-transactional table after each statement; flush_time closes all tables
    every so many seconds, so that each has to be opened again. Both were made for machines without resources or with
    a broken operating system. InnoDB's durability does not depend on either.

How it is computed
    From settings alone: flush is ON or flush_time is above 0. The default of both, on every version but those for
    Windows of long ago, is off.

When to dismiss it
    Other programs read MyISAM files below a running server, and have to see them whole.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Change, SetVariable


@dataclass(frozen=True)
class Flush(Settings):
    """Whether tables are flushed after each statement, and after how many seconds all are closed (0: never)."""

    flush: bool
    flush_time: int


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/server-system-variables.html",
        "https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables",
    ],
)


@rule.check
def check(setting: Flush) -> Finding | Passed:
    proposal: tuple[Change, ...] = ()
    if setting.flush:
        proposal += (SetVariable("flush", False),)
    if setting.flush_time > 0:
        proposal += (SetVariable("flush_time", 0),)
    if not proposal:
        return Passed(setting.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "Tables are flushed after every statement"
                    if setting.flush
                    else "All tables are closed and opened again every {time}",
                    {} if setting.flush else {"time": Quantity(setting.flush_time, Unit.SECONDS)},
                ),
                evidence=setting.measured(),
                proposal=proposal,
                expected=Message("Tables stay open, and the operating system writes MyISAM's files when it suits it."),
                price=(Price(PriceKind.DURABILITY, Message("MyISAM and Aria only: a crash may lose more of a table")),),
                would_change_our_mind=Message("Other programs that read MyISAM files below a running server."),
            ),
        )
    )


rule.fires("flush on MySQL", scene("mysql 8.0.33", {"flush": "ON"}), proposes={"flush": False})
rule.fires(
    "Both on MariaDB",
    scene("mariadb 10.11.18", {"flush": "ON", "flush_time": 1800}),
    proposes={"flush": False, "flush_time": 0},
)
rule.fires("flush_time alone", scene("mysql 5.7.22", {"flush_time": 600}), proposes={"flush_time": 0})
rule.passes("The default", scene("mysql 8.0.33"))
rule.passes("The default on MariaDB", scene("mariadb 10.11.18"))
