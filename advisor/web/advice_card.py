"""The recommendations of one server: what is open, what was put aside, what could not be judged, and the score."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from advisor.engine.outcome import Confidence, Severity
from advisor.engine.score import Deduction, Score
from advisor.recommendations import rule_settings
from advisor.recommendations.models import Judgement, Recommendation, RuleSetting, State
from advisor.recommendations.states import PENDING
from advisor.ui import messages
from collector.models import Server

#: The score is compared with that of so long ago.
_DAY = timedelta(days=1)
#: What a person can do comes before what only needs waiting.
_MOST_NUMBERS = 3
_KINDS = ("grant", "enable", "host_fact", "window", "version")
_PRIVILEGE = re.compile(r"\s*GRANT\s+(?P<what>.+?)\s+ON\s+(?P<where>\S+)", re.IGNORECASE)


@dataclass(frozen=True)
class Step:
    """What would let some rules be judged. ``short`` stands in the card's head, ``title`` says it as a sentence;
    ``statement`` is to copy, ``text`` to read, each empty where there is none.
    """

    kind: str
    rules: int
    short: str
    title: str
    statement: str
    text: str


@dataclass(frozen=True)
class Advice:
    """What the card shows. ``change`` is by how much the score differs from a day ago, None where it is not known."""

    pending: Sequence[Recommendation]
    acknowledged: Sequence[Recommendation]
    dismissed: Sequence[Recommendation]
    applied: Sequence[Recommendation]
    resolved: int
    passed: int
    not_applicable: int
    not_evaluated: int
    judged: bool
    steps: Sequence[Step]
    own_rules: Sequence[RuleSetting]
    score: Score
    change: int | None

    @property
    def lines(self) -> list[tuple[Recommendation, list[Mapping[str, Any]]]]:
        """The open ones, each with the numbers that say how bad it is: those that were measured before settings."""
        return [(row, _numbers(row.document)) for row in self.pending]

    @property
    def open(self) -> int:
        return len(self.pending) + len(self.acknowledged)

    @property
    def aside(self) -> int:
        """How many somebody put aside, or are over."""
        return len(self.dismissed) + len(self.applied) + self.resolved


def read(server: Server, judgement: Judgement | None, now: datetime, resolved: int) -> Advice:
    """From the recommendations, of which ``resolved`` are over, and the newest judgement."""
    found = Recommendation.objects.filter(server=server).select_related("assignment__assignee")
    rows = list(found.exclude(state=State.RESOLVED, resolved_at__lt=now - _DAY))
    outcomes: list[dict[str, Any]] = judgement.outcomes if judgement is not None else []
    counts = {name: sum(one.get("outcome") == name for one in outcomes) for name in _OUTCOMES}
    living = [row for row in rows if row.state in PENDING]
    score = _score(living, counts)
    return Advice(
        pending=[row for row in living if row.state != State.ACKNOWLEDGED],
        acknowledged=[row for row in living if row.state == State.ACKNOWLEDGED],
        dismissed=[row for row in rows if row.state == State.DISMISSED],
        applied=[row for row in rows if row.state == State.APPLIED],
        resolved=resolved,
        passed=counts["passed"],
        not_applicable=counts["not_applicable"],
        not_evaluated=counts["not_evaluated"],
        judged=judgement is not None,
        steps=_steps(outcomes),
        own_rules=list(rule_settings.effective(server).settings.values()),
        score=score,
        change=_change(rows, counts, score, server, now),
    )


_OUTCOMES = ("finding", "passed", "not_applicable", "not_evaluated")


def _numbers(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = [
        one
        for one in document.get("evidence", ())
        if isinstance(one.get("value"), int | float) and not isinstance(one.get("value"), bool)
    ]
    # Stable: within both kinds the rule's own order stays.
    return sorted(found, key=lambda one: not one.get("window"))[:_MOST_NUMBERS]


def _score(rows: Iterable[Recommendation], counts: Mapping[str, int]) -> Score:
    """What somebody decided to live with costs nothing: a decision is no fault."""
    deductions = [Deduction(row.key, row.rule, Severity(row.severity), Confidence(row.confidence)) for row in rows]
    return Score(
        deductions=tuple(sorted(deductions, key=lambda one: (-one.amount, one.key))),
        findings=len(deductions),
        passed=counts["passed"],
        not_evaluated=counts["not_evaluated"],
        not_applicable=counts["not_applicable"],
    )


def _change(
    rows: Iterable[Recommendation], counts: Mapping[str, int], score: Score, server: Server, now: datetime
) -> int | None:
    """Against the recommendations that were open a day ago, told by when each came and went."""
    then = now - _DAY
    if score.value is None or server.created_at > then:
        return None
    before = [row for row in rows if row.opened_at <= then and _was_open(row, then)]
    value = _score(before, counts).value
    return None if value is None else score.value - value


def _was_open(row: Recommendation, then: datetime) -> bool:
    if row.state in PENDING:
        return True
    ended = row.resolved_at if row.state == State.RESOLVED else row.decided_at
    return ended is not None and ended > then


def _steps(outcomes: Iterable[Mapping[str, Any]]) -> list[Step]:
    """One step for everything that the same deed would bring, by how many rules wait for it."""
    waiting: dict[tuple[str, str], list[Mapping[str, str]]] = {}
    for one in outcomes:
        if one.get("outcome") != "not_evaluated":
            continue
        # A rule waits for the hardest of its needs; it is counted once for each, since each of them is in its way.
        for missing in {_key(missing): missing for missing in one.get("missing", ())}.items():
            waiting.setdefault(missing[0], []).append(missing[1])
    steps = [_step(kind, list(found)) for (kind, _what), found in waiting.items()]
    return sorted(steps, key=lambda step: (_KINDS.index(step.kind) if step.kind in _KINDS else 9, -step.rules))


def _key(missing: Mapping[str, str]) -> tuple[str, str]:
    kind = missing.get("kind", "")
    # However long each rule wants to watch, one answer fits all: wait.
    return kind, "" if kind == "window" else missing.get("remedy", "") + missing.get("what", "")


def _step(kind: str, found: Sequence[Mapping[str, str]]) -> Step:
    what = messages.text_of(found[0].get("what", ""))
    remedy = found[0].get("remedy", "")
    rules = len(found)
    privilege = _PRIVILEGE.match(remedy)
    if kind == "grant" and privilege:
        name = privilege["what"] if privilege["where"] == "*.*" else f"{privilege['what']} ON {privilege['where']}"
        short = _("grant %(privilege)s") % {"privilege": name}
        title = ngettext(
            "%(n)s rule needs the privilege %(privilege)s, to read: %(what)s",
            "%(n)s rules need the privilege %(privilege)s, to read: %(what)s",
            rules,
        ) % {"n": rules, "privilege": name, "what": what}
        return Step(kind, rules, short, title, remedy, "")
    if kind == "host_fact":
        short = _("say what the server has: %(what)s") % {"what": what}
        title = ngettext(
            "%(n)s rule needs to know what no server tells: %(what)s",
            "%(n)s rules need to know what no server tells: %(what)s",
            rules,
        ) % {"n": rules, "what": what}
        return Step(kind, rules, short, title, "", "")
    if kind == "window":
        wanted = ngettext("%(n)s rule waits for more polls", "%(n)s rules wait for more polls", rules) % {"n": rules}
        return Step(kind, rules, _("they wait for more polls"), wanted, "", messages.text_of(remedy))
    if kind == "version":
        title = ngettext(
            "%(n)s rule cannot be judged on this version: %(what)s",
            "%(n)s rules cannot be judged on this version: %(what)s",
            rules,
        ) % {"n": rules, "what": what}
        return Step(kind, rules, _("this version does not tell"), title, "", messages.text_of(remedy))
    short = _("switch on: %(what)s") % {"what": what}
    title = ngettext(
        "%(n)s rule needs something switched on: %(what)s", "%(n)s rules need something switched on: %(what)s", rules
    ) % {"n": rules, "what": what}
    return Step(kind, rules, short, title, "", messages.text_of(remedy))
