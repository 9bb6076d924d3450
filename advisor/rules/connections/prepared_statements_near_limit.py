"""Almost as many prepared statements are open as are allowed.

Why it matters
    max_prepared_stmt_count limits the prepared statements of all sessions together. At the limit every PREPARE
    fails, in every application, and connecting again does not help as long as the others keep theirs. Mostly an
    application prepares without ever closing, or each connection of a large pool keeps hundreds.

How it is computed
    Prepared_stmt_count is 80 % of max_prepared_stmt_count or more. The proposal doubles the limit, up to 1,048,576:
    it buys time to find who forgets to close them. A limit of 0 forbids them on purpose and is left alone.

When to dismiss it
    The number is stable: pools that are full, with as many statements as they ever have.
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
class StatementLimit(Settings):
    """How many prepared statements all sessions may have together."""

    max_prepared_stmt_count: int


@dataclass(frozen=True)
class Prepared(Status):
    """How many there are."""

    prepared_stmt_count: int


@dataclass(frozen=True)
class Parameters(Thresholds):
    """How near is too near."""

    used_ratio: float = threshold(
        0.8, unit=Unit.RATIO, meaning="prepared statements as a share of those allowed", leave_at=0.7
    )
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
def check(limit: StatementLimit, prepared: Prepared, p: Parameters) -> Finding | Passed:
    figures = limit.measured() + prepared.measured()
    present, used = limit.max_prepared_stmt_count, prepared.prepared_stmt_count
    if present == 0 or used < p.used_ratio * present:
        return Passed(figures)
    wanted = min(int(p.largest), max(2 * present, 2 * used))
    proposal: tuple[Change, ...] = (SetVariable("max_prepared_stmt_count", wanted),)
    price: tuple[Price, ...] = (
        Price(
            PriceKind.MEMORY,
            Message("each of them keeps its parsed form"),
            Quantity(present, Unit.COUNT),
            Quantity(wanted, Unit.COUNT),
        ),
    )
    if wanted <= present:
        proposal, price = (Investigate("Find the application that prepares statements and never closes them."),), ()
    return Finding(
        (
            Item(
                message=Message(
                    "{used} of {limit} prepared statements are open",
                    {"used": Quantity(used, Unit.COUNT), "limit": Quantity(present, Unit.COUNT)},
                ),
                evidence=figures,
                proposal=proposal,
                expected=Message("PREPARE goes on working while the leak is looked for.") if price else None,
                price=price,
                would_change_our_mind=Message("A number that has been stable for days."),
            ),
        )
    )


rule.fires(
    "15,000 of 16,382",
    scene("mysql 8.0.33", {"max_prepared_stmt_count": 16_382}, gauges={"Prepared_stmt_count": 15_000}),
    proposes={"max_prepared_stmt_count": 32_764},
)
rule.fires(
    "All of them on MariaDB",
    scene("mariadb 10.11.18", {"max_prepared_stmt_count": 100}, gauges={"Prepared_stmt_count": 100}),
    proposes={"max_prepared_stmt_count": 200},
)
rule.passes(
    "A third of them",
    scene("mysql 8.0.33", {"max_prepared_stmt_count": 16_382}, gauges={"Prepared_stmt_count": 5000}),
)
rule.passes(
    "Forbidden on purpose",
    scene("mariadb 10.11.18", {"max_prepared_stmt_count": 0}, gauges={"Prepared_stmt_count": 0}),
)
