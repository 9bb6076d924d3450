"""Writers wait for room in the redo log buffer.

Why it matters
    Redo is collected in memory before it is written. Where a transaction makes more of it than fits into
    innodb_log_buffer_size, it waits until some of it was written: big transactions get slower, and so does everybody
    whose redo stands in line behind them. A redo log that is too small for its checkpoints is another fault and shows
    elsewhere: Innodb_log_waits does not rise with it (measured on nine versions whose writers stood at the limit).

How it is computed
    Innodb_log_waits rose between full snapshots, at least once every ten minutes on average. The buffer is doubled, to
    at least 16 MiB and at most 256 MiB; where it is that large already, single transactions are to be looked at
    instead.

When to dismiss it
    The waits come from one import or one nightly job that may take its time.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import HarmRates
from advisor.engine.facts.redo import LogBuffer, OwnRedoLog
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import MIB, Quantity, Unit
from advisor.mysql.proposal import Change, Investigate, SetVariable


@dataclass(frozen=True)
class LogWaits(HarmRates):
    """Waits for room in the buffer, and writes of it, per second."""

    innodb_log_waits: float
    innodb_log_writes: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When the buffer is too small."""

    waits_per_second: float = threshold(
        1 / 600, unit=Unit.PER_SECOND, meaning="waits for room in the log buffer", leave_at=1 / 1800
    )
    largest_bytes: float = threshold(256 * MIB, unit=Unit.BYTES, meaning="no larger buffer is proposed")


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    caused_by=[LogWaits],
    raises=["innodb_log_buffer_size"],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/optimizing-innodb-logging.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(buffer: LogBuffer, waits: LogWaits, _log: OwnRedoLog, p: Parameters) -> Finding | Passed:
    figures = buffer.measured() + waits.measured()
    if waits.innodb_log_waits < p.waits_per_second:
        return Passed(figures)
    present = buffer.innodb_log_buffer_size
    wanted = min(max(2 * present, 16 * MIB), int(p.largest_bytes))
    proposal: tuple[Change, ...] = (SetVariable("innodb_log_buffer_size", wanted),)
    price: tuple[Price, ...] = (
        Price(
            PriceKind.MEMORY,
            Message("allocated as a whole"),
            Quantity(present, Unit.BYTES),
            Quantity(wanted, Unit.BYTES),
        ),
    )
    if wanted <= present:
        proposal, price = (Investigate("Find the transactions that write more redo than the buffer holds."),), ()
    return Finding(
        (
            Item(
                message=Message(
                    "Writers waited for room in the redo log buffer of {size}",
                    {"size": Quantity(present, Unit.BYTES)},
                ),
                evidence=figures,
                proposal=proposal,
                expected=Message("Big transactions no longer wait for the log to be written while they work."),
                price=price,
                would_change_our_mind=Message("Waits that come from one job only."),
            ),
        )
    )


rule.fires(
    "Big transactions with the default buffer",
    scene("mysql 8.0.33", counters={"Innodb_log_waits": 0.5, "Innodb_log_writes": 120}, deliberate=True),
    proposes={"innodb_log_buffer_size": 32 * MIB},
)
rule.fires(
    "A buffer that is large already: the transactions are the matter",
    scene(
        "mariadb 10.11.18",
        {"innodb_log_buffer_size": 256 * MIB},
        counters={"Innodb_log_waits": 2, "Innodb_log_writes": 300},
        deliberate=True,
    ),
)
rule.passes(
    "Writes without a wait",
    scene("mysql 5.7.22", counters={"Innodb_log_waits": 0, "Innodb_log_writes": 900}, deliberate=True),
)
