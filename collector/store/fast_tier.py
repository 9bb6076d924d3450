"""The fast tier in the product's database: polls as rows, hours as sealed blocks, days as cells."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict
from functools import partial

from django.db import transaction

from advisor.mysql.snapshot import Poll
from collector.models import Digest, OpenSample, Rollup, SealedBlock
from collector.store import charting, rates, rollups
from collector.store import columns as codec
from collector.store.charting import Run
from collector.store.columns import Columns
from collector.store.condense import NAMES, condense
from collector.store.rows import DAY_SECONDS, HOUR_SECONDS, SEAL_AFTER_SECONDS, day_of, hour_of, readable, together

#: How far before a range the poll is looked for that its first rate starts from.
LOOK_BACK_SECONDS = 300
#: Where cells of which length stand.
_LEVELS = {charting.FINE_SECONDS: "fine", charting.COARSE_SECONDS: "coarse"}
#: Fine cells are asked for by charts of some days only; older ones of these are read from the polls.
FINE_FOR_SECONDS = 8 * DAY_SECONDS


def append(server_id: str, slot: int, poll: Poll) -> bool:
    """See ``SampleStore.append``."""
    with transaction.atomic():
        if SealedBlock.objects.filter(server_id=server_id, hour_at=hour_of(slot)).exists():
            return False
        _, created = OpenSample.objects.get_or_create(
            server_id=server_id, slot=slot, defaults={"payload": codec.pack_poll(poll)}
        )
    return created


def columns(server_id: str, names: tuple[str, ...] | None, start: float, end: float) -> Columns:
    """The polls from ``start`` to before ``end``, from blocks and open rows; ``names`` None takes all there are."""
    blocks = (
        SealedBlock.objects.filter(server_id=server_id, hour_at__gt=start - HOUR_SECONDS, hour_at__lt=end)
        .order_by("hour_at")
        .values_list("hour_at", "payload")
    )
    rows = list(
        OpenSample.objects.filter(server_id=server_id, slot__gte=start, slot__lt=end)
        .order_by("slot")
        .values_list("slot", "payload")
    )
    return together(blocks, rows, names, server_id).between(start, end)


def latest(server_id: str) -> Poll | None:
    """See ``SampleStore.latest``."""
    row = OpenSample.objects.filter(server_id=server_id).order_by("-slot").values_list("slot", "payload").first()
    if row is not None:
        return codec.unpack_polls([row]).polls()[0]
    block = SealedBlock.objects.filter(server_id=server_id).order_by("-hour_at").first()
    if block is None:
        return None
    found = codec.unseal(bytes(block.payload))
    return found.between(float(found.slots[-1]), float("inf")).polls()[0]


# --- for charts -----------------------------------------------------------------------------------------------------


def run(server_id: str, names: Sequence[str], start: float, end: float, width: int) -> Run:
    """The range as a run for buckets of ``width`` seconds: of cells where these are not wider than the buckets and the
    hours were sealed since there are cells, else of polls. Then it begins with the whole cell that holds ``start``.
    """
    cell = charting.cell_seconds(width)
    start = charting.begin(start, width)
    if cell not in _LEVELS:
        return _polls(server_id, names, start, end)
    first, last = hour_of(start), hour_of(end)
    days = Rollup.objects.filter(server_id=server_id, day_at__gt=start - DAY_SECONDS, day_at__lt=end).order_by("day_at")
    runs, hours = [], []
    for day_at, payload in days.values_list("day_at", _LEVELS[cell]):
        if not payload:
            continue
        cells = readable(partial(rollups.unpack, bytes(payload), names), f"rollup {day_at} of {server_id}")
        if cells is not None:
            runs.append(cells.run(names, start, last))
            hours += [hour for hour in cells.hours.tolist() if first <= hour < last]
    runs += [_polls(server_id, names, *part) for part in without(server_id, hours, start, end)]
    return charting.joined(runs, names)


def _polls(server_id: str, names: Sequence[str], start: float, end: float) -> Run:
    read = tuple(dict.fromkeys((*names, *rates.HELPERS)))
    return charting.run(columns(server_id, read, start - LOOK_BACK_SECONDS, end), names, start)


def without(server_id: str, hours: Sequence[int], start: float, end: float) -> list[tuple[float, float]]:
    """The parts of a range beside ``hours`` (given oldest first) in which there are polls."""
    begins = [start, *(max(start, hour + HOUR_SECONDS) for hour in hours)]
    parts = [(begin, finish) for begin, finish in zip(begins, [*hours, end], strict=True) if finish > begin]
    if len(parts) <= 2:
        return parts
    sealed = SealedBlock.objects.filter(server_id=server_id, hour_at__gt=start - HOUR_SECONDS, hour_at__lt=end)
    known = set(hours)
    instants = [hour for hour in sealed.values_list("hour_at", flat=True) if hour not in known]
    instants += OpenSample.objects.filter(server_id=server_id, slot__gte=start, slot__lt=end).values_list(
        "slot", flat=True
    )
    return [
        (begin, finish)
        for begin, finish in parts
        if begin == start or finish == end or any(begin <= instant < finish for instant in instants)
    ]


# --- hours that are over --------------------------------------------------------------------------------------------


def to_seal(now: float, *, limit: int = 100, without: Collection[tuple[str, int]] = ()) -> list[tuple[str, int]]:
    """(server, hour) of closed hours that still have open rows, the oldest first, at most ``limit``.

    ``without`` are left out: hours that were tried and cannot be sealed.
    """
    rows = (
        OpenSample.objects.filter(slot__lt=hour_of(now - SEAL_AFTER_SECONDS))
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
    """Writes one hour's polls as a block, a digest and cells. Call it in a transaction."""
    SealedBlock.objects.create(server_id=server_id, hour_at=hour_at, count=len(hour), payload=codec.seal(hour))
    # An interval belongs to the hour in which it ends, so that the last poll before the hour is needed, too.
    names = tuple(dict.fromkeys((*hour.names, *NAMES)))
    before = columns(server_id, names, hour_at - LOOK_BACK_SECONDS, hour_at)
    context = [before.between(float(before.slots[-1]), hour_at)] if len(before) else []
    whole = codec.joined(names, [*context, hour.over(names)])
    digest = condense(whole, hour_at)
    Digest.objects.update_or_create(server_id=server_id, hour_at=hour_at, defaults={"data": asdict(digest)})
    _add_cells(server_id, hour_at, charting.run(whole, hour.names, hour_at))


