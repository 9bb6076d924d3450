"""Anybody may claim to connect from any address.

Why it matters
    proxy_protocol_networks names the proxies that may say for whom they connect. With * every client may send such a
    header: it then comes from 127.0.0.1, as far as accounts, logs and max_connect_errors are concerned, and each
    account that was bound to a host is open to all.

How it is computed
    From the setting: proxy_protocol_networks holds * or a network of all addresses.

When to dismiss it
    Nothing but the proxies can reach the port.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class TrustedProxies(Settings):
    """Networks whose word is taken for the address of a client."""

    proxy_protocol_networks: str

    @property
    def everybody(self) -> bool:
        return any(one.strip() == "*" or one.strip().endswith("/0") for one in self.proxy_protocol_networks.split(","))


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mariadb>=10.3"],
    since="0.2",
    references=[
        "https://mariadb.com/docs/server/clients-and-utilities/server-client-software/client-libraries/proxy-protocol-support"
    ],
)


@rule.check
def check(proxies: TrustedProxies) -> Finding | Passed:
    figures = proxies.measured()
    if not proxies.everybody:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "Every client may claim any address: proxy_protocol_networks = {value}",
                    {"value": Quantity(proxies.proxy_protocol_networks, Unit.TEXT)},
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Name the addresses of the proxies in proxy_protocol_networks, in the option file, and "
                        "restart (MariaDB 10.3.6 and later also take SET GLOBAL)."
                    ),
                ),
                expected=Message("Only the proxies may say for whom they connect."),
                price=(
                    Price(
                        PriceKind.RESTART, Message("or SET GLOBAL; proxies that are not named are refused from then on")
                    ),
                ),
                would_change_our_mind=Message("A port that only the proxies reach."),
            ),
        )
    )


rule.fires("Everybody", scene("mariadb 10.11.18", {"proxy_protocol_networks": "*"}))
rule.fires("All of IPv4", scene("mariadb 11.8.6", {"proxy_protocol_networks": "localhost,0.0.0.0/0"}))
rule.passes("The default: nobody", scene("mariadb 10.11.18"))
rule.passes("The proxies", scene("mariadb 11.8.6", {"proxy_protocol_networks": "10.0.0.0/24,localhost"}))
