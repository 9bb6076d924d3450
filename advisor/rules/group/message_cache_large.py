"""The message cache of Group Replication takes a large part of memory.

Why it matters
    group_replication_message_cache_size (1 GiB by default) is memory outside the buffer pool that fills up in normal
    work and is not given back. On a small machine it is what the kernel ends the server for.

How it is computed
    The cache is more than a quarter of the machine's memory. Told is the largest size within an eighth of it, but not
    below 128 MiB, the least that the server takes.

When to dismiss it
    The members are often cut off for minutes: a larger cache lets them come back without recovery.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.group import GroupMember
from advisor.engine.facts.memory import HostMemory
from advisor.engine.observation import Observation
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene, stated
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import GIB, MIB, Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Cache(Settings):
    """The cache, in bytes."""

    group_replication_message_cache_size: int


@dataclass(frozen=True)
class Parameters(Thresholds):
    """What is large."""

    memory_ratio: float = threshold(0.25, unit=Unit.RATIO, meaning="share of the machine's memory")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=8.0.16"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/group-replication-performance-xcom-cache.html",
        "https://dev.mysql.com/doc/refman/8.4/en/group-replication-system-variables.html",
    ],
)


@rule.check
def check(_member: GroupMember, cache: Cache, host: HostMemory, p: Parameters) -> Finding | Passed:
    size = cache.group_replication_message_cache_size
    figures = (*cache.measured(), *host.measured())
    if size <= max(p.memory_ratio * host.bytes, 128 * MIB):
        return Passed(figures)
    wanted = max(128 * MIB, host.bytes // 8 // MIB * MIB)
    return Finding(
        (
            Item(
                message=Message(
                    "The group's message cache of {size} is a large part of {memory}",
                    {"size": Quantity(size, Unit.BYTES), "memory": Quantity(host.bytes, Unit.BYTES)},
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        f"SET PERSIST group_replication_message_cache_size = {wanted}; it is dynamic and counts at "
                        "once. "
                        "Set it on all members alike."
                    ),
                ),
                expected=Message("The memory is there for the buffer pool, or for the machine."),
                price=(
                    Price(
                        PriceKind.RECOVERY_TIME,
                        Message("a member that is cut off for longer has to recover from a binary log"),
                        Quantity(size, Unit.BYTES),
                        Quantity(wanted, Unit.BYTES),
                    ),
                ),
                would_change_our_mind=Message("Members that are often cut off for minutes."),
            ),
        )
    )


def _cached(memory: int, size: int = GIB) -> Observation:
    return scene(
        "mysql 8.0.33",
        {
            "group_replication_group_name": "aaaaaaaa-0000-0000-0000-000000000000",
            "group_replication_message_cache_size": size,
        },
        host=stated(memory_bytes=memory),
    )


rule.fires("The default on two gigabytes", _cached(2 * GIB))
rule.passes("The default on sixteen", _cached(16 * GIB))
rule.passes("The smallest there is", _cached(256 * MIB, 128 * MIB))
