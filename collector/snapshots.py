"""Full snapshots as bytes in the product's database, and the newest one of a server."""

from __future__ import annotations

import json
from collections.abc import Iterable

import zstandard

from advisor.mysql.counters import enabled_counts
from advisor.mysql.rates import Interval, intervals
from advisor.mysql.snapshot import Poll, Snapshot
from collector.models import StoredSnapshot
from collector.numbers import numbers


def pack(snapshot: Snapshot) -> bytes:
    """The snapshot's JSON form, compressed with zstandard."""
    text = json.dumps(snapshot.as_dict(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return zstandard.ZstdCompressor(level=3).compress(text.encode("utf-8", errors="replace"))


def unpack(payload: bytes) -> Snapshot:
    """Reads what ``pack`` wrote. Raises ValueError where it was written by a newer version of Tidemark."""
    return Snapshot.from_dict(json.loads(zstandard.ZstdDecompressor().decompress(payload)))


def latest(server_id: str) -> Snapshot | None:
    """The newest snapshot of the server, None where there is none yet."""
    found = latest_with_slot(server_id)
    return None if found is None else found[1]


def latest_with_slot(server_id: str) -> tuple[int, Snapshot] | None:
    """The newest snapshot of the server and its slot (unix seconds)."""
    row = StoredSnapshot.objects.filter(server_id=server_id).order_by("-slot").first()
    return None if row is None else (row.slot, unpack(bytes(row.payload)))


def as_poll(snapshot: Snapshot) -> Poll:
    """All numbers of a snapshot as one poll, so that rates of every counter can be told between two snapshots."""
    return Poll(
        at=snapshot.taken_at,
        server_clock=snapshot.server_clock,
        uptime_seconds=snapshot.uptime_seconds,
        values={**numbers(snapshot.status), **enabled_counts(snapshot.metrics)},
        identity=snapshot.identity.fingerprint,
    )


def counted(polls: Iterable[Poll]) -> tuple[Interval, ...]:
    """The intervals between consecutive ones of these, in which every counter is known; gaps are left out."""
    return tuple(one for one in intervals(polls) if isinstance(one, Interval))


def polls(server_id: str, *, start: float, end: float, count: int) -> list[Poll]:
    """About ``count`` snapshots from ``start`` to ``end`` (unix seconds), evenly chosen, as polls, oldest first.

    The first and the last of the range are among them. One that cannot be read (a newer program wrote it) is left out.
    """
    slots = list(
        StoredSnapshot.objects.filter(server_id=server_id, slot__gte=start, slot__lte=end)
        .order_by("slot")
        .values_list("slot", flat=True)
    )
    if len(slots) > count:
        chosen = {slots[round(index * (len(slots) - 1) / (count - 1))] for index in range(count)}
        slots = [slot for slot in slots if slot in chosen]
    found = []
    for row in StoredSnapshot.objects.filter(server_id=server_id, slot__in=slots).order_by("slot"):
        try:
            found.append(as_poll(unpack(bytes(row.payload))))
        except (ValueError, KeyError, TypeError, zstandard.ZstdError):
            continue
    return found
