"""Flags of optimizer_switch differ from the version's defaults for everybody.

Why it matters
    A flag was once switched for one statement, or carried over in an option file from an older version, and now decides
    for every statement: derived_merge=off or semijoin=off makes new plans bad that no EXPLAIN explains, and an upgrade
    brings no better ones.

How it is computed
    optimizer_switch is compared flag by flag with the default of this very version; flags that the version's default
    does not name are left out.

When to dismiss it
    Each flag was measured on this version, and the reason is written down.
"""

from __future__ import annotations

from advisor.engine.facts.optimizer import OptimizerSwitches
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate

rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/switchable-optimizations.html",
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/query-optimizations/optimizer-switch",
    ],
)


@rule.check
def check(switches: OptimizerSwitches) -> Finding | Passed:
    if not switches.changed:
        return Passed(switches.measured())
    changed = ", ".join(f"{name}={value}" for name, value in sorted(switches.changed.items()))
    one = next(iter(sorted(switches.changed)))
    return Finding(
        (
            Item(
                message=Message(
                    "Flags of optimizer_switch that are not as this version has them: {flags}",
                    {"count": Quantity(len(switches.changed), Unit.COUNT), "flags": Quantity(changed, Unit.TEXT)},
                ),
                evidence=switches.measured(),
                proposal=(
                    Investigate(
                        "Find the statement that each flag was switched for and give it to that one alone (MySQL: "
                        f"/*+ SET_VAR(optimizer_switch='{one}={switches.changed[one]}') */, MariaDB: SET STATEMENT "
                        "optimizer_switch='...' FOR ...); then take it out of the option file."
                    ),
                ),
                expected=Message("Every other statement gets the plans that this version was tested with."),
                price=(Price(PriceKind.READ_LATENCY, Message("plans change: try it on a copy first")),),
                would_change_our_mind=Message("A measurement on this version, and its reason."),
            ),
        )
    )


def _with(server: str, old: str, new: str) -> dict[str, str]:
    """The default flags of the version, one of them changed."""
    return {"optimizer_switch": scene(server).snapshot.variables["optimizer_switch"].replace(old, new)}


rule.fires(
    "Derived tables are never merged",
    scene("mysql 8.0.33", _with("mysql 8.0.33", "derived_merge=on", "derived_merge=off")),
)
rule.fires(
    "Multi-range reads for everybody on MariaDB",
    scene("mariadb 10.11.18", _with("mariadb 10.11.18", ",mrr=off", ",mrr=on")),
)
rule.passes("The defaults of MySQL 8.0", scene("mysql 8.0.33"))
rule.passes("The defaults of MariaDB 10.11, which are others", scene("mariadb 10.11.18"))
