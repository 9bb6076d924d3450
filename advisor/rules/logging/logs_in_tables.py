"""Logs are written into tables.

Why it matters
    With TABLE in log_output the slow query log and the general log are rows of mysql.slow_log and mysql.general_log:
    CSV tables with a lock for the whole table and without an index. Each entry costs several times what a line in a
    file costs, readers and writers wait for each other, and nothing rotates them.

How it is computed
    From settings alone: log_output includes TABLE, and slow_query_log (a notice) or general_log (a warning) is ON.

When to dismiss it
    Nobody can read files on that server (a managed one without file access), and few entries are written.
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
    if "TABLE" not in output.log_output.upper() or not written:
        return Passed(output.measured())
    return Finding(
        (
            Item(
                message=Message("Logs are written into tables, row by row"),
                evidence=output.measured(),
                proposal=(SetVariable("log_output", "FILE"),),
                severity=Severity.WARNING if output.general_log else None,
                expected=Message("An entry is a line in a file, which can be rotated and read without the server."),
                price=(Price(PriceKind.OVERHEAD, Message("the entries can no longer be read with SQL")),),
                would_change_our_mind=Message("A server whose files nobody can read, with few entries."),
            ),
        )
    )


rule.fires(
    "The slow query log in a table",
    scene("mysql 8.0.33", {"log_output": "TABLE", "slow_query_log": "ON"}),
    proposes={"log_output": "FILE"},
)
rule.fires(
    "The general log in both",
    scene("mariadb 10.11.18", {"log_output": "FILE,TABLE", "general_log": "ON"}),
    proposes={"log_output": "FILE"},
)
rule.passes("Files", scene("mysql 8.0.33", {"slow_query_log": "ON"}))
rule.passes("Tables, but no log is on", scene("mariadb 10.11.18", {"log_output": "TABLE"}))
