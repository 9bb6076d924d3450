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
from advisor.web.figure_links import LONGEST_SECONDS, bold, minute_of, of_samples

register = template.Library()

#: Arithmetic that anybody can do again over the samples of a link, as long as each of them is shown by itself.
_HOWS = frozenset({"last", "least", "greatest", "mean"})


@register.simple_tag
def newest_figure(text: str, value: float | None, name: str, how: str, at: datetime | None, server: Any) -> SafeString:
    """A figure of the fleet row in bold, as a link to its samples: ``last`` of them, or their ``mean`` of a minute."""
    if value is None or at is None:
        return bold(text)
    bounds = minute_of(at, server.fast_interval_seconds, look_back=how == "last")
    return of_samples(server.pk, text, value, names=name, how=how, bounds=bounds)


@register.simple_tag
def told_figure(figure: Figure, server: Any) -> SafeString:
    """A figure of a window with its unit, as a link to its samples."""
    if figure.unit == "percent":
        text = f"{quantities.number(round(figure.value, 1))} %"
    else:
        text = quantities.quantity(figure.value, figure.unit)
    bounds = (figure.started_at, figure.ended_at)
    if figure.how in _HOWS and bounds[1] - bounds[0] <= LONGEST_SECONDS:
        return of_samples(server.pk, text, figure.value, names=figure.series, how=figure.how, bounds=bounds)
    shown: dict[str, object] = {"name": figure.series, "from": round(bounds[0] * 1000), "to": round(bounds[1] * 1000)}
    address = addresses.with_query(addresses.of("server-counters", server.pk), **shown)
    return format_html('<a class="figure" href="{}"><b>{}</b></a>', address, text) if address else bold(text)
