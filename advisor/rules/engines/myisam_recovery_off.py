"""MyISAM tables are written, and nothing repairs them after a crash.

Why it matters
    MyISAM has no log. A table that was open for writing when the server died is marked as crashed, and every query on
    it fails with error 145 until somebody runs REPAIR TABLE. With myisam_recover_options the server does so when it
    opens the table, and keeps a backup of what it changed.

How it is computed
    myisam_recover_options is OFF (MySQL's default), and MyISAM index blocks are being written: Key_write_requests grew
    by 1 a second or more. A server that does not use MyISAM hears nothing.

When to dismiss it
    The tables are so large that nobody may wait for a repair that starts by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Rates, Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Recovery(Settings):
    """What the server does with a MyISAM table that was not closed."""

    myisam_recover_options: str


@dataclass(frozen=True)
class KeyWrites(Rates):
    """Requests to write a MyISAM index block per second."""

    key_write_requests: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """Whether MyISAM is used."""

    writes_per_second: float = threshold(
        1.0, unit=Unit.PER_SECOND, meaning="requests to write a MyISAM index block", leave_at=0.5
    )


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/myisam-start.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/myisam-storage-engine/myisam-system-variables",
    ],
)


@rule.check
def check(recovery: Recovery, keys: KeyWrites, p: Parameters) -> Finding | Passed:
    figures = recovery.measured() + keys.measured()
    off = recovery.myisam_recover_options.upper() in ("OFF", "", "0")
    if not off or keys.key_write_requests < p.writes_per_second:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message("MyISAM tables that are written now stay broken after a crash"),
                evidence=figures,
                proposal=(SetVariable("myisam_recover_options", "BACKUP,FORCE"),),
                expected=Message("A table that was open in a crash is repaired when it is used next, with a backup."),
                price=(
                    Price(PriceKind.RESTART, Message("it counts from the next start on")),
                    Price(PriceKind.RECOVERY_TIME, Message("the first query on a broken table waits for its repair")),
                ),
                would_change_our_mind=Message("Tables so large that a repair must not start by itself."),
            ),
        )
    )


rule.fires(
    "MyISAM in use with MySQL's default",
    scene("mysql 8.0.33", {"myisam_recover_options": "OFF"}, counters={"Key_write_requests": 40}, deliberate=True),
    proposes={"myisam_recover_options": "BACKUP,FORCE"},
)
rule.fires(
    "Switched off on MariaDB",
    scene("mariadb 10.11.18", {"myisam_recover_options": "OFF"}, counters={"Key_write_requests": 4}, deliberate=True),
    proposes={"myisam_recover_options": "BACKUP,FORCE"},
)
rule.passes(
    "The default, and no MyISAM",
    scene("mysql 8.0.33", {"myisam_recover_options": "OFF"}, counters={"Key_write_requests": 0}, deliberate=True),
)
rule.passes("MariaDB's default", scene("mariadb 10.11.18", counters={"Key_write_requests": 400}, deliberate=True))
