"""Pages are written without a checksum.

Why it matters
    A checksum is how InnoDB notices that a device gave back something else than was written. Without one a damaged
    page is read as if it were good: wrong rows are returned, copied to replicas and into every backup, and nobody
    knows from which day on. CRC-32 is computed by an instruction of the processor and costs next to nothing.

How it is computed
    From the settings: innodb_checksum_algorithm is none or strict_none, or the old innodb_checksums is OFF, which
    amounts to none at the next start. MariaDB 10.6 and later know no such value any more.

When to dismiss it
    A file system below that checks every block itself, and backups that are read from it only.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.redo import OwnRedoLog
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class PageChecksums(Settings):
    """How pages are checked; ``innodb_checksums`` is the older switch of the same."""

    innodb_checksum_algorithm: str
    innodb_checksums: bool = True

    @property
    def none(self) -> bool:
        return self.innodb_checksum_algorithm.lower().endswith("none")


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(checksums: PageChecksums, _log: OwnRedoLog) -> Finding | Passed:
    if not checksums.none and checksums.innodb_checksums:
        return Passed(checksums.measured())
    proposal = []
    if checksums.none:
        proposal.append(SetVariable("innodb_checksum_algorithm", "crc32"))
    if not checksums.innodb_checksums:
        proposal.append(SetVariable("innodb_checksums", "ON"))
    return Finding(
        (
            Item(
                message=Message("Pages carry no checksum: damage on the device is not noticed"),
                evidence=checksums.measured(),
                proposal=tuple(proposal),
                expected=Message("A damaged page is reported when it is read, and no longer copied on."),
                price=(
                    Price(
                        PriceKind.OVERHEAD,
                        Message("some processor time for each page that is read or written; old pages stay readable"),
                    ),
                ),
                would_change_our_mind=Message("A file system that checks every block."),
            ),
        )
    )


rule.fires(
    "No checksums",
    scene("mysql 8.0.33", {"innodb_checksum_algorithm": "none"}),
    proposes={"innodb_checksum_algorithm": "crc32"},
)
rule.fires(
    "The old switch, which sets the algorithm at each start",
    scene("mysql 5.7.22", {"innodb_checksums": "OFF", "innodb_checksum_algorithm": "none"}),
    proposes={"innodb_checksum_algorithm": "crc32", "innodb_checksums": "ON"},
)
rule.fires("MariaDB without checksums", scene("mariadb 10.5.23", {"innodb_checksum_algorithm": "strict_none"}))
rule.passes("The default of MySQL", scene("mysql 5.7.22"))
rule.passes("MariaDB's checksum of whole pages", scene("mariadb 10.5.23", {"innodb_checksum_algorithm": "full_crc32"}))
rule.passes(
    "The algorithm of old servers is slower and as good", scene("mysql 8.0.33", {"innodb_checksum_algorithm": "innodb"})
)
