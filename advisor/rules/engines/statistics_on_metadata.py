"""Looking at tables' metadata recomputes their statistics.

Why it matters
    With innodb_stats_on_metadata = ON each SHOW TABLE STATUS and each query on INFORMATION_SCHEMA.TABLES or STATISTICS
    samples the indexes of every table it shows (those without persistent statistics): seconds to minutes of random
    reads on a server with many tables, and plans that change because somebody looked.

How it is computed
    From the setting alone: innodb_stats_on_metadata is ON. It is told as advice; nothing is switched by looking at
    a server.

When to dismiss it
    There are a few tables only, and the newest statistics are wanted whenever somebody looks.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class OnMetadata(Settings):
    """Whether looking recomputes."""

    innodb_stats_on_metadata: bool


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
def check(setting: OnMetadata) -> Finding | Passed:
    if not setting.innodb_stats_on_metadata:
        return Passed(setting.measured())
    return Finding(
        (
            Item(
                message=Message("Looking at tables' metadata recomputes their statistics"),
                evidence=setting.measured(),
                proposal=(SetVariable("innodb_stats_on_metadata", False),),
                expected=Message(
                    "SHOW TABLE STATUS and INFORMATION_SCHEMA answer at once, and plans stay as they are."
                ),
                price=(Price(PriceKind.READ_LATENCY, Message("transient statistics are recomputed less often")),),
                would_change_our_mind=Message("A few tables whose statistics are wanted anew whenever somebody looks."),
            ),
        )
    )


rule.fires(
    "Set on MySQL",
    scene("mysql 8.0.33", {"innodb_stats_on_metadata": "ON"}),
    proposes={"innodb_stats_on_metadata": False},
)
rule.fires(
    "Set on MariaDB",
    scene("mariadb 10.11.18", {"innodb_stats_on_metadata": "ON"}),
    proposes={"innodb_stats_on_metadata": False},
)
rule.passes("The default", scene("mysql 8.0.33"))
rule.passes("The default on MariaDB", scene("mariadb 10.11.18"))
