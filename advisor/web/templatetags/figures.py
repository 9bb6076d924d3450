"""Figures that lead to the samples they were made of."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from advisor.recommendations.recently import Figure
from advisor.ui import quantities
from advisor.web import addresses

register = template.Library()

#: As an interval counts that began a second before the minute, so do the samples that are shown for it.
_MINUTE = 61
#: Arithmetic that anybody can do again over the samples of a link, as long as each of them is shown by itself.
_HOWS = frozenset({"last", "least", "greatest", "mean"})
_LONGEST = 2 * 3600
#: A momentary figure is shown with what came before it.
_LOOK_BACK = 15 * 60


@register.simple_tag
def newest_figure(text: str, value: float | None, name: str, how: str, at: datetime | None, server: Any) -> SafeString:
    """A figure of the fleet row in bold, as a link to its samples: ``last`` of them, or their ``mean`` of a minute."""
    if value is None or at is None:
        return format_html("<b>{}</b>", text)
    newest = at.timestamp()
    began = newest - (_LOOK_BACK if how == "last" else _MINUTE - server.fast_interval_seconds)
    # Up to the next poll, which is not part of it: a page shows no range shorter than a minute.
    return _link(server.pk, text, value, name, how, began, newest + server.fast_interval_seconds - 0.1)


@register.simple_tag
def told_figure(figure: Figure, server: Any) -> SafeString:
    """A figure of a window with its unit, as a link to its samples."""
    if figure.unit == "percent":
        text = f"{quantities.number(round(figure.value, 1))} %"
    else:
        text = quantities.quantity(figure.value, figure.unit)
    return _link(server.pk, text, figure.value, figure.series, figure.how, figure.started_at, figure.ended_at)


def _link(server_id: str, text: str, value: float, name: str, how: str, started: float, ended: float) -> SafeString:
    bounds: dict[str, object] = {"name": name, "from": round(started * 1000), "to": round(ended * 1000)}
    can_be_made_again = how in _HOWS and ended - started <= _LONGEST
    if can_be_made_again:
        # The page of the samples makes the figure again, and says how.
        bounds["how"] = how
    address = addresses.with_query(addresses.of("server-counters", server_id), **bounds)
    if not address:
        return format_html("<b>{}</b>", text)
    if not can_be_made_again:
        return format_html('<a class="figure" href="{}"><b>{}</b></a>', address, text)
    return format_html(
        '<a class="figure" data-figure="{}" data-how="{}" data-value="{}" href="{}"><b>{}</b></a>',
        name, how, f"{value:.9g}", address, text,
    )  # fmt: skip
