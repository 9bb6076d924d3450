"""Settings of this server would keep the next version from starting.

Why it matters
    A server does not start with an option that it does not know. Who finds that out in the night of the upgrade edits
    the option file under pressure; who knows before deletes a few lines today.

How it is computed
    Every variable that is set here (option file, command line, persisted, or changed at run time) is looked up in the
    catalogue for the next long-term version: removed or renamed there in a way that stops the start, or with a value
    that it refuses. Where the server does not tell where a value came from (before MySQL 8.0), what differs from its
    default counts as set. It is a notice while this version is supported, and a warning once it is not.

When to dismiss it
    The upgrade goes to another version, or rewrites the whole option file anyway.
"""

from __future__ import annotations

from advisor.engine.facts.upgrade import NextVersion, named
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import UpgradeAdvice
from advisor.mysql.upgrade import UpgradeKind

rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/upgrade-prerequisites.html",
        "https://mariadb.com/docs/server/server-management/install-and-upgrade-mariadb/upgrading",
    ],
)


@rule.check
def check(following: NextVersion) -> Finding | Passed:
    stopping = [
        one
        for one in following.changes(UpgradeKind.REMOVED, UpgradeKind.RENAMED, UpgradeKind.VALUE_REFUSED)
        if one.breaks_start is not False
    ]
    figures = (
        Measured("next long-term version", following.name, Unit.TEXT, None, "vendor's calendar"),
        Measured("settings it does not start with", len(stopping), Unit.COUNT, None, "catalogue"),
    )
    if not stopping:
        return Passed(figures)
    told = named([f"{one.variable} ({one.successor})" if one.successor else one.variable for one in stopping])
    return Finding(
        (
            Item(
                message=Message(
                    "{version} does not start with {count} of the settings of this server",
                    {
                        "version": Quantity(following.name, Unit.TEXT),
                        "count": Quantity(len(stopping), Unit.COUNT),
                    },
                ),
                evidence=(*figures, Measured("which ones", told, Unit.TEXT, None, "catalogue")),
                proposal=(
                    UpgradeAdvice(
                        following.name,
                        f"before it, take these out of the option file or write their successors: {told}",
                    ),
                ),
                severity=Severity.WARNING if following.days_left < 0 else None,
                expected=Message("The new version starts with the option file as it is."),
            ),
        )
    )


rule.fires(
    "MySQL 5.7 with a query cache and days of binary logs",
    scene("mysql 5.7.22", {"query_cache_size": 67108864, "query_cache_type": "ON", "expire_logs_days": 7}),
)
rule.fires(
    "MySQL 8.0 with native passwords as its default in the option file",
    scene(
        "mysql 8.0.33",
        {"default_authentication_plugin": "mysql_native_password"},
        origins={"default_authentication_plugin": "option_file"},
    ),
)
rule.passes("MySQL 8.0 with nothing set", scene("mysql 8.0.33", origins={"innodb_buffer_pool_size": "compiled"}))
rule.passes(
    "A setting that both versions know",
    scene("mariadb 10.11.18", {"max_connections": 400}, origins={"max_connections": "option_file"}),
)
