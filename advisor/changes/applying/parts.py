"""One server's part of an approved plan, as applying reads it; and what of it was carried out."""

from __future__ import annotations

from typing import Any

from advisor.changes import planning
from advisor.changes.applying.machine import Done, Step
from advisor.changes.models import Application, Plan
from advisor.changes.models import Step as Row

Part = dict[str, Any]


class AlteredPlan(Exception):
    """The stored plan is not the one that was approved: its text does not have its hash, or lacks the server."""


def part_of(plan: Plan, server_id: str) -> Part:
    """The server's part. Raises AlteredPlan where the document is not what its hash says."""
    if planning.canonical_hash(plan.document) != plan.hash:
        raise AlteredPlan("The stored plan does not have its hash.")
    for part in plan.document["servers"]:
        if part["server"] == server_id:
            return dict(part)
    raise AlteredPlan("The plan has no part for this server.")


def steps_of(part: Part) -> list[Step]:
    """What is done while the server runs, in order."""
    return [Step.of(step) for step in part["steps"]]


def waiting_of(part: Part) -> list[dict[str, Any]]:
    """The changes that no statement makes: they count once the server was restarted, or by its parameter group."""
    stepped = {step["variable"] for step in part["steps"]}
    return [change for change in part["changes"] if change["variable"] not in stepped]


def done_of(application: Application) -> list[Done]:
    """What an application did and did not take back, in order.

    Of one that a person carried out by hand there are no rows: all of its steps are done, since that was recognised.
    """
    steps = {step.variable: step for step in steps_of(part_of(application.plan, application.server_id))}
    rows = list(application.steps.filter(undoes=None))
    if not rows and application.state == Application.State.APPLIED:
        return [Done(0, step, step.new) for step in steps.values()]
    remaining = (Row.State.DONE, Row.State.DIFFERENT, Row.State.LEFT)
    return [
        Done(row.number, steps[row.variable], row.wanted if row.state == Row.State.LEFT else row.found)
        for row in rows
        if row.state in remaining and row.variable in steps
    ]
