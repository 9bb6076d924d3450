"""Events of the journal in words: the sentence, the letter above the charts, what was changed from what to what.

Takes an event's kind and data, not the model: pages, the API and mails say the same of the same event. What a room
wrote long ago, or a newer program writes, is shown as well as it can be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from advisor.ui import messages, quantities


@dataclass(frozen=True)
class Group:
    """Events that people look for together. ``letter`` stands above the charts; without one they do not."""

    id: str
    title: str
    letter: str = ""


GROUPS: tuple[Group, ...] = (
    Group("restart", gettext_noop("Restarts"), "R"),
    Group("change", gettext_noop("Settings changed"), "C"),
    Group("version", gettext_noop("Version changed"), "V"),
    Group("role", gettext_noop("Role changed"), "F"),
    Group("finding", gettext_noop("Recommendations"), "!"),
    Group("request", gettext_noop("Change requests")),
    Group("deploy", gettext_noop("Deployments"), "D"),
    Group("annotation", gettext_noop("Annotations"), "A"),
    Group("watching", gettext_noop("Watching it")),
)
_BY_ID = {group.id: group for group in GROUPS}
#: Kind to group; what is not here is found by the word before the dot.
_KINDS = {
    "server.restarted": "restart",
    "server.variable_changed": "change",
    "server.variables_changed": "change",
    "server.version_changed": "version",
    "server.role_changed": "role",
    "server.failover": "role",
    "server.replaced": "role",
    "server.identity_changed": "role",
    "annotation.created": "annotation",
}
#: What opened and closed stands above the charts; what a person clicked on a recommendation does not.
_IN_LANE = {"recommendation.opened", "recommendation.returned", "recommendation.resolved"}
#: Kinds that a group of the lane may hold, so that one query finds them all.
LANE_KINDS = tuple(_KINDS) + tuple(sorted(_IN_LANE))
DEPLOY = "deploy"


@dataclass(frozen=True)
class Change:
    """One system variable as people read it: ``old`` and ``new`` are None where there was or is none."""

    name: str
    old: str | None
    new: str | None


def group_of(kind: str, data: object) -> Group:
    """Which group an event belongs to."""
    if kind == "annotation.created" and DEPLOY in _list(data, "tags"):
        return _BY_ID["deploy"]
    known = _KINDS.get(kind)
    if known is None:
        known = "finding" if kind.startswith(("recommendation.", "rule.")) else "watching"
        known = "request" if kind.startswith("change.") else known
    return _BY_ID[known]


def kinds_of(group: str) -> tuple[str, ...]:
    """The kinds that a group may hold; empty for the groups that are found by the beginning of the kind."""
    if group == "deploy":
        return ("annotation.created",)
    return tuple(kind for kind, its in _KINDS.items() if its == group)


def letter_of(kind: str, data: object) -> str:
    """The letter above the charts; empty for what does not stand there."""
    if kind.startswith("recommendation.") and kind not in _IN_LANE:
        return ""
    return group_of(kind, data).letter


def is_foreign(kind: str, data: object) -> bool:
    """Whether settings were changed by somebody else than Tidemark."""
    return _KINDS.get(kind) == "change" and _get(data, "source") != "ours"


def changes_of(data: object) -> list[Change]:
    """What was changed from what to what, however the event holds it."""
    found = _get(data, "changes")
    if isinstance(found, Mapping):
        pairs = [(str(name), *_pair(value)) for name, value in found.items()]
    elif isinstance(found, list):
        pairs = [(str(_get(one, "name")), _get(one, "old"), _get(one, "new")) for one in found]
    elif _get(data, "name") is not None and ("old" in _mapping(data) or "new" in _mapping(data)):
        pairs = [(str(_get(data, "name")), _get(data, "old"), _get(data, "new"))]
    else:
        pairs = []
    return [Change(name, _setting(old, name), _setting(new, name)) for name, old, new in pairs]


def sentence(kind: str, data: object) -> str:
    """What happened, for people."""
    if kind == "annotation.created":
        return str(_get(data, "text") or "")
    if _KINDS.get(kind) == "change":
        return _changed(data)
    values = {
        "title": messages.text_of(_get(data, "title_words") or _get(data, "title") or ""),
        "old": _plain(_first(data, "old", "from")),
        "new": _plain(_first(data, "new", "to")),
        "uptime": _duration(_get(data, "uptime_seconds")),
        "silent": _duration(_get(data, "seconds")),
        "why": str(_get(data, "sentence") or ""),
        "rule": str(_get(data, "rule") or ""),
        "number": str(_get(data, "number") or ""),
        "verdict": _(_VERDICTS.get(str(_get(data, "verdict")), "cannot tell")),
    }
    if kind == "recommendation.resolved" and _get(data, "why") == "switched_off":
        return _("Closed, since its rule was switched off: %(title)s") % values
    if kind == "server.restarted" and values["uptime"]:
        return _("The server was restarted, %(uptime)s before it was seen") % values
    words = _WORDS.get(kind)
    return _(words) % values if words else kind.replace(".", " ").replace("_", " ")


_WORDS = {
    "server.restarted": gettext_noop("The server was restarted"),
    "server.version_changed": gettext_noop("Version: %(old)s → %(new)s"),
    "server.role_changed": gettext_noop("Role: %(old)s → %(new)s"),
    "server.failover": gettext_noop("Role: %(old)s → %(new)s"),
    "server.replaced": gettext_noop("Another server answers at this address: %(old)s → %(new)s"),
    "server.identity_changed": gettext_noop("Another server answers at this address: %(old)s → %(new)s"),
    "server.added": gettext_noop("The server was added"),
    "server.changed": gettext_noop("The server's settings here were changed"),
    "server.credential": gettext_noop("The account with which it is watched was changed"),
    "server.paused": gettext_noop("Watching it was switched off"),
    "server.enabled": gettext_noop("Watching it was switched on"),
    "server.unreadable": gettext_noop("It could not be read any more: %(why)s"),
    "server.recovered": gettext_noop("It could be read again, after %(silent)s"),
    "server.inspection_requested": gettext_noop("An inspection was asked for"),
    "server.replicas_asked": gettext_noop("It was asked for its replicas"),
    "annotation.deleted": gettext_noop("An annotation was deleted"),
    "recommendation.opened": gettext_noop("Opened: %(title)s"),
    "recommendation.returned": gettext_noop("Came back: %(title)s"),
    "recommendation.worsened": gettext_noop("Got worse: %(title)s"),
    "recommendation.resolved": gettext_noop("Resolved by itself: %(title)s"),
    "recommendation.acknowledged": gettext_noop("Acknowledged: %(title)s"),
    "recommendation.dismissed": gettext_noop("Dismissed: %(title)s"),
    "recommendation.reopened": gettext_noop("Opened again by hand: %(title)s"),
    "recommendation.assigned": gettext_noop("Who takes care, until when, or its ticket was changed: %(title)s"),
    "recommendation.commented": gettext_noop("Commented: %(title)s"),
    "change.create": gettext_noop("Change %(number)s was written: %(title)s"),
    "change.edit": gettext_noop("Change %(number)s was edited: %(title)s"),
    "change.submit": gettext_noop("Change %(number)s was submitted for review: %(title)s"),
    "change.comment": gettext_noop("Change %(number)s was commented: %(title)s"),
    "change.request_changes": gettext_noop("Change %(number)s came back, changes are requested: %(title)s"),
    "change.endorse": gettext_noop("Change %(number)s has one more approval: %(title)s"),
    "change.approve": gettext_noop("Change %(number)s was approved: %(title)s"),
    "change.unapprove": gettext_noop("The plan of change %(number)s does not hold any more, approvals fell: %(title)s"),
    "change.schedule": gettext_noop("Change %(number)s was scheduled: %(title)s"),
    "change.unschedule": gettext_noop("Change %(number)s will not begin by itself any more: %(title)s"),
    "change.begin": gettext_noop("Change %(number)s is being applied: %(title)s"),
    "change.begin_emergency": gettext_noop("Emergency change %(number)s is being applied before its review: %(title)s"),
    "change.awaits_restart": gettext_noop("Change %(number)s waits for a restart: %(title)s"),
    "change.applied": gettext_noop("Change %(number)s was applied: %(title)s"),
    "change.recognise": gettext_noop("Somebody ran the statements of change %(number)s by hand: %(title)s"),
    "change.keep": gettext_noop("Change %(number)s was kept: %(title)s"),
    "change.begin_roll_back": gettext_noop("Change %(number)s is being rolled back: %(title)s"),
    "change.verified": gettext_noop("Change %(number)s was judged, %(verdict)s: %(title)s"),
    "change.rolled_back": gettext_noop("Change %(number)s was rolled back: %(title)s"),
    "change.fail": gettext_noop("Change %(number)s failed, nothing is left of it: %(title)s"),
    "change.need_attention": gettext_noop("Change %(number)s needs attention: %(title)s"),
    "change.withdraw": gettext_noop("Change %(number)s was withdrawn: %(title)s"),
    "rule.switched_off": gettext_noop("A rule was switched off: %(rule)s"),
    "rule.thresholds_changed": gettext_noop("A rule was given thresholds of your own: %(rule)s"),
    "rule.setting_cleared": gettext_noop("A rule counts again as it is declared: %(rule)s"),
}
_VERDICTS = {
    "improved": gettext_noop("improved"),
    "no_difference": gettext_noop("no difference seen"),
    "worse": gettext_noop("worse"),
    "cannot_tell": gettext_noop("cannot tell"),
}
_SHOWN_NAMES = 3


def _changed(data: object) -> str:
    changes = changes_of(data)
    count = _get(data, "count")
    total = max(count if isinstance(count, int) else 0, len(changes))
    if total == 1 and changes:
        one = changes[0]
        return f"{one.name}: {one.old or quantities.NOTHING} → {one.new or quantities.NOTHING}"
    names = ", ".join(one.name for one in changes[:_SHOWN_NAMES]) + (" …" if total > _SHOWN_NAMES else "")
    return ngettext("%(n)s system variable was changed", "%(n)s system variables were changed", total) % {
        "n": quantities.number(total)
    } + (f": {names}" if names else "")


def ended_at(data: object) -> datetime | None:
    """When it ended, of what took a while."""
    try:
        return datetime.fromisoformat(str(_get(data, "ended_at")))
    except ValueError:
        return None


def tags_of(data: object) -> list[str]:
    return [str(one) for one in _list(data, "tags")]


def _setting(value: object, name: str) -> str | None:
    return None if value is None else quantities.setting(value, name)


def _plain(value: object) -> str:
    return quantities.NOTHING if value is None or value == "" else str(value)


def _duration(value: object) -> str:
    return quantities.duration(value) if isinstance(value, int | float) and value > 0 else ""


def _pair(value: object) -> tuple[Any, Any]:
    if isinstance(value, list | tuple) and len(value) == 2:
        return value[0], value[1]
    return _get(value, "old"), _get(value, "new")


def _first(data: object, *names: str) -> Any:
    return next((value for name in names if (value := _get(data, name)) is not None), None)


def _mapping(data: object) -> Mapping[str, Any]:
    return data if isinstance(data, Mapping) else {}


def _get(data: object, name: str) -> Any:
    return _mapping(data).get(name)


def _list(data: object, name: str) -> list[Any]:
    found = _get(data, name)
    return found if isinstance(found, list) else []
