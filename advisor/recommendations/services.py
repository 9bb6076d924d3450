"""The only writer of recommendations. Each function is one transaction, and what happened is journaled inside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from advisor.journal.services import record
from advisor.recommendations import fleet
from advisor.recommendations.models import Judgement, Recommendation, State
from advisor.recommendations.states import LIVING, Step, WrongState, after
from advisor.recommendations.verdict import Found, RuleSaid, Verdict, acted_on, falling, figures, growth, rule_of
from advisor.teams import audit
from collector.models import Server

#: A recommendation is resolved when its rule passed this often in a row and for at least this long: harm opens it
#: early, one lucky minute does not close it.
PASSES_TO_RESOLVE = 3
SECONDS_TO_RESOLVE = 110
#: The same where the server does not have the values any more that the advice was about: somebody acted on it, so that
#: a pass is what was to be expected and no lucky minute.
PASSES_AFTER_CHANGE = 2
SECONDS_AFTER_CHANGE = 15
#: Found again within this time, a resolved recommendation returns with its history; later a new one is opened.
RETURN_DAYS = 30
#: How much the figures have to grow for a dismissed recommendation to come back.
WORSE_RATIO = 1.2


@dataclass
class Changes:
    """What one judgement changed, by recommendation id."""

    opened: list[str] = field(default_factory=list)
    returned: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    resolved: list[str] = field(default_factory=list)


class Outdated(Exception):
    """A judgement that came too late: of an older slot than the one that is known already, or of a server that is
    gone.
    """


@transaction.atomic
def apply_verdict(*, server: Server, verdict: Verdict, now: datetime) -> Changes:
    """Brings a server's recommendations up to a judgement: opens, keeps, resolves, and lets dismissed ones come back.

    What could not be evaluated resolves nothing. Raises Outdated where a newer judgement was applied already, or the
    server is gone.
    """
    if not Server.objects.filter(pk=server.pk).exists():
        raise Outdated("the server was deleted meanwhile")
    judgement, _ = Judgement.objects.get_or_create(
        server=server, defaults={"slot": 0, "judged_at": now, "outcomes": []}
    )
    # One judgement of a server at a time: the row is locked where the database has row locks, and SQLite has one
    # writer.
    judgement = Judgement.objects.select_for_update().get(pk=judgement.pk)
    if verdict.slot < judgement.slot:
        raise Outdated(f"slot {verdict.slot} is older than {judgement.slot}")
    judgement.slot = verdict.slot
    judgement.judged_at = now
    judgement.outcomes = list(verdict.outcomes)
    judgement.milliseconds = verdict.milliseconds
    judgement.configuration = verdict.configuration
    judgement.configured_at = verdict.configured_at
    judgement.settings = verdict.settings
    judgement.changed_at = verdict.changed_at
    judgement.save()

    changes = Changes()
    living = list(Recommendation.objects.select_for_update().filter(server=server, state__in=LIVING))
    matched = _match(living, verdict.found)
    leaders = {one.key for one in verdict.found}
    for row in living:
        found = matched.get(row.pk)
        if found is not None:
            continue
        if row.key in leaders or any(row.key in one.keys for one in verdict.found):
            # Two that were open apart are one now: the other one goes on with both.
            _resolve(row, now, "joined", changes)
        else:
            _not_found(row, verdict, now, changes)
    for found in verdict.found:
        known = next((row for row in living if matched.get(row.pk) is found), None)
        if known is None:
            _open(server, found, now, changes)
        else:
            _keep(known, found, now, changes)
    return changes


def _match(living: Sequence[Recommendation], found: Sequence[Found]) -> dict[str, Found]:
    """Which living recommendation each finding continues: the one of its key, else one that shares a finding."""
    matched: dict[str, Found] = {}
    closeness = (
        lambda row, one: row.key == one.key,
        lambda row, one: row.key in one.keys,
        lambda row, one: bool(set(row.keys) & set(one.keys)),
    )
    for close in closeness:
        for one in found:
            if one in matched.values():
                continue
            row = next((row for row in living if row.pk not in matched and close(row, one)), None)
            if row is not None:
                matched[row.pk] = one
    return matched


def _open(server: Server, found: Found, now: datetime, changes: Changes) -> None:
    """A finding that no living recommendation has: a resolved one returns, else a new one is opened."""
    row = (
        Recommendation.objects.filter(
            server=server, state=State.RESOLVED, key=found.key, resolved_at__gte=now - timedelta(days=RETURN_DAYS)
        )
        .order_by("-resolved_at")
        .first()
    )
    if row is None:
        row = Recommendation(server=server, opened_at=now)
        changes.opened.append(row.pk)
        kind = "recommendation.opened"
    else:
        row.opened_at = now
        row.resolved_at = None
        row.decided_by = None
        row.decided_at = None
        row.dismissed_reason = ""
        row.dismissed_until = None
        row.dismissed_figures = {}
        row.dismissed_rank = None
        changes.returned.append(row.pk)
        kind = "recommendation.returned"
    row.state = State.OPEN
    _take_over(row, found, now)
    row.save()
    _journal(row, kind, now)


def _keep(row: Recommendation, found: Found, now: datetime, changes: Changes) -> None:
    """Found again: the figures are brought up to date; a dismissed one may come back."""
    was = row.severity_rank
    back = _why_back(row, found, now.date()) if row.state == State.DISMISSED else ""
    _take_over(row, found, now)
    if back:
        row.state = after(row.state, Step.REOPEN)
        row.opened_at = now
        row.dismissed_figures = {}
        row.dismissed_rank = None
        changes.returned.append(row.pk)
    else:
        changes.kept.append(row.pk)
    row.save()
    if back:
        _journal(row, "recommendation.returned", now, why=back)
    elif row.severity_rank > was:
        _journal(row, "recommendation.worsened", now)


def _take_over(row: Recommendation, found: Found, now: datetime) -> None:
    # The leader of a joined recommendation may change; its key stays as long as its own finding is among the joined
    # ones.
    if not row.key or row.key not in found.keys:
        row.key = found.key
    row.current = row.key
    row.keys = list(found.keys)
    row.rule = found.rule
    row.severity = found.severity
    row.severity_rank = found.severity_rank
    row.confidence = str(found.document["confidence"])
    row.document = {**found.document, "key": row.key}
    row.last_seen_at = now
    row.passes = 0
    row.passing_since = None


def _why_back(row: Recommendation, found: Found, today: date) -> str:
    """Why a dismissed recommendation comes back, empty where it stays dismissed."""
    if row.dismissed_until is not None and row.dismissed_until <= today:
        return "date"
    # What it was when somebody decided, not the last time it was judged: else one milder day would make the old
    # severity look new.
    decided_rank = row.severity_rank if row.dismissed_rank is None else row.dismissed_rank
    if found.severity_rank > decided_rank:
        return "severity"
    worse = growth(row.dismissed_figures, figures(found.document), falling(found.document))
    return "figures" if worse >= WORSE_RATIO else ""


def _not_found(row: Recommendation, verdict: Verdict, now: datetime, changes: Changes) -> None:
    """None of its findings was made this time. Where a rule of it could not be evaluated, nothing is known and nothing
    changes.

    A rule that no longer exists said nothing at all and counts as passed.
    """
    said = verdict.said
    if any(said.get(rule_of(key)) is RuleSaid.NOT_EVALUATED for key in {row.key, *row.keys}):
        return
    if {rule_of(key) for key in {row.key, *row.keys}} <= verdict.switched_off:
        _resolve(row, now, "switched_off", changes)
        return
    row.passes = min(row.passes + 1, 32_767)
    row.passing_since = row.passing_since or now
    held = row.state == State.DISMISSED and (row.dismissed_until is None or row.dismissed_until > now.date())
    passes, seconds = PASSES_TO_RESOLVE, SECONDS_TO_RESOLVE
    if acted_on(row.document, verdict.variables):
        passes, seconds = PASSES_AFTER_CHANGE, SECONDS_AFTER_CHANGE
    if row.passes >= passes and now - row.passing_since >= timedelta(seconds=seconds) and not held:
        _resolve(row, now, "passed", changes)
    else:
        # A dismissal outlives good days: else what somebody decided would have to be decided again after each of them.
        row.save(update_fields=["passes", "passing_since"])


def _resolve(row: Recommendation, now: datetime, why: str, changes: Changes) -> None:
    row.state = after(row.state, Step.RESOLVE)
    row.current = None
    row.resolved_at = now
    row.save()
    changes.resolved.append(row.pk)
    _journal(row, "recommendation.resolved", now, why=why)


def _journal(
    row: Recommendation, kind: str, now: datetime, *, actor: AbstractBaseUser | None = None, **further: Any
) -> None:
    record(
        team_id=row.server.team_id,
        server_id=row.server_id,
        kind=kind,
        at=now,
        actor=actor,
        data={
            "recommendation": row.pk,
            "rule": row.rule,
            "key": row.key,
            "severity": row.severity,
            "title": row.document.get("title", ""),
            # The same as a message, so that a page says it in its reader's language.
            "title_words": (row.document.get("words") or {}).get("title"),
            **further,
        },
    )


def _decided(row: Recommendation, action: str, now: datetime, actor: AbstractBaseUser, **further: str | None) -> None:
    """What a person decided stands in both records: beside the charts, and in the audit."""
    _journal(row, action, now, actor=actor, **further)
    audit.record(
        team_id=row.server.team_id,
        actor=actor,
        action=action,
        subject=f"{row.document.get('title', row.rule)} on {row.server.name} ({row.pk})",
        data={"recommendation": row.pk, "rule": row.rule, "key": row.key, "server": row.server_id, **further},
        at=now,
    )


def _step(
    recommendation: Recommendation, step: Step, now: datetime, actor: AbstractBaseUser | None, **fields: Any
) -> Recommendation:
    """One step by somebody, by an update that names the state it starts from: of two at once only one succeeds."""
    target = after(recommendation.state, step)
    changed = Recommendation.objects.filter(pk=recommendation.pk, state=recommendation.state).update(
        state=target, decided_by=actor, decided_at=now, **fields
    )
    fresh = Recommendation.objects.select_related("server").get(pk=recommendation.pk)
    if not changed:
        raise WrongState(fresh.state, step)
    fleet.count_recommendations(server=fresh.server)
    return fresh


@transaction.atomic
def acknowledge(*, recommendation: Recommendation, actor: AbstractBaseUser, now: datetime) -> Recommendation:
    """Somebody has seen it and takes care. Raises WrongState."""
    row = _step(recommendation, Step.ACKNOWLEDGE, now, actor)
    _decided(row, "recommendation.acknowledged", now, actor)
    return row


@transaction.atomic
def dismiss(
    *, recommendation: Recommendation, actor: AbstractBaseUser, reason: str, until: date | None, now: datetime
) -> Recommendation:
    """Somebody decided to live with it, for this reason, until that date (None: for good).

    It comes back at the date if it still holds, and earlier when it gets markedly worse. Raises WrongState, and
    ValueError for an empty reason or a date that is not in the future.
    """
    reason = reason.strip()
    if not reason:
        raise ValueError("Say why it is dismissed: whoever comes next will want to know.")
    if until is not None and until <= now.date():
        raise ValueError("The date until which it is dismissed has to lie in the future.")
    row = _step(
        recommendation,
        Step.DISMISS,
        now,
        actor,
        dismissed_reason=reason,
        dismissed_until=until,
        dismissed_figures=figures(recommendation.document),
        dismissed_rank=recommendation.severity_rank,
    )
    _decided(row, "recommendation.dismissed", now, actor, reason=reason, until=until.isoformat() if until else None)
    return row


@transaction.atomic
def reopen(*, recommendation: Recommendation, actor: AbstractBaseUser, now: datetime) -> Recommendation:
    """Somebody takes back that it was acknowledged or dismissed. Raises WrongState."""
    row = _step(
        recommendation,
        Step.REOPEN,
        now,
        actor,
        dismissed_reason="",
        dismissed_until=None,
        dismissed_figures={},
        dismissed_rank=None,
    )
    _decided(row, "recommendation.reopened", now, actor)
    return row


@transaction.atomic
def move_with_change(
    *, recommendation: Recommendation, step: Step, actor: AbstractBaseUser | None, now: datetime
) -> Recommendation:
    """What a change request did with it: taken in, released, applied, rolled back. Raises WrongState."""
    if step not in (Step.TAKE_INTO_CHANGE, Step.RELEASE_FROM_CHANGE, Step.APPLY, Step.ROLL_BACK):
        raise ValueError(f"{step} is not something that a change request does")
    row = _step(recommendation, step, now, actor)
    _journal(row, f"recommendation.{row.state}", now, actor=actor)
    return row
