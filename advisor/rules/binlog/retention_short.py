"""The binary log is kept for less than a day.

Why it matters
    A replica that was away for longer than the log is kept can never catch up: it has to be built again from a copy
    of all data. A backup of last night cannot be rolled forward to the moment before an accident. A night or a
    weekend is soon over when nobody looks.

How it is computed
    log_bin is on and the expiry is above 0 and below one day. Proposed are two days, at the price of the disk that
    one more day of writes takes.

When to dismiss it
    The disk holds no more and there is neither a replica nor a backup that needs the log, or the files are archived
    elsewhere as they are closed.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.replication import OwnBinaryLog
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import DAY, HOUR, Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Expiry(Settings):
    """After how long files are removed."""

    binlog_expire_logs_seconds: int = 0
    expire_logs_days: float = 0.0

    @property
    def seconds(self) -> float:
        """0 where they are kept for ever."""
        return self.binlog_expire_logs_seconds or self.expire_logs_days * DAY


@dataclass(frozen=True)
class Parameters(Thresholds):
    """What is short."""

    kept_seconds: float = threshold(DAY, unit=Unit.SECONDS, meaning="files are kept for less than this")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=8.0", "mariadb>=10.6"],
    since="0.2",
    parameters=Parameters(),
    raises=["binlog_expire_logs_seconds"],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/replication-options-binary-log.html",
        "https://mariadb.com/docs/server/ha-and-performance/standard-replication/replication-and-binary-log-system-variables",
    ],
)


@rule.check
def check(expiry: Expiry, _log: OwnBinaryLog, p: Parameters) -> Finding | Passed:
    if not 0 < expiry.seconds < p.kept_seconds:
        return Passed(expiry.measured())
    wanted = max(2 * DAY, int(p.kept_seconds))
    return Finding(
        (
            Item(
                message=Message(
                    "The binary log is kept for {time} only: a replica or a backup that is older cannot catch up",
                    {"time": Quantity(round(expiry.seconds), Unit.SECONDS)},
                ),
                evidence=expiry.measured(),
                proposal=(SetVariable("binlog_expire_logs_seconds", wanted),),
                expected=Message("A replica that stood still for a day, and last night's backup, can catch up."),
                price=(
                    Price(
                        PriceKind.DISK,
                        Message("the log keeps the writes of a longer time"),
                        Quantity(round(expiry.seconds), Unit.SECONDS),
                        Quantity(wanted, Unit.SECONDS),
                    ),
                ),
                would_change_our_mind=Message("Files that are archived elsewhere as they are closed."),
            ),
        )
    )


rule.fires(
    "An hour",
    scene("mysql 8.0.33", {"binlog_expire_logs_seconds": HOUR}),
    proposes={"binlog_expire_logs_seconds": 2 * DAY},
)
rule.fires(
    "Half a day on MariaDB",
    scene("mariadb 10.11.18", {"log_bin": "ON", "binlog_expire_logs_seconds": DAY // 2}),
    proposes={"binlog_expire_logs_seconds": 2 * DAY},
)
rule.passes("Just a day", scene("mysql 8.0.33", {"binlog_expire_logs_seconds": DAY}))
rule.passes("For ever is another fault", scene("mysql 8.0.33", {"binlog_expire_logs_seconds": 0}))
rule.passes("A week", scene("mariadb 10.11.18", {"log_bin": "ON", "binlog_expire_logs_seconds": 7 * DAY}))
