"""The table of statement digests is full.

Why it matters
    performance_schema adds up statements by their normalised text, performance_schema_digests_size of them. Once the
    table is full every new one is added to a single row without a text: the statement that makes trouble since this
    morning is in it, and cannot be told from the others.

How it is computed
    Read on request (an inspection): as many rows as the table holds, or statements that were added to the row without a
    text. The size is doubled, to 20,000 at most; beyond that, or while a restart is far, the table can be emptied:
    TRUNCATE TABLE performance_schema.events_statements_summary_by_digest.

When to dismiss it
    The statements that fill it are of a kind that nobody looks at: an application that writes values or table names
    into its statements.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from advisor.engine.declared import inspected, number
from advisor.engine.fact import Basis, Fact
from advisor.engine.observation import Observation
from advisor.engine.outcome import Finding, Inapplicable, Item, Measured, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import inspected as made
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Change, Investigate, SetVariable


@dataclass(frozen=True)
class DigestTable(Fact):
    """How full the table of digests is: rows, the size in force, and statements that found no room."""

    basis: ClassVar[Basis] = Basis.INSPECTED
    reads: ClassVar[tuple[str, ...]] = ("performance_schema.events_statements_summary_by_digest",)

    rows: int
    size: int
    lost: int

    @classmethod
    def read(cls, seen: Observation) -> Self:
        rows = inspected(seen, "digest_table")
        if not rows:
            raise Inapplicable(Message("This server keeps no table of statement digests."))
        now = int(number(rows[0], "size"))
        wanted = int(seen.proposed.get("performance_schema_digests_size", now))
        # A larger table begins empty of what the smaller one lost.
        lost = int(number(rows[0], "lost"))
        return cls(rows=int(number(rows[0], "rows")), size=wanted, lost=lost if wanted <= now else 0)

    @property
    def is_full(self) -> bool:
        """Whether new statements have no row of their own."""
        return self.size > 0 and (self.rows >= self.size or self.lost > 0)

    def measured(self) -> tuple[Measured, ...]:
        """Rows, size and what was lost, as evidence."""
        source = "performance_schema"
        return (
            Measured("statement digests", self.rows, Unit.COUNT, None, source),
            Measured("performance_schema_digests_size", self.size, Unit.COUNT, None, source),
            Measured("statements without a digest of their own", self.lost, Unit.COUNT, None, source),
        )


@dataclass(frozen=True)
class Parameters(Thresholds):
    """How large it may get."""

    largest: float = threshold(20_000, unit=Unit.COUNT, meaning="no larger table is proposed")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.5"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/performance-schema-statement-digests.html",
        "https://mariadb.com/docs/server/reference/system-tables/performance-schema/performance-schema-tables/performance-schema-events_statements_summary_by_digest-table",
    ],
)


@rule.check
def check(table: DigestTable, p: Parameters) -> Finding | Passed:
    if not table.is_full:
        return Passed(table.measured())
    wanted = min(2 * table.size, int(p.largest))
    proposal: tuple[Change, ...] = (SetVariable("performance_schema_digests_size", wanted),)
    price: tuple[Price, ...] = (
        Price(PriceKind.RESTART, Message("it is allocated when the server starts")),
        Price(
            PriceKind.MEMORY,
            Message("some KiB for each statement"),
            Quantity(table.size, Unit.COUNT),
            Quantity(wanted, Unit.COUNT),
        ),
    )
    if wanted <= max(table.size, table.rows):
        proposal, price = (
            (
                Investigate(
                    "Find out which application writes values or names into its statements, so that no two are alike; "
                    "then empty the table: TRUNCATE TABLE performance_schema.events_statements_summary_by_digest."
                ),
            ),
            (),
        )
    return Finding(
        (
            Item(
                message=Message(
                    "All {size} rows for statement digests are taken", {"size": Quantity(table.size, Unit.COUNT)}
                ),
                evidence=table.measured(),
                proposal=proposal,
                expected=Message("New statements are seen by their own text again."),
                price=price,
                would_change_our_mind=Message("Statements of a kind that nobody looks at."),
            ),
        )
    )


rule.fires(
    "Full on MySQL",
    scene("mysql 8.0.33", inspection=made(digest_table=[{"rows": "10000", "size": "10000", "lost": "52"}])),
    proposes={"performance_schema_digests_size": 20_000},
)
rule.fires(
    "Twenty thousand already",
    scene(
        "mariadb 10.11.18",
        {"performance_schema": "ON"},
        inspection=made(digest_table=[{"rows": "20000", "size": "20000", "lost": "900"}]),
    ),
)
rule.passes(
    "Half full",
    scene("mysql 8.0.33", inspection=made(digest_table=[{"rows": "4800", "size": "10000", "lost": "0"}])),
)
rule.passes(
    "Half full on MariaDB",
    scene(
        "mariadb 10.11.18",
        {"performance_schema": "ON"},
        inspection=made(digest_table=[{"rows": "2100", "size": "5000", "lost": "0"}]),
    ),
)
