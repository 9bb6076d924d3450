"""The source tells replicas little about what can be applied in parallel.

Why it matters
    Replicas apply in parallel what the source says is independent. With COMMIT_ORDER that is only what happened to
    commit at the same moment: a source with few sessions makes its replicas serial, however many workers they have.
    WRITESET compares the rows that were changed instead, and finds far more.

How it is computed
    Replicas are attached and binlog_transaction_dependency_tracking is COMMIT_ORDER, the default before 8.4 (where
    the variable is gone and WRITESET is all there is). On 5.7 transaction_write_set_extraction has to be XXHASH64,
    too.

When to dismiss it
    The replicas keep up, most tables have no primary key, or replicas have one worker.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.replication import BinaryLog, Source
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import Change, SetVariable


@dataclass(frozen=True)
class Tracking(Settings):
    """By what dependencies are told, and how changed rows are remembered."""

    binlog_transaction_dependency_tracking: str
    transaction_write_set_extraction: str = "XXHASH64"


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7.22,<8.4"],
    since="0.2",
    references=["https://dev.mysql.com/doc/refman/8.0/en/replication-options-binary-log.html"],
)


@rule.check
def check(tracking: Tracking, _source: Source, _log: BinaryLog) -> Finding | Passed:
    if tracking.binlog_transaction_dependency_tracking.upper() != "COMMIT_ORDER":
        return Passed(tracking.measured())
    proposal: list[Change] = []
    if tracking.transaction_write_set_extraction.upper() == "OFF":
        proposal.append(SetVariable("transaction_write_set_extraction", "XXHASH64"))
    proposal.append(SetVariable("binlog_transaction_dependency_tracking", "WRITESET"))
    return Finding(
        (
            Item(
                message=Message("Replicas learn only by commit order what they may apply in parallel"),
                evidence=tracking.measured(),
                proposal=tuple(proposal),
                expected=Message("Replicas with several workers use more of them."),
                price=(
                    Price(
                        PriceKind.OVERHEAD,
                        Message("the source hashes the keys of changed rows and keeps 25,000 of them in memory"),
                    ),
                ),
                would_change_our_mind=Message("Replicas that keep up, or that have one worker."),
            ),
        )
    )


rule.fires(
    "The default of 8.0",
    scene("mysql 8.0.33", {"binlog_transaction_dependency_tracking": "COMMIT_ORDER"}, role="source"),
    proposes={"binlog_transaction_dependency_tracking": "WRITESET"},
)
rule.fires(
    "5.7 needs the write set, too",
    scene("mysql 5.7.22", {"log_bin": "ON", "transaction_write_set_extraction": "OFF"}, role="source"),
    proposes={"transaction_write_set_extraction": "XXHASH64", "binlog_transaction_dependency_tracking": "WRITESET"},
)
rule.passes(
    "By write set", scene("mysql 8.0.33", {"binlog_transaction_dependency_tracking": "WRITESET"}, role="source")
)
rule.passes(
    "By write set and session on 5.7",
    scene(
        "mysql 5.7.22",
        {
            "log_bin": "ON",
            "transaction_write_set_extraction": "XXHASH64",
            "binlog_transaction_dependency_tracking": "WRITESET_SESSION",
        },
        role="source",
    ),
)
