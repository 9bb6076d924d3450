"""An auto-increment column is near the end of its type.

Why it matters
    At the end every INSERT fails with a duplicate key (error 1062 or 167), at once and for everybody. Widening the
    column then means to rebuild the table while nothing can be inserted, and the columns that refer to it have to
    follow.

How it is computed
    The column's next value over the largest value of its type (INT: 2,147,483,647, INT UNSIGNED twice that). A warning
    from 75 % on, critical from 90 %. The five fullest columns are named, each for itself.

When to dismiss it
    The table is emptied and begins again, or its next value was set by hand and nothing is inserted any more.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.schema import AutoIncrement, AutoIncrements
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import inspected, scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate, SchemaAdvice

#: Each is a recommendation of its own; more are said when these are done.
_NAMED = 5


@dataclass(frozen=True)
class Parameters(Thresholds):
    """From which share of the type's values on."""

    used_ratio: float = threshold(0.75, unit=Unit.RATIO, meaning="share of the values that are used")
    critical_used_ratio: float = threshold(0.9, unit=Unit.RATIO, meaning="from here on it is critical")


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/integer-types.html",
        "https://dev.mysql.com/doc/refman/8.4/en/sys-schema-auto-increment-columns.html",
        "https://mariadb.com/docs/server/reference/data-types/auto_increment",
    ],
)


@rule.check
def check(counters: AutoIncrements, p: Parameters) -> Finding | Passed:
    found = sorted(counters.columns, key=lambda one: (-one.used_ratio, one.place))
    near = [one for one in found if one.used_ratio >= p.used_ratio]
    if not near:
        count = Measured("auto-increment columns", len(found), Unit.COUNT, None, "information_schema")
        return Passed((count, *(_used(one) for one in found[:1])))
    return Finding(tuple(_item(one, p) for one in near[:_NAMED]))


def _item(one: AutoIncrement, p: Parameters) -> Item:
    advice = (
        "Change {column} to BIGINT UNSIGNED, and with it the columns that refer to it. It rebuilds the table: use an "
        "online schema change tool where it is big."
    )
    proposal = (
        (SchemaAdvice(one.place, advice.format(column=one.column)),)
        if "bigint" not in one.type.lower()
        else (
            Investigate(
                f"Find who inserted so big a value into {one.column} of {one.place}: no table has so many rows. Set "
                "the counter back by ALTER TABLE ... AUTO_INCREMENT once those rows are gone."
            ),
        )
    )
    return Item(
        message=Message(
            "{used} of the values of {column} in {table} are used ({type})",
            {
                "used": Quantity(one.used_ratio, Unit.RATIO),
                "column": Quantity(one.column, Unit.TEXT),
                "table": Quantity(one.place, Unit.TEXT),
                "type": Quantity(one.type, Unit.TEXT),
            },
        ),
        evidence=(
            _used(one),
            Measured("next value", one.next_value, Unit.COUNT, None, "information_schema"),
            Measured("largest value", one.maximum, Unit.COUNT, None, "the column's type"),
        ),
        proposal=proposal,
        subject=one.place,
        severity=Severity.CRITICAL if one.used_ratio >= p.critical_used_ratio else None,
        expected=Message("Inserts go on."),
        price=(Price(PriceKind.DISK_WRITES, Message("the table and the indexes with the column are rebuilt")),),
        would_change_our_mind=Message("A table that is emptied and begins again before it is full."),
    )


def _used(one: AutoIncrement) -> Measured:
    return Measured(f"used values of {one.place}.{one.column}", one.used_ratio, Unit.RATIO, None, "information_schema")


def _counter(next_value: int, kind: str = "int", maximum: int = 2_147_483_647) -> dict[str, str | None]:
    return {
        "schema": "shop",
        "table": "orders",
        "column": "id",
        "type": kind,
        "next_value": str(next_value),
        "maximum": str(maximum),
    }


rule.fires(
    "At 80 % of an INT: a warning",
    scene("mysql 8.0.33", inspection=inspected(auto_increments=[_counter(1_717_986_918)])),
)
rule.fires(
    "At 95 % of a SMALLINT UNSIGNED: critical",
    scene("mariadb 10.11.18", inspection=inspected(auto_increments=[_counter(62_258, "smallint unsigned", 65_535)])),
)
rule.passes("At half of an INT", scene("mysql 8.0.33", inspection=inspected(auto_increments=[_counter(1_073_741_824)])))
rule.passes(
    "Just below 75 %", scene("mariadb 10.11.18", inspection=inspected(auto_increments=[_counter(1_610_000_000)]))
)
