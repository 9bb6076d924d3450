"""The redo log has a size that only the old variables tell.

Why it matters
    MySQL 8.0.30 to 8.4 still take innodb_log_file_size and innodb_log_files_in_group where innodb_redo_log_capacity is
    not set, but innodb_redo_log_capacity goes on showing its default: 8.0.33 started with innodb_log_file_size = 512M
    shows 100 MiB and works with 1 GiB. Whoever reads the variable, a monitoring system or a person, sizes by a number
    that is not true. MySQL 9 no longer knows the old names: an option file that has them does not start it, and without
    them the log shrinks to 100 MiB.

How it is computed
    Innodb_redo_log_capacity_resized, the capacity in force, is innodb_log_file_size times innodb_log_files_in_group and
    differs from what innodb_redo_log_capacity shows. The capacity in force is proposed under the new name; the old
    lines can go then.

When to dismiss it
    The option file is shared with servers before 8.0.30.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from advisor.engine import reading
from advisor.engine.fact import Fact
from advisor.engine.facts.redo import OwnRedoLog
from advisor.engine.observation import Observation
from advisor.engine.outcome import (
    Finding,
    Inapplicable,
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
from advisor.engine.units import GIB, MIB, Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Names(Fact):
    """The capacity in force, what the new variable shows and what the old ones make, all in bytes."""

    reads: ClassVar[tuple[str, ...]] = (
        "Innodb_redo_log_capacity_resized",
        "innodb_redo_log_capacity",
        "innodb_log_file_size, innodb_log_files_in_group",
    )

    in_force_bytes: int
    shown_bytes: int
    old_bytes: int

    @classmethod
    def read(cls, seen: Observation) -> Self:
        if reading.variable(seen, "innodb_log_file_size") is None and seen.snapshot.variables:
            raise Inapplicable(Message("This version has only the new name of the redo log's size."))
        shown = reading.integer(seen, "innodb_redo_log_capacity")
        size = reading.integer(seen, "innodb_log_file_size")
        count = reading.integer(seen, "innodb_log_files_in_group")
        in_force = reading.status_number(seen, "Innodb_redo_log_capacity_resized")
        if in_force is None or "innodb_redo_log_capacity" in seen.proposed:
            in_force = shown
        return cls(int(in_force), shown, size * count)

    def measured(self) -> tuple[Measured, ...]:
        """All three, as evidence."""
        return (
            Measured(
                "redo log capacity in force",
                self.in_force_bytes,
                Unit.BYTES,
                None,
                "Innodb_redo_log_capacity_resized",
            ),
            Measured("innodb_redo_log_capacity", self.shown_bytes, Unit.BYTES, None, "system variable"),
            Measured("capacity by the old names", self.old_bytes, Unit.BYTES, None, "innodb_log_file_size x files"),
        )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=8.0.30"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-redo-log.html",
    ],
)


@rule.check
def check(names: Names, _log: OwnRedoLog) -> Finding | Passed:
    if names.in_force_bytes == names.shown_bytes or names.in_force_bytes != names.old_bytes:
        return Passed(names.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "innodb_redo_log_capacity shows {shown}, the redo log has {capacity}",
                    {
                        "shown": Quantity(names.shown_bytes, Unit.BYTES),
                        "capacity": Quantity(names.in_force_bytes, Unit.BYTES),
                    },
                ),
                evidence=names.measured(),
                proposal=(SetVariable("innodb_redo_log_capacity", names.in_force_bytes),),
                expected=Message("The variable says what is in force, and MySQL 9 starts with the same size."),
                price=(Price(PriceKind.OVERHEAD, Message("none: the size stays as it is")),),
                would_change_our_mind=Message("An option file that servers before 8.0.30 read, too."),
            ),
        )
    )


rule.fires(
    "Started with innodb_log_file_size = 512M alone",
    scene(
        "mysql 8.0.33",
        {"innodb_log_file_size": 512 * MIB, "innodb_log_files_in_group": 2},
        gauges={"Innodb_redo_log_capacity_resized": GIB},
    ),
    proposes={"innodb_redo_log_capacity": GIB},
)
rule.passes(
    "The defaults: 100 MiB under the new name, 48 MiB twice under the old ones",
    scene("mysql 8.0.33", gauges={"Innodb_redo_log_capacity_resized": 100 * MIB}),
)
rule.passes(
    "A capacity that is being made smaller is still the old one",
    scene(
        "mysql 8.0.33",
        {"innodb_redo_log_capacity": GIB},
        gauges={"Innodb_redo_log_capacity_resized": 4 * GIB},
        status={"Innodb_redo_log_resize_status": "Resizing down"},
    ),
)
