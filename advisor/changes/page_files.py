"""The plan of one server as files that a person runs or drops into place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from advisor.changes.models import ChangeRequest

#: ``sql`` and ``undo.sql`` for a client, ``cnf`` for the folder of option files.
FORMS = ("sql", "undo.sql", "cnf")


def text_of(request: ChangeRequest, server: Mapping[str, Any], form: str) -> str | None:
    """The file, None where there is none of this form. Only the plan's own statements and lines stand in it.

    Titles and names are people's and servers' words: they stay out, so that none of them ever becomes a statement.
    """
    steps = server.get("steps", ())
    if form == "sql" and steps:
        return _sql(request, [step["statement"] for step in steps])
    if form == "undo.sql" and steps:
        return _sql(request, [statement for step in reversed(steps) for statement in step["undo"]])
    if form == "cnf" and server.get("option_file"):
        return f"# change {request.number}, plan {_plan(request)}\n[mysqld]\n" + "".join(
            f"{line}\n" for line in server["option_file"] if line.strip() != "[mysqld]"
        )
    return None


def _sql(request: ChangeRequest, statements: list[str]) -> str:
    return f"-- change {request.number}, plan {_plan(request)}\n" + "".join(f"{one};\n" for one in statements)


def _plan(request: ChangeRequest) -> str:
    return request.plan.hash[:12] if request.plan is not None else "-"
