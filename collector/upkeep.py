"""What Tidemark notes of itself: which parts were seen at work, how late polls are, how large the database grows."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import connection, transaction
from django.db.models.functions import Length
from kombu.exceptions import ChannelError, OperationalError

from advisor.celery import app
from collector.models import Heartbeat, SealedBlock, ServerState, UpkeepSample

log = logging.getLogger(__name__)

HOUR_SECONDS = 3600
#: Parts are seen many times a minute; writing that down once in this time is enough to miss them soon.
_NOTED_EVERY_SECONDS = 20.0
#: Hourly notes are kept this long.
_KEPT_SECONDS = 400 * 86_400
QUEUES = ("collect", "judge", "apply")


# --- writing --------------------------------------------------------------------------------------------------------


def note_alive(name: str, now: float | None = None) -> None:
    """Notes that this part works. Costs a read mostly: a write follows where the last one is some while ago."""
    at = time.time() if now is None else now
    # A clock that was set back must not keep the note in the future.
    if Heartbeat.objects.filter(
        name=name, at__gt=at - _NOTED_EVERY_SECONDS, at__lte=at + _NOTED_EVERY_SECONDS
    ).exists():
        return
    Heartbeat.objects.update_or_create(name=name, defaults={"at": at})


def keep_record(now: float | None = None) -> bool:
    """Takes the hour's sample if there is none yet, and throws away those that are too old. True where it took one."""
    at = time.time() if now is None else now
    hour_at = int(at) // HOUR_SECONDS * HOUR_SECONDS
    if UpkeepSample.objects.filter(pk=hour_at).exists():
        return False
    late = lateness()
    with transaction.atomic():
        _, made = UpkeepSample.objects.get_or_create(
            hour_at=hour_at,
            defaults={
                "servers": len(late),
                "database_bytes": database_bytes(),
                "late_p50_seconds": quantile(late, 0.5),
                "late_p99_seconds": quantile(late, 0.99),
            },
        )
        UpkeepSample.objects.filter(hour_at__lt=at - _KEPT_SECONDS).delete()
    return made


# --- reading --------------------------------------------------------------------------------------------------------


def last_seen() -> dict[str, float]:
    """Part -> unix seconds of its last note."""
    return dict(Heartbeat.objects.values_list("name", "at"))


def lateness() -> list[float]:
    """Of each server that answers: seconds from the instant at which its newest poll was due to its being stored."""
    costs = ServerState.objects.filter(server__enabled=True, failures=0).values_list("cost", flat=True)
    return [late for cost in costs if (late := late_of(cost)) is not None]


def late_of(cost: object) -> float | None:
    """The lateness that a server's state noted with its newest poll; None where it noted none."""
    poll = cost.get("poll") if isinstance(cost, Mapping) else None
    late = poll.get("late_seconds") if isinstance(poll, Mapping) else None
    return float(late) if isinstance(late, int | float) else None


def quantile(values: Sequence[float], share: float) -> float | None:
    """The smallest value that at least that share of the values does not exceed; None of nothing."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)] if ordered else None


def database_bytes() -> int | None:
    """The size of the product database with its indexes; None for one that does not say."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()")
        elif connection.vendor == "mysql":
            cursor.execute(
                "SELECT SUM(data_length + index_length) FROM information_schema.tables WHERE table_schema = DATABASE()"
            )
        else:
            return None
        row = cursor.fetchone()
    return int(row[0]) if row and row[0] is not None else None


@dataclass(frozen=True)
class Growth:
    """How the database grew between two hourly notes."""

    bytes_per_day: float
    seconds: int


def growth(samples: Sequence[UpkeepSample]) -> Growth | None:
    """Over the notes given, oldest first; None where they are too few to say. A database that shrank grows by 0."""
    sized = [(one.hour_at, one.database_bytes) for one in samples if one.database_bytes is not None]
    if len(sized) < 2:
        return None
    (begun, before), (ended, after) = sized[0], sized[-1]
    return Growth(max(after - before, 0) * 86_400 / (ended - begun), ended - begun)


def history_bytes_per_hour(server_ids: Sequence[str], since: float) -> dict[str, float]:
    """Server -> compressed bytes that its polls took for each hour, over the hours sealed since that instant."""
    sizes: dict[str, list[int]] = {}
    rows = SealedBlock.objects.filter(server__in=list(server_ids), hour_at__gte=since).annotate(size=Length("payload"))
    for server_id, size in rows.values_list("server_id", "size"):
        sizes.setdefault(server_id, []).append(size)
    return {server_id: sum(found) / len(found) for server_id, found in sizes.items()}


def queue_depths(timeout_seconds: float = 1.0) -> dict[str, int] | None:
    """Queue -> messages that wait in it; None where the broker does not answer in time."""
    options = {
        **app.conf.broker_transport_options,
        "socket_timeout": timeout_seconds,
        "socket_connect_timeout": timeout_seconds,
        "retry_on_timeout": False,
    }
    try:
        with app.connection_for_read(transport_options=options) as broker:
            channel = broker.default_channel
            return {name: _waiting(channel, name) for name in QUEUES}
    except (OperationalError, OSError) as error:
        log.warning("The broker does not answer: %s", error)
        return None


def _waiting(channel: object, name: str) -> int:
    try:
        return int(channel.queue_declare(name, passive=True).message_count)  # type: ignore[attr-defined]
    except ChannelError:
        # The broker keeps no queue that is empty.
        return 0
