"""Undo tablespaces never give their space back.

Why it matters
    An undo tablespace grows with the longest transaction that ever ran, to many GiB at times. InnoDB cuts it down again
    once purge is through, but only with innodb_undo_log_truncate = ON and at least two of them. Else the space is lost
    until the server is built anew, and every physical backup copies it.

How it is computed
    innodb_undo_log_truncate is OFF and there are two undo tablespaces or more. Where OFF is the default of the version
    (MySQL 5.7, MariaDB) 100,000 undo logs have to be waiting for purge as well: before that there is little to give
    back.

When to dismiss it
    Truncation stalls this workload for moments (each one writes out what is left of the tablespace), and there is disk
    enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from advisor.engine import reading
from advisor.engine.fact import Fact
from advisor.engine.facts.flushing import (
    HistoryList,
)
from advisor.engine.observation import Observation
from advisor.engine.outcome import (
    Finding,
    Item,
    Measured,
    Message,
    Passed,
    Price,
    PriceKind,
    Severity,
)
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.catalogue import CATALOGUE
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class UndoTablespaces(Fact):
    """How many undo tablespaces there are, whether they are truncated, and whether this version does so by default."""

    reads: ClassVar[tuple[str, ...]] = ("innodb_undo_log_truncate", "innodb_undo_tablespaces")

    truncate: bool
    count: int
    truncated_by_default: bool

    @classmethod
    def read(cls, seen: Observation) -> Self:
        truncate = reading.is_on(seen, "innodb_undo_log_truncate")
        known = CATALOGUE.find("innodb_undo_log_truncate", seen.server)
        told = reading.variable(seen, "innodb_undo_tablespaces")
        active = reading.status_number(seen, "Innodb_undo_tablespaces_active")
        return cls(
            truncate=truncate,
            # Where neither tells (MySQL 8.0 before 8.0.14 shows the variable, later ones the status) there are two.
            count=int(active) if active is not None else int(told) if told is not None else 2,
            truncated_by_default=known is not None and known.default == "ON",
        )

    def measured(self) -> tuple[Measured, ...]:
        """Both, as evidence."""
        return (
            Measured("innodb_undo_log_truncate", "ON" if self.truncate else "OFF", Unit.TEXT, None, "system variable"),
            Measured("undo tablespaces", self.count, Unit.COUNT, None, "innodb_undo_tablespaces"),
        )


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When there is something to give back."""

    tablespaces: float = threshold(2, unit=Unit.COUNT, meaning="undo tablespaces that truncation needs")
    length: float = threshold(
        100_000,
        unit=Unit.COUNT,
        meaning="undo logs waiting for purge, where the version does not truncate by default",
        leave_at=50_000,
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-undo-tablespaces.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-undo-log",
    ],
)


@rule.check
def check(undo: UndoTablespaces, history: HistoryList, p: Parameters) -> Finding | Passed:
    figures = undo.measured() + history.measured()
    worth_it = undo.truncated_by_default or history.highest >= p.length
    if undo.truncate or undo.count < p.tablespaces or not worth_it:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "{count} undo tablespaces only grow, since innodb_undo_log_truncate is OFF",
                    {"count": Quantity(undo.count, Unit.COUNT)},
                ),
                evidence=figures,
                proposal=(SetVariable("innodb_undo_log_truncate", "ON"),),
                expected=Message("Undo tablespaces above innodb_max_undo_log_size are cut down once purge is through."),
                price=(
                    Price(PriceKind.WRITE_LATENCY, Message("a truncation takes moments in which commits get slower")),
                ),
                would_change_our_mind=Message("Undo tablespaces that never grew beyond innodb_max_undo_log_size."),
            ),
        )
    )


rule.fires(
    "Switched off on MySQL 8.0",
    scene("mysql 8.0.33", {"innodb_undo_log_truncate": "OFF"}, gauges={"trx_rseg_history_len": 40}),
    proposes={"innodb_undo_log_truncate": "ON"},
)
rule.fires(
    "MariaDB 11.4 with its defaults and a long transaction",
    scene(
        "mariadb 11.4.5",
        {"innodb_undo_log_truncate": "OFF", "innodb_undo_tablespaces": 3},
        gauges={"Innodb_history_list_length": 300_000},
    ),
    proposes={"innodb_undo_log_truncate": "ON"},
)
rule.passes(
    "MariaDB 11.4 with its defaults",
    scene(
        "mariadb 11.4.5",
        {"innodb_undo_log_truncate": "OFF", "innodb_undo_tablespaces": 3},
        gauges={"Innodb_history_list_length": 20},
    ),
)
rule.passes("The default of MySQL 8.0", scene("mysql 8.0.33", gauges={"trx_rseg_history_len": 40}))
rule.passes(
    "All undo in the system tablespace, which nothing truncates",
    scene(
        "mariadb 10.11.18",
        {"innodb_undo_log_truncate": "OFF", "innodb_undo_tablespaces": 0},
        gauges={"Innodb_history_list_length": 300_000},
    ),
)
