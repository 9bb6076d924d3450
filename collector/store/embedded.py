"""The embedded sample history in the product's database: open hours as a row a poll, closed ones as a sealed block."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import Any

from django.db import transaction

from advisor.mysql import counters, series
from advisor.mysql.digest import HourlyDigest
from advisor.mysql.rates import Interval
from advisor.mysql.rates import intervals as intervals_between
from advisor.mysql.snapshot import Poll, Snapshot
from collector.models import Digest, Gap, OpenSample, SealedBlock
from collector.store import charting, full_tier, rates
from collector.store import columns as codec
from collector.store.columns import Columns
from collector.store.condense import NAMES, PRESSURE_NAMES, added, condense, pressure_times
from collector.store.interface import Buckets, CounterName, PressureTimes, Readings, RecordedGap
from collector.store.rows import HOUR_SECONDS, SEAL_AFTER_SECONDS, hour_of, together

#: How much longer digests are kept than samples: trends over seasons are told from them.
DIGESTS_LONGER_SECONDS = 3 * 366 * 86_400
#: How far before a range the poll is looked for that its first rate starts from.
_LOOK_BACK_SECONDS = 300


#: Names that only polls have, or that the polls of every server have.
_ALWAYS_FAST = frozenset((*series.DERIVED, *counters.FAST_METRIC_NAMES, *counters.FAST_STATUS_NAMES))


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
        full = self._in_full_tier(server_id, wanted)
        fast = tuple(name for name in wanted if name not in full)
        runs = []
        if full:
            counters = full_tier.columns(server_id, (*full, *rates.HELPERS), start - full_tier.LOOK_BACK_SECONDS, end)
            runs.append(charting.run(counters, full, start))
            if not len(counters):
                fast = wanted
        if fast or not full:
            polls = self._columns(server_id, (*fast, *rates.HELPERS), start - _LOOK_BACK_SECONDS, end)
            runs.append(charting.run(polls, fast, start))
        return charting.buckets(runs, wanted, start, end, points)

    def _in_full_tier(self, server_id: str, names: tuple[str, ...]) -> tuple[str, ...]:
        """Those of the names that the newest poll does not have."""
        unsure = tuple(name for name in names if name not in _ALWAYS_FAST)
        newest = self.latest(server_id) if unsure else None
        return tuple(name for name in unsure if newest is None or name not in newest.values)

    def append_counters(self, server_id: str, slot: int, snapshot: Snapshot) -> bool:
        return full_tier.append(server_id, slot, snapshot)

    def counter_names(self, server_id: str) -> list[CounterName]:
        return full_tier.names(server_id)

    def readings(self, server_id: str, start: float, end: float, names: Sequence[str] | None = None) -> Readings:
        return full_tier.readings(server_id, start, end, names)

    def reading_at(self, server_id: str, instant: float) -> Poll | None:
        return full_tier.reading_at(server_id, instant)

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
        deleted = full_tier.delete_older_than(instant, limit=limit)
        blocks = SealedBlock.objects.filter(hour_at__lte=instant - HOUR_SECONDS)
        gaps = Gap.objects.filter(ended_at__lte=instant)
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


def _around(hours: Sequence[int], start: float, end: float) -> list[tuple[float, float]]:
    """The parts of a range that lie before, between and after hours in it, which are given oldest first."""
    begins = [start, *(hour + HOUR_SECONDS for hour in hours)]
    return [(begin, finish) for begin, finish in zip(begins, [*hours, end], strict=True) if finish > begin]


def _digest(data: dict[str, Any]) -> HourlyDigest:
    return HourlyDigest(**{**data, "pressure_histogram": tuple(data["pressure_histogram"])})
