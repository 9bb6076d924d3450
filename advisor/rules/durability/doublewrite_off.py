"""A page that was half written in a crash cannot be repaired.

Why it matters
    InnoDB writes pages of 16 KiB, devices promise less. When the power fails in the middle of one, the page on disk
    is half old and half new: its checksum fails, and the redo log cannot mend it because redo describes changes of a
    whole page. The doublewrite buffer keeps a second copy for exactly this moment. Without it the table, or the whole
    server if the page belongs to the system tablespace, is lost to the backup.

How it is computed
    From the setting: innodb_doublewrite is OFF (critical), or DETECT_ONLY on MySQL 8.0.30 and later, which notices a
    torn page and cannot repair it (warning). MariaDB's "fast" is as safe as ON. Nothing is proposed in the other
    direction.

When to dismiss it
    The data lie on a file system or device that writes a whole page or nothing: ZFS with a record size that is a
    multiple of the page size, or storage with atomic writes of 16 KiB. A replica that may be built again may do
    without it, too.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.redo import OwnRedoLog
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Doublewrite(Settings):
    """Whether pages are written twice."""

    innodb_doublewrite: str

    @property
    def off(self) -> bool:
        return self.innodb_doublewrite.upper() in ("OFF", "0", "FALSE")

    @property
    def detects_only(self) -> bool:
        return self.innodb_doublewrite.upper() == "DETECT_ONLY"


rule = Rule(
    __name__,
    severity=Severity.CRITICAL,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-doublewrite-buffer.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-doublewrite-buffer",
    ],
)


@rule.check
def check(pages: Doublewrite, _log: OwnRedoLog) -> Finding | Passed:
    if not (pages.off or pages.detects_only):
        return Passed(pages.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "innodb_doublewrite = {value}: a page that is half written in a power failure cannot be repaired",
                    {"value": Quantity(pages.innodb_doublewrite, Unit.TEXT)},
                ),
                evidence=pages.measured(),
                proposal=(SetVariable("innodb_doublewrite", "ON"),),
                severity=Severity.WARNING if pages.detects_only else None,
                expected=Message("A torn page is repaired from its copy when the server starts again."),
                price=(Price(PriceKind.DISK_WRITES, Message("every page is written twice, mostly in one go")),),
                would_change_our_mind=Message("A file system or device that writes whole pages or nothing."),
            ),
        )
    )


rule.fires("Switched off to write less", scene("mysql 5.7.22", {"innodb_doublewrite": "OFF"}))
rule.fires(
    "MySQL that only detects torn pages",
    scene("mysql 8.0.33", {"innodb_doublewrite": "DETECT_ONLY"}),
    proposes={"innodb_doublewrite": "ON"},
)
rule.fires("MariaDB without it", scene("mariadb 10.11.18", {"innodb_doublewrite": "OFF"}))
rule.passes("The default", scene("mysql 8.0.33"))
rule.passes("MariaDB's fast mode is as safe", scene("mariadb 11.8.6", {"innodb_doublewrite": "fast"}))
