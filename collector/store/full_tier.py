"""The full tier in the product's database: every number of every full snapshot, as columns of an hour, then of a day.

A snapshot's numbers stay a row of their own until their hour is over (``OpenCounters``); closed hours are sealed like
those of the fast tier, and closed days are sealed again from their hours, since a day says the same in half of the
bytes and is read at once (docs/decisions/0012-all-counters-are-kept-as-columns.md).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

import numpy as np
import zstandard
from django.db import transaction
from django.db.models import Q

from advisor.mysql.counters import METRICS_PREFIX, Kind, enabled_counts, kind
from advisor.mysql.series import FSYNCS
from advisor.mysql.snapshot import Poll, Snapshot
from collector import snapshots
from collector.models import CounterBlock, OpenCounters
from collector.numbers import numbers
from collector.store import charting, rates
from collector.store import columns as codec
from collector.store.charting import Run
from collector.store.columns import Columns
from collector.store.interface import CounterName, Readings
from collector.store.rows import (
    DAY_SECONDS,
    HOUR_SECONDS,
    SEAL_AFTER_SECONDS,
    day_of,
    hour_of,
    hours_with_rows,
    readable,
    together,
)

#: How far before a range the snapshot is looked for that its first rate starts from: an interval is longer only where
#: a person asked for it.
LOOK_BACK_SECONDS = 1800
_LEVEL = 3
#: How many stored rows are tried where the newest ones are damaged or begin after the instant.
_TRIES = 3


def counters_of(snapshot: Snapshot) -> Poll:
    """All numbers of a snapshot: status variables under their own names, enabled innodb_metrics with a prefix, and what
    performance_schema tells of fsyncs.
    """
    metrics = enabled_counts(snapshot.metrics)
    fsyncs = snapshot.performance_schema.get("fsyncs", {})
    return Poll(
        at=snapshot.taken_at,
        server_clock=snapshot.server_clock,
        uptime_seconds=snapshot.uptime_seconds,
        values={
            **numbers(snapshot.status),
            **{METRICS_PREFIX + name: count for name, count in metrics.items()},
            **{name: value for log, told in fsyncs.items() for name, value in zip(FSYNCS[log], told, strict=True)},
        },
        identity=snapshot.identity.fingerprint,
    )


def append(server_id: str, slot: int, snapshot: Snapshot) -> bool:
    """See ``SampleStore.append_counters``."""
    sealed = Q(begins_at=hour_of(slot), seconds=HOUR_SECONDS) | Q(begins_at=day_of(slot), seconds=DAY_SECONDS)
    with transaction.atomic():
        if CounterBlock.objects.filter(sealed, server_id=server_id).exists():
            return False
        packed = codec.pack_poll(counters_of(snapshot))
        _, created = OpenCounters.objects.get_or_create(
            server_id=server_id,
            slot=slot,
            defaults={"payload": zstandard.ZstdCompressor(level=_LEVEL).compress(packed)},
        )
    return created


def columns(server_id: str, names: tuple[str, ...] | None, start: float, end: float) -> Columns:
    """The snapshots from ``start`` to before ``end``; ``names`` None takes all there are."""
    reaches = Q(seconds=HOUR_SECONDS, begins_at__gt=start - HOUR_SECONDS) | Q(
        seconds=DAY_SECONDS, begins_at__gt=start - DAY_SECONDS
    )
    blocks = (
        CounterBlock.objects.filter(reaches, server_id=server_id, begins_at__gt=start - DAY_SECONDS, begins_at__lt=end)
        .order_by("begins_at")
        .values_list("begins_at", "payload")
    )
    return together(blocks, _open(server_id, start, end), names, server_id).between(start, end)


def run(server_id: str, names: Sequence[str], start: float, end: float, width: int) -> Run:
    """The range's snapshots for buckets of ``width`` seconds; it begins where the polls of the fast tier begin."""
    start = charting.begin(start, width)
    read = tuple(dict.fromkeys((*names, *rates.HELPERS)))
    return charting.run(columns(server_id, read, start - LOOK_BACK_SECONDS, end), names, start)


def _open(server_id: str, start: float, end: float) -> list[tuple[int, bytes | memoryview]]:
    found = OpenCounters.objects.filter(server_id=server_id, slot__gte=start, slot__lt=end).order_by("slot")
    rows: list[tuple[int, bytes | memoryview]] = []
    for slot, payload in found.values_list("slot", "payload"):
        packed = readable(partial(_decompressed, payload), f"counters {slot} of {server_id}")
        if packed is not None:
            rows.append((slot, packed))
    return rows


def _decompressed(payload: bytes | memoryview) -> bytes:
    try:
        return zstandard.ZstdDecompressor().decompress(bytes(payload))
    except zstandard.ZstdError as error:
        raise codec.UnreadableBlock(str(error)) from error


def names(server_id: str) -> list[CounterName]:
    """See ``SampleStore.counter_names``."""
    newest = snapshots.latest(server_id)
    if newest is None:
        return []
    return [
        CounterName(name, "gauge" if kind(name) is Kind.GAUGE else "counter", value)
        for name, value in sorted(counters_of(newest).values.items(), key=lambda pair: pair[0].lower())
    ]


