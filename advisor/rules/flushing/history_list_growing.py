"""Old row versions pile up faster than they are purged.

Why it matters
    InnoDB keeps the old version of every changed row until no transaction can see it any more. One transaction that
    stays open (a forgotten session, a dump, a report) keeps all of them from then on: undo tablespaces grow, and every
    read of a row that changed often walks through its versions. Afterwards purge needs hours, and the files stay big.

How it is computed
    At least 100,000 undo logs of committed transactions wait for purge (Innodb_history_list_length, or the counter
    trx_rseg_history_len), and no fewer at the end of the window than at its begin.

When to dismiss it
    A backup with one consistent view is running, and ends soon.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.flushing import (
    HistoryList,
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
    """How many are many."""

    length: float = threshold(100_000, unit=Unit.COUNT, meaning="undo logs that wait for purge", leave_at=50_000)
    kept_ratio: float = threshold(
        1.0, unit=Unit.RATIO, meaning="their number at the end as a multiple of that at the begin", leave_at=0.8
    )


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-purge-configuration.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-purge",
    ],
)


@rule.check
def check(history: HistoryList, p: Parameters) -> Finding | Passed:
    if history.last < p.length or history.last < p.kept_ratio * history.first:
        return Passed(history.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "{count} undo logs wait for purge, and they do not get fewer",
                    {"count": Quantity(round(history.last), Unit.COUNT)},
                ),
                evidence=history.measured(),
                proposal=(
                    Investigate(
                        "Find the oldest open transaction (information_schema.INNODB_TRX by trx_started) and end it, "
                        "or make it shorter: READ COMMITTED for reports, dumps from a replica. Where no transaction "
                        "is old, purge itself is too slow: look at innodb_purge_threads and at the latency of reads."
                    ),
                ),
                would_change_our_mind=Message("A history that shrinks again by itself."),
            ),
        )
    )


rule.fires(
    "An open transaction on MariaDB 10.11",
    scene("mariadb 10.11.18", gauges={"Innodb_history_list_length": 1_400_000}),
)
rule.fires(
    "On MySQL 8.0 the counter tells",
    scene("mysql 8.0.33", gauges={"trx_rseg_history_len": 250_000}),
)
rule.passes("Some thousands are purged at leisure", scene("mysql 8.0.33", gauges={"trx_rseg_history_len": 4000}))
rule.passes("Hardly any", scene("mariadb 10.11.18", gauges={"Innodb_history_list_length": 12}))
