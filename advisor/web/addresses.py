"""Addresses of pages that may not be there: a page that comes later is linked from the moment it has an address."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import urlencode

from django.urls import NoReverseMatch, reverse


def of(name: str, *arguments: str) -> str:
    """The address of that name, empty where there is none."""
    try:
        return reverse(name, args=arguments)
    except NoReverseMatch:
        return ""


def with_query(address: str, **parameters: object) -> str:
    """The address with these parameters; empty stays empty."""
    return f"{address}?{urlencode(parameters)}" if address else ""


def milliseconds(at: datetime) -> int:
    """Unix milliseconds, as instants stand in addresses."""
    return round(at.timestamp() * 1000)
