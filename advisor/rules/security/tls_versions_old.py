"""TLS 1.0 or 1.1 is accepted.

Why it matters
    Both were withdrawn (RFC 8996): their handshakes rest on MD5 and SHA-1, and an attacker between client and server
    may talk a client down to them. A server that has nothing newer is refused by clients of today.

How it is computed
    The server offers TLS beyond loopback and tls_version holds TLSv1, TLSv1.0 or TLSv1.1. A warning where nothing
    newer is offered, else a notice. MySQL from 8.0.28 and MariaDB from 10.4 do not have them by default.

When to dismiss it
    One client that cannot be replaced yet knows nothing newer.
"""

from __future__ import annotations

from advisor.engine.facts.security import Listening, TlsOffer
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate

#: Withdrawn by RFC 8996.
OLD = frozenset({"TLSv1", "TLSv1.0", "TLSv1.1"})

rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.4"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/encrypted-connection-protocols-ciphers.html",
        "https://mariadb.com/docs/server/security/encryption/data-in-transit-encryption/securing-connections-for-client-and-server",
    ],
)


@rule.check
def check(tls: TlsOffer, where: Listening) -> Finding | Passed:
    figures = tls.measured() + where.measured()
    versions = [one.strip() for one in tls.versions.split(",") if one.strip()]
    old = [one for one in versions if one in OLD]
    newer = len(versions) > len(old)
    if not (tls.offered and where.beyond_loopback and old):
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "TLS versions are accepted that were withdrawn: {versions}",
                    {"versions": Quantity(", ".join(old), Unit.TEXT)},
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Put tls_version = TLSv1.2,TLSv1.3 (or TLSv1.2 alone where the server knows nothing newer) "
                        "into the option file, after a look at Ssl_version of the clients that are connected."
                    ),
                ),
                severity=None if newer else Severity.WARNING,
                expected=Message("Clients cannot be talked down to a broken handshake."),
                price=(
                    Price(
                        PriceKind.OVERHEAD, Message("clients that know nothing newer cannot connect over TLS any more")
                    ),
                ),
                would_change_our_mind=Message("A client that knows nothing newer."),
            ),
        )
    )


_TLS = {"have_ssl": "YES", "bind_address": "*"}
rule.fires("MySQL 8.0.12's default", scene("mysql 8.0.12", {**_TLS, "tls_version": "TLSv1,TLSv1.1,TLSv1.2"}))
rule.fires("Nothing newer at all: a warning", scene("mysql 5.7.22", {**_TLS, "tls_version": "TLSv1,TLSv1.1"}))
rule.fires(
    "Switched on again on MariaDB", scene("mariadb 10.11.18", {**_TLS, "tls_version": "TLSv1.1,TLSv1.2,TLSv1.3"})
)
rule.passes("What is in use today", scene("mysql 8.0.33", {**_TLS, "tls_version": "TLSv1.2,TLSv1.3"}))
rule.passes("What is in use today, on MariaDB", scene("mariadb 10.11.18", {**_TLS, "tls_version": "TLSv1.2,TLSv1.3"}))
