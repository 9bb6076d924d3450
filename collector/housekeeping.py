"""What has to be done from time to time so that the history stays small: bounded batches, harmless to repeat."""

from __future__ import annotations

import logging
import time

from django.conf import settings
from django.db import Error as DatabaseError
from django.db.models import Count, F, Min

from collector import schedule, settings_history
from collector.models import StoredSnapshot
from collector.store import full_tier, sealing, store
from collector.store.embedded import DIGESTS_LONGER_SECONDS, EmbeddedStore

log = logging.getLogger(__name__)

HOUR_SECONDS = 3600
DAY_SECONDS = 86_400
#: All snapshots are kept this long, then one of each hour: judging looks back for an hour, and what lasts of each
#: snapshot (its numbers, changed settings) has a history of its own.
ALL_SNAPSHOTS_SECONDS = 3 * HOUR_SECONDS
HOURLY_SNAPSHOTS_SECONDS = 30 * DAY_SECONDS
#: Sealing stops after this long; what is left waits for the next minute.
_SEAL_FOR_SECONDS = 20.0
#: So does thinning.
_THIN_FOR_SECONDS = 10.0
#: How far back hours with several snapshots are looked for: those before were thinned long ago.
_THIN_BACK_SECONDS = 3 * DAY_SECONDS
_BATCH = 500
#: What this process could not seal, (server, its begin) by what it is: not tried again until it is restarted.
_unsealable: dict[str, set[tuple[str, int]]] = {}


def keep_house() -> None:
    """One round of everything."""
    now = time.time()
    schedule.release_dead()
    seal_closed_hours(now)
    until = time.monotonic() + _THIN_FOR_SECONDS
    while thin_snapshots(now) and time.monotonic() < until:
        pass
    sealing.thin_cells(now)
    oldest = now - settings.SAMPLE_RETENTION_DAYS * DAY_SECONDS
    store().delete_older_than(oldest, limit=_BATCH)
    settings_history.delete_older_than(oldest - DIGESTS_LONGER_SECONDS)


def seal_closed_hours(now: float) -> int:
    """Seals hours and days that are over; how many. One that cannot be sealed is logged and holds up no other."""
    kept = store()
    if not isinstance(kept, EmbeddedStore):
        return 0
    sealed = 0
    until = time.monotonic() + _SEAL_FOR_SECONDS
    _forget_before(now)
    for what, (due, seal) in {
        "hour": (kept.to_seal, kept.seal),
        "hour of counters": (full_tier.to_seal, full_tier.seal),
        "day of counters": (full_tier.days_to_join, full_tier.join_day),
    }.items():
        unsealable = _unsealable.setdefault(what, set())
        while times := due(now, without=unsealable):
            for server_id, begins_at in times:
                if time.monotonic() > until:
                    return sealed
                try:
                    seal(server_id, begins_at)
                    sealed += 1
                except DatabaseError:
                    raise
                except Exception:
                    # Its rows stay until they are too old; trying again each minute would only hold up the others.
                    unsealable.add((server_id, begins_at))
                    log.exception(
                        "The %s %s of server %s could not be sealed; its rows stay as they are.",
                        what,
                        begins_at,
                        server_id,
                    )
    return sealed


def _forget_before(now: float) -> None:
    """Times whose samples are thrown away by now need not be remembered."""
    oldest = now - settings.SAMPLE_RETENTION_DAYS * DAY_SECONDS
    for unsealable in _unsealable.values():
        unsealable.difference_update([one for one in unsealable if one[1] < oldest])


def thin_snapshots(now: float) -> int:
    """Keeps one snapshot of each hour of those older than three hours, none older than thirty days; how many went."""
    ids = list(
        StoredSnapshot.objects.filter(slot__lt=now - HOURLY_SNAPSHOTS_SECONDS)
        .order_by("slot")
        .values_list("pk", flat=True)[:_BATCH]
    )
    # Only whole hours, so that the one that is kept is the first of its hour whenever this runs.
    before = int(now - ALL_SNAPSHOTS_SECONDS) // HOUR_SECONDS * HOUR_SECONDS
    crowded = (
        StoredSnapshot.objects.filter(slot__lt=before, slot__gte=before - _THIN_BACK_SECONDS)
        .annotate(hour=F("slot") - F("slot") % HOUR_SECONDS)
        .values("server_id", "hour")
        .annotate(first=Min("slot"), count=Count("pk"))
        .filter(count__gt=1)
        .order_by("hour")[:20]
    )
    for group in crowded:
        ids += StoredSnapshot.objects.filter(
            server_id=group["server_id"], slot__gt=group["first"], slot__lt=group["hour"] + HOUR_SECONDS
        ).values_list("pk", flat=True)
        if len(ids) >= _BATCH:
            break
    return StoredSnapshot.objects.filter(pk__in=ids[: 2 * _BATCH]).delete()[0] if ids else 0
