"""Change requests in the API's shapes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.utils import timezone

from advisor.changes import gate, states
from advisor.changes.checks import Check
from advisor.changes.gate import Condition
from advisor.changes.models import Application, ChangeRequest, Verification
from advisor.ui.messages import text_of


def short(row: ChangeRequest) -> dict[str, Any]:
    """What a list tells of it."""
    return {
        "id": row.pk,
        "number": row.number,
        "team": row.team.name,
        "title": row.title,
        "state": row.state,
        "why": text_of(row.why) if row.why else None,
        "version": row.version,
        "emergency": row.emergency,
        "author": row.author_name,
        "servers": list(dict.fromkeys(one.server_id for one in row.wanted.all())),
        "plan_hash": row.plan.hash if row.plan is not None else None,
        "created_at": row.created_at,
        "changed_at": row.changed_at,
        "submitted_at": row.submitted_at,
        "applied_at": row.applied_at,
    }


def whole(row: ChangeRequest) -> dict[str, Any]:
    """Everything that is known of it."""
    plan = row.plan
    conditions = gate.conditions(request=row, person=None, now=timezone.now()) if _may_begin(row) else []
    return {
        **short(row),
        **{name: getattr(row, name) for name in ("reason", "expected_effect", "price", "test_plan")},
        "changes": [
            {
                "server": one.server_id,
                "variable": one.variable,
                "value": one.value,
                "recommendation": one.recommendation_id,
            }
            for one in row.wanted.all()
        ],
        "first_server": row.first_server_id,
        "wait_seconds": row.wait_seconds,
        "scheduled_at": row.scheduled_at,
        "expires_at": row.expires_at,
        "plan_expires_at": plan.expires_at if plan is not None else None,
        "plan": plan.document if plan is not None else None,
        "reviews": [
            {
                "person": one.person_name,
                "verdict": one.verdict,
                "text": one.text,
                "line": one.line,
                "plan_hash": one.plan.hash,
                "at": one.at,
                "fallen_at": one.fallen_at,
            }
            for one in row.reviews.select_related("plan")
        ],
        "conditions": [condition(one) for one in conditions],
        "applications": [_application(one) for one in row.applications.prefetch_related("steps")],
        "verifications": [
            _verification(one)
            for one in Verification.objects.filter(application__request=row).select_related("application")
        ],
    }


def _may_begin(row: ChangeRequest) -> bool:
    """Whether anything stands between it and being applied; what is applied or over has no conditions."""
    return states.can(row, states.Step.EDIT)


def condition(one: Condition) -> dict[str, Any]:
    """A condition of applying."""
    return {"id": one.id, "met": one.met, "text": text_of(one.message), "who": one.who}


def check(one: Check) -> dict[str, Any]:
    """One thing that was looked at before a plan is made."""
    return {
        "id": one.id,
        "ok": one.ok,
        "warns": one.warns,
        "server": one.server or None,
        "text": text_of(one.message),
        "who": one.who,
    }


def sentences(checks: Iterable[Check]) -> str:
    """What is not ok, in sentences."""
    return " ".join(text_of(one.message) for one in checks if not one.ok)


def statements(row: ChangeRequest) -> list[dict[str, Any]]:
    """What a person runs by hand where there is no account for applying, by server and in order."""
    if row.plan is None:
        return []
    return [
        {
            "server": server["server"],
            "sql": [step["statement"] for step in server["steps"]],
            "undo": [statement for step in reversed(server["steps"]) for statement in step["undo"]],
            "option_file": server["option_file"],
            "parameters": server["parameters"],
        }
        for server in row.plan.document["servers"]
    ]


def _application(row: Application) -> dict[str, Any]:
    return {
        "server": row.server_id,
        "direction": row.direction,
        "state": row.state,
        "due_at": row.due_at,
        "started_at": row.started_at,
        "ended_at": row.ended_at,
        "text": text_of(row.said) if row.said else "",
        "steps": [_step(one) for one in _ordered(list(row.steps.all()))],
    }


def _ordered(steps: Sequence[Any]) -> list[Any]:
    return sorted(steps, key=lambda one: int(one.number))


def _step(step: Any) -> dict[str, Any]:
    return {
        "number": step.number,
        "variable": step.variable,
        "statement": step.statement,
        "old": step.old,
        "wanted": step.wanted,
        "found": step.found,
        "state": step.state,
        "warnings": step.warnings,
        "window_milliseconds": step.window_milliseconds,
    }


def _verification(row: Verification) -> dict[str, Any]:
    return {
        "server": row.application.server_id,
        "stage": row.stage,
        "due_at": row.due_at,
        "judged_at": row.judged_at,
        "verdict": row.verdict or None,
        "document": row.document,
    }
