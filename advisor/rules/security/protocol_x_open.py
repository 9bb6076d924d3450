"""A second port is open on addresses that the first one was closed to.

Why it matters
    MySQL 8 listens for the X protocol on a port of its own (33060), by default on all addresses. Whoever bound
    bind_address to loopback or to one network left that door open: the same accounts log in there, and the document
    store gives the same rows.

How it is computed
    From the settings: the X plugin is there and mysqlx_bind_address is wider than bind_address, that is, bind_address
    is loopback only and mysqlx_bind_address is not, or one of them is * and the other is not.

When to dismiss it
    Applications use the X protocol from other machines, and a firewall guards the port.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.security import everywhere, reachable
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class XProtocol(Settings):
    """The addresses of both ports; without the X plugin there is no second one."""

    mysqlx_bind_address: str
    bind_address: str

    @property
    def wider(self) -> bool:
        if reachable(self.mysqlx_bind_address) and not reachable(self.bind_address):
            return True
        return everywhere(self.mysqlx_bind_address) and not everywhere(self.bind_address)


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=8.0.11"],
    since="0.2",
    references=["https://dev.mysql.com/doc/refman/8.4/en/x-plugin-options-system-variables.html"],
)


@rule.check
def check(doors: XProtocol) -> Finding | Passed:
    figures = doors.measured()
    if not doors.wider:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "The X protocol listens on {there}, the server itself on {here}",
                    {
                        "there": Quantity(doors.mysqlx_bind_address or "*", Unit.TEXT),
                        "here": Quantity(doors.bind_address or "*", Unit.TEXT),
                    },
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Put mysqlx_bind_address with the addresses of bind_address into the option file, or mysqlx "
                        "= OFF where nobody uses it, and restart."
                    ),
                ),
                expected=Message("Nobody comes in by a port that was forgotten."),
                price=(Price(PriceKind.RESTART, Message("the setting is read at the start only")),),
                would_change_our_mind=Message("Applications that use the X protocol from elsewhere."),
            ),
        )
    )


rule.fires(
    "Closed the first door only", scene("mysql 8.0.33", {"bind_address": "127.0.0.1", "mysqlx_bind_address": "*"})
)
rule.fires("One network against all", scene("mysql 9.7.4", {"bind_address": "10.1.2.3", "mysqlx_bind_address": "*"}))
rule.passes(
    "Both on loopback", scene("mysql 8.0.33", {"bind_address": "127.0.0.1", "mysqlx_bind_address": "127.0.0.1"})
)
rule.passes("Both on all addresses, by default", scene("mysql 8.0.33"))
rule.passes(
    "All of IPv4 and all of both",
    scene("mysql 8.0.33", {"bind_address": "0.0.0.0", "mysqlx_bind_address": "*"}),  # noqa: S104
)
rule.passes(
    "Both on one network", scene("mysql 9.7.4", {"bind_address": "10.1.2.3", "mysqlx_bind_address": "10.1.2.3"})
)
