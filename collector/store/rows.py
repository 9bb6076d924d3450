"""Stored rows as columns: sealed blocks and open rows of one server, read together, damage left out."""

from __future__ import annotations

import logging
import struct
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import TypeVar

from django.db.models import Model

from collector.store import columns as codec
from collector.store.columns import Columns

log = logging.getLogger(__name__)
Read = TypeVar("Read")

HOUR_SECONDS = 3600
DAY_SECONDS = 86_400
#: An hour is sealed this long after its end: longer than any poll may be late, so that none arrives after its block.
SEAL_AFTER_SECONDS = 300


def hour_of(slot: float) -> int:
    """The unix second at which the slot's hour began."""
    return int(slot) // HOUR_SECONDS * HOUR_SECONDS


def day_of(slot: float) -> int:
    """The unix second at which the slot's day (UTC) began."""
    return int(slot) // DAY_SECONDS * DAY_SECONDS


def hours_with_rows(
    model: type[Model], now: float, *, limit: int, without: Collection[tuple[str, int]] = ()
) -> list[tuple[str, int]]:
    """(server, hour) of closed hours that still have open rows of ``model``, the oldest first, at most ``limit``.

    ``without`` are left out: hours that were tried and cannot be sealed.
    """
    rows = (
        model._default_manager.filter(slot__lt=hour_of(now - SEAL_AFTER_SECONDS))
        .order_by("slot")
        .values_list("server_id", "slot")
        .iterator(chunk_size=1000)
    )
    found: dict[tuple[str, int], None] = {}
    for server_id, slot in rows:
        if (server_id, hour_of(slot)) not in without:
            found[(server_id, hour_of(slot))] = None
        if len(found) >= limit:
            break
    return list(found)


def together(
    blocks: Iterable[tuple[int, bytes | memoryview]],
    rows: Sequence[tuple[int, bytes | memoryview]],
    names: tuple[str, ...] | None,
    whose: str,
) -> Columns:
    """Blocks (begin, bytes) and packed polls (slot, bytes), both oldest first; ``names`` None takes all there are.

    ``whose`` names the server in the log where something cannot be read.
    """
    parts = [
        part
        for begins_at, payload in blocks
        if (part := readable(partial(codec.unseal, bytes(payload), names), f"block {begins_at} of {whose}")) is not None
    ]
    open_rows = readable(partial(codec.unpack_polls, rows, names), f"open rows of {whose}")
    if open_rows is not None:
        parts.append(open_rows)
    else:
        # One of them is damaged: the others are read one by one.
        for row in rows:
            part = readable(partial(codec.unpack_polls, [row], names), f"slot {row[0]} of {whose}")
            if part is not None:
                parts.append(part)
    if names is None:
        every = tuple(sorted({name for part in parts for name in part.names}))
        parts = [part.over(every) for part in parts]
        names = every
    # An hour that is not sealed while a later one is (it was late, or cannot be sealed) stands among the open rows.
    return codec.joined(names, parts).ordered()


def readable(unpack: Callable[[], Read], what: str) -> Read | None:
    """What is stored, None where it cannot be read: one damaged row must not take a server's whole history away."""
    try:
        return unpack()
    except (ValueError, LookupError, struct.error) as error:
        log.warning("Stored samples, %s, cannot be read and are left out: %s", what, error)
        return None
