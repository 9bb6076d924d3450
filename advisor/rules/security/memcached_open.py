"""Rows can be read and written over memcached without any password.

Why it matters
    The daemon_memcached plugin gives the tables that are mapped in innodb_memcache to whoever reaches its port
    (11211), on all addresses if nothing else is said: no account, no privilege and no TLS stand between. It is meant
    for a machine on which the application runs, too, or for a network that nobody else is in.

How it is computed
    The plugin is active, daemon_memcached_option has neither -S (SASL, the only password it knows) nor an -l with
    loopback addresses only, nor a Unix socket (-s). The plugin is gone from MySQL 8.3 on.

When to dismiss it
    A firewall lets only the applications' machines reach the port, and all of them may read and write these tables.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.security import reachable
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate

#: -l 10.1.2.3, -l10.1.2.3 or --listen=10.1.2.3, as memcached's own command line has them.
_ADDRESSES = re.compile(r"(?:^|\s)(?:-l\s*|--listen[=\s])(\S+)")
#: -S or --enable-sasl; -s PATH: no port at all.
_CLOSED = re.compile(r"(?:^|\s)(?:-S|--enable-sasl|-s\s*\S+|--unix-socket\S*)(?=\s|$)")


@dataclass(frozen=True)
class Memcached(Settings):
    """The command line of the memcached plugin; a server without the plugin has no such variable."""

    daemon_memcached_option: str

    @property
    def open_to_all(self) -> bool:
        if _CLOSED.search(self.daemon_memcached_option):
            return False
        addresses = _ADDRESSES.search(self.daemon_memcached_option)
        return reachable(addresses[1] if addresses else "")


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7,<8.3"],
    since="0.2",
    references=["https://dev.mysql.com/doc/refman/8.0/en/innodb-memcached-security.html"],
)


@rule.check
def check(memcached: Memcached) -> Finding | Passed:
    figures = memcached.measured()
    if not memcached.open_to_all:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "memcached gives rows to everybody who reaches its port: daemon_memcached_option = {value}",
                    {"value": Quantity(memcached.daemon_memcached_option or "empty", Unit.TEXT)},
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Put -l with the address that the applications use into daemon_memcached_option (127.0.0.1 "
                        "where they run on this machine), or -S with SASL accounts, and restart; close port 11211 to "
                        "all others."
                    ),
                ),
                expected=Message("Only the applications' machines, or who has a password, reach the rows."),
                price=(Price(PriceKind.RESTART, Message("the option is read when the plugin starts")),),
                would_change_our_mind=Message("A firewall in front of the port."),
            ),
        )
    )


rule.fires("Nothing said: all addresses", scene("mysql 5.7.22", {"daemon_memcached_option": ""}))
rule.fires("One network and no password", scene("mysql 8.0.33", {"daemon_memcached_option": "-l 10.1.2.3 -p 11211"}))
rule.passes("Loopback only", scene("mysql 8.0.33", {"daemon_memcached_option": "-l127.0.0.1 -m 256"}))
rule.passes("With passwords", scene("mysql 5.7.22", {"daemon_memcached_option": "-S"}))
rule.passes("A Unix socket", scene("mysql 5.7.22", {"daemon_memcached_option": "-s /run/memcached.sock"}))
