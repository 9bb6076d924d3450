"""Dirty pages are flushed early by the settings.

Why it matters
    innodb_max_dirty_pages_pct and its low-water mark make InnoDB write pages long before the redo log asks for it.
    Each page then collects fewer changes before it is written, and the same work costs more writes. With either of
    them at 10 a bulk load made more checkpoints and wrote more at a smaller checkpoint age (MariaDB 10.6,
    experiment E4).

How it is computed
    From the settings: innodb_max_dirty_pages_pct below 50, or innodb_max_dirty_pages_pct_lwm above 25. Each one that is
    so is set back to the default of this version (75 or 90, and 0 or 10). On MariaDB 10.5 and later the low-water mark
    is set to 20 instead of its default of 0, with which flushing would no longer follow the checkpoint age at all.

When to dismiss it
    Recovery after a crash, or a shutdown, has to be short at any price: fewer dirty pages are less to recover and
    write.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.flushing import DirtyPageLimits
from advisor.engine.io_sizing import LowWaterThresholds
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Parameters(LowWaterThresholds):
    """From where the settings flush early."""

    maximum_percent: float = threshold(50, unit=Unit.COUNT, meaning="innodb_max_dirty_pages_pct, in percent, at least")
    low_water_percent: float = threshold(
        25, unit=Unit.COUNT, meaning="innodb_max_dirty_pages_pct_lwm, in percent, at most"
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.1",
    parameters=Parameters(),
    raises=["innodb_max_dirty_pages_pct"],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-buffer-pool-flushing.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-page-flushing",
    ],
)


@rule.check
def check(limits: DirtyPageLimits, p: Parameters) -> Finding | Passed:
    early = limits.maximum_percent < p.maximum_percent
    eager = limits.low_water_percent > p.low_water_percent
    if not early and not eager:
        return Passed(limits.measured())
    proposal = []
    if early:
        proposal.append(SetVariable("innodb_max_dirty_pages_pct", limits.default_maximum_percent))
    if eager:
        low_water = limits.default_low_water_percent
        if limits.gates_age and low_water <= 0:
            low_water = min(p.highest_low_water_percent, p.low_water_percent)
        proposal.append(SetVariable("innodb_max_dirty_pages_pct_lwm", float(low_water)))
    percent = limits.maximum_percent if early else limits.low_water_percent
    return Finding(
        (
            Item(
                message=Message(
                    "Pages are flushed once {share} of the buffer pool are dirty",
                    {"share": Quantity(percent / 100, Unit.RATIO)},
                ),
                evidence=limits.measured(),
                proposal=tuple(proposal),
                expected=Message("Fewer page writes for the same changes."),
                price=(
                    Price(
                        PriceKind.RECOVERY_TIME,
                        Message("more dirty pages to recover after a crash or write at shutdown"),
                    ),
                ),
                would_change_our_mind=Message("A recovery time that was agreed on."),
            ),
        )
    )


rule.fires(
    "Experiment E4: a maximum of 10 %",
    scene("mariadb 10.11.18", {"innodb_max_dirty_pages_pct": "10.000000"}),
    proposes={"innodb_max_dirty_pages_pct": 90.0},
)
rule.fires(
    "A low-water mark of 40 % on MySQL 8.0",
    scene("mysql 8.0.33", {"innodb_max_dirty_pages_pct_lwm": "40.000000"}),
    proposes={"innodb_max_dirty_pages_pct_lwm": 10.0},
)
rule.fires(
    "A low-water mark of 40 % on MariaDB 10.11 is lowered, but not to 0, which would blind adaptive flushing",
    scene("mariadb 10.11.18", {"innodb_max_dirty_pages_pct_lwm": "40.000000"}),
    proposes={"innodb_max_dirty_pages_pct_lwm": 20.0},
)
rule.passes("The defaults of MySQL 5.7", scene("mysql 5.7.22"))
