"""innodb_io_capacity_max is no multiple of innodb_io_capacity.

Why it matters
    MySQL, and MariaDB up to 10.4, scale flushing by the quotient of the two, divided as whole numbers: 1,900 / 1,000
    counts as 1, so that the age can never ask for more than innodb_io_capacity although the maximum allows nearly
    twice that; 3,900 / 1,000 counts as 3. What is above the multiple serves the emergency only.

How it is computed
    From the settings: the maximum is below four times innodb_io_capacity (above that the remainder hardly counts), and
    no whole multiple of it. It is raised to the next multiple. Where a person stated that writes of the device take
    more than 8 ms, or the device is not to be asked for so much (20,000 pages/s; rotating disks: 200), it is left
    alone. MariaDB 10.5 and later compute otherwise.

When to dismiss it
    The maximum is exactly what the volume is provisioned for.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.flushing import (
    IoCapacity,
    WriteLatency,
)
from advisor.engine.facts.redo import OwnRedoLog
from advisor.engine.outcome import (
    Finding,
    Item,
    Message,
    Passed,
    Price,
    PriceKind,
    Severity,
)
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit, round_up
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When the remainder matters."""

    quotient: float = threshold(
        4, unit=Unit.RATIO, meaning="innodb_io_capacity_max / innodb_io_capacity from which the remainder hardly counts"
    )
    latency_seconds: float = threshold(
        0.008, unit=Unit.SECONDS, meaning="stated write latency above which nothing is raised"
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2,<10.5"],
    since="0.2",
    parameters=Parameters(),
    raises=["innodb_io_capacity_max"],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-configuring-io-capacity.html",
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-buffer-pool-flushing.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(io: IoCapacity, latency: WriteLatency, _log: OwnRedoLog, p: Parameters) -> Finding | Passed:
    figures = io.measured() + latency.measured()
    capacity, maximum = io.pages_per_second, io.maximum_pages_per_second
    wanted = round_up(maximum, capacity)
    slow = latency.seconds is not None and latency.seconds > p.latency_seconds
    if wanted == maximum or maximum >= p.quotient * capacity or wanted > io.device_pages_per_second or slow:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "innodb_io_capacity_max = {maximum} counts as {factor} times innodb_io_capacity = {capacity}",
                    {
                        "maximum": Quantity(maximum, Unit.COUNT),
                        "factor": Quantity(maximum // capacity, Unit.COUNT),
                        "capacity": Quantity(capacity, Unit.COUNT),
                    },
                ),
                evidence=figures,
                proposal=(SetVariable("innodb_io_capacity_max", wanted),),
                expected=Message(
                    "Adaptive flushing may go up to {factor} times innodb_io_capacity.",
                    {"factor": Quantity(wanted // capacity, Unit.COUNT)},
                ),
                price=(
                    Price(
                        PriceKind.READ_LATENCY,
                        Message("reads share the device with more writes while the age is high"),
                        Quantity(maximum, Unit.PAGES_PER_SECOND),
                        Quantity(wanted, Unit.PAGES_PER_SECOND),
                    ),
                ),
                would_change_our_mind=Message("A device that writes no more than the present maximum."),
            ),
        )
    )


rule.fires(
    "1,900 / 1,000 counts as 1",
    scene("mysql 8.0.33", {"innodb_io_capacity": 1000, "innodb_io_capacity_max": 1900}),
    proposes={"innodb_io_capacity_max": 2000},
)
rule.fires(
    "The same arithmetic on MariaDB 10.2",
    scene("mariadb 10.2.11", {"innodb_io_capacity": 800, "innodb_io_capacity_max": 2000}),
    proposes={"innodb_io_capacity_max": 2400},
)
rule.passes("The default of MySQL 8.0: 2,000 / 200", scene("mysql 8.0.33"))
rule.passes(
    "Six times and a remainder",
    scene("mysql 8.0.33", {"innodb_io_capacity": 1000, "innodb_io_capacity_max": 6500}),
)
rule.passes(
    "Exactly twice, on MariaDB 10.2",
    scene("mariadb 10.2.11", {"innodb_io_capacity": 800, "innodb_io_capacity_max": 1600}),
)
rule.passes(
    "More than an unknown device is asked for",
    scene("mysql 9.7.4", {"innodb_io_capacity": 15_000, "innodb_io_capacity_max": 20_000}),
)
