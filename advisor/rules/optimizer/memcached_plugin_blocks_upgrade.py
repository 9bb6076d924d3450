"""The memcached plugin is in use, which newer versions no longer have.

Why it matters
    MySQL 8.0.22 deprecated daemon_memcached and 8.3 removed it: an upgrade to 8.4 fails to load it, and every client
    that speaks its protocol gets no answer. It has to be replaced before, on the client's side. It also opens a port of
    its own that knows neither accounts nor TLS of the server.

How it is computed
    The plugin daemon_memcached is active, by information_schema.PLUGINS.

When to dismiss it
    The replacement is planned, or the server will never be upgraded.
"""

from __future__ import annotations

from advisor.engine.facts.optimizer import MemcachedPlugin
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import Investigate

rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7,<8.3"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.0/en/innodb-memcached.html",
        "https://dev.mysql.com/doc/refman/8.4/en/mysql-nutshell.html",
    ],
)


@rule.check
def check(plugin: MemcachedPlugin) -> Finding | Passed:
    if not plugin.installed:
        return Passed(plugin.measured())
    return Finding(
        (
            Item(
                message=Message("The plugin daemon_memcached is in use; MySQL 8.3 and newer do not have it"),
                evidence=plugin.measured(),
                proposal=(
                    Investigate(
                        "Find who connects to its port (11211 unless daemon_memcached_option says otherwise), and let "
                        "them ask by prepared statements over kept connections or a cache beside the database; then "
                        "UNINSTALL PLUGIN daemon_memcached and drop the schema innodb_memcache. Do it before the "
                        "upgrade to 8.4."
                    ),
                ),
                expected=Message(
                    "An upgrade loads every plugin that is asked for, and no client is left without an answer."
                ),
                price=(
                    Price(PriceKind.OVERHEAD, Message("look-ups by SQL take several times the CPU of that protocol")),
                ),
                would_change_our_mind=Message("A server that will stay on its version."),
            ),
        )
    )


rule.fires("Active on 8.0", scene("mysql 8.0.33", plugins={"InnoDB": "ACTIVE", "daemon_memcached": "ACTIVE"}))
rule.fires("Active on 5.7", scene("mysql 5.7.22", plugins={"InnoDB": "ACTIVE", "daemon_memcached": "ACTIVE"}))
rule.passes("Not installed", scene("mysql 8.0.33", plugins={"InnoDB": "ACTIVE"}))
rule.passes("Not installed on 5.7", scene("mysql 5.7.22", plugins={"InnoDB": "ACTIVE"}))
