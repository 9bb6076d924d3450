"""The counters that tell the checkpoint age are switched off.

Why it matters
    MySQL before 8.0.30 and MariaDB before 10.5 show neither the checkpoint age nor its limits among their status
    variables. With five innodb_metrics counters on, both are read exactly and cheaply; without them the age has to be
    parsed out of SHOW ENGINE INNODB STATUS and the limits have to be computed.

How it is computed
    From INFORMATION_SCHEMA.INNODB_METRICS: log_lsn_current, log_lsn_last_checkpoint, log_lsn_checkpoint_age and the two
    log_max_modified_age counters, by their exact names, so that the undo switches off just what was switched on.
    The price is near nothing: these counters are computed when they are read, and all of innodb_metrics together cost
    0.3 % of the transactions on MySQL 5.7 (experiment E1).

When to dismiss it
    The server is about to be upgraded to a version that shows the age by itself.
"""

from __future__ import annotations

from advisor.engine.facts.settings import AGE_COUNTERS, AgeCounters
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetMetricCounters
from advisor.mysql.snapshot import Metric

rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7,<8.0.30", "mariadb>=10.2,<10.5"],
    since="0.1",
    references=["https://dev.mysql.com/doc/refman/8.0/en/innodb-information-schema-metrics-table.html"],
)


@rule.check
def check(counters: AgeCounters) -> Finding | Passed:
    figures = (
        Measured("counters about the checkpoint age", len(counters.known), Unit.COUNT, None, "INNODB_METRICS"),
        Measured("of them switched off", len(counters.off), Unit.COUNT, None, "INNODB_METRICS"),
    )
    if not counters.off:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "{off} counters about the checkpoint age are off", {"off": Quantity(len(counters.off), Unit.COUNT)}
                ),
                evidence=figures,
                proposal=(SetMetricCounters(enable=counters.off),),
                expected=Message(
                    "The age and its limits are read from the server instead of being parsed and computed."
                ),
                price=(Price(PriceKind.OVERHEAD, Message("below {share}", {"share": Quantity(0.003, Unit.RATIO)})),),
                would_change_our_mind=Message("An upgrade to a version whose status variables show the age."),
            ),
        )
    )


_OFF = {name: Metric("recovery", False, 0) for name in AGE_COUNTERS}
rule.fires("MySQL 5.7 as installed", scene("mysql 5.7.22", metrics=_OFF))
rule.fires("MariaDB 10.2 as installed", scene("mariadb 10.2.11", metrics=_OFF))
rule.passes(
    "MySQL 8.0.12 with the five counters on",
    scene("mysql 8.0.12", metrics={name: Metric("log", True, 0) for name in AGE_COUNTERS}),
)
