"""The embedded sample history in the product's database: open hours as a row a poll, closed ones as a sealed block."""

from __future__ import annotations

import logging
import struct
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np
from django.db import transaction

from advisor.mysql.digest import HourlyDigest
from advisor.mysql.rates import Interval
from advisor.mysql.rates import intervals as intervals_between
from advisor.mysql.snapshot import Poll
from collector.models import Digest, Gap, OpenSample, SealedBlock
from collector.store import columns as codec
from collector.store import downsample, rates
from collector.store.columns import Columns
from collector.store.condense import HOUR_SECONDS, NAMES, PRESSURE_NAMES, added, condense, pressure_times
from collector.store.interface import Buckets, PressureTimes, RecordedGap, Series, SeriesKind

log = logging.getLogger(__name__)

#: An hour is sealed this long after its end: longer than any poll may be late, so that none arrives after its block.
SEAL_AFTER_SECONDS = 300
#: How much longer digests are kept than samples: trends over seasons are told from them.
DIGESTS_LONGER_SECONDS = 3 * 366 * 86_400
#: How far before a range the poll is looked for that its first rate starts from.
_LOOK_BACK_SECONDS = 300


def hour_of(slot: float) -> int:
    """The unix second at which the slot's hour began."""
    return int(slot) // HOUR_SECONDS * HOUR_SECONDS


