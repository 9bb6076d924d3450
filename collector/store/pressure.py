"""How long the redo pressure was where: whole days from their sums, whole hours from digests, the rest from polls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from advisor.mysql.digest import HourlyDigest
from collector.models import DayTimes, Digest
from collector.store import fast_tier
from collector.store.condense import PRESSURE_NAMES, added, condensed, pressure_times
from collector.store.interface import PressureTimes
from collector.store.rows import DAY_SECONDS, HOUR_SECONDS, day_of


def times(server_id: str, start: float, end: float) -> PressureTimes:
    """See ``SampleStore.pressure_times``."""
    days = DayTimes.objects.filter(server_id=server_id, day_at__gte=start, day_at__lte=end - DAY_SECONDS)
    parts, known = [], set()
    for data in days.values_list("data", flat=True):
        parts.append(_times(data))
        known.update(data["hours"])
    digests = Digest.objects.filter(server_id=server_id, hour_at__gte=start, hour_at__lte=end - HOUR_SECONDS)
    hours = list(digests.order_by("hour_at").values_list("hour_at", flat=True))
    # Hours of days that are not in the range as a whole, and those that were sealed before there were sums.
    single = [hour for hour in hours if hour not in known]
    of_hours = Digest.objects.filter(server_id=server_id, hour_at__in=single).values_list("data", flat=True)
    parts.append(condensed(list(of_hours)))
    for begin, finish in fast_tier.without(server_id, hours, start, end):
        found = fast_tier.columns(server_id, PRESSURE_NAMES, begin - fast_tier.LOOK_BACK_SECONDS, finish)
        if len(found) > 1:
            parts.append(pressure_times(found, begin))
    return added(parts)


def add_hour(server_id: str, digest: HourlyDigest) -> None:
    """Adds a sealed hour to its day. Call it in the transaction that seals it."""
    hour = PressureTimes(digest.pressure_histogram, digest.seconds_above_async, digest.seconds_at_limit)
    with transaction.atomic():
        day_at = day_of(digest.hour_at)
        day = DayTimes.objects.select_for_update().filter(server_id=server_id, day_at=day_at).first()
        data = day.data if day is not None else {"hours": []}
        if digest.hour_at in data["hours"]:
            return
        whole = added([_times(data), hour]) if day is not None else hour
        DayTimes.objects.update_or_create(
            server_id=server_id,
            day_at=day_at,
            defaults={
                "data": {
                    "hours": [*data["hours"], digest.hour_at],
                    "histogram": [round(cell, 3) for cell in whole.histogram],
                    "above_async_seconds": round(whole.above_async_seconds, 3),
                    "at_limit_seconds": round(whole.at_limit_seconds, 3),
                }
            },
        )


def _times(data: Mapping[str, Any]) -> PressureTimes:
    return PressureTimes(tuple(data["histogram"]), data["above_async_seconds"], data["at_limit_seconds"])
