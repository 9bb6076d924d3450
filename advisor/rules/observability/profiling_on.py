"""Every session keeps profiles of its statements.

Why it matters
    profiling = ON is for one session that runs SHOW PROFILE; both vendors call it old. Globally, each session measures
    each step of its last statements with several system calls per step, and nobody ever looks.

How it is computed
    From the setting alone: the global profiling is ON.

When to dismiss it
    Never with a global setting: a session can switch it on for itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Profiling(Settings):
    """Whether sessions begin with profiling."""

    profiling: bool


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/show-profile.html",
        "https://mariadb.com/docs/server/reference/sql-statements/administrative-sql-statements/show/show-profile",
    ],
)


@rule.check
def check(setting: Profiling) -> Finding | Passed:
    if not setting.profiling:
        return Passed(setting.measured())
    return Finding(
        (
            Item(
                message=Message("Every session keeps profiles of its statements, and nobody looks"),
                evidence=setting.measured(),
                proposal=(SetVariable("profiling", False),),
                expected=Message("Statements run without being timed step by step."),
                price=(Price(PriceKind.OVERHEAD, Message("sessions that want a profile switch it on themselves")),),
                would_change_our_mind=Message("Nothing that a session could not do for itself."),
            ),
        )
    )


rule.fires("Left on", scene("mysql 8.0.33", {"profiling": "ON"}), proposes={"profiling": False})
rule.fires("Left on, MariaDB", scene("mariadb 10.11.18", {"profiling": "ON"}), proposes={"profiling": False})
rule.passes("As installed", scene("mysql 8.0.33"))
rule.passes("As installed, MariaDB", scene("mariadb 10.11.18"))
