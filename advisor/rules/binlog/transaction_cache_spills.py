"""Transactions do not fit into the cache of the binary log.

Why it matters
    Each session gathers the events of transactions in memory (binlog_cache_size) before they are written to the
    binary log. What does not fit goes through a temporary file: written once, read again, and written to the log.

How it is computed
    The share of Binlog_cache_disk_use in Binlog_cache_use between full snapshots is above 5 %, and at least one in
    ten seconds spills. Doubled, or made eight times as large where more than half of all transactions spill (how large
    they are is counted nowhere), up to 1 MiB for a session; above that single big transactions are the matter, and no
    cache should be sized for them.

When to dismiss it
    The spills come from one import or a nightly job, or memory for max_connections times the cache is short.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import HarmRates
from advisor.engine.facts.replication import BinaryLog, TransactionCache
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import HOUR, KIB, MIB, Quantity, Unit
from advisor.mysql.proposal import Change, Investigate, SetVariable


@dataclass(frozen=True)
class Spills(HarmRates):
    """How often it was used, and how often it did not suffice, per second."""

    binlog_cache_disk_use: float
    binlog_cache_use: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When the cache is too small."""

    spilled_ratio: float = threshold(0.05, unit=Unit.RATIO, meaning="share that spilled", leave_at=0.03)
    spills_per_second: float = threshold(0.1, unit=Unit.PER_SECOND, meaning="spills", leave_at=0.05)
    most_ratio: float = threshold(0.5, unit=Unit.RATIO, meaning="share that spilled from which doubling is too little")
    largest_bytes: float = threshold(MIB, unit=Unit.BYTES, meaning="no larger cache is proposed")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    caused_by=[Spills],
    raises=["binlog_cache_size"],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/replication-options-binary-log.html",
        "https://mariadb.com/docs/server/ha-and-performance/standard-replication/replication-and-binary-log-system-variables",
    ],
)


@rule.check
def check(cache: TransactionCache, spills: Spills, _log: BinaryLog, p: Parameters) -> Finding | Passed:
    figures = cache.measured() + spills.measured()
    # The server counts a spilled one in both on some versions and in one on others; never divide by less than both.
    used = max(spills.binlog_cache_use, spills.binlog_cache_disk_use)
    if spills.binlog_cache_disk_use < p.spills_per_second or spills.binlog_cache_disk_use < p.spilled_ratio * used:
        return Passed(figures)
    present = cache.binlog_cache_size
    factor = 8 if spills.binlog_cache_disk_use >= p.most_ratio * used else 2
    wanted = min(max(64 * KIB, present * factor // (4 * KIB) * (4 * KIB)), int(p.largest_bytes))
    proposal: tuple[Change, ...] = (SetVariable("binlog_cache_size", wanted),)
    price: tuple[Price, ...] = (
        Price(
            PriceKind.MEMORY,
            Message("for each session that writes"),
            Quantity(present, Unit.BYTES),
            Quantity(wanted, Unit.BYTES),
        ),
    )
    if wanted <= present:
        proposal, price = (
            (Investigate("Find the big transactions and write in smaller ones: no cache holds them."),),
            (),
        )
    return Finding(
        (
            Item(
                message=Message(
                    "{ratio} of transactions took the way through a file to the binary log",
                    {"ratio": Quantity(min(1.0, spills.binlog_cache_disk_use / used), Unit.RATIO)},
                ),
                evidence=figures,
                proposal=proposal,
                expected=Message("Most of them are gathered in memory."),
                price=price,
                would_change_our_mind=Message("Spills that come from one import or a nightly job."),
            ),
        )
    )


rule.fires(
    "A third spills",
    scene(
        "mysql 8.0.33",
        {"log_bin": "ON", "binlog_cache_size": 32 * KIB},
        counters={"Binlog_cache_disk_use": 20, "Binlog_cache_use": 60},
        deliberate=True,
    ),
    proposes={"binlog_cache_size": 64 * KIB},
)
rule.fires(
    "All of them spill",
    scene(
        "mysql 9.7.4",
        {"log_bin": "ON", "binlog_cache_size": 32 * KIB},
        counters={"Binlog_cache_disk_use": 20, "Binlog_cache_use": 20},
        deliberate=True,
    ),
    proposes={"binlog_cache_size": 256 * KIB},
)
rule.fires(
    "On MariaDB, doubled again",
    scene(
        "mariadb 10.11.18",
        {"log_bin": "ON", "binlog_cache_size": 128 * KIB},
        counters={"Binlog_cache_disk_use": 6, "Binlog_cache_use": 100},
        seconds=HOUR,
        every=60,
    ),
    proposes={"binlog_cache_size": 256 * KIB},
)
rule.fires(
    "A cache that is large already: big transactions are the matter",
    scene(
        "mysql 5.7.22",
        {"log_bin": "ON", "binlog_cache_size": MIB},
        counters={"Binlog_cache_disk_use": 5, "Binlog_cache_use": 50},
        deliberate=True,
    ),
)
rule.passes(
    "One in a hundred",
    scene(
        "mysql 8.0.33",
        counters={"Binlog_cache_disk_use": 1, "Binlog_cache_use": 100},
        deliberate=True,
    ),
)
rule.passes(
    "A large share of almost nothing",
    scene(
        "mariadb 10.11.18",
        {"log_bin": "ON"},
        counters={"Binlog_cache_disk_use": 0.03, "Binlog_cache_use": 0.06},
        seconds=HOUR,
        every=60,
    ),
)
