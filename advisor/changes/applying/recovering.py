"""Applications that a dead process or a broken connection left behind: the live values tell how far they came.

Nothing is sent here. A SET that may have been sent is not sent again, and one that may not have been sent is not made
up for: what is found is told, and a person, or the policy, decides.
"""

from __future__ import annotations

import logging
from contextlib import closing
from dataclasses import dataclass, field

from django.db import Error as DatabaseError
from django.db import transaction
from django.utils import timezone

from advisor.changes.applying import leases, parts, settling, wording
from advisor.changes.applying import wording_around as around
from advisor.changes.applying.machine import End, LinkLost, Refused
from advisor.changes.applying.machine import Step as Planned
from advisor.changes.applying.parts import AlteredPlan
from advisor.changes.applying.session import LiveSession, open_session
from advisor.changes.live import BOOT_TOLERANCE_SECONDS
from advisor.changes.models import Application, Step
from advisor.mysql.values import same
from advisor.teams import audit
from collector.vault import VaultError

log = logging.getLogger(__name__)

_State = Application.State
_APPLY = Application.Direction.APPLY


@dataclass
class _Found:
    """Variables by what the server has of them: the approved value, the old one, or another; as ``name = value``."""

    new: list[str] = field(default_factory=list)
    old: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)


def recover() -> int:
    """Looks after every application that is RUNNING and that no living process works on; how many ended."""
    ended = 0
    running = Application.objects.filter(state=_State.RUNNING).select_related("request", "server", "plan")
    for application in running:
        with transaction.atomic():
            lease = leases.take_over(application, timezone.now())
        if lease is None:
            continue
        try:
            with audit.acting_as(None, "system", name="Tidemark"):
                ended += _recover(application)
        except DatabaseError:
            raise
        except Exception:
            # One that cannot be judged must not keep all others waiting; it is tried again with the next tick.
            log.exception("How far application %s came could not be told.", application.pk)
        finally:
            lease.release()
    return ended


def _recover(application: Application) -> bool:
    """Reads what became of it and ends it; False where that cannot be told yet."""
    rows = list(application.steps.all())
    if not rows:
        nothing = around.recovered_nothing() if application.direction == _APPLY else around.recovered_not_begun()
        settling.end(application=application, ended=End("failed", nothing), now=timezone.now())
        return True
    try:
        part = parts.part_of(application.plan, application.server_id)
        with closing(open_session(application.server, part["fingerprint"], strict=False)) as session:
            if _still_at_it(application, session):
                return False
            differences = session.differences()
            if differences:
                end = End("needs_attention", around.another_server_now(differences))
            else:
                end = _judge(application, part, rows, session)
    except (LinkLost, Refused, VaultError) as error:
        log.warning("How far application %s came cannot be told yet: %s", application.pk, error)
        Application.objects.filter(pk=application.pk, state=_State.RUNNING).update(
            said=around.recovering(application.server.name, str(error))
        )
        return False
    except AlteredPlan as error:
        end = End("needs_attention", wording.not_ours(str(error)))
    settling.end(application=application, ended=end, now=timezone.now())
    return True


def _still_at_it(application: Application, session: LiveSession) -> bool:
    """Whether the server still has the thread of the connection that was lost: its statement may not be over yet."""
    thread = application.guards.get("connection_id")
    before, now = application.fingerprint.get("booted_at"), session.facts.booted_at
    if not isinstance(thread, int) or not before or abs(int(before) - now) > BOOT_TOLERANCE_SECONDS:
        return False
    if thread == session.connection.thread_id:
        return False
    return session.has_thread(thread)


def _judge(application: Application, part: parts.Part, rows: list[Step], session: LiveSession) -> End:
    """How it ended, by the live values; the rows are brought up to what is found."""
    steps = parts.steps_of(part)
    waiting = [one["variable"] for one in parts.waiting_of(part)]
    found = _Found()
    for step in steps:
        live, kept = session.read(step.variable), session.persisted(step.variable) if step.persists else None
        kind = _kind(step, live, kept)
        getattr(found, kind).append(f"{step.variable} = {live}")
        _write_down(application, rows, step, kind, live)
    partly = around.recovered_partly(found.new, found.old, found.other)
    if application.direction == _APPLY:
        if not found.old and not found.other:
            if waiting:
                return End("awaiting_restart", around.awaits_restart(waiting))
            return End("applied", around.recovered_applied())
        if not found.new and not found.other:
            return End("failed", around.recovered_nothing())
        return End("needs_attention", partly)
    if not found.new and not found.other:
        return End("undone", around.recovered_undone())
    return End("needs_attention", partly)


def _kind(step: Planned, live: str, kept: str | None) -> str:
    """new, old or other: what runs and what is persisted have to tell the same."""
    persisted_new = not step.persists or (kept is not None and same(kept, step.new))
    before = step.persisted_before
    persisted_old = not step.persists or (kept is before if None in (kept, before) else same(kept or "", before or ""))
    if same(live, step.new) and persisted_new:
        return "new"
    if (same(live, step.old) or same(live, step.restored)) and persisted_old:
        return "old"
    return "other"


def _write_down(application: Application, rows: list[Step], step: Planned, kind: str, live: str) -> None:
    """Rows whose end nobody wrote get it now, and applied steps that are not there any more are told as undone."""
    now = timezone.now()
    for row in (one for one in rows if one.variable == step.variable and one.state == Step.State.WRITTEN):
        wanted = "old" if row.undoes is not None else "new"
        state = Step.State.DONE if kind == wanted else Step.State.DIFFERENT if kind == "other" else Step.State.REFUSED
        application.steps.filter(pk=row.pk).update(state=state, found=live, ended_at=now)
    origin = Application.objects.filter(
        plan_id=application.plan_id, server_id=application.server_id, direction=_APPLY
    ).first()
    applied = Step.objects.filter(application=origin, variable=step.variable, undoes=None)
    if kind == "old":
        applied.filter(state__in=[Step.State.DONE, Step.State.DIFFERENT]).update(state=Step.State.UNDONE, found=live)
