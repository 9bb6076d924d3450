"""The plan of one server as files that a person runs, drops into place, or hands to another tool."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.changes import exports
from advisor.changes.models import ChangeRequest

#: What each file's ending stands for: the format of ``exports``, and whether it is the way back.
FORMS: Mapping[str, tuple[str, bool]] = {
    "sql": ("sql", False),
    "undo.sql": ("sql", True),
    "cnf": ("option_file", False),
    "undo.cnf": ("option_file", True),
    "yml": ("ansible", False),
    "json": ("json", False),
}


def text_of(request: ChangeRequest, server_id: str, form: str) -> str | None:
    """The present plan's part of one server as a file; None where there is no plan, server or file of this form."""
    if request.plan is None or form not in FORMS:
        return None
    kind, undo = FORMS[form]
    try:
        return exports.export(request.plan.document, kind, plan_hash=request.plan.hash, server=server_id, undo=undo)
    except exports.NotInPlan:
        return None


def name_of(request: ChangeRequest, server_id: str) -> str:
    """What the plan calls the server, empty where it has none of that id."""
    servers = request.plan.document["servers"] if request.plan is not None else ()
    return next((str(one["name"]) for one in servers if one["server"] == server_id), "")
