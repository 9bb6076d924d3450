"""How pages look to one reader, as the frame offers it: language, colours, and the clock that times are shown by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from advisor.web.middleware import chosen

UTC = "UTC"
#: The field of a button -> the preference it sets, and the values it may have.
_FIELDS: dict[str, tuple[str, frozenset[str]]] = {
    "language": ("language", frozenset(dict(settings.LANGUAGES))),
    "theme": ("theme", frozenset({"", "light", "dark"})),
    "zone": ("time_zone", frozenset({"", UTC})),
}


@dataclass(frozen=True)
class Choice:
    """One button. ``sign`` is drawn in place of ``words`` where there is one; ``title`` says it in full."""

    value: str
    words: str
    title: str
    here: bool
    sign: str = ""


@dataclass(frozen=True)
class Group:
    name: str
    title: str
    choices: tuple[Choice, ...]


def choices_in(sent: Mapping[str, str]) -> dict[str, str]:
    """The preferences that a sent form sets; what is no such choice is left out."""
    return {preference: sent[field] for field, (preference, values) in _FIELDS.items() if sent.get(field) in values}


def way_back(request: HttpRequest) -> str:
    """Where a button leads: this page; for one that answers a form's POST, the page that the form stood on."""
    if request.method in {"GET", "HEAD"}:
        return request.get_full_path()
    came_from = urlsplit(request.headers.get("Referer", ""))
    return came_from.path if came_from.netloc == request.get_host() else ""


def groups(request: HttpRequest) -> list[Group]:
    """The three groups of buttons of the frame, with what is chosen now."""
    mine = chosen(request)
    language, zone = get_language() or "en", mine["time_zone"]
    languages = tuple(Choice(code, name, name, code == language) for code, name in settings.LANGUAGES)
    schemes = tuple(
        Choice(value, words, words, mine["theme"] == value, sign)
        for value, words, sign in (
            ("", _("colours as the system"), "◐"), ("light", _("light colours"), "○"), ("dark", _("dark colours"), "●"),
        )
    )  # fmt: skip
    # A person may have picked a zone of their own on the account page: that is the local time of their choice.
    local = timezone.get_current_timezone_name() if zone != UTC else ""
    clocks = (
        Choice("", _("local"), _("times as your clock shows them: %(zone)s") % {"zone": local} if local
               else _("times as your clock shows them"), zone != UTC),
        Choice(UTC, UTC, _("times in UTC"), zone == UTC),
    )  # fmt: skip
    return [
        Group("language", _("Language"), languages),
        Group("theme", _("Colours"), schemes),
        Group("zone", _("Time zone"), clocks),
    ]
