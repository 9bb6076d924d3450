"""Settings of this server would have no effect in the next version.

Why it matters
    A setting that is read and ignored looks as if it worked. After an upgrade somebody tunes by it and wonders; and
    what it was set for is not done by anything any more.

How it is computed
    Every variable that is set here is looked up in the catalogue for the next long-term version: ignored there, or
    removed or renamed there while the old option is still accepted. It is said from a year before the support of this
    version ends, when the upgrade has to be planned.

When to dismiss it
    The lines are kept on purpose, for servers of several versions that share an option file.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.upgrade import NextVersion, named
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import DAY, Quantity, Unit
from advisor.mysql.proposal import UpgradeAdvice
from advisor.mysql.upgrade import UpgradeKind


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When an upgrade has to be planned."""

    planning_seconds: float = threshold(
        365 * DAY, unit=Unit.SECONDS, meaning="time before the end of support from which an upgrade is planned"
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/added-deprecated-removed.html",
        "https://mariadb.com/docs/server/server-management/install-and-upgrade-mariadb/upgrading",
    ],
)


@rule.check
def check(following: NextVersion, p: Parameters) -> Finding | Passed:
    ignored = [
        one
        for one in following.changes(UpgradeKind.IGNORED, UpgradeKind.REMOVED, UpgradeKind.RENAMED)
        if one.kind is UpgradeKind.IGNORED or one.breaks_start is False
    ]
    figures = (
        Measured("next long-term version", following.name, Unit.TEXT, None, "vendor's calendar"),
        Measured("settings it ignores", len(ignored), Unit.COUNT, None, "catalogue"),
    )
    if not ignored or following.days_left * DAY > p.planning_seconds:
        return Passed(figures)
    told = named([f"{one.variable} ({one.successor})" if one.successor else one.variable for one in ignored])
    return Finding(
        (
            Item(
                message=Message(
                    "{version} ignores {count} of the settings of this server",
                    {
                        "version": Quantity(following.name, Unit.TEXT),
                        "count": Quantity(len(ignored), Unit.COUNT),
                    },
                ),
                evidence=(*figures, Measured("which ones", told, Unit.TEXT, None, "catalogue")),
                proposal=(
                    UpgradeAdvice(following.name, f"it ignores these, delete them or set their successors: {told}"),
                ),
            ),
        )
    )


rule.fires(
    "MariaDB 10.5 with two buffer pool instances",
    scene(
        "mariadb 10.5.23",
        {"innodb_thread_concurrency": 16},
        origins={"innodb_thread_concurrency": "option_file"},
    ),
)
rule.passes(
    "MariaDB 10.5 with what the newest one still knows",
    scene("mariadb 10.5.23", {"max_connections": 400}, origins={"max_connections": "option_file"}),
)
rule.passes("MySQL 8.0 with nothing set", scene("mysql 8.0.33", origins={"innodb_buffer_pool_size": "compiled"}))
