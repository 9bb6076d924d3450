"""Celery tasks of this room. Beat and the broker only hint: what is due and who may read it stands in the database."""

from __future__ import annotations

import logging
import threading
from typing import Any

from celery import shared_task
from celery.signals import worker_process_shutdown, worker_ready, worker_shutdown, worker_shutting_down
from django.db import Error as DatabaseError
from django.db import connections
from kombu.exceptions import OperationalError

from collector import schedule

log = logging.getLogger(__name__)

#: How long one task watches a shard before it lets another worker have it.
WATCH_SECONDS = 600.0
QUEUE = "collect"

_stop = threading.Event()
#: Watching takes a thread of the worker for minutes; the last one is left for ticks. Set when the worker is ready.
_room = threading.BoundedSemaphore(1)


@shared_task(name="collector.tick", ignore_result=True)
def tick(**kwargs: Any) -> int:
    """Hands out the shards that nobody holds. Running twice at once it sends a message too many, which is harmless."""
    from collector.upkeep import note_alive

    try:
        note_alive("tick")
        numbers = schedule.shards_to_hand_out()
    except DatabaseError as error:
        log.warning("Nothing is handed out, since the product database does not answer: %s", error)
        return 0
    for number in numbers:
        watch.apply_async(kwargs={"shard": number}, queue=QUEUE, expires=10, retry=False)
    return len(numbers)


@shared_task(name="collector.watch", ignore_result=True)
def watch(*, shard: int, **kwargs: Any) -> None:
    """Watches the servers of one shard while the lease holds, for some minutes."""
    from collector.watch import Watch

    room = _room
    if _stop.is_set() or not room.acquire(blocking=False):
        return
    try:
        lease = schedule.claim(shard)
        while lease is not None and Watch(lease, _stop).run(WATCH_SECONDS) and not _stop.is_set():
            try:
                watch.apply_async(kwargs={"shard": shard}, queue=QUEUE, expires=10, retry=False)
                return
            except (OperationalError, OSError):
                # No broker, so nobody else would come: collecting goes on without it.
                lease = schedule.claim(shard)
    except DatabaseError as error:
        log.warning("Shard %s cannot be claimed, since the product database does not answer: %s", shard, error)
    finally:
        room.release()


@shared_task(name="collector.housekeeping", ignore_result=True, soft_time_limit=50, time_limit=55)
def housekeeping(**kwargs: Any) -> None:
    """Seals closed hours and throws away what is too old, a bounded batch each time; notes how Tidemark itself is."""
    from collector.housekeeping import keep_house
    from collector.upkeep import keep_record, note_alive

    try:
        note_alive("housekeeping")
        keep_house()
        keep_record()
    except DatabaseError as error:
        log.warning("Housekeeping waits for its next turn, since the product database does not answer: %s", error)


@shared_task(name="collector.inspect", ignore_result=True)
def inspect(*, server_id: str, **kwargs: Any) -> None:
    """Inspects a server that somebody asked to have inspected."""
    from collector.inspecting import inspect_server

    try:
        inspect_server(server_id=server_id)
    except DatabaseError as error:
        log.warning("Server %s is not inspected, since the product database does not answer: %s", server_id, error)


@worker_ready.connect
def _begin(sender: Any = None, **kwargs: Any) -> None:
    """Hands out what nobody holds as soon as there is a worker, instead of at the next tick."""
    global _room
    concurrency = int(getattr(getattr(sender, "controller", None), "concurrency", 0) or 2)
    _room = threading.BoundedSemaphore(max(1, concurrency - 1))
    try:
        tick.apply_async(queue=QUEUE, expires=10, retry=False)
    except (OperationalError, OSError) as error:
        log.warning("The first tick comes from beat, since the broker does not answer: %s", error)


@worker_shutting_down.connect
def _stop_watching(**kwargs: Any) -> None:
    # Runs inside the handler of SIGTERM: setting an event is all that may be done here.
    _stop.set()


@worker_shutdown.connect
@worker_process_shutdown.connect
def _release(**kwargs: Any) -> None:
    """Gives back what this process still holds, so that a successor need not wait for leases to run out."""
    try:
        schedule.release_all()
    except DatabaseError:
        log.warning("Leases could not be released; they run out by themselves.")
    finally:
        connections.close_all()
