"""A limit of the purge lag is set, and has no effect.

Why it matters
    innodb_max_purge_lag is to slow down changes while too many undo logs wait for purge. But the delay is cut to
    innodb_max_purge_lag_delay, which is 0 by default: then there is none. Measured on 5.7.22, 8.0.33 and MariaDB 10.11
    with a limit of 100 and more than 80,000 undo logs waiting: updates ran as fast as without a limit (a delay of
    20,000 microseconds left 48 a second on the first two). Whoever set the limit trusts in something that is not there.

How it is computed
    From the settings: innodb_max_purge_lag is above 0 and innodb_max_purge_lag_delay is 0. The limit is set back to 0,
    its default: a limit that starts to work all at once delays every change while the backlog lasts. Who wants it sets
    both, and watches.

When to dismiss it
    It is known, and the delay is switched on by hand when it is needed.
"""

from __future__ import annotations

from advisor.engine.facts.flushing import PurgeLag
from advisor.engine.facts.redo import OwnRedoLog
from advisor.engine.outcome import (
    Finding,
    Item,
    Message,
    Passed,
    Price,
    PriceKind,
    Severity,
)
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable

rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-purge-configuration.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-purge",
    ],
)


@rule.check
def check(lag: PurgeLag, _log: OwnRedoLog) -> Finding | Passed:
    if lag.innodb_max_purge_lag == 0 or lag.innodb_max_purge_lag_delay > 0:
        return Passed(lag.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "innodb_max_purge_lag = {limit} delays nothing, since innodb_max_purge_lag_delay is 0",
                    {"limit": Quantity(lag.innodb_max_purge_lag, Unit.COUNT)},
                ),
                evidence=lag.measured(),
                proposal=(SetVariable("innodb_max_purge_lag", 0),),
                expected=Message("The settings say what the server does."),
                price=(Price(PriceKind.OVERHEAD, Message("none: it had no effect")),),
                would_change_our_mind=Message("A delay that somebody chose and tried under load."),
            ),
        )
    )


rule.fires(
    "A limit without a delay on MySQL 8.0",
    scene("mysql 8.0.33", {"innodb_max_purge_lag": 1_000_000, "innodb_max_purge_lag_delay": 0}),
    proposes={"innodb_max_purge_lag": 0},
)
rule.fires(
    "The same on MariaDB 10.11",
    scene("mariadb 10.11.18", {"innodb_max_purge_lag": 500_000, "innodb_max_purge_lag_delay": 0}),
    proposes={"innodb_max_purge_lag": 0},
)
rule.passes("No limit", scene("mysql 8.0.33", {"innodb_max_purge_lag": 0, "innodb_max_purge_lag_delay": 0}))
rule.passes(
    "A limit and a delay",
    scene("mariadb 10.11.18", {"innodb_max_purge_lag": 500_000, "innodb_max_purge_lag_delay": 100_000}),
)
