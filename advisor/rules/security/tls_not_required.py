"""Accounts from other machines may log in without encryption.

Why it matters
    The server offers TLS, and nothing makes clients use it: a client without it sends rows, and with some plugins its
    password, in clear, and nobody notices. REQUIRE SSL on the account refuses such logins for that account alone.

How it is computed
    TLS is offered, require_secure_transport is OFF, the server listens beyond loopback, and accounts that may come
    from other machines have no REQUIRE. All of them stand in one finding.

When to dismiss it
    The network between clients and server encrypts by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.examples import made_account
from advisor.engine.facts.security import Accounts, Listening, TlsOffer, counted, named
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import inspected, scene
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class SecureTransport(Settings):
    """Whether logins over the network without TLS are refused; MariaDB before 10.5 cannot."""

    require_secure_transport: bool = False


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/using-encrypted-connections.html",
        "https://mariadb.com/docs/server/security/encryption/data-in-transit-encryption/securing-connections-for-client-and-server",
    ],
)


@rule.check
def check(accounts: Accounts, transport: SecureTransport, tls: TlsOffer, where: Listening) -> Finding | Passed:
    plain = [one for one in accounts.everyone if not one.local and not one.tls]
    figures = transport.measured() + tls.measured() + where.measured() + named(plain, "accounts without REQUIRE")
    if not plain or transport.require_secure_transport or not tls.offered or not where.perhaps_beyond_loopback:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "Accounts may log in over the network without encryption: {count}", {"count": counted(plain)}
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        "See in performance_schema or by SHOW SESSION STATUS LIKE 'Ssl_cipher' which clients use TLS "
                        f"already, then ALTER USER {plain[0].sql_name} REQUIRE SSL, one account after the other. "
                        "require_secure_transport = ON does it for all at once and refuses who is not ready."
                    ),
                ),
                expected=Message("What these accounts send and read passes the network encrypted."),
                price=(Price(PriceKind.OVERHEAD, Message("clients without TLS are refused from then on")),),
                would_change_our_mind=Message("A network that encrypts by itself."),
            ),
        )
    )


_TLS = {"have_ssl": "YES", "tls_version": "TLSv1.2,TLSv1.3"}
_PLAIN = [made_account("root", "localhost"), made_account("app", "10.1.%")]
_TOLD = [made_account("root", "localhost"), made_account("app", "10.1.%", tls="ANY")]
rule.fires("An account without it", scene("mysql 8.0.33", _TLS, inspection=inspected(accounts=_PLAIN)))
rule.fires("The same on MariaDB", scene("mariadb 11.8.6", _TLS, inspection=inspected(accounts=_PLAIN)))
rule.passes("REQUIRE SSL", scene("mysql 8.0.33", _TLS, inspection=inspected(accounts=_TOLD)))
rule.passes(
    "Required of all",
    scene("mariadb 11.8.6", {**_TLS, "require_secure_transport": "ON"}, inspection=inspected(accounts=_PLAIN)),
)
rule.passes(
    "The port is closed to others",
    scene("mysql 5.7.22", {**_TLS, "bind_address": "127.0.0.1"}, inspection=inspected(accounts=_PLAIN)),
)
rule.passes(
    "No TLS at all is another rule's",
    scene("mysql 5.7.22", {"have_ssl": "DISABLED"}, inspection=inspected(accounts=_PLAIN)),
)
