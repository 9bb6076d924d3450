"""All sessions share one part of the table cache on a machine with many CPUs.

Why it matters
    Every statement locks its part of the table cache for a moment. With one part for all, a machine with many CPUs
    and short statements spends its time waiting for that lock.

How it is computed
    table_open_cache_instances is 1 with eight CPUs or more (as stated), and at least 1,000 statements a second are
    executed. The proposal is 8, or 16 from 32 CPUs on. Any other number passes. MariaDB begins with one part by
    itself and adds others when it sees that lock contended, up to this number.

When to dismiss it
    The CPUs are there for other programs, and the server hardly uses them.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Rates, Settings
from advisor.engine.facts.memory import HostCpus
from advisor.engine.observation import Observation
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene, stated
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class CacheParts(Settings):
    """Into how many parts the cache of open tables is cut."""

    table_open_cache_instances: int


@dataclass(frozen=True)
class Statements(Rates):
    """Statements per second."""

    questions: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When one part is too few."""

    cpus: float = threshold(8, unit=Unit.COUNT, meaning="CPUs from which on one part is too few")
    statements_per_second: float = threshold(
        1000, unit=Unit.PER_SECOND, meaning="statements from which on the lock matters", leave_at=800
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/table-cache.html",
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/system-variables/optimizing-table_open_cache",
    ],
)


@rule.check
def check(parts: CacheParts, cpus: HostCpus, statements: Statements, p: Parameters) -> Finding | Passed:
    figures = parts.measured() + cpus.measured() + statements.measured()
    few = parts.table_open_cache_instances == 1 and cpus.count >= p.cpus
    if not few or statements.questions < p.statements_per_second:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "Statements ({statements}) lock one table cache on {cpus} CPUs",
                    {
                        "statements": Quantity(statements.questions, Unit.PER_SECOND),
                        "cpus": Quantity(cpus.count, Unit.COUNT),
                    },
                ),
                evidence=figures,
                proposal=(SetVariable("table_open_cache_instances", 16 if cpus.count >= 32 else 8),),
                expected=Message("Short statements wait less for each other."),
                price=(Price(PriceKind.RESTART, Message("the cache is laid out at the start")),),
                would_change_our_mind=Message("CPUs that other programs use."),
            ),
        )
    )


def _scene(flavor: str, parts: int, cpus: int) -> Observation:
    return scene(
        flavor,
        {"table_open_cache_instances": parts},
        counters={"Questions": 9000},
        host=stated(cpus=cpus),
        deliberate=True,
    )


rule.fires("One part on 16 CPUs", _scene("mysql 8.0.33", 1, 16), proposes={"table_open_cache_instances": 8})
rule.fires(
    "MariaDB that may not add any", _scene("mariadb 10.11.18", 1, 64), proposes={"table_open_cache_instances": 16}
)
rule.passes("Sixteen parts", _scene("mysql 8.0.33", 16, 16))
rule.passes("Two CPUs", _scene("mariadb 10.11.18", 1, 2))