def readings(server_id: str, start: float, end: float, wanted: Sequence[str] | None) -> Readings:
    """See ``SampleStore.readings``."""
    if wanted is None:
        found = columns(server_id, None, start, end)
    else:
        found = columns(server_id, tuple(dict.fromkeys((*wanted, *rates.BEGUN_ANEW))), start, end)
    floats = found.floats()
    longest = rates.longest_seconds(found.slots)
    seconds = rates.seconds_between(found, longest) if len(found) > 1 else np.zeros(0)
    at = {name: row for row, name in enumerate(found.names)}
    shown = found.names if wanted is None else tuple(dict.fromkeys(wanted))
    return Readings(
        at=found.slots.astype(np.float64),
        server_clock=found.clock,
        uptime_seconds=found.uptime.astype(np.float64),
        seconds=np.concatenate((np.full(min(1, len(found)), np.nan), seconds)),
        values={name: floats[at[name]] for name in shown},
        restarts=tuple(found.slots[1:][rates.begun_anew(found)].astype(np.float64).tolist()),
    )


def reading_at(server_id: str, instant: float) -> Poll | None:
    """See ``SampleStore.reading_at``."""
    rows = OpenCounters.objects.filter(server_id=server_id, slot__lte=instant).order_by("-slot")
    for row in rows[:_TRIES]:
        packed = readable(partial(_decompressed, row.payload), f"counters {row.slot} of {server_id}")
        if packed is not None:
            return codec.unpack_polls([(row.slot, packed)]).polls()[0]
    # The block that begins last before the instant holds it, or, where the instant lies in front of the block's first
    # snapshot, the block before that one does.
    blocks = CounterBlock.objects.filter(server_id=server_id, begins_at__lte=instant).order_by("-begins_at")
    for block in blocks[:_TRIES]:
        found = readable(partial(codec.unseal, bytes(block.payload)), f"block {block.begins_at} of {server_id}")
        if found is None:
            continue
        before = found.between(0, int(instant) + 1)
        if len(before):
            return before.between(float(before.slots[-1]), float("inf")).polls()[0]
    return None


# --- hours and days -------------------------------------------------------------------------------------------------


def to_seal(now: float, *, limit: int = 100, without: Collection[tuple[str, int]] = ()) -> list[tuple[str, int]]:
    """(server, hour) of closed hours that still have rows of their own, the oldest first."""
    return hours_with_rows(OpenCounters, now, limit=limit, without=without)


def seal(server_id: str, hour_at: int) -> int:
    """Packs one closed hour into a block and removes its rows, in one transaction; how many snapshots it holds."""
    with transaction.atomic():
        rows = _open(server_id, hour_at, hour_at + HOUR_SECONDS)
        if (
            rows
            and not CounterBlock.objects.filter(server_id=server_id, begins_at=hour_at, seconds=HOUR_SECONDS).exists()
        ):
            hour = codec.unpack_polls(rows)
            CounterBlock.objects.create(
                server_id=server_id,
                begins_at=hour_at,
                seconds=HOUR_SECONDS,
                count=len(hour),
                payload=codec.seal(hour),
            )
        OpenCounters.objects.filter(server_id=server_id, slot__gte=hour_at, slot__lt=hour_at + HOUR_SECONDS).delete()
    return len(rows)


def days_to_join(now: float, *, limit: int = 100, without: Collection[tuple[str, int]] = ()) -> list[tuple[str, int]]:
    """(server, day) of days that are over and still stand in hours, the oldest first.

    A day waits for an hour after its end, so that its last hour was sealed before.
    """
    closed_before = day_of(now - SEAL_AFTER_SECONDS - HOUR_SECONDS)
    rows = (
        CounterBlock.objects.filter(seconds=HOUR_SECONDS, begins_at__lt=closed_before)
        .order_by("begins_at")
        .values_list("server_id", "begins_at")
        .iterator(chunk_size=1000)
    )
    found: dict[tuple[str, int], None] = {}
    for server_id, begins_at in rows:
        if (server_id, day_of(begins_at)) not in without:
            found[(server_id, day_of(begins_at))] = None
        if len(found) >= limit:
            break
    return list(found)


def join_day(server_id: str, day_at: int) -> int:
    """Makes one block of a day's hours, in one transaction; how many snapshots it holds."""
    with transaction.atomic():
        parts = CounterBlock.objects.filter(
            server_id=server_id, begins_at__gte=day_at, begins_at__lt=day_at + DAY_SECONDS
        )
        whole = together(parts.order_by("begins_at").values_list("begins_at", "payload"), [], None, server_id)
        if not len(whole):
            return 0
        parts.delete()
        CounterBlock.objects.create(
            server_id=server_id,
            begins_at=day_at,
            seconds=DAY_SECONDS,
            count=len(whole),
            payload=codec.seal(whole),
        )
    return len(whole)


def delete_older_than(instant: float, *, limit: int) -> int:
    """See ``SampleStore.delete_older_than``: blocks that ended before ``instant``, rows from before it."""
    deleted = 0
    ended = Q(seconds=HOUR_SECONDS, begins_at__lte=instant - HOUR_SECONDS) | Q(
        seconds=DAY_SECONDS, begins_at__lte=instant - DAY_SECONDS
    )
    for rows in (CounterBlock.objects.filter(ended), OpenCounters.objects.filter(slot__lt=instant)):
        ids = list(rows.order_by("pk").values_list("pk", flat=True)[:limit])
        if ids:
            deleted += rows.model.objects.filter(pk__in=ids).delete()[0]
    return deleted
