"""Filters and tags of all templates: numbers with units, and the small drawings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django import template
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from advisor.ui import messages, quantities
from advisor.ui.charts import small

register = template.Library()

_DATE = re.compile(r"\b\d{4}-\d\d-\d\d\b")


def _or_nothing(value: object, form: Any) -> str:
    return quantities.NOTHING if value is None or value == "" else form(value)


@register.filter
def size(value: float | None) -> str:
    """Bytes: ``1.5 GiB``."""
    return _or_nothing(value, quantities.size)


@register.filter
def amount(value: float | None) -> str:
    """A bare number, for a cell whose head or neighbour has the unit."""
    return _or_nothing(value, quantities.number)


@register.filter
def percent(value: float | None) -> str:
    """``71.2 %`` of 0.712."""
    return _or_nothing(value, quantities.percent)


@register.filter
def duration(value: float | None) -> str:
    """Seconds: ``1 h 12 min``."""
    return _or_nothing(value, quantities.duration)


@register.filter
def ago(value: datetime | None) -> str:
    return _or_nothing(value, quantities.ago)


@register.filter
def since(value: datetime | None) -> str:
    """The instant in the reader's zone, the date only where it is another day."""
    return _or_nothing(value, quantities.instant)


@register.filter
def figure(item: Mapping[str, Any]) -> str:
    """An item of evidence: its value with its unit."""
    return quantities.quantity(item.get("value"), str(item.get("unit", "")))


@register.filter
def source(address: str) -> str:
    """A page of a manual by the names that its address bears: ``dev.mysql.com · innodb redo log``."""
    parts = urlsplit(address)
    page = parts.path.rstrip("/").rpartition("/")[2].removesuffix(".html").replace("-", " ")
    return " · ".join(part for part in (parts.hostname, page) if part)


@register.filter
def setting(value: object, name: object) -> str:
    """The value of the system variable of that name, bytes as a person reads them."""
    return quantities.setting(value, str(name))


@register.filter
def fact(item: Mapping[str, Any]) -> str:
    """A fact behind a headline, in as few words as will do beside it."""
    return f"{messages.short_name(str(item.get('name', '')))} {figure(item)}"


@register.filter
def message(document: object) -> str:
    """A stored message, translated, its figures in place; a plain text as it is."""
    return messages.text_of(document)


@register.filter
def words(document: Mapping[str, Any], name: str) -> str:
    """The title, the expected effect and the like of a stored recommendation, translated where it can be."""
    return messages.text_of((document.get("words") or {}).get(name) or document.get(name))


@register.filter
def whole_dates(text: str) -> SafeString:
    """The text with dates that no line breaks in two."""
    return mark_safe(_DATE.sub(r'<span class="nowrap">\g<0></span>', conditional_escape(text)))  # noqa: S308 -- escaped


@register.simple_tag
def sparkline(values: Sequence[float | None], newest: float | None = None) -> SafeString:
    return small.sparkline(values, _("Transactions per second, now %(n)s") % {"n": amount(newest)})


@register.simple_tag
def pressure_bar(pressure: float, async_ratio: float | None) -> SafeString:
    return small.pressure_bar(
        pressure, async_ratio, _("%(n)s of the point at which writers wait") % {"n": quantities.percent(pressure)}
    )