def _add_cells(server_id: str, hour_at: int, hour: Run) -> None:
    day = Rollup.objects.select_for_update().filter(server_id=server_id, day_at=day_of(hour_at)).first()
    day = day or Rollup(server_id=server_id, day_at=day_of(hour_at))
    for seconds, level in _LEVELS.items():
        stored = bytes(getattr(day, level))
        known = readable(partial(rollups.unpack, stored), f"rollup of {server_id}") if stored else None
        setattr(day, level, rollups.pack(rollups.added(known, rollups.cells(hour, hour_at, seconds))))
    day.save()


def thin_cells(now: float, *, limit: int = 500) -> int:
    """Empties the fine cells of days that few people look at that closely any more; how many days."""
    old = Rollup.objects.filter(day_at__lt=now - FINE_FOR_SECONDS - DAY_SECONDS).exclude(fine=b"")
    ids = list(old.order_by("day_at").values_list("pk", flat=True)[:limit])
    return Rollup.objects.filter(pk__in=ids).update(fine=b"") if ids else 0


def delete_older_than(instant: float, *, limit: int) -> int:
    """Blocks whose hour and cells whose day ended before ``instant``, and polls of before it that were never sealed."""
    deleted = 0
    for rows in (
        SealedBlock.objects.filter(hour_at__lte=instant - HOUR_SECONDS),
        Rollup.objects.filter(day_at__lte=instant - DAY_SECONDS),
        OpenSample.objects.filter(slot__lt=instant),
    ):
        # MySQL cannot delete with a limited subquery, so the ids come first.
        ids = list(rows.order_by("pk").values_list("pk", flat=True)[:limit])
        if ids:
            deleted += rows.model.objects.filter(pk__in=ids).delete()[0]
    return deleted
