"""The fast tier in the product's database: polls as rows, hours as sealed blocks, days as cells."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from django.db import transaction

from advisor.mysql.snapshot import Poll
from collector.models import OpenSample, Rollup, SealedBlock
from collector.store import charting, rates, rollups
from collector.store import columns as codec
from collector.store.charting import Run
from collector.store.columns import Columns
from collector.store.rows import DAY_SECONDS, HOUR_SECONDS, hour_of, readable, together

#: How far before a range the poll is looked for that its first rate starts from.
LOOK_BACK_SECONDS = 300
#: Which field of a rollup holds cells of which length.
LEVELS = {charting.FINE_SECONDS: "fine", charting.COARSE_SECONDS: "coarse"}


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
    if cell not in LEVELS:
        return _polls(server_id, names, start, end)
    first, last = hour_of(start), hour_of(end)
    days = Rollup.objects.filter(server_id=server_id, day_at__gt=start - DAY_SECONDS, day_at__lt=end).order_by("day_at")
    runs, hours = [], []
    for day_at, payload in days.values_list("day_at", LEVELS[cell]):
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
