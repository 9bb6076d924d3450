"""Every statement without an index goes into the slow query log.

Why it matters
    log_queries_not_using_indexes writes each statement that reads a table as a whole, however small the table is: a
    page that reads its ten settings is in the log at every request, and what is slow is lost among it.

How it is computed
    From settings alone: slow_query_log and log_queries_not_using_indexes are ON, and nothing holds them back: neither
    log_throttle_queries_not_using_indexes (MySQL), nor min_examined_row_limit, nor log_slow_rate_limit (MariaDB). MySQL
    gets a throttle of 60 a minute; MariaDB, which has none, a lower limit of 1,000 examined rows.

When to dismiss it
    A test server, on which each such statement is to be found.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Unindexed(Settings):
    """Which statements go into the slow query log for want of an index, and what holds them back."""

    slow_query_log: bool
    log_queries_not_using_indexes: bool
    min_examined_row_limit: int
    log_throttle_queries_not_using_indexes: int = 0
    log_slow_rate_limit: int = 1

    @property
    def held_back(self) -> bool:
        """Whether anything keeps them from being written each time."""
        return (
            self.log_throttle_queries_not_using_indexes > 0
            or self.min_examined_row_limit > 0
            or self.log_slow_rate_limit > 1
        )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/slow-query-log.html",
        "https://mariadb.com/docs/server/server-management/server-monitoring-logs/slow-query-log/slow-query-log-overview",
    ],
)


@rule.check
def check(log: Unindexed) -> Finding | Passed:
    if not (log.slow_query_log and log.log_queries_not_using_indexes) or log.held_back:
        return Passed(log.measured())
    change = SetVariable("min_examined_row_limit", 1000)
    price = Message("statements that examine fewer rows are in the log no longer, even if they were slow")
    if log.exists("log_throttle_queries_not_using_indexes"):
        change = SetVariable("log_throttle_queries_not_using_indexes", 60)
        price = Message("of more than 60 a minute only their number and time are written")
    return Finding(
        (
            Item(
                message=Message("Every statement that reads a whole table goes into the slow query log"),
                evidence=log.measured(),
                proposal=(change,),
                expected=Message("The slow statements can be found in the log again."),
                price=(Price(PriceKind.OVERHEAD, price),),
                would_change_our_mind=Message("A test server, on which each such statement is to be found."),
            ),
        )
    )


_ON = {"slow_query_log": "ON", "log_queries_not_using_indexes": "ON"}
rule.fires(
    "MySQL can throttle them",
    scene("mysql 8.0.33", _ON),
    proposes={"log_throttle_queries_not_using_indexes": 60},
)
rule.fires(
    "MariaDB can leave out those that examine few rows",
    scene("mariadb 10.11.18", _ON),
    proposes={"min_examined_row_limit": 1000},
)
rule.passes("Throttled", scene("mysql 8.0.33", {**_ON, "log_throttle_queries_not_using_indexes": 10}))
rule.passes("One in twenty on MariaDB", scene("mariadb 10.11.18", {**_ON, "log_slow_rate_limit": 20}))
rule.passes("As installed", scene("mariadb 10.11.18"))
