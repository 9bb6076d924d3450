"""Celery tasks of this room: each loads by id and calls one service."""

from __future__ import annotations

from typing import Any

from celery import shared_task


@shared_task(
    name="recommendations.judge", acks_late=True, reject_on_worker_lost=True, soft_time_limit=60, time_limit=90
)
def judge(*, server_id: str, **kwargs: Any) -> None:
    """Judges a server by its newest snapshot."""
    from advisor.recommendations.judging import judge_server

    judge_server(server_id=server_id)


@shared_task(name="recommendations.housekeeping", soft_time_limit=50, time_limit=60)
def housekeeping(**kwargs: Any) -> None:
    """Judges what was left behind and says which servers are no longer heard of."""
    from advisor.recommendations import fleet
    from advisor.recommendations.judging import judge_left_behind

    judge_left_behind()
    fleet.mark_stale()
