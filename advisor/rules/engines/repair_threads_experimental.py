"""MyISAM indexes are repaired by several threads at once.

Why it matters
    myisam_repair_threads above 1 builds the indexes of a MyISAM table in parallel when it is repaired. The manual has
    called it beta for as long as it exists, MySQL removed it in 8.0.29, and a table that is being repaired is the last
    one to try things on.

How it is computed
    From the setting alone: myisam_repair_threads is above 1 globally.

When to dismiss it
    It was tried here with tables of this size, and saves an hour that matters.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class RepairThreads(Settings):
    """Threads that repair a MyISAM table."""

    myisam_repair_threads: int


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7,<8.0.29", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/5.7/en/server-system-variables.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/myisam-storage-engine/myisam-system-variables",
    ],
)


@rule.check
def check(setting: RepairThreads) -> Finding | Passed:
    if setting.myisam_repair_threads <= 1:
        return Passed(setting.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "MyISAM tables are repaired by {threads} threads at once, which is experimental",
                    {"threads": Quantity(setting.myisam_repair_threads, Unit.COUNT)},
                ),
                evidence=setting.measured(),
                proposal=(SetVariable("myisam_repair_threads", 1),),
                expected=Message("Repairs go the way that everybody's go."),
                price=(Price(PriceKind.RECOVERY_TIME, Message("a repair of a MyISAM table takes longer")),),
                would_change_our_mind=Message("Repairs of tables of this size that were tried."),
            ),
        )
    )


rule.fires(
    "Set on MySQL 5.7", scene("mysql 5.7.22", {"myisam_repair_threads": 4}), proposes={"myisam_repair_threads": 1}
)
rule.fires(
    "Set on MariaDB", scene("mariadb 10.11.18", {"myisam_repair_threads": 2}), proposes={"myisam_repair_threads": 1}
)
rule.passes("The default", scene("mysql 5.7.22"))
rule.passes("The default on MariaDB", scene("mariadb 10.11.18"))
