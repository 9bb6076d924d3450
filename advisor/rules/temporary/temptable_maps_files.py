"""Temporary tables may map gigabytes of files into memory.

Why it matters
    With temptable_max_mmap above 0, temporary tables that do not fit into temptable_max_ram go on in files of tmpdir
    that are mapped into memory: they fill that disk without a name to be seen, count as memory of the server, and give
    the room back only as whole blocks. InnoDB's temporary tables on disk do the same without these surprises; MySQL 8.4
    and later have it off by default, and temptable_use_mmap is deprecated for the same reason.

How it is computed
    temptable_max_mmap is above 1 GiB, the default of MySQL 8.0, so that somebody raised it. It is set to 0: what does
    not fit into memory becomes an InnoDB table on disk.

When to dismiss it
    tmpdir is on a large fast device of its own, and the mapped files were measured to be faster than InnoDB's tables.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import GIB, Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class MappedFiles(Settings):
    """What TempTable may map from files, in bytes."""

    temptable_max_mmap: int


@dataclass(frozen=True)
class Parameters(Thresholds):
    """From where on it was raised on purpose."""

    usual_bytes: float = threshold(GIB, unit=Unit.BYTES, meaning="mapped files that MySQL 8.0 allows by default")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=8.0.23"],
    since="0.2",
    parameters=Parameters(),
    references=["https://dev.mysql.com/doc/refman/8.4/en/internal-temporary-tables.html"],
)


@rule.check
def check(files: MappedFiles, p: Parameters) -> Finding | Passed:
    if files.temptable_max_mmap <= p.usual_bytes:
        return Passed(files.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "Temporary tables may map {size} of files into memory",
                    {"size": Quantity(files.temptable_max_mmap, Unit.BYTES)},
                ),
                evidence=files.measured(),
                proposal=(SetVariable("temptable_max_mmap", 0),),
                expected=Message("What does not fit into memory becomes an InnoDB table on disk, which can be seen."),
                price=(
                    Price(PriceKind.DISK_WRITES, Message("InnoDB writes these tables into its temporary tablespaces")),
                ),
                would_change_our_mind=Message("A measurement by which the mapped files are faster here."),
            ),
        )
    )


rule.fires(
    "Eight gigabytes",
    scene("mysql 8.0.33", {"temptable_max_mmap": 8 * GIB}),
    proposes={"temptable_max_mmap": 0},
)
rule.passes("The default of 8.0", scene("mysql 8.0.33"))
rule.passes("The default of 9.7", scene("mysql 9.7.4"))
