"""The embedded sample history in the product's database: both tiers, digests and gaps."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from advisor.mysql import counters, series
from advisor.mysql.digest import HourlyDigest
from advisor.mysql.rates import Interval
from advisor.mysql.rates import intervals as intervals_between
from advisor.mysql.snapshot import Poll, Snapshot
from collector.models import DayTimes, Digest, Gap
from collector.store import charting, fast_tier, full_tier, pressure, rates, sealing
from collector.store.interface import Buckets, CounterName, PressureTimes, Readings, RecordedGap

#: How much longer digests are kept than samples: trends over seasons are told from them.
DIGESTS_LONGER_SECONDS = 3 * 366 * 86_400
#: Names that only polls have, or that the polls of every server have.
_ALWAYS_FAST = frozenset((*series.DERIVED, *counters.FAST_METRIC_NAMES, *counters.FAST_STATUS_NAMES))


class EmbeddedStore:
    """See ``collector.store.interface.SampleStore``."""

    def append(self, server_id: str, slot: int, poll: Poll) -> bool:
        return fast_tier.append(server_id, slot, poll)

    def append_counters(self, server_id: str, slot: int, snapshot: Snapshot) -> bool:
        return full_tier.append(server_id, slot, snapshot)

    def buckets(self, server_id: str, names: Sequence[str], start: float, end: float, points: int) -> Buckets:
        wanted = tuple(dict.fromkeys(names))
        full = self._in_full_tier(server_id, wanted)
        fast = tuple(name for name in wanted if name not in full)
        width = charting.width_seconds(start, end, points)
        runs = []
        if full and len(one := full_tier.run(server_id, full, start, end, width)):
            runs.append(one)
        if fast or not runs:
            # Names that no tier has come as holes beside the instants of the polls.
            runs.append(fast_tier.run(server_id, fast, start, end, width))
        return charting.buckets(runs, wanted, start, end, points)

    def _in_full_tier(self, server_id: str, names: tuple[str, ...]) -> tuple[str, ...]:
        """Those of the names that the newest poll does not have."""
        unsure = tuple(name for name in names if name not in _ALWAYS_FAST)
        newest = fast_tier.latest(server_id) if unsure else None
        return tuple(name for name in unsure if newest is None or name not in newest.values)

    def counter_names(self, server_id: str) -> list[CounterName]:
        return full_tier.names(server_id)

    def readings(self, server_id: str, start: float, end: float, names: Sequence[str] | None = None) -> Readings:
        return full_tier.readings(server_id, start, end, names)

    def reading_at(self, server_id: str, instant: float) -> Poll | None:
        return full_tier.reading_at(server_id, instant)

    def pressure_times(self, server_id: str, start: float, end: float) -> PressureTimes:
        return pressure.times(server_id, start, end)

    def intervals(self, server_id: str, start: float, end: float) -> list[Interval]:
        found = fast_tier.columns(server_id, None, start, end)
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
        return fast_tier.latest(server_id)

    def delete_older_than(self, instant: float, *, limit: int = 500) -> int:
        """Both tiers' samples from before ``instant`` and gaps that ended before it; digests three years later. At most
        ``limit`` rows of each kind.
        """
        deleted = fast_tier.delete_older_than(instant, limit=limit) + full_tier.delete_older_than(instant, limit=limit)
        gaps = Gap.objects.filter(ended_at__lte=instant)
        digests = Digest.objects.filter(hour_at__lt=instant - DIGESTS_LONGER_SECONDS)
        days = DayTimes.objects.filter(day_at__lt=instant - DIGESTS_LONGER_SECONDS)
        for rows in (gaps, digests, days):
            ids = list(rows.order_by("pk").values_list("pk", flat=True)[:limit])
            if ids:
                deleted += rows.model.objects.filter(pk__in=ids).delete()[0]
        return deleted

    def to_seal(
        self, now: float, *, limit: int = 100, without: Collection[tuple[str, int]] = ()
    ) -> list[tuple[str, int]]:
        """Hours of the fast tier that are over and not sealed yet (``sealing.to_seal``)."""
        return sealing.to_seal(now, limit=limit, without=without)

    def seal(self, server_id: str, hour_at: int) -> int:
        """Seals one of them (``sealing.seal``)."""
        return sealing.seal(server_id, hour_at)


def _digest(data: dict[str, Any]) -> HourlyDigest:
    return HourlyDigest(**{**data, "pressure_histogram": tuple(data["pressure_histogram"])})
