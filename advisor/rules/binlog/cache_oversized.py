"""Each session may take a very large cache for the binary log.

Why it matters
    binlog_cache_size is allocated for every session that writes transactions, whatever their size, and kept until the
    session ends. Sized for one big import, it costs that much for each of hundreds of small sessions: memory that the
    buffer pool lacks, or that nobody counted.

How it is computed
    log_bin is on, the cache is above 8 MiB, and times the most sessions that were connected at once
    (Max_used_connections) it is above 1 GiB. Proposed is 1 MiB, which holds most transactions; larger ones go through
    a temporary file.

When to dismiss it
    Most sessions really write transactions of that size, and the memory is there for them.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.connections import MostConnections
from advisor.engine.facts.replication import BinaryLog, TransactionCache
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import GIB, MIB, Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Parameters(Thresholds):
    """What is too much."""

    one_bytes: float = threshold(8 * MIB, unit=Unit.BYTES, meaning="cache of one session")
    all_bytes: float = threshold(GIB, unit=Unit.BYTES, meaning="caches of all sessions together", leave_at=GIB * 3 / 4)
    wanted_bytes: float = threshold(MIB, unit=Unit.BYTES, meaning="cache that is proposed")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/replication-options-binary-log.html",
        "https://mariadb.com/docs/server/ha-and-performance/standard-replication/replication-and-binary-log-system-variables",
    ],
)


@rule.check
def check(cache: TransactionCache, sessions: MostConnections, _log: BinaryLog, p: Parameters) -> Finding | Passed:
    figures = cache.measured() + sessions.measured()
    together = cache.binlog_cache_size * sessions.max_used_connections
    if cache.binlog_cache_size <= p.one_bytes or together <= p.all_bytes:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "The binary log's caches of all sessions may take {size} together",
                    {"size": Quantity(together, Unit.BYTES)},
                ),
                evidence=figures,
                proposal=(SetVariable("binlog_cache_size", int(p.wanted_bytes)),),
                expected=Message("The memory is free for the buffer pool; usual transactions still fit."),
                price=(
                    Price(PriceKind.DISK_WRITES, Message("transactions above that size go through a temporary file")),
                ),
                would_change_our_mind=Message("Many sessions that write transactions of that size."),
            ),
        )
    )


rule.fires(
    "Sixteen megabytes for each of a hundred",
    scene("mysql 8.0.33", {"binlog_cache_size": 16 * MIB}, status={"Max_used_connections": 100}),
    proposes={"binlog_cache_size": MIB},
)
rule.fires(
    "On MariaDB",
    scene("mariadb 10.11.18", {"log_bin": "ON", "binlog_cache_size": 64 * MIB}, status={"Max_used_connections": 40}),
    proposes={"binlog_cache_size": MIB},
)
rule.passes(
    "The same for ten", scene("mysql 8.0.33", {"binlog_cache_size": 16 * MIB}, status={"Max_used_connections": 10})
)
rule.passes("The default", scene("mysql 8.0.33", status={"Max_used_connections": 400}))
rule.passes("MariaDB's default", scene("mariadb 10.11.18", {"log_bin": "ON"}, status={"Max_used_connections": 400}))
