"""Filters of the control that chooses the time range."""

from __future__ import annotations

from datetime import UTC, datetime

from django import template
from django.utils import timezone

from advisor.ui import quantities
from advisor.ui.period import Period

register = template.Library()


@register.filter
def span_words(period: Period) -> str:
    """Both ends in the reader's zone, and how long that is."""
    started, ended = (datetime.fromtimestamp(one, UTC) for one in (period.started, period.ended))
    return quantities.span(started, ended)


@register.filter
def ends(period: Period) -> str:
    """Both ends in the reader's zone, where there is little room."""
    started, ended = (quantities.instant(datetime.fromtimestamp(one, UTC)) for one in (period.started, period.ended))
    same_day = started[:-5] == ended[:-5]
    return f"{started}–{ended[-5:] if same_day else ended}"


@register.filter
def field_values(period: Period) -> tuple[str, str]:
    """Both ends as a form's fields of date and time take them."""
    return period.local(timezone.get_current_timezone())
