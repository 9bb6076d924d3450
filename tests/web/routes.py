"""Every address there is, read from the URL configuration: what a test must have classified."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.urls import URLPattern, URLResolver, get_resolver


@dataclass(frozen=True)
class Route:
    """One address. ``name`` is "" where it has none, which no page of ours may have."""

    name: str
    path: str
    of_api: bool


def routes() -> list[Route]:
    """All of them, those of the API and of libraries included."""
    return list(_walk(get_resolver().url_patterns, "", False))


def _walk(patterns: list[URLPattern | URLResolver], before: str, of_api: bool) -> Iterator[Route]:
    for pattern in patterns:
        path = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern.url_patterns, path, of_api or bool(pattern.namespace))
        else:
            yield Route(pattern.name or "", path, of_api)
