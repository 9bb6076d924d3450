"""Words, shapes and symbols of change requests, each with its meaning, so that nothing is told by colour alone."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from advisor.changes.models import State
from advisor.ui import quantities


@dataclass(frozen=True)
class Standing:
    """A state as pages show it: ``tone`` is a class of badges, empty for a quiet one."""

    state: str
    shape: str
    title: str
    tone: str = ""

    @property
    def words(self) -> str:
        return _(self.title)


STANDINGS: dict[str, Standing] = {
    one.state: one
    for one in (
        Standing(State.DRAFT, "○", gettext_noop("draft")),
        Standing(State.IN_REVIEW, "●", gettext_noop("in review"), "notice"),
        Standing(State.CHANGES_REQUESTED, "✎", gettext_noop("changes requested"), "warning"),
        Standing(State.APPROVED, "✔", gettext_noop("approved"), "calm"),
        Standing(State.STALE, "◌", gettext_noop("stale"), "warning"),
        Standing(State.SCHEDULED, "◷", gettext_noop("scheduled"), "notice"),
        Standing(State.APPLYING, "▶", gettext_noop("applying"), "notice"),
        Standing(State.AWAITING_RESTART, "↻", gettext_noop("awaiting restart"), "warning"),
        Standing(State.VERIFYING, "◔", gettext_noop("verifying"), "notice"),
        Standing(State.KEPT, "✔", gettext_noop("kept"), "calm"),
        Standing(State.ROLLED_BACK, "↩", gettext_noop("rolled back")),
        Standing(State.FAILED, "✖", gettext_noop("failed"), "critical"),
        Standing(State.NEEDS_ATTENTION, "◆", gettext_noop("needs attention"), "critical"),
        Standing(State.WITHDRAWN, "–", gettext_noop("withdrawn")),
    )
}

#: Symbols of a plan with what they say.
SYMBOLS: dict[str, str] = {
    "~": gettext_noop("dynamic"),
    "↻": gettext_noop("needs a restart"),
    "→": gettext_noop("new connections only"),
    "⚠": gettext_noop("decides what a crash can lose"),
    "≠": gettext_noop("drift: the server runs with another value than its option file has"),
}

VERDICTS: dict[str, str] = {
    "approve": gettext_noop("approved"),
    "request_changes": gettext_noop("asked for changes"),
    "comment": gettext_noop("commented"),
}

#: What an application on one server is at, and what became of one of its statements.
APPLICATIONS: dict[str, str] = {
    "waiting": gettext_noop("waits for its turn"),
    "running": gettext_noop("statements are being sent"),
    "applied": gettext_noop("applied"),
    "awaiting_restart": gettext_noop("waits for a restart of the server"),
    "undone": gettext_noop("taken back"),
    "failed": gettext_noop("failed, nothing is left of it"),
    "needs_attention": gettext_noop("needs attention"),
    "cancelled": gettext_noop("cancelled"),
}
STEPS: dict[str, tuple[str, str]] = {
    "written": ("…", gettext_noop("written down, outcome not known yet")),
    "done": ("✔", gettext_noop("done and read back")),
    "refused": ("✖", gettext_noop("refused by the server")),
    "different": ("≠", gettext_noop("the server holds another value than was sent")),
    "undone": ("↩", gettext_noop("taken back")),
    "left": ("◆", gettext_noop("left as it is: somebody else changed it since")),
}


#: Whether an applied value survives a restart, as the newest snapshot tells.
LASTS: dict[str, str] = {
    "persisted": gettext_noop("persisted: it outlives a restart"),
    "file": gettext_noop("in the option file: it outlives a restart"),
    "running_only": gettext_noop("running only, lost at the next restart: add the option-file lines"),
    "gone": gettext_noop("the server has another value now"),
}


def standing(state: str) -> Standing:
    """How a state is shown; one of a newer program by its name."""
    return STANDINGS.get(state) or Standing(state, "·", state.replace("_", " "))


def both_forms(value: str, name: str) -> tuple[str, str]:
    """A value as a person reads it and, where that is another text, as the server prints it."""
    shown = quantities.setting(value, name)
    return shown, value if shown != value else ""
