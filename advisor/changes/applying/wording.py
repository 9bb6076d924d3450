"""What is told of an application, as stored messages: words with named values, printed by pages and the API alike.

A message is ``{"kind", "text", "values": {name: {"value", "unit"}}}``; ``after`` is a second one where what followed is
told too (a failure, and that it was taken back).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext_noop as _

Said = dict[str, Any]


def message(kind: str, text: str, **values: str | int | float) -> Said:
    """A stored message. A text keeps its spelling, a number is printed as the reader's language has it."""
    return {
        "kind": kind,
        "text": text,
        "values": {
            name: {"value": value, "unit": "text" if isinstance(value, str) else "count"}
            for name, value in values.items()
        },
    }


# --- nothing was sent -----------------------------------------------------------------------------------------------


def another_server(differences: Sequence[str]) -> Said:
    return message(
        "another-server",
        _("Nothing was sent: what answers at this address is not the server that was approved. {differences}"),
        differences=" ".join(differences),
    )


def several_servers() -> Said:
    return message(
        "several-servers",
        _("Nothing was sent: several servers answer behind this address, or a proxy spreads statements over them."),
    )


def moved(variable: str, old: str, new: str, live: str) -> Said:
    return message(
        "moved",
        _("{variable} was changed since the approval: it was {old}, approved was {old} → {new}, now it is {live}."),
        variable=variable,
        old=old,
        new=new,
        live=live,
    )


def persisted_moved(variable: str, approved: str | None, kept: str | None) -> Said:
    return message(
        "moved",
        _("What is persisted for {variable} was changed since the approval: it was {approved}, now it is {kept}."),
        variable=variable,
        approved="—" if approved is None else approved,
        kept="—" if kept is None else kept,
    )


def persisted_unreadable(variable: str, why: str) -> Said:
    return message(
        "persisted-unreadable",
        _(
            "Nothing was sent: the apply account cannot read what is persisted for {variable}, so that it could not be "
            "taken back exactly. Grant it SELECT ON performance_schema.persisted_variables. {why}"
        ),
        variable=variable,
        why=why,
    )


def not_ours(why: str) -> Said:
    return message("not-ours", _("Nothing was sent: the plan holds a statement that is never sent. {why}"), why=why)


def not_connected(why: str) -> Said:
    return message("not-connected", _("Nothing was sent: the server could not be reached. {why}"), why=why)


def another_plan() -> Said:
    return message("not-begun", _("Nothing was sent: the request has another plan by now."))


def approval_fell() -> Said:
    return message("not-begun", _("Nothing was sent: an approval does not count any more."))


def not_begun_since(check: Said) -> Said:
    """A check that does not hold any more: its own words, and that nothing was sent."""
    return {"kind": "not-ready", **check, "after": message("none", _("Nothing was changed."))}


# --- a step failed --------------------------------------------------------------------------------------------------


def refused(variable: str, why: str) -> Said:
    return message("refused", _("The server refused the change of {variable}. {why}"), variable=variable, why=why)


def clamped(variable: str, wanted: str, found: str) -> Said:
    return message(
        "different",
        _("The server made something else of {variable}: approved was {wanted}, it became {found}."),
        variable=variable,
        wanted=wanted,
        found=found,
    )


# --- how it ended ---------------------------------------------------------------------------------------------------


def applied(count: int) -> Said:
    return message("applied", _("Applied and read back: {count} variables."), count=count)


def undone(count: int) -> Said:
    return message(
        "undone", _("Taken back and read back: {count} variables have their approved old values."), count=count
    )


def failed_and_undone(failure: Said, count: int) -> Said:
    if count == 0:
        return {**failure, "after": message("none", _("Nothing was changed."))}
    return {
        **failure,
        "after": message("undone", _("What had been changed before was taken back: {count} variables."), count=count),
    }


def failed_and_left(failure: Said, remaining: Sequence[str]) -> Said:
    return {**failure, "after": left(remaining)}


def left(remaining: Sequence[str]) -> Said:
    return message(
        "left",
        _("Not taken back, since these are neither as approved nor as Tidemark set them: {remaining}"),
        remaining=", ".join(remaining),
    )


def another_server_at_the_end() -> Said:
    return message(
        "another-server",
        _("All statements were sent, but at the end another server answered: look at both of them."),
    )
