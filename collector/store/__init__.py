"""The sample history. ``store()`` is the one that this installation uses; everybody else knows only its interface."""

from __future__ import annotations

from functools import cache

from collector.store.interface import (
    Buckets,
    CounterName,
    Point,
    Readings,
    RecordedGap,
    SampleStore,
    Series,
    SeriesKind,
)

__all__ = [
    "Buckets",
    "CounterName",
    "Point",
    "Readings",
    "RecordedGap",
    "SampleStore",
    "Series",
    "SeriesKind",
    "store",
]


@cache
def store() -> SampleStore:
    """The configured sample store: compressed columns in the product's database."""
    # Imported late: the implementation needs Django's models, which are not there yet while applications load.
    from collector.store.embedded import EmbeddedStore

    return EmbeddedStore()
