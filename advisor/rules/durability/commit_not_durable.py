"""A commit that was acknowledged may be lost in a crash.

Why it matters
    With innodb_flush_log_at_trx_commit other than 1 a commit is acknowledged before it is on disk: a crash of the
    server (0) or of the machine (0 and 2) loses about the last second of transactions. With the binary log on and
    sync_binlog other than 1 it may lose events that replicas need, or hold events that InnoDB lost, so that
    replicas differ from their source.

How it is computed
    From the settings: innodb_flush_log_at_trx_commit is neither 1 nor 3 (MariaDB's 3 flushes at prepare and at
    commit), or log_bin is on and sync_binlog is not 1. Both at once on a source of replicas is critical. Nothing is
    ever proposed in the other direction: no rule of Tidemark trades durability for speed.

When to dismiss it
    A replica that can be built again, or someone who may decide so has accepted the loss of about a second of commits.
    A node of a Galera cluster (wsrep_on = ON): innodb_flush_log_at_trx_commit = 2 is common there, since a node that
    lost its last second gets it from the others; a power failure that takes all nodes at once still loses it.
"""

from __future__ import annotations

from advisor.engine.facts.settings import Durability
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable

rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.1",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(durability: Durability) -> Finding | Passed:
    if durability.redo_is_durable and durability.binary_log_is_durable:
        return Passed(durability.measured())
    proposal = []
    if not durability.redo_is_durable:
        proposal.append(SetVariable("innodb_flush_log_at_trx_commit", 1))
        message = Message(
            "innodb_flush_log_at_trx_commit = {value}: a crash may lose acknowledged commits",
            {"value": Quantity(durability.flush_at_commit, Unit.COUNT)},
        )
    if not durability.binary_log_is_durable:
        proposal.append(SetVariable("sync_binlog", 1))
    if durability.redo_is_durable:
        message = Message(
            "sync_binlog = {value}: a crash may lose events of the binary log",
            {"value": Quantity(durability.sync_binlog, Unit.COUNT)},
        )
    if len(proposal) == 2:
        message = Message(
            "innodb_flush_log_at_trx_commit = {value} and sync_binlog = {binlog}: a crash may lose acknowledged "
            "commits and events of the binary log",
            {
                "value": Quantity(durability.flush_at_commit, Unit.COUNT),
                "binlog": Quantity(durability.sync_binlog, Unit.COUNT),
            },
        )
    severity = None
    if durability.role == "source" and len(proposal) == 2:
        severity = Severity.CRITICAL
    elif durability.role == "replica":
        severity = Severity.NOTICE
    return Finding(
        (
            Item(
                message=message,
                evidence=durability.measured(),
                proposal=tuple(proposal),
                severity=severity,
                expected=Message("An acknowledged commit survives a crash of the server and of the machine."),
                price=(
                    Price(
                        PriceKind.WRITE_LATENCY,
                        Message(
                            "each group of commits waits until the device has written its log: {times} per group",
                            {"times": Quantity(len(proposal), Unit.COUNT)},
                        ),
                    ),
                ),
                would_change_our_mind=Message("A decision of yours to accept the loss, with its reason."),
            ),
        )
    )


rule.fires(
    "Redo written once a second",
    scene("mysql 8.0.33", {"innodb_flush_log_at_trx_commit": 2}),
    proposes={"innodb_flush_log_at_trx_commit": 1},
)
rule.fires(
    "MariaDB with a binary log that is never synced, its default",
    scene("mariadb 10.11.18", {"log_bin": "ON", "sync_binlog": 0}, role="source"),
    proposes={"sync_binlog": 1},
)
rule.fires(
    "A source with both relaxed: critical, and named together",
    scene("mysql 8.0.33", {"innodb_flush_log_at_trx_commit": 2, "log_bin": "ON", "sync_binlog": 1000}, role="source"),
    proposes={"innodb_flush_log_at_trx_commit": 1, "sync_binlog": 1},
)
rule.passes(
    "sync_binlog = 0 without a binary log says nothing", scene("mariadb 10.11.18", {"log_bin": "OFF", "sync_binlog": 0})
)
