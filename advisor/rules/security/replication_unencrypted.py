"""A replica reads its source's changes in clear.

Why it matters
    Everything that is written on the source passes the network once more, rows and statements, CREATE USER with its
    hashes among them; and the replica's account logs in in clear. Whoever listens there has a copy of the data that
    is as current as the replica.

How it is computed
    SHOW REPLICA STATUS tells of a source on another machine with SSL_Allowed = No. Sources on loopback (a tunnel) and
    the channels of a group, which has settings of its own, are left out.

When to dismiss it
    The network between the two encrypts by itself.
"""

from __future__ import annotations

from advisor.engine.facts.security import UnencryptedChannels
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate

rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/replication-encrypted-connections.html",
        "https://mariadb.com/docs/server/security/encryption/data-in-transit-encryption/replication-with-secure-connections",
    ],
)


@rule.check
def check(channels: UnencryptedChannels) -> Finding | Passed:
    figures = channels.measured()
    if not channels.in_clear:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "The changes of {source} come over the network in clear",
                    {"source": Quantity(", ".join(channels.in_clear[:3]), Unit.TEXT)},
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Make sure that the source offers TLS; then, on this replica, STOP REPLICA, CHANGE "
                        "REPLICATION SOURCE TO SOURCE_SSL = 1 with SOURCE_SSL_CA, START REPLICA (MariaDB and MySQL "
                        "before 8.0.23: STOP SLAVE, CHANGE MASTER TO MASTER_SSL = 1, START SLAVE), and REQUIRE SSL "
                        "for its account."
                    ),
                ),
                expected=Message("Changes and the password of the account pass the network encrypted."),
                price=(
                    Price(PriceKind.OVERHEAD, Message("the replica stops for some seconds and reads on where it was")),
                ),
                would_change_our_mind=Message("A network that encrypts by itself."),
            ),
        )
    )


_CLEAR = {"source_host": "db1.example.com", "source_port": "3306", "source_ssl_allowed": "No"}
_OLDER = {"master_host": "10.1.2.3", "master_port": "3306", "master_ssl_allowed": "No"}
rule.fires("A channel without TLS", scene("mysql 8.0.33", role="replica", replication=[_CLEAR]))
rule.fires("MariaDB, by its names", scene("mariadb 10.11.18", role="replica", replication=[_OLDER]))
rule.passes("With TLS", scene("mysql 8.0.33", role="replica", replication=[{**_CLEAR, "source_ssl_allowed": "Yes"}]))
rule.passes(
    "With TLS on MariaDB",
    scene("mariadb 10.11.18", role="replica", replication=[{**_OLDER, "master_ssl_allowed": "Yes"}]),
)
