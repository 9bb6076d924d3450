"""A log is switched on and written nowhere.

Why it matters
    log_output = NONE throws away what slow_query_log and general_log produce, whatever their own switches say. Someone
    believes that the slow statements of last night are in the log, and they are not.

How it is computed
    From settings alone: log_output includes NONE, and slow_query_log or general_log is ON.

When to dismiss it
    The switch is on so that it can be used at a moment's notice, and everybody who needs it knows.
"""

from __future__ import annotations

from advisor.engine.facts.logging import LogOutput
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable

rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/log-destinations.html",
        "https://mariadb.com/docs/server/server-management/server-monitoring-logs/writing-logs-into-tables",
    ],
)


@rule.check
def check(output: LogOutput) -> Finding | Passed:
    written = output.slow_query_log or output.general_log
    if "NONE" not in output.log_output.upper() or not written:
        return Passed(output.measured())
    return Finding(
        (
            Item(
                message=Message("A log is switched on, and log_output = NONE throws it away"),
                evidence=output.measured(),
                proposal=(SetVariable("log_output", "FILE"),),
                expected=Message("What is logged is there when it is looked for."),
                price=(Price(PriceKind.DISK_WRITES, Message("the entries of the logs that are on")),),
                would_change_our_mind=Message("A switch that is kept on for a moment's notice, and known to be."),
            ),
        )
    )


rule.fires(
    "A slow query log that goes nowhere",
    scene("mysql 8.0.33", {"log_output": "NONE", "slow_query_log": "ON"}),
    proposes={"log_output": "FILE"},
)
rule.fires(
    "The same on MariaDB",
    scene("mariadb 10.11.18", {"log_output": "NONE", "slow_query_log": "ON"}),
    proposes={"log_output": "FILE"},
)
rule.passes("Files", scene("mysql 8.0.33", {"slow_query_log": "ON"}))
rule.passes("NONE, but no log is on", scene("mariadb 10.11.18", {"log_output": "NONE"}))
