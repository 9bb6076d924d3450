"""Hours of polls that are over: one block, one digest and cells for charts take the place of a row a poll."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict
from functools import partial

from django.db import transaction

from collector.models import Digest, OpenSample, Rollup, SealedBlock
from collector.store import charting, fast_tier, pressure, rollups
from collector.store import columns as codec
from collector.store.charting import Run
from collector.store.columns import Columns
from collector.store.condense import NAMES, condense
from collector.store.rows import (
    DAY_SECONDS,
    HOUR_SECONDS,
    day_of,
    hours_with_rows,
    readable,
)

#: Fine cells are asked for by charts of some days only; older ones of these are read from the polls.
FINE_FOR_SECONDS = 8 * DAY_SECONDS


def to_seal(now: float, *, limit: int = 100, without: Collection[tuple[str, int]] = ()) -> list[tuple[str, int]]:
    """(server, hour) of closed hours that still have open rows, the oldest first, at most ``limit``.

    ``without`` are left out: hours that were tried and cannot be sealed.
    """
    return hours_with_rows(OpenSample, now, limit=limit, without=without)


def seal(server_id: str, hour_at: int) -> int:
    """Packs one closed hour into a block, a digest and cells, and removes its open rows, all in one transaction.

    Returns the number of polls sealed. A second call finds nothing to do; a killed one leaves the hour as it was.
    """
    with transaction.atomic():
        open_rows = OpenSample.objects.filter(server_id=server_id, slot__gte=hour_at, slot__lt=hour_at + HOUR_SECONDS)
        rows = list(open_rows.order_by("slot").values_list("slot", "payload"))
        if not rows:
            return 0
        if not SealedBlock.objects.filter(server_id=server_id, hour_at=hour_at).exists():
            write_hour(server_id, hour_at, codec.unpack_polls(rows))
        open_rows.delete()
    return len(rows)


def write_hour(server_id: str, hour_at: int, hour: Columns) -> None:
    """Writes one hour's polls as a block, a digest and cells, and adds it to its day. Call it in a transaction."""
    SealedBlock.objects.create(server_id=server_id, hour_at=hour_at, count=len(hour), payload=codec.seal(hour))
    # An interval belongs to the hour in which it ends, so that the last poll before the hour is needed, too.
    names = tuple(dict.fromkeys((*hour.names, *NAMES)))
    before = fast_tier.columns(server_id, names, hour_at - fast_tier.LOOK_BACK_SECONDS, hour_at)
    context = [before.between(float(before.slots[-1]), hour_at)] if len(before) else []
    whole = codec.joined(names, [*context, hour.over(names)])
    digest = condense(whole, hour_at)
    Digest.objects.update_or_create(server_id=server_id, hour_at=hour_at, defaults={"data": asdict(digest)})
    pressure.add_hour(server_id, digest)
    _add_cells(server_id, hour_at, charting.run(whole, hour.names, hour_at))


def _add_cells(server_id: str, hour_at: int, hour: Run) -> None:
    day = Rollup.objects.select_for_update().filter(server_id=server_id, day_at=day_of(hour_at)).first()
    day = day or Rollup(server_id=server_id, day_at=day_of(hour_at))
    for seconds, level in fast_tier.LEVELS.items():
        stored = bytes(getattr(day, level))
        known = readable(partial(rollups.unpack, stored), f"rollup of {server_id}") if stored else None
        setattr(day, level, rollups.pack(rollups.added(known, rollups.cells(hour, hour_at, seconds))))
    day.save()


def thin_cells(now: float, *, limit: int = 500) -> int:
    """Empties the fine cells of days that few people look at that closely any more; how many days."""
    old = Rollup.objects.filter(day_at__lt=now - FINE_FOR_SECONDS - DAY_SECONDS).exclude(fine=b"")
    ids = list(old.order_by("day_at").values_list("pk", flat=True)[:limit])
    return Rollup.objects.filter(pk__in=ids).update(fine=b"") if ids else 0
