"""One statement takes more than half of all the time.

Why it matters
    What is gained there is gained for the whole server: a tenth off this statement is worth more than any setting. It
    is also where a single change of its plan is felt by everybody.

How it is computed
    From statement digests: its share of the time of all statements that read or write people's tables is above one
    half, it keeps 0.1 sessions busy on average or more, and it is one of at least three.

When to dismiss it
    It is known, and is as fast as it can be.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.digests import Statements
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import inspected, scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Parameters(Thresholds):
    """From which share of all time on."""

    share: float = threshold(0.5, unit=Unit.RATIO, meaning="share of the time of all statements", leave_at=0.4)
    load: float = threshold(0.1, unit=Unit.COUNT, meaning="sessions that it keeps busy on average", leave_at=0.08)
    statements: float = threshold(3, unit=Unit.COUNT, meaning="among at least so many statements")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/performance-schema-statement-summary-tables.html",
        "https://mariadb.com/docs/server/reference/system-tables/performance-schema/performance-schema-tables/performance-schema-events_statements_summary_by_digest-table",
    ],
)


@rule.check
def check(statements: Statements, p: Parameters) -> Finding | Passed:
    first = statements.statements[0]
    share = statements.share(first)
    figures = (
        first.figure("share of all time", share, Unit.RATIO),
        first.figure("sessions kept busy", first.load, Unit.COUNT),
        first.figure("milliseconds per execution", 1000 * first.each(first.total_seconds), Unit.COUNT),
        first.span(),
    )
    if len(statements.statements) < p.statements or share <= p.share or first.load < p.load:
        return Passed((*statements.measured(), *figures))
    return Finding(
        (
            Item(
                message=Message(
                    "One statement takes {share} of all time: {statement}",
                    {"share": Quantity(share, Unit.RATIO), "statement": Quantity(first.brief, Unit.TEXT)},
                ),
                evidence=(
                    *figures,
                    Measured("statements looked at", len(statements.statements), Unit.COUNT, None, "digests"),
                ),
                proposal=(
                    Investigate(
                        "Look at its plan first (EXPLAIN ANALYZE, on MariaDB ANALYZE), then at how often it is asked "
                        f"and whether the answer could be kept: {first.place}"
                    ),
                ),
                expected=Message("What this one gains, the whole server gains."),
                price=(Price(PriceKind.OVERHEAD, Message("nothing is changed before the plan was looked at")),),
                would_change_our_mind=Message("A statement that is known and as fast as it can be."),
            ),
        )
    )


def _rows(seconds: float) -> list[dict[str, str | None]]:
    texts = {"SELECT * FROM items WHERE name LIKE ?": seconds, "SELECT a FROM b": 200.0, "SELECT c FROM d": 200.0}
    return [
        {
            "schema": "shop",
            "digest": f"d{index}",
            "text": text,
            "count": "36000",
            "total_seconds": str(taken),
            "seen_seconds": "3600",
            "idle_seconds": "1",
        }
        for index, (text, taken) in enumerate(texts.items())
    ]


rule.fires("80 % of the time", scene("mysql 8.0.33", inspection=inspected(digests=_rows(1600))))
rule.fires("60 % of the time, on MariaDB", scene("mariadb 10.11.18", inspection=inspected(digests=_rows(600))))
rule.passes("A third of the time", scene("mysql 8.0.33", inspection=inspected(digests=_rows(200))))
rule.passes("Just less than half", scene("mariadb 10.11.18", inspection=inspected(digests=_rows(390))))
