"""The binary log is cut into very small files.

Why it matters
    At the end of each file all commits wait until it was synced, the next was created and the index of files was
    written again. A log in thousands of files also makes purging, SHOW BINARY LOGS and the start slow, since the
    index is read and checked line by line.

How it is computed
    log_bin is on and max_binlog_size is below 16 MiB; the default is 1 GiB, which is proposed.

When to dismiss it
    The files are shipped as they are closed, and the small size bounds how much a disaster may lose.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.replication import BinaryLog
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import GIB, MIB, Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Files(Settings):
    """The size at which a file is closed, in bytes."""

    max_binlog_size: int


@dataclass(frozen=True)
class Parameters(Thresholds):
    """What is small."""

    smallest_bytes: float = threshold(16 * MIB, unit=Unit.BYTES, meaning="files smaller than this")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    raises=["max_binlog_size"],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/replication-options-binary-log.html",
        "https://mariadb.com/docs/server/ha-and-performance/standard-replication/replication-and-binary-log-system-variables",
    ],
)


@rule.check
def check(files: Files, _log: BinaryLog, p: Parameters) -> Finding | Passed:
    if files.max_binlog_size >= p.smallest_bytes:
        return Passed(files.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "The binary log starts a new file after each {size}: commits wait for every one of them",
                    {"size": Quantity(files.max_binlog_size, Unit.BYTES)},
                ),
                evidence=files.measured(),
                proposal=(SetVariable("max_binlog_size", GIB),),
                expected=Message("A new file is rare, and the index of files is short."),
                price=(
                    Price(
                        PriceKind.DISK,
                        Message("files are removed as a whole: up to one more of them stays"),
                        Quantity(files.max_binlog_size, Unit.BYTES),
                        Quantity(GIB, Unit.BYTES),
                    ),
                ),
                would_change_our_mind=Message("Files that are shipped elsewhere as they are closed."),
            ),
        )
    )


rule.fires("A megabyte", scene("mysql 8.0.33", {"max_binlog_size": MIB}), proposes={"max_binlog_size": GIB})
rule.fires(
    "Four on MariaDB",
    scene("mariadb 10.11.18", {"log_bin": "ON", "max_binlog_size": 4 * MIB}),
    proposes={"max_binlog_size": GIB},
)
rule.passes("A hundred megabytes, as Debian has it", scene("mysql 8.0.33", {"max_binlog_size": 100 * MIB}))
rule.passes("The default", scene("mariadb 10.11.18", {"log_bin": "ON"}))
rule.passes("At the limit", scene("mysql 8.0.33", {"max_binlog_size": 16 * MIB}))
