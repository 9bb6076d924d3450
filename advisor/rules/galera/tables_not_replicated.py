"""Tables in a Galera cluster that are not replicated.

Why it matters
    Galera replicates InnoDB. Rows of a MyISAM, Aria or other table stay on the node that wrote them: each node
    answers differently, and a fail-over loses them. Backups of another node do not hold them, either.

How it is computed
    An inspection found tables of people's schemas in another engine than InnoDB (views, and tables in memory or that
    stand for others, are left out), and no mode replicates them.

When to dismiss it
    The tables are scratch space of one node.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from advisor.engine.declared import Settings, inspected
from advisor.engine.fact import Basis, Fact
from advisor.engine.facts.galera import ClusterNode
from advisor.engine.observation import Observation
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import inspected as inspection
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SchemaAdvice

#: Engines that hold no rows of their own that anybody expects to be replicated.
WITHOUT_ROWS = frozenset(
    {"", "MEMORY", "BLACKHOLE", "FEDERATED", "CONNECT", "SPIDER", "SEQUENCE", "PERFORMANCE_SCHEMA"}
)


@dataclass(frozen=True)
class OtherEngines(Fact):
    """Tables in engines that Galera does not replicate: name and engine, in the order of their names."""

    basis: ClassVar[Basis] = Basis.INSPECTED
    reads: ClassVar[tuple[str, ...]] = ("INFORMATION_SCHEMA.TABLES",)

    tables: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, seen: Observation) -> OtherEngines:
        ClusterNode.read(seen)
        return cls(
            tuple(
                sorted(
                    (f"{row['schema']}.{row['name']}", row["engine"] or "")
                    for row in inspected(seen, "tables")
                    if (row["engine"] or "").upper() not in WITHOUT_ROWS | {"INNODB"}
                )
            )
        )


@dataclass(frozen=True)
class Modes(Settings):
    """What else is replicated."""

    wsrep_replicate_myisam: bool = False
    wsrep_mode: str = ""

    def replicates(self, engine: str) -> bool:
        """Whether tables of this engine are replicated all the same."""
        by_switch = self.wsrep_replicate_myisam and engine.upper() == "MYISAM"
        return by_switch or f"REPLICATE_{engine.upper()}" in self.wsrep_mode.upper()


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=["https://mariadb.com/docs/galera-cluster/reference/mariadb-galera-cluster-known-limitations"],
)


@rule.check
def check(others: OtherEngines, modes: Modes) -> Finding | Passed:
    left_out = [(name, engine) for name, engine in others.tables if not modes.replicates(engine)]
    figures = (
        Measured("tables that are not replicated", len(left_out), Unit.COUNT, None, "inspection"),
        *(Measured(name, engine, Unit.TEXT, None, "inspection") for name, engine in left_out[:10]),
        *modes.measured(),
    )
    if not left_out:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "{count} tables, {name} among them, are not replicated: each node has rows of its own",
                    {"count": Quantity(len(left_out), Unit.COUNT), "name": Quantity(left_out[0][0], Unit.TEXT)},
                ),
                evidence=figures,
                proposal=(
                    SchemaAdvice(
                        left_out[0][0],
                        "Decide which node's rows count, then ALTER TABLE ... ENGINE = InnoDB with a primary key: the "
                        "ALTER "
                        "is replicated, the rows of the other nodes are not.",
                    ),
                ),
                expected=Message("All nodes hold the same rows."),
                price=(Price(PriceKind.DISK_WRITES, Message("each table is rebuilt once, on every node")),),
                would_change_our_mind=Message("Tables that are scratch space of one node."),
            ),
        )
    )


def _engine(engine: str, mode: str = "") -> Observation:
    return scene(
        "mariadb 10.11.18",
        {"wsrep_on": "ON", "wsrep_mode": mode},
        inspection=inspection(tables=[{"schema": "shop", "name": "log", "engine": engine}]),
    )


rule.fires("MyISAM", _engine("MyISAM"))
rule.fires("Aria", _engine("Aria"))
rule.passes("InnoDB", _engine("InnoDB"))
rule.passes("MyISAM, replicated by a mode: another fault", _engine("MyISAM", "REPLICATE_MYISAM"))
