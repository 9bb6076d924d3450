"""A few statements write most of the rows behind the redo log.

Why it matters
    The size of the redo log and the speed of flushing treat the symptom. Where a handful of statements change most of
    the rows, the cause can be had: an update that sets what is set already, a counter in one row, a queue that is
    deleted row by row, a session table that need not survive a crash.

How it is computed
    At least 1 MiB of redo a second is written in the window, and of all rows that the statements of an inspection
    changed the five first changed at least half (rows affected, since each was first seen). Named are those statements,
    their shares, and the schemas' shares. Rows are not bytes: rows with long values or many indexes write more redo
    each.

When to dismiss it
    These statements are what the server is for, and are known to be.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.digests import Statements
from advisor.engine.facts.redo import OwnRedoLog, RedoLoad
from advisor.engine.outcome import (
    Finding,
    Item,
    Measured,
    Message,
    Passed,
    Severity,
)
from advisor.engine.rule import Rule
from advisor.engine.scene import inspected as rows_read
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import KIB, MIB, Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When it is worth naming who writes."""

    redo_per_second: float = threshold(
        MIB, unit=Unit.BYTES_PER_SECOND, meaning="redo written from which its authors matter", leave_at=0.7 * MIB
    )
    share_ratio: float = threshold(
        0.5, unit=Unit.RATIO, meaning="share of all changed rows by the first statements", leave_at=0.4
    )
    statements: float = threshold(5, unit=Unit.COUNT, meaning="how many statements are few")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-redo-log.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(load: RedoLoad, statements: Statements, _log: OwnRedoLog, p: Parameters) -> Finding | Passed:
    writers = sorted(
        statements.where(lambda one: not one.is_read and one.rows_affected > 0), key=lambda one: -one.rows_affected
    )
    rows = sum(one.rows_affected for one in writers)
    first = writers[: int(p.statements)]
    share = sum(one.rows_affected for one in first) / rows if rows else 0.0
    named = [one for one in first if one.rows_affected >= 0.05 * rows]
    schemas: dict[str, float] = {}
    for one in writers:
        schemas[one.schema or "(none)"] = schemas.get(one.schema or "(none)", 0.0) + one.rows_affected
    figures = (
        *load.measured(),
        *(one.figure("share of changed rows", one.rows_affected / rows, Unit.RATIO) for one in named),
        *(
            Measured(f"share of changed rows in schema {name}", round(written / rows, 6), Unit.RATIO, None, _SOURCE)
            for name, written in sorted(schemas.items(), key=lambda each: -each[1])[: int(p.statements)]
        ),
    )
    if load.mean_bytes_per_second < p.redo_per_second or share < p.share_ratio:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "{count} statements change {share} of the rows behind {redo} of redo",
                    {
                        "count": Quantity(len(named), Unit.COUNT),
                        "share": Quantity(sum(one.rows_affected for one in named) / rows, Unit.RATIO),
                        "redo": Quantity(load.mean_bytes_per_second, Unit.BYTES_PER_SECOND),
                    },
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Look at these statements first: whether all of the rows have to change, whether many small "
                        "transactions could be one, and which indexes each change writes, too."
                    ),
                ),
                would_change_our_mind=Message("Statements that write what they must."),
            ),
        )
    )


_SOURCE = "events_statements_summary_by_digest"


def _row(schema: str, text: str, count: int, affected: int) -> dict[str, str]:
    return {
        "schema": schema,
        "digest": f"{schema}{len(text)}{affected}",
        "text": text,
        "count": str(count),
        "total_seconds": "60",
        "rows_affected": str(affected),
        "rows_examined": str(affected),
        "seen_seconds": "90000",
        "idle_seconds": "1",
    }


_FEW = rows_read(
    digests=[
        _row("shop", "UPDATE `counter` SET `n` = `n` + ? WHERE `id` = ?", 9_000_000, 9_000_000),
        _row("shop", "INSERT INTO `orders` VALUES (...)", 200_000, 200_000),
        _row("blog", "SELECT * FROM `post` WHERE `id` = ?", 1_000_000, 0),
    ]
)
_MANY = rows_read(digests=[_row("shop", f"UPDATE `t{number}`", 1000, 1000 + number) for number in range(30)])
rule.fires("One counter", scene("mysql 8.0.33", redo_per_second=3 * MIB, inspection=_FEW))
rule.fires("The same on MariaDB", scene("mariadb 10.11.18", redo_per_second=3 * MIB, inspection=_FEW))
rule.passes("Thirty that write alike", scene("mysql 8.0.33", redo_per_second=3 * MIB, inspection=_MANY))
rule.passes("Hardly any redo", scene("mysql 8.0.33", redo_per_second=100 * KIB, inspection=_FEW))
rule.passes("Hardly any redo on MariaDB", scene("mariadb 10.11.18", redo_per_second=100 * KIB, inspection=_FEW))
