"""Other machines connect without any encryption.

Why it matters
    Rows, and what people write into them, pass the network in clear, and a statement can be changed on its way. With
    plugins that send passwords as they are they pass in clear, too. A client that asks for TLS is refused or, worse,
    goes on without it.

How it is computed
    The server offers no TLS (have_ssl is not YES; MySQL without that variable: no certificate in force, or
    tls_version is empty) and listens beyond loopback.

When to dismiss it
    All clients reach it through a tunnel or a network that encrypts by itself.
"""

from __future__ import annotations

from advisor.engine.facts.security import Listening, TlsOffer
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import Investigate

rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/using-encrypted-connections.html",
        "https://mariadb.com/docs/server/security/encryption/data-in-transit-encryption/securing-connections-for-client-and-server",
    ],
)


@rule.check
def check(tls: TlsOffer, where: Listening) -> Finding | Passed:
    figures = tls.measured() + where.measured()
    if tls.offered or not where.beyond_loopback:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message("The server listens on the network and offers no TLS"),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Give the server ssl_cert and ssl_key (and ssl_ca) in the option file and restart; MySQL "
                        "5.7.6 and later make a pair with mysql_ssl_rsa_setup, MariaDB 11.4 and later make their own "
                        "where none is set."
                    ),
                ),
                expected=Message("Connections that want TLS get it."),
                price=(
                    Price(
                        PriceKind.OVERHEAD, Message("some milliseconds for each new connection, little for each query")
                    ),
                ),
                would_change_our_mind=Message("A tunnel or an encrypting network below."),
            ),
        )
    )


rule.fires("MariaDB 10.11's default", scene("mariadb 10.11.18", {"have_ssl": "DISABLED", "bind_address": ""}))
rule.fires(
    "MySQL 9 with TLS switched off", scene("mysql 9.7.4", {"tls_version": ""}, status={"Ssl_server_not_after": ""})
)
rule.fires("MySQL 5.7 without a certificate", scene("mysql 5.7.22", {"have_ssl": "DISABLED"}))
rule.passes("TLS is there", scene("mysql 8.0.33", {"have_ssl": "YES", "tls_version": "TLSv1.2,TLSv1.3"}))
rule.passes(
    "MySQL 9 as it comes",
    scene(
        "mysql 9.7.4", {"tls_version": "TLSv1.2,TLSv1.3"}, status={"Ssl_server_not_after": "Nov 18 11:26:43 2036 GMT"}
    ),
)
rule.passes(
    "Only the machine itself connects", scene("mariadb 10.11.18", {"have_ssl": "DISABLED", "bind_address": "localhost"})
)
