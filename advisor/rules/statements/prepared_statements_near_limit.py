"""Prepared statements come near the number that the server holds.

Why it matters
    All sessions together may hold max_prepared_stmt_count prepared statements; beyond it every PREPARE fails with error
    1461, and with it every page whose driver prepares. It fills up where statements are prepared and never closed:
    slowly, and then at once.

How it is computed
    Prepared_stmt_count of the newest snapshot is 80 % or more of max_prepared_stmt_count. The limit is doubled, to
    1,048,576 at most, so that nothing fails while the leak is looked for; it is no remedy for it.

When to dismiss it
    The number stands still below the limit: so many sessions times so many statements of each pool.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings, Status
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Change, Investigate, SetVariable


@dataclass(frozen=True)
class Limit(Settings):
    """How many prepared statements there may be."""

    max_prepared_stmt_count: int


@dataclass(frozen=True)
class Held(Status):
    """How many there are."""

    prepared_stmt_count: int


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When it is near."""

    used_ratio: float = threshold(0.8, unit=Unit.RATIO, meaning="prepared statements of the limit", leave_at=0.7)
    at_once_ratio: float = threshold(0.95, unit=Unit.RATIO, meaning="from here on it is critical", leave_at=0.85)
    largest: float = threshold(1_048_576, unit=Unit.COUNT, meaning="no higher limit is proposed")


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    raises=["max_prepared_stmt_count"],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/server-system-variables.html",
        "https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables",
    ],
)


@rule.check
def check(limit: Limit, held: Held, p: Parameters) -> Finding | Passed:
    figures = held.measured() + limit.measured()
    present = limit.max_prepared_stmt_count
    if present == 0 or held.prepared_stmt_count < p.used_ratio * present:
        return Passed(figures)
    wanted = min(max(2 * present, 2 * held.prepared_stmt_count), int(p.largest))
    look = Investigate(
        "Find the sessions that prepare without closing (performance_schema.prepared_statements_instances by "
        "OWNER_THREAD_ID) and set a size for their driver's statement cache."
    )
    proposal: tuple[Change, ...] = (SetVariable("max_prepared_stmt_count", wanted), look)
    price: tuple[Price, ...] = (Price(PriceKind.MEMORY, Message("some KiB to some 100 KiB for each statement held")),)
    if held.prepared_stmt_count >= p.used_ratio * wanted or wanted <= present:
        proposal, price = (look,), ()
    return Finding(
        (
            Item(
                message=Message(
                    "{held} of {limit} prepared statements are held",
                    {
                        "held": Quantity(held.prepared_stmt_count, Unit.COUNT),
                        "limit": Quantity(present, Unit.COUNT),
                    },
                ),
                evidence=figures,
                proposal=proposal,
                severity=Severity.CRITICAL if held.prepared_stmt_count >= p.at_once_ratio * present else None,
                expected=Message("Nothing fails while the sessions that never close are looked for."),
                price=price,
                would_change_our_mind=Message("A number that has stood still for days."),
            ),
        )
    )


rule.fires(
    "A driver that never closes",
    scene("mysql 8.0.33", status={"Prepared_stmt_count": 14_000}),
    proposes={"max_prepared_stmt_count": 32_764},
)
rule.fires(
    "Full",
    scene("mariadb 10.11.18", {"max_prepared_stmt_count": 1000}, status={"Prepared_stmt_count": 1000}),
    proposes={"max_prepared_stmt_count": 2000},
)
rule.passes("A tenth of it", scene("mysql 8.0.33", status={"Prepared_stmt_count": 1600}))
rule.passes("None", scene("mariadb 10.11.18", {"max_prepared_stmt_count": 1000}, status={"Prepared_stmt_count": 0}))
rule.passes("Switched off", scene("mysql 5.7.22", {"max_prepared_stmt_count": 0}, status={"Prepared_stmt_count": 0}))
