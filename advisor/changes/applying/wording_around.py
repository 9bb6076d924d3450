"""What is told of what lies around the steps: guards, crashes, restarts, canaries, what people do by hand."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext_noop as _

from advisor.changes.applying.wording import Said, message

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


def no_way_back(grant: str) -> Said:
    return message(
        "no-way-back",
        _("Nothing was sent: the apply account may persist a value, but not take that back. Run this first: {grant}"),
        grant=grant,
    )


# --- after a crash --------------------------------------------------------------------------------------------------


def recovered_applied() -> Said:
    return message(
        "recovered-applied",
        _("Applying was cut off on the way; the server has all approved values."),
    )


def recovered_nothing() -> Said:
    return message(
        "recovered-nothing",
        _("Applying was cut off on the way; the server has all of its old values: nothing was changed."),
    )


def recovered_not_begun() -> Said:
    return message(
        "recovered-nothing",
        _("The process that was to take it back ended before it sent anything: everything is as it was applied."),
    )


def another_server_now(differences: Sequence[str]) -> Said:
    return message(
        "another-server",
        _(
            "It was cut off on the way, and another server answers at this address now, so that nobody can tell from "
            "here how far it came. {differences}"
        ),
        differences=" ".join(differences),
    )


def recovering(server: str, why: str) -> Said:
    return message(
        "recovering",
        _("It was cut off on the way; {server} cannot be asked yet how far it came. {why}"),
        server=server,
        why=why,
    )


def recovered_undone() -> Said:
    return message(
        "recovered-undone",
        _("Taking it back was cut off on the way; the server has all of its old values."),
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


def awaits_restart_back(variables: Sequence[str]) -> Said:
    return message(
        "awaits-restart",
        _("These have their old values from the next restart, with the old option-file lines in place: {variables}"),
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


_CANARY = {
    "canary-transactions": _(
        "Stopped after the first server: it does {after} transactions a second, before the change it did {before}."
    ),
    "canary-errors": _(
        "Stopped after the first server: {after} connections a second are cut off or refused, before the change it was "
        "{before}."
    ),
    "canary-threads": _(
        "Stopped after the first server: {after} threads work at once, before the change it was {before}."
    ),
    "canary-latency": _(
        "Stopped after the first server: a wait for a row lock takes {after} ms, before the change it was {before} ms."
    ),
    "canary-pressure": _(
        "Stopped after the first server: the redo pressure is {after} of the point at which writers wait, before the "
        "change it was {before}."
    ),
    "canary-lag": _("Stopped after the first server: it is {after} s behind, before the change it was {before} s."),
}


def canary(kind: str, before: float, after: float) -> Said:
    return message(kind, _CANARY[kind], before=round(before, 2), after=round(after, 2))


def by_hand_back() -> Said:
    return message("by-hand", _("A person took it back: the server has all of its old values."))


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


def outcome_back(undone_on: Sequence[str], failed_on: Sequence[str]) -> Said:
    return message(
        "outcome-back",
        _("Taken back on: {undone}. Not taken back, or to be looked at: {failed}."),
        undone=", ".join(undone_on),
        failed=", ".join(failed_on),
    )


# --- why a roll back cannot begin -----------------------------------------------------------------------------------


def not_allowed() -> Said:
    return message("role-too-small", _("Your roles do not allow this: rolling back takes an operator."))


def at_work() -> Said:
    return message("busy", _("A worker is at it this moment: try again when it is done."))


def no_credential(servers: Sequence[str]) -> Said:
    return message(
        "no-apply-credential",
        _("There is no apply account for {servers}: run the statements that take it back yourself."),
        servers=", ".join(servers),
    )


def cancelled_by_roll_back() -> Said:
    return message("cancelled", _("Not begun: the change was rolled back before."))