class EmbeddedStore:
    """See ``collector.store.interface.SampleStore``."""

    def append(self, server_id: str, slot: int, poll: Poll) -> bool:
        with transaction.atomic():
            if SealedBlock.objects.filter(server_id=server_id, hour_at=hour_of(slot)).exists():
                return False
            _, created = OpenSample.objects.get_or_create(
                server_id=server_id, slot=slot, defaults={"payload": codec.pack_poll(poll)}
            )
        return created

    def buckets(self, server_id: str, names: Sequence[str], start: float, end: float, points: int) -> Buckets:
        wanted = tuple(dict.fromkeys(names))
        read = tuple(dict.fromkeys((*wanted, *rates.HELPERS)))
        found = self._columns(server_id, read, start - _LOOK_BACK_SECONDS, end)
        longest = rates.longest_seconds(found.slots)
        # A bucket narrower than the polls' spacing would be empty and only look like a hole.
        spacing = int(np.quantile(np.diff(found.slots), 0.25, method="lower")) if len(found) > 1 else 1
        width = max(downsample.width_seconds(start, end, points), spacing)
        inside = found.slots >= start
        slots = found.slots[inside]
        groups = downsample.grouping(slots, width, longest)
        floats = found.floats()[:, inside]
        seconds = rates.seconds_between(found, longest) if len(found) > 1 else np.zeros(0)
        kinds = {name: SeriesKind.RATE if rates.is_rate(name) else SeriesKind.GAUGE for name in wanted}
        matrix = np.full((len(wanted), slots.size), np.nan)
        for row, name in enumerate(wanted):
            if kinds[name] is SeriesKind.GAUGE:
                matrix[row] = floats[row]
            elif len(found) > 1:
                per_second = np.concatenate(([np.nan], rates.growth(found, name, seconds) / seconds))
                matrix[row] = per_second[inside]
        shaped = [downsample.with_holes(part, groups) for part in downsample.extremes(matrix, groups)]
        return Buckets(
            start=start,
            end=end,
            step_seconds=width,
            at=downsample.instants(slots, groups),
            series={
                name: Series(kinds[name], shaped[0][row], shaped[1][row], shaped[2][row])
                for row, name in enumerate(wanted)
            },
        )

    def pressure_times(self, server_id: str, start: float, end: float) -> PressureTimes:
        digests = self.digests(server_id, start, end - HOUR_SECONDS + 1)
        parts = [
            PressureTimes(one.pressure_histogram, one.seconds_above_async, one.seconds_at_limit) for one in digests
        ]
        # Whole sealed hours were condensed already; what lies around them is condensed now.
        around = _around([one.hour_at for one in digests], start, end)
        if len(around) > 2:
            # Between sealed hours there is nothing but hours that are not sealed yet, and mostly not even those.
            rows = OpenSample.objects.filter(server_id=server_id, slot__gte=start, slot__lt=end)
            open_slots = list(rows.values_list("slot", flat=True))
            between = [(a, b) for a, b in around[1:-1] if any(a <= slot < b for slot in open_slots)]
            around = [around[0], *between, around[-1]]
        for begin, finish in around:
            found = self._columns(server_id, PRESSURE_NAMES, begin - _LOOK_BACK_SECONDS, finish)
            if len(found) > 1:
                parts.append(pressure_times(found, begin))
        return added(parts)

    def intervals(self, server_id: str, start: float, end: float) -> list[Interval]:
        found = self._columns(server_id, None, start, end)
        longest = rates.longest_seconds(found.slots)
        pairs = intervals_between(found.polls(), longest_seconds=longest)
        return [pair for pair in pairs if isinstance(pair, Interval)]

    def digests(self, server_id: str, start: float, end: float) -> list[HourlyDigest]:
        rows = Digest.objects.filter(server_id=server_id, hour_at__gte=start, hour_at__lt=end).order_by("hour_at")
        return [_digest(data) for data in rows.values_list("data", flat=True)]

    def gaps(self, server_id: str, start: float, end: float) -> list[RecordedGap]:
        rows = Gap.objects.filter(server_id=server_id, started_at__lt=end).exclude(ended_at__lte=start)
        return [RecordedGap(*row) for row in rows.order_by("started_at").values_list("started_at", "ended_at", "why")]

    def latest(self, server_id: str) -> Poll | None:
        row = OpenSample.objects.filter(server_id=server_id).order_by("-slot").values_list("slot", "payload").first()
        if row is not None:
            return codec.unpack_polls([row]).polls()[0]
        block = SealedBlock.objects.filter(server_id=server_id).order_by("-hour_at").first()
        if block is None:
            return None
        found = codec.unseal(bytes(block.payload))
        return found.between(float(found.slots[-1]), float("inf")).polls()[0]

    def delete_older_than(self, instant: float, *, limit: int = 500) -> int:
        """Blocks whose hour ended before ``instant``, polls of before it that were never sealed, and gaps that ended
        before it; digests three years later. At most ``limit`` rows of each.
        """
        blocks = SealedBlock.objects.filter(hour_at__lte=instant - HOUR_SECONDS)
        gaps = Gap.objects.filter(ended_at__lte=instant)
        deleted = 0
        unsealed = OpenSample.objects.filter(slot__lt=instant)
        digests = Digest.objects.filter(hour_at__lt=instant - DIGESTS_LONGER_SECONDS)
        for rows in (blocks, unsealed, gaps, digests):
            # MySQL cannot delete with a limited subquery, so the ids come first.
            ids = list(rows.order_by("pk").values_list("pk", flat=True)[:limit])
            if ids:
                deleted += rows.model.objects.filter(pk__in=ids).delete()[0]
        return deleted

    def to_seal(
        self, now: float, *, limit: int = 100, without: Collection[tuple[str, int]] = ()
    ) -> list[tuple[str, int]]:
        """(server, hour) of closed hours that still have open rows, the oldest first, at most ``limit``.

        ``without`` are left out: hours that were tried and cannot be sealed.
        """
        closed_before = hour_of(now - SEAL_AFTER_SECONDS)
        rows = (
            OpenSample.objects.filter(slot__lt=closed_before)
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

    def seal(self, server_id: str, hour_at: int) -> int:
        """Packs one closed hour into a block and a digest and removes its open rows, all in one transaction.

        Returns the number of polls sealed. A second call finds nothing to do; a killed one leaves the hour as it was.
        """
        with transaction.atomic():
            open_rows = OpenSample.objects.filter(
                server_id=server_id, slot__gte=hour_at, slot__lt=hour_at + HOUR_SECONDS
            )
            rows = list(open_rows.order_by("slot").values_list("slot", "payload"))
            if not rows:
                return 0
            if not SealedBlock.objects.filter(server_id=server_id, hour_at=hour_at).exists():
                hour = codec.unpack_polls(rows)
                before = self._columns(server_id, NAMES, hour_at - _LOOK_BACK_SECONDS, hour_at)
                context = codec.joined(NAMES, [before.between(float(before.slots[-1]), hour_at)] if len(before) else [])
                digest = condense(codec.joined(NAMES, [context, codec.unpack_polls(rows, NAMES)]), hour_at)
                SealedBlock.objects.create(
                    server_id=server_id, hour_at=hour_at, count=len(hour), payload=codec.seal(hour)
                )
                Digest.objects.update_or_create(server_id=server_id, hour_at=hour_at, defaults={"data": asdict(digest)})
            open_rows.delete()
        return len(rows)

    def _columns(self, server_id: str, names: tuple[str, ...] | None, start: float, end: float) -> Columns:
        """The polls from ``start`` to before ``end``, from blocks and open rows; ``names`` None takes all there are."""
        blocks = SealedBlock.objects.filter(
            server_id=server_id, hour_at__gt=start - HOUR_SECONDS, hour_at__lt=end
        ).order_by("hour_at")
        parts = [
            part
            for hour_at, payload in blocks.values_list("hour_at", "payload")
            if (part := _readable(partial(codec.unseal, bytes(payload), names), f"hour {hour_at} of {server_id}"))
            is not None
        ]
        rows = list(
            OpenSample.objects.filter(server_id=server_id, slot__gte=start, slot__lt=end)
            .order_by("slot")
            .values_list("slot", "payload")
        )
        open_rows = _readable(partial(codec.unpack_polls, rows, names), f"open hours of {server_id}")
        if open_rows is not None:
            parts.append(open_rows)
        else:
            # One of them is damaged: the others are read one by one.
            for row in rows:
                if (
                    part := _readable(partial(codec.unpack_polls, [row], names), f"slot {row[0]} of {server_id}")
                ) is not None:
                    parts.append(part)
        if names is None:
            every = tuple(sorted({name for part in parts for name in part.names}))
            parts = [part.over(every) for part in parts]
            names = every
        return codec.joined(names, parts).between(start, end)


def _readable(unpack: Callable[[], Columns], what: str) -> Columns | None:
    """What is stored, None where it cannot be read: one damaged row must not take a server's whole history away."""
    try:
        return unpack()
    except (ValueError, LookupError, struct.error) as error:
        log.warning("Stored samples, %s, cannot be read and are left out: %s", what, error)
        return None


def _around(hours: Sequence[int], start: float, end: float) -> list[tuple[float, float]]:
    """The parts of a range that lie before, between and after hours in it, which are given oldest first."""
    begins = [start, *(hour + HOUR_SECONDS for hour in hours)]
    return [(begin, finish) for begin, finish in zip(begins, [*hours, end], strict=True) if finish > begin]


def _digest(data: dict[str, Any]) -> HourlyDigest:
    return HourlyDigest(**{**data, "pressure_histogram": tuple(data["pressure_histogram"])})
