"""What was looked at before a plan was made, as a page shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from advisor.changes.models import Plan
from advisor.changes.page_actions import WHO
from advisor.ui import quantities


@dataclass(frozen=True)
class Row:
    """One check. One that ``warns`` stands in nobody's way and is left to the reviewers."""

    sign: str
    tone: str
    spoken: str
    message: Mapping[str, Any]
    who: str


@dataclass(frozen=True)
class Checks:
    """``met`` of ``all``; ``words`` say when they were looked at."""

    rows: Sequence[Row]
    met: int
    all: int
    words: str


def of_plan(plan: Plan | None) -> Checks | None:
    """Those of a plan; None where none was made yet."""
    found = plan.document.get("checks") if plan is not None else None
    if plan is None or not found:
        return None
    return _of(found, _("looked at %(ago)s, and again before it is applied") % {"ago": quantities.ago(plan.made_at)})


def failed(found: Sequence[Mapping[str, Any]]) -> Checks:
    """Those that were looked at just now, and some of which stood in the way."""
    return _of(found, _("looked at just now: no plan was made"))


def _of(found: Sequence[Mapping[str, Any]], words: str) -> Checks:
    rows = [_row(one) for one in found]
    good = sum(bool(one["ok"]) and not one.get("warns") for one in found)
    # What is wrong is what somebody came to see.
    rows.sort(key=lambda row: ("unmet", "warned", "met").index(row.tone))
    return Checks(rows, good, len(rows), words)


def _row(one: Mapping[str, Any]) -> Row:
    if not one["ok"]:
        return Row("✖", "unmet", _("does not hold:"), one["message"], _(WHO[one["who"]]) if one["who"] in WHO else "")
    if one.get("warns"):
        return Row("⚠", "warned", _("mind:"), one["message"], "")
    return Row("✔", "met", _("holds:"), one["message"], "")
