"""Hears what the collector announces and has it judged. The collector does not know that anybody listens."""

from __future__ import annotations

import logging
from typing import Any

from django.db import IntegrityError
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver
from kombu.exceptions import OperationalError

from collector.models import Server
from collector.signals import inspection_stored, poll_stored, server_failed, snapshot_stored

log = logging.getLogger(__name__)


@receiver(snapshot_stored, dispatch_uid="recommendations.judge")
def judge_soon(sender: object, *, server_id: str, **kwargs: Any) -> None:
    """Queues the judging of a server."""
    _queue(server_id, early=False)


@receiver(inspection_stored, dispatch_uid="recommendations.judge_inspected")
def judge_inspected(sender: object, *, server_id: str, **kwargs: Any) -> None:
    """Queues the judging of a server that was inspected: nobody waits for the next snapshot after having asked."""
    _queue(server_id, early=False)


@receiver(poll_stored, dispatch_uid="recommendations.fleet_row")
def show_poll(sender: object, *, server_id: str, **kwargs: Any) -> None:
    """Brings the fleet row up to the newest poll, and has a server judged whose window has just become long enough."""
    from advisor.recommendations import fleet, judging

    try:
        shown = fleet.after_poll(server_id=server_id)
    except IntegrityError:
        return  # It was deleted while it was polled.
    if shown and judging.wants_early(server_id=server_id):
        _queue(server_id, early=True)


def _queue(server_id: str, *, early: bool) -> None:
    """The queue only hints: while no broker answers, the newest snapshot stays newer than its server's judgement, and
    housekeeping judges what was left behind.
    """
    from advisor.recommendations.tasks import judge

    try:
        judge.apply_async(kwargs={"server_id": server_id, "early": early}, queue="judge", expires=120, retry=False)
    except (OperationalError, OSError) as error:
        log.warning("Judging server %s waits for housekeeping, since the broker does not answer: %s", server_id, error)


@receiver(server_failed, dispatch_uid="recommendations.fleet_failed")
def show_failure(sender: object, *, server_id: str, **kwargs: Any) -> None:
    """Says on the fleet row that a server cannot be read."""
    from advisor.recommendations import fleet

    fleet.after_failure(server_id=server_id)


@receiver(post_save, sender=Server, dispatch_uid="recommendations.new_server")
def show_server(sender: object, *, instance: Server, raw: bool = False, **kwargs: Any) -> None:
    """A server shows on the fleet page from the transaction on that registers it, by the name and tags it has now."""
    if not raw:
        from advisor.recommendations import fleet, fleet_groups

        if fleet.describe(server=instance):
            fleet_groups.fold_small(team_id=instance.team_id)


@receiver(post_delete, sender=Server, dispatch_uid="recommendations.deleted_server")
def forget_server(sender: object, *, instance: Server, **kwargs: Any) -> None:
    """Its group and tags count one less."""
    from advisor.recommendations import fleet_groups

    fleet_groups.fold_small(team_id=instance.team_id)
