"""Builders of judgements as plain values."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils import timezone

from advisor.recommendations import services
from advisor.recommendations.models import RuleSetting
from advisor.recommendations.services import Changes
from advisor.recommendations.verdict import Found, RuleSaid, Verdict

START = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
RULE = "redo.redo-log-undersized"


def found(
    key: str = RULE,
    *,
    keys: Iterable[str] = (),
    severity: str = "warning",
    value: float = 0.4,
    variable: str = "innodb_log_file_size",
) -> Found:
    """A finding whose leading figure is ``value``, seen in a window."""
    document = {
        "rule": key.split(":")[0],
        "rules": sorted({one.split(":")[0] for one in (key, *keys)}),
        "severity": severity,
        "confidence": "low",
        "title": f"{key} is wrong",
        "subject": None,
        "evidence": [
            {"name": "redo log capacity", "value": 8_388_608, "unit": "bytes", "window": None, "source": "variable"},
            {
                "name": "time at the limit",
                "value": value,
                "unit": "ratio",
                "window": {"started_at": "2026-11-21T11:59:00Z", "ended_at": "2026-11-21T12:00:00Z"},
                "source": "checkpoint age",
            },
        ],
        "changes": [
            {
                "kind": "variable",
                "name": variable,
                "current": 8_388_608,
                "proposed": 268_435_456,
                "needs_restart": False,
                "effect": "at_once",
            }
        ],
        "sql": [f"SET GLOBAL {variable} = 268435456"],
        "option_file": [f"{variable} = 256M"],
        "undo": [f"SET GLOBAL {variable} = 8388608"],
        "needs_restart": False,
        "price": [],
        "expected": None,
        "key": key,
    }
    return Found(key=key, keys=(key, *keys), document=document)


class Judging:
    """Judges one server again and again, a minute apart."""

    def __init__(self, server: Any, *, every_seconds: float = 60) -> None:
        self.server = server
        self.now = START
        self.slot = int(START.timestamp())
        self.step = timedelta(seconds=every_seconds)
        self.variables: dict[str, str] = {}

    def __call__(self, *findings: Found, said: dict[str, str] | None = None) -> Changes:
        """One judgement. Rules of the findings said finding; others what ``said`` says (by default the redo rule
        passed).
        """
        outcomes = {RULE: RuleSaid.PASSED.value, **(said or {})}
        outcomes |= {key.split(":")[0]: RuleSaid.FINDING.value for one in findings for key in one.keys}
        changes = services.apply_verdict(
            server=self.server,
            verdict=Verdict(
                slot=self.slot,
                found=findings,
                outcomes=[{"rule": rule, "outcome": outcome} for rule, outcome in outcomes.items()],
                variables=self.variables,
            ),
            now=self.now,
        )
        self.now += self.step
        self.slot += int(self.step.total_seconds())
        return changes


def switched_off(team: Any, rule: str = "redo.redo-log-undersized", tag: str = "") -> RuleSetting:
    """A rule that the team switched off, as it stands in the database."""
    made, _ = RuleSetting.objects.get_or_create(
        team=team, rule=rule, tag=tag, defaults={"off": True, "reason": "as agreed", "changed_at": timezone.now()}
    )
    return made
