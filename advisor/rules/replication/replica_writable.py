"""A replica takes writes of its own.

Why it matters
    A row that is written on a replica is not on its source: later changes of the source fail on it or change another
    row, replication stops with a duplicate key, or the two differ and nobody knows. After a fail-over such rows are
    lost or suddenly there. Most often it is a person or a job on the wrong host.

How it is computed
    The server replicates from another one and read_only is off: a warning. On MySQL with read_only on and
    super_read_only off it is a notice, since accounts with SUPER or CONNECTION_ADMIN can still write. Nodes of a
    Galera cluster and members of a replication group are left out.

When to dismiss it
    The replica is meant to be written to: it holds schemas of its own, or two servers replicate from each other.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.replication import Channels, channel_row
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Writable(Settings):
    """Whether writes are refused; MariaDB 12 has more words than ON and OFF. Nodes and members are told apart."""

    read_only: str
    super_read_only: bool = True
    wsrep_on: bool = False
    group_replication_group_name: str = ""

    @property
    def refuses(self) -> bool:
        return self.read_only.upper() not in ("OFF", "0")


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/replication-options-replica.html",
        "https://mariadb.com/docs/server/ha-and-performance/standard-replication/replication-and-binary-log-system-variables",
    ],
)


@rule.check
def check(writable: Writable, _replica: Channels) -> Finding | Passed:
    figures = writable.measured("read_only", "super_read_only")
    refused = writable.refuses and writable.super_read_only
    if refused or writable.wsrep_on or writable.group_replication_group_name:
        return Passed(figures)
    name = "super_read_only" if writable.exists("super_read_only") else "read_only"
    message = (
        Message("super_read_only = OFF: accounts with SUPER can write to this replica")
        if writable.refuses
        else Message("read_only = OFF: this replica takes writes that its source does not have")
    )
    return Finding(
        (
            Item(
                message=message,
                evidence=figures,
                proposal=(
                    Investigate(
                        f"Find out who writes here. Then SET GLOBAL {name} = ON, and write {name} = ON into the option "
                        "file; whoever promotes this replica has to switch it off again."
                    ),
                ),
                severity=Severity.NOTICE if writable.refuses else None,
                expected=Message("Only replication changes data here."),
                price=(Price(PriceKind.OVERHEAD, Message("whoever writes here by intent gets an error")),),
                would_change_our_mind=Message("A replica that is meant to be written to."),
            ),
        )
    )


rule.fires("Writable", scene("mysql 8.0.33", {"read_only": "OFF"}, role="replica", replication=[channel_row()]))
rule.fires(
    "Writable on MariaDB", scene("mariadb 10.11.18", {"read_only": "OFF"}, role="replica", replication=[channel_row()])
)
rule.fires(
    "Writable for administrators",
    scene("mysql 5.7.22", {"read_only": "ON", "super_read_only": "OFF"}, role="replica", replication=[channel_row()]),
)
rule.passes(
    "Writes are refused",
    scene("mysql 8.0.33", {"read_only": "ON", "super_read_only": "ON"}, role="replica", replication=[channel_row()]),
)
rule.passes(
    "Refused on MariaDB", scene("mariadb 10.11.18", {"read_only": "ON"}, role="replica", replication=[channel_row()])
)
rule.passes(
    "A node of a cluster may replicate from elsewhere",
    scene("mariadb 10.11.18", {"read_only": "OFF", "wsrep_on": "ON"}, role="replica", replication=[channel_row()]),
)
