"""Large replicated tables without a primary key.

Why it matters
    A replica finds the row that was changed by its key. In a table without one it reads the table from the start for
    each changed row, or at best hashes one event's rows: a DELETE of a thousand rows that took a second on the source
    can take hours on each replica, and everything behind it waits.

How it is computed
    The server is a replica, or replicas are attached to it; an inspection found InnoDB tables without a primary or
    unique NOT NULL key; and at least one of them has 10,000 rows or more by the server's estimate. Small ones do no
    harm.

When to dismiss it
    The tables are only ever inserted into and truncated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from advisor.engine.declared import inspected, number
from advisor.engine.fact import Basis, Fact
from advisor.engine.facts.replication import channel_row
from advisor.engine.observation import Observation
from advisor.engine.outcome import Finding, Inapplicable, Item, Measured, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import inspected as inspection
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SchemaAdvice


@dataclass(frozen=True)
class Keyless(Fact):
    """Tables without a key that replication could find rows by, with the estimate of their rows; largest first."""

    basis: ClassVar[Basis] = Basis.INSPECTED
    reads: ClassVar[tuple[str, ...]] = ("tables without a primary key", "INFORMATION_SCHEMA.TABLES")

    tables: tuple[tuple[str, int], ...]

    @classmethod
    def read(cls, seen: Observation) -> Keyless:
        if not seen.snapshot.replication and seen.snapshot.identity.role != "source":
            raise Inapplicable(Message("This server neither is a replica nor has any."))
        rows = {(one["schema"], one["name"]): int(number(one, "rows")) for one in inspected(seen, "tables")}
        found = [
            (f"{one['schema']}.{one['name']}", rows.get((one["schema"], one["name"]), 0))
            for one in inspected(seen, "keyless_tables")
        ]
        return cls(tuple(sorted(found, key=lambda each: (-each[1], each[0]))))


@dataclass(frozen=True)
class Parameters(Thresholds):
    """What is large."""

    rows: float = threshold(10_000, unit=Unit.COUNT, meaning="rows of a table", leave_at=8_000)


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/replication-features-differing-tables.html",
        "https://mariadb.com/docs/server/ha-and-performance/standard-replication/row-based-replication-with-no-primary-key",
    ],
)


@rule.check
def check(keyless: Keyless, p: Parameters) -> Finding | Passed:
    large = [(name, rows) for name, rows in keyless.tables if rows >= p.rows]
    figures = (
        Measured("tables without a primary key", len(keyless.tables), Unit.COUNT, None, "inspection"),
        *(Measured(f"rows of {name}", rows, Unit.COUNT, None, "inspection") for name, rows in large[:10]),
    )
    if not large:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "{count} replicated tables of {rows} rows and more have no primary key, {name} the largest",
                    {
                        "count": Quantity(len(large), Unit.COUNT),
                        "rows": Quantity(int(p.rows), Unit.COUNT),
                        "name": Quantity(large[0][0], Unit.TEXT),
                    },
                ),
                evidence=figures,
                proposal=(
                    SchemaAdvice(
                        large[0][0],
                        "Give each of these tables a primary key, on the source: a column that is unique already, or a "
                        "new AUTO_INCREMENT column (invisible where the version can). It rebuilds the table.",
                    ),
                ),
                expected=Message("A replica finds each changed row by its key."),
                price=(
                    Price(PriceKind.DISK_WRITES, Message("each table is rebuilt once, on the source and replicas")),
                ),
                would_change_our_mind=Message("Tables that are only inserted into and truncated."),
            ),
        )
    )


def _tables(rows: int) -> dict[str, list[dict[str, str | None]]]:
    return {
        "tables": [{"schema": "shop", "name": "events", "rows": str(rows)}],
        "keyless_tables": [{"schema": "shop", "name": "events"}],
    }


rule.fires(
    "A million rows on a replica",
    scene("mysql 8.0.33", role="replica", replication=[channel_row()], inspection=inspection(**_tables(1_000_000))),
)
rule.fires("And on a source", scene("mariadb 10.11.18", role="source", inspection=inspection(**_tables(50_000))))
rule.passes("A hundred rows", scene("mariadb 10.11.18", role="source", inspection=inspection(**_tables(100))))
rule.passes(
    "All have one",
    scene(
        "mysql 8.0.33",
        role="replica",
        replication=[channel_row()],
        inspection=inspection(tables=[{"schema": "shop", "name": "events", "rows": "1000000"}], keyless_tables=[]),
    ),
)
