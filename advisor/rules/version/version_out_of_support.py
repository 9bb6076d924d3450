"""The version is out of support.

Why it matters
    No more fixes come from the vendor, neither for crashes and wrong results nor for security; and every year without
    an upgrade makes the next one longer, since MySQL cannot skip a long-term series.

How it is computed
    The end of community support of the release series, from the vendors' calendars, against the date. Half a year
    before it is a notice, from then on a warning, and a year later critical. Managed servers have dates of their
    own.

When to dismiss it
    Somebody is paid for extended support of this series, or the server is a package of a distribution (Debian,
    Ubuntu, Red Hat Enterprise Linux and their like) that is itself supported: it brings security fixes of its own into
    the series it ships, by its own dates.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.version import VersionLife
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import DAY, Quantity, Unit
from advisor.mysql.proposal import Investigate, UpgradeAdvice


@dataclass(frozen=True)
class Parameters(Thresholds):
    """How long before and after the end it is said, and how."""

    notice_seconds: float = threshold(180 * DAY, unit=Unit.SECONDS, meaning="time before the end from which it is said")
    critical_seconds: float = threshold(
        365 * DAY, unit=Unit.SECONDS, meaning="time after the end from which it is critical"
    )


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.1",
    parameters=Parameters(),
    references=[
        "https://www.mysql.com/support/eol-notice.html",
        "https://mariadb.org/about/#maintenance-policy",
    ],
)


@rule.check
def check(life: VersionLife, p: Parameters) -> Finding | Passed:
    left_seconds = life.days_left * DAY
    if left_seconds > p.notice_seconds:
        return Passed(life.measured())
    over = left_seconds < 0
    severity = Severity.NOTICE if not over else Severity.CRITICAL if -left_seconds > p.critical_seconds else None
    return Finding(
        (
            Item(
                message=Message(
                    "Community support of {series} ended on {date}"
                    if over
                    else "Community support of {series} ends on {date}",
                    {
                        "series": Quantity(life.series, Unit.TEXT),
                        "date": Quantity(life.ends_on.isoformat(), Unit.TEXT),
                    },
                ),
                evidence=life.measured(),
                proposal=(UpgradeAdvice(life.successor, _advice(life)),)
                if life.successor
                else (
                    Investigate("This is the newest long-term series: see the vendor's calendar for what follows it."),
                ),
                severity=severity,
                price=(
                    Price(
                        PriceKind.RESTART, Message("an upgrade with its tests; try the workload on both versions first")
                    ),
                ),
                would_change_our_mind=Message(
                    "A contract for extended support, or a distribution that still brings fixes."
                ),
            ),
        )
    )


def _advice(life: VersionLife) -> str:
    """The next step, and whether one can stay there."""
    if life.successor_ends_on is None:
        return "the next long-term series"
    ends_on = life.successor_ends_on.isoformat()
    if life.successor_is_over:
        return (
            f"the next step, as no long-term series can be skipped; its own support ended on {ends_on}: go on from it"
        )
    return f"the next long-term series, supported until {ends_on}"


rule.fires("MySQL 5.7 in 2026", scene("mysql 5.7.22", today="2026-11-01"))
rule.fires("MariaDB 10.5 in 2026", scene("mariadb 10.5.23", today="2026-11-01"))
rule.passes("MySQL 8.4 in 2026", scene("mysql 8.4.3", today="2026-11-01"))
