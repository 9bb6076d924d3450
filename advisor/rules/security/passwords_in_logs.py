"""Passwords stand in the general log in clear.

Why it matters
    With log_raw = ON statements go to the general log as they were sent: CREATE USER, ALTER USER and CHANGE
    REPLICATION SOURCE with the password inside. The log is copied, shipped and kept by people who may not know that
    password.

How it is computed
    From the settings: log_raw is ON; a warning while the general log is written, else a notice, since it is written
    the next time that somebody looks for something.

When to dismiss it
    A statement that the server cannot parse is being looked for right now.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class RawLog(Settings):
    """Whether statements are logged before passwords in them are replaced."""

    log_raw: bool
    general_log: bool


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=8.0.19"],
    since="0.2",
    references=["https://dev.mysql.com/doc/refman/8.4/en/password-logging.html"],
)


@rule.check
def check(log: RawLog) -> Finding | Passed:
    figures = log.measured()
    if not log.log_raw:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message("Statements with passwords are logged as they were sent"),
                evidence=figures,
                proposal=(SetVariable("log_raw", False),),
                severity=Severity.WARNING if log.general_log else None,
                expected=Message("Passwords in statements are replaced before they are logged."),
                price=(
                    Price(
                        PriceKind.OVERHEAD, Message("statements that cannot be parsed are not logged with their text")
                    ),
                ),
                would_change_our_mind=Message("A search that needs the raw text right now."),
            ),
        )
    )


rule.fires(
    "Left on, with the general log",
    scene("mysql 8.0.33", {"log_raw": "ON", "general_log": "ON"}),
    proposes={"log_raw": False},
)
rule.fires("Left on", scene("mysql 9.7.4", {"log_raw": "ON"}), proposes={"log_raw": False})
rule.passes("The default", scene("mysql 8.0.33"))
rule.passes("The default, with the general log", scene("mysql 9.7.4", {"general_log": "ON"}))
