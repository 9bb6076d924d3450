"""Any symbol of any library can be called as a function.

Why it matters
    allow_suspicious_udfs lets CREATE FUNCTION load a symbol that comes without the helper symbols by which a library
    shows that it was written for it. With it, whoever may insert into mysql.func calls functions of the C library
    from SQL.

How it is computed
    From the setting: allow_suspicious_udfs is ON (MariaDB shows it from 10.6 on).

When to dismiss it
    A library of your own needs it, and only administrators may create functions.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class LooseFunctions(Settings):
    """Whether functions without their helper symbols are loaded."""

    allow_suspicious_udfs: bool


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mariadb>=10.6"],
    since="0.2",
    references=["https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables"],
)


@rule.check
def check(functions: LooseFunctions) -> Finding | Passed:
    figures = functions.measured()
    if not functions.allow_suspicious_udfs:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message("Functions may be loaded from libraries that were not written for it"),
                evidence=figures,
                proposal=(SetVariable("allow_suspicious_udfs", False),),
                expected=Message("Only libraries that were written for it can be loaded as functions."),
                price=(Price(PriceKind.RESTART, Message("the option is read at the start only")),),
                would_change_our_mind=Message("A library of your own that needs it."),
            ),
        )
    )


rule.fires(
    "Switched on", scene("mariadb 10.11.18", {"allow_suspicious_udfs": "ON"}), proposes={"allow_suspicious_udfs": False}
)
rule.passes("The default", scene("mariadb 10.11.18"))
