"""The error log leaves out warnings.

Why it matters
    log_error_verbosity = 1 writes errors only. Warnings are what comes before them: a replica that reconnects, a table
    that was repaired, a certificate that expires, statements that are not safe for the binary log. Whoever looks for
    the cause after a night finds an empty log. MariaDB's log_warnings = 0 does the same.

How it is computed
    From the setting alone: log_error_verbosity is 1 (MySQL; 2 is proposed), or log_warnings is 0 (MariaDB; 2 is
    proposed, its default, with which refused connections are written, too).

When to dismiss it
    One warning that is known and cannot be helped fills the log (MySQL 8: log_error_suppression_list leaves out
    that one).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Verbosity(Settings):
    """What goes into the error log: MySQL's log_error_verbosity (1 to 3), else log_warnings (0 and more)."""

    also_called: ClassVar[Mapping[str, tuple[str, ...]]] = {"log_error_verbosity": ("log_warnings",)}

    log_error_verbosity: int

    @property
    def quiet(self) -> bool:
        """Whether warnings are left out."""
        return self.log_error_verbosity < (2 if self.called("log_error_verbosity") == "log_error_verbosity" else 1)


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/error-log-priority-based-filtering.html",
        "https://mariadb.com/docs/server/server-management/server-monitoring-logs/error-log",
    ],
)


@rule.check
def check(verbosity: Verbosity) -> Finding | Passed:
    if not verbosity.quiet:
        return Passed(verbosity.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "{name} = {value}: the error log leaves out warnings",
                    {
                        "name": Quantity(verbosity.called("log_error_verbosity"), Unit.TEXT),
                        "value": Quantity(verbosity.log_error_verbosity, Unit.COUNT),
                    },
                ),
                evidence=verbosity.measured(),
                proposal=(SetVariable(verbosity.called("log_error_verbosity"), 2),),
                expected=Message("What came before an error is in the log."),
                price=(Price(PriceKind.DISK, Message("some lines more in the error log")),),
                would_change_our_mind=Message("A known warning that fills the log and cannot be helped."),
            ),
        )
    )


rule.fires(
    "Errors only on MySQL",
    scene("mysql 8.0.33", {"log_error_verbosity": 1}),
    proposes={"log_error_verbosity": 2},
)
rule.fires("Silent on MariaDB", scene("mariadb 10.11.18", {"log_warnings": 0}), proposes={"log_warnings": 2})
rule.passes("The default of 8.0", scene("mysql 8.0.33", {"log_error_verbosity": 2}))
rule.passes("MariaDB without refused connections", scene("mariadb 10.11.18", {"log_warnings": 1}))
