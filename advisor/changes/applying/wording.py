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


def not_begun(why: str) -> Said:
    return message("not-begun", _("Nothing was sent: what has to hold before applying did not hold. {why}"), why=why)


# --- guards ---------------------------------------------------------------------------------------------------------


def guard_load(running: int, most: int) -> Said:
    return message(
        "guard-load",
        _("Nothing was sent: {running} threads work at once on the server, and changes wait while it is above {most}."),
        running=running,
        most=most,
    )


def guard_lag(seconds: int, most: int) -> Said:
    return message(
        "guard-lag",
        _("Nothing was sent: the replica is {seconds} s behind, and changes wait while it is more than {most} s."),
        seconds=seconds,
        most=most,
    )


def guard_galera(state: str) -> Said:
    return message(
        "guard-galera",
        _("Nothing was sent: the Galera node is {state}, and changes wait until it is synced."),
        state=state,
    )


def guard_busy(statement: str) -> Said:
    return message(
        "guard-busy",
        _("Nothing was sent: a backup or a change of a table runs on the server ({statement})."),
        statement=statement,
    )


def guard_disk(variable: str, wanted: str, free: str) -> Said:
    return message(
        "guard-disk",
        _("Nothing was sent: {variable} would take {wanted} more of the disk, of which {free} are free."),
        variable=variable,
        wanted=wanted,
        free=free,
    )


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


# --- after a crash --------------------------------------------------------------------------------------------------


def recovered_applied() -> Said:
    return message(
        "recovered-applied",
        _("The process that applied it ended on the way; the server has all approved values."),
    )


def recovered_nothing() -> Said:
    return message(
        "recovered-nothing",
        _("The process that applied it ended on the way; the server has all of its old values: nothing was changed."),
    )


def recovered_undone() -> Said:
    return message(
        "recovered-undone",
        _("The process that took it back ended on the way; the server has all of its old values."),
    )


def recovered_partly(new: Sequence[str], old: Sequence[str], other: Sequence[str]) -> Said:
    return message(
        "recovered-partly",
        _(
            "It was cut off on the way, and the live values tell how far it got. As approved: {new}. "
            "As before: {old}. Neither: {other}."
        ),
        new=", ".join(new) or "—",
        old=", ".join(old) or "—",
        other=", ".join(other) or "—",
    )


# --- restarts, canaries, by hand ------------------------------------------------------------------------------------


def awaits_restart(variables: Sequence[str]) -> Said:
    return message(
        "awaits-restart",
        _("These count from the next restart of the server, with the option-file lines in place: {variables}"),
        variables=", ".join(variables),
    )


def restarted_without(variables: Sequence[str]) -> Said:
    return message(
        "restarted-without",
        _("The server was restarted, but without the new values: {variables}. See whether it reads that option file."),
        variables=", ".join(variables),
    )


def restarted_with() -> Said:
    return message("applied", _("The server was restarted and has all approved values."))


def restarted_back() -> Said:
    return message("undone", _("The server was restarted and has all of its old values."))


def by_hand() -> Said:
    return message("by-hand", _("A person ran the statements: the server has all approved values."))


def canary_stopped(why: str) -> Said:
    return message("canary-stopped", _("Stopped after the first server: {why}"), why=why)


def stopped_by(server: str) -> Said:
    return message("stopped", _("Not begun, since it failed on {server}."), server=server)


def outcome(applied_on: Sequence[str], failed_on: Sequence[str], untouched: Sequence[str]) -> Said:
    return message(
        "outcome",
        _("Applied on: {applied}. Not applied or to be looked at: {failed}. Not begun: {untouched}."),
        applied=", ".join(applied_on) or "—",
        failed=", ".join(failed_on) or "—",
        untouched=", ".join(untouched) or "—",
    )


def expired() -> Said:
    return message("expired", _("An emergency change that nobody approved in time is taken back by itself."))
