"""Celery tasks of this room: each loads by id and calls one service."""

from __future__ import annotations

from typing import Any

from celery import shared_task


@shared_task(name="recommendations.judge", acks_late=True)
def judge(*, server_id: str, early: bool = False, **kwargs: Any) -> None:
    """Judges a server by its newest snapshot, with ``early`` by the polls since then."""
    from advisor.recommendations.judging import judge_server

    judge_server(server_id=server_id, early=early)


@shared_task(name="recommendations.housekeeping")
def housekeeping(**kwargs: Any) -> None:
    """Judges what was left behind, says which servers are no longer heard of, and counts groups and tags."""
    from advisor.recommendations import fleet, fleet_groups
    from advisor.recommendations.judging import judge_left_behind

    judge_left_behind()
    fleet.mark_stale()
    fleet_groups.fold()
