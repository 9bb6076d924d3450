"""A figure as a link to what it was made of: the one form in which pages print a number that can be made again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.utils.html import format_html
from django.utils.safestring import SafeString

from advisor.web import addresses

#: Over a longer time the samples of a link no longer stand one by one.
LONGEST_SECONDS = 2 * 3600
#: As an interval counts that began a second before the minute, so do the samples that are shown for it.
_MINUTE = 61
#: A momentary figure is shown with what came before it.
_LOOK_BACK = 15 * 60


def bold(text: str) -> SafeString:
    """A figure that cannot be made again: an estimate, a setting, or none."""
    return format_html("<b>{}</b>", text)


def figure_link(text: str, value: float, *, name: str, how: str, address: str) -> SafeString:
    """``how`` names the arithmetic that makes ``value`` again of the samples at ``address``, ``name`` what they are."""
    if not address:
        return bold(text)
    return format_html(
        '<a class="figure" data-figure="{}" data-how="{}" data-value="{}" href="{}"><b>{}</b></a>',
        name, how, f"{value:.9g}", address, text,
    )  # fmt: skip


def of_samples(
    server_id: str, text: str, value: float, *, names: str, how: str, bounds: tuple[float, float]
) -> SafeString:
    """A figure of one series, or of several with commas between them, over ``bounds`` (unix seconds)."""
    started, ended = bounds
    address = addresses.with_query(
        addresses.of("server-counters", server_id),
        name=names, how=how, **{"from": round(started * 1000), "to": round(ended * 1000)},
    )  # fmt: skip
    return figure_link(text, value, name=names, how=how, address=address)


def minute_of(newest: datetime, spacing: float, *, look_back: bool = False) -> tuple[float, float]:
    """The samples that a figure of the last minute is made of, up to the poll after ``newest``, which is not part of
    it: a page shows no range shorter than a minute. ``look_back`` adds the quarter of an hour before it.
    """
    at = newest.timestamp()
    return at - (_LOOK_BACK if look_back else _MINUTE - spacing), at + spacing - 0.1


@dataclass(frozen=True)
class RedoFigures:
    """Figures of the redo page over its range (unix seconds), as links to the times and hours behind them."""

    server_id: str
    started: float
    ended: float
    zone: str = ""

    def of_polls(self, text: str, value: float, how: str) -> SafeString:
        """A figure of how long the pressure was where, from every poll of the range."""
        return self._link(text, value, how, "polls", {})

    def of_hours(self, text: str, value: float, how: str, **narrowed: int) -> SafeString:
        """A figure of the closed hours of the range; ``narrowed`` to a ``weekday`` (0: Monday) and an ``hour``."""
        return self._link(text, value, how, "hours", narrowed)

    def _link(self, text: str, value: float, how: str, of: str, narrowed: dict[str, int]) -> SafeString:
        zone = {"tz": self.zone} if self.zone else {}
        address = addresses.with_query(
            addresses.of("server-redo-samples", self.server_id),
            **{"of": of, "how": how, "from": round(self.started * 1000), "to": round(self.ended * 1000)},
            **narrowed,
            **zone,
        )
        return figure_link(text, value, name=of, how=how, address=address)
