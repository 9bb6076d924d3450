"""When the thread pool is stuck nobody gets in to see why.

Why it matters
    With pool-of-threads a new connection needs a thread of the pool before it can log in. When all groups are taken
    by statements that wait for a lock, the person who could end them waits in the same queue. extra_port is a
    second port whose connections get a thread each and have a limit of their own.

How it is computed
    thread_handling is pool-of-threads and extra_port is 0. The port's number is for a person to choose, so none is
    named.

When to dismiss it
    Administrators can reach the server by another way that needs no thread of the pool.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class ExtraPort(Settings):
    """How connections get their threads, and the port for administrators (0: none)."""

    thread_handling: str
    extra_port: int


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mariadb>=10.2"],
    since="0.2",
    references=[
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/buffers-caches-and-threads/thread-pool/thread-pool-in-mariadb",
    ],
)


@rule.check
def check(port: ExtraPort) -> Finding | Passed:
    if port.thread_handling != "pool-of-threads" or port.extra_port:
        return Passed(port.measured())
    return Finding(
        (
            Item(
                message=Message("The thread pool is on, and extra_port is 0: a stuck pool locks administrators out"),
                evidence=port.measured(),
                proposal=(
                    Investigate(
                        "Choose a free port for extra_port, reachable by administrators only, and allow more than one "
                        "connection with extra_max_connections; both count from the next restart on."
                    ),
                ),
                would_change_our_mind=Message("Another way in that needs no thread of the pool."),
            ),
        )
    )


rule.fires(
    "A thread pool without a way in",
    scene("mariadb 10.11.18", {"thread_handling": "pool-of-threads", "extra_port": 0}),
)
rule.fires("The same on 10.2", scene("mariadb 10.2.11", {"thread_handling": "pool-of-threads", "extra_port": 0}))
rule.passes(
    "A port for administrators",
    scene("mariadb 10.11.18", {"thread_handling": "pool-of-threads", "extra_port": 8385}),
)
rule.passes("No pool", scene("mariadb 11.8.6", {"thread_handling": "one-thread-per-connection", "extra_port": 0}))
