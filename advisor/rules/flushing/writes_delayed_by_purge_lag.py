"""Every change is delayed since purge lags behind.

Why it matters
    With innodb_max_purge_lag and innodb_max_purge_lag_delay set, each insert, update and delete sleeps for milliseconds
    while more undo logs wait for purge than the limit allows. Measured on 5.7.22 and 8.0.33 with a delay of 20,000
    microseconds: 48 updates a second where there had been 10,000. From outside it looks like a server that does
    nothing.

How it is computed
    More undo logs wait for purge than innodb_max_purge_lag, which is above 0 as innodb_max_purge_lag_delay is. On
    MariaDB 10.11 the same settings did not delay anything while a transaction was open, so that the rule holds for
    MySQL.

When to dismiss it
    It is what the limit was set for: rather slow writers than a history without end.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.flushing import (
    HistoryList,
    PurgeLag,
)
from advisor.engine.outcome import (
    Finding,
    Item,
    Message,
    Passed,
    Severity,
)
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When changes are delayed."""

    lag_ratio: float = threshold(
        1.0, unit=Unit.RATIO, meaning="waiting undo logs as a multiple of innodb_max_purge_lag", leave_at=0.8
    )


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-purge-configuration.html",
    ],
)


@rule.check
def check(lag: PurgeLag, history: HistoryList, p: Parameters) -> Finding | Passed:
    figures = lag.measured() + history.measured()
    limit = lag.innodb_max_purge_lag
    if limit == 0 or lag.innodb_max_purge_lag_delay == 0 or history.last <= p.lag_ratio * limit:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "{count} undo logs wait for purge, {limit} are allowed: each change sleeps for up to {time}",
                    {
                        "count": Quantity(round(history.last), Unit.COUNT),
                        "limit": Quantity(limit, Unit.COUNT),
                        "time": Quantity(lag.innodb_max_purge_lag_delay / 1_000_000, Unit.SECONDS),
                    },
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Find the oldest open transaction (information_schema.INNODB_TRX by trx_started), which keeps "
                        "purge from going on, and end it. To let writers go on meanwhile, set innodb_max_purge_lag = 0."
                    ),
                ),
                would_change_our_mind=Message("A decision that writers wait for purge."),
            ),
        )
    )


rule.fires(
    "A limit of 100,000 on MySQL 8.0",
    scene(
        "mysql 8.0.33",
        {"innodb_max_purge_lag": 100_000, "innodb_max_purge_lag_delay": 50_000},
        gauges={"trx_rseg_history_len": 400_000},
    ),
)
rule.passes(
    "Below the limit",
    scene(
        "mysql 8.0.33",
        {"innodb_max_purge_lag": 100_000, "innodb_max_purge_lag_delay": 50_000},
        gauges={"trx_rseg_history_len": 4000},
    ),
)
rule.passes(
    "A limit without a delay",
    scene(
        "mysql 5.7.22",
        {"innodb_max_purge_lag": 100_000, "innodb_max_purge_lag_delay": 0},
        gauges={"trx_rseg_history_len": 400_000},
    ),
)
