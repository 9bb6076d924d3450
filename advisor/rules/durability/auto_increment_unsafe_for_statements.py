"""Replicas may number new rows otherwise than their source.

Why it matters
    With innodb_autoinc_lock_mode = 2 statements that insert many rows take numbers in turns. Logged as rows that is
    safe. Logged as statements (binlog_format = STATEMENT) a replica runs them one after the other, gives other
    numbers, and from then on holds other rows than its source, without an error.

How it is computed
    From the settings: log_bin is ON, binlog_format is STATEMENT and innodb_autoinc_lock_mode is 2, the default of
    MySQL 8.0 and later. MIXED logs such statements as rows and is safe. A Galera node is left out: it needs mode 2,
    and replicates rows.

When to dismiss it
    Nobody inserts more than one row with a statement, or the log is moved to row format, which is the better end of
    it.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.durability import BinaryLogging
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class AutoIncrement(Settings):
    """How numbers are given: 0 and 1 repeat themselves on replicas, 2 does not."""

    innodb_autoinc_lock_mode: int
    wsrep_on: bool = False


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-auto-increment-handling.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/auto_increment-handling-in-innodb",
    ],
)


@rule.check
def check(numbers: AutoIncrement, log: BinaryLogging) -> Finding | Passed:
    figures = numbers.measured() + log.measured()
    statements = log.log_bin and log.binlog_format.upper() == "STATEMENT"
    # A Galera node needs mode 2 and replicates rows whatever is logged: another topic's rule asks for it.
    if numbers.innodb_autoinc_lock_mode != 2 or not statements or numbers.wsrep_on:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message("Statements are logged whose AUTO_INCREMENT numbers a replica cannot repeat"),
                evidence=figures,
                proposal=(SetVariable("innodb_autoinc_lock_mode", 1),),
                expected=Message("A statement gives the same numbers on replicas as on the source."),
                price=(
                    Price(
                        PriceKind.WRITE_LATENCY,
                        Message("INSERT ... SELECT and imports hold a table's numbers to the end"),
                    ),
                    Price(PriceKind.RESTART, Message("the setting is read at the start only")),
                ),
                would_change_our_mind=Message("binlog_format = ROW, which makes every mode safe."),
            ),
        )
    )


rule.fires(
    "MySQL 8.0's default mode with statements in the log",
    scene("mysql 8.0.33", {"log_bin": "ON", "binlog_format": "STATEMENT"}),
    proposes={"innodb_autoinc_lock_mode": 1},
)
rule.fires(
    "MariaDB",
    scene("mariadb 10.11.18", {"log_bin": "ON", "binlog_format": "STATEMENT", "innodb_autoinc_lock_mode": 2}),
)
rule.passes(
    "A Galera node, which needs this mode",
    scene(
        "mariadb 10.11.18",
        {"log_bin": "ON", "binlog_format": "STATEMENT", "innodb_autoinc_lock_mode": 2, "wsrep_on": "ON"},
    ),
)
rule.passes("Rows in the log", scene("mysql 8.0.33", {"log_bin": "ON", "binlog_format": "ROW"}))
rule.passes("MIXED logs what is unsafe as rows", scene("mysql 8.0.33", {"log_bin": "ON", "binlog_format": "MIXED"}))
rule.passes(
    "MariaDB's default mode repeats itself",
    scene("mariadb 10.11.18", {"log_bin": "ON", "binlog_format": "STATEMENT", "innodb_autoinc_lock_mode": 1}),
)
