"""Change requests in an installation whose servers are made up: each is read as its newest snapshot says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from unittest import mock

from advisor.changes import policy_setting, reading, services
from advisor.changes.live import LiveFacts, from_snapshot
from advisor.changes.models import ChangeRequest
from collector import snapshots
from collector.models import Server
from collector.servers import set_credential


def build(
    team: Any, *, author: Any, reviewer: Any, servers: Sequence[Server], advice: Any, now: datetime
) -> list[ChangeRequest]:
    """One in review with a comment, one approved, one draft; and a policy for production."""
    for server in servers:
        set_credential(server=server, user="tidemark_apply", password="secret", purpose="apply", actor=author)
    policy_setting.set_policy(
        team=team, tag="prod", actor=author, now=now, approvals=1, canary_first=True, wait_seconds=1800,
        windows=[{"days": [0, 1, 2, 3, 4, 5, 6], "from": "00:00", "to": "23:59", "zone": "Asia/Seoul"}],
    )  # fmt: skip
    with mock.patch.object(reading, "read_live", _as_stored), mock.patch.object(reading, "read_all", _all_as_stored):
        review = _request(
            team, author, servers, "Raise the redo log of the order sources", {"innodb_io_capacity_max": "8000"},
            and_first={"innodb_redo_log_capacity": "4G"},
            now=now, reason="Writers wait for redo each day at noon.", price="7 GiB of disk, recovery takes longer.",
            expected_effect="Nobody waits any more.", test_plan="Look at the pressure at noon.", first=servers[0],
            recommendation=advice,
        )  # fmt: skip
        review = services.submit(request=review, actor=author, now=now)
        assert review.plan is not None
        services.review(
            request=review, actor=reviewer, verdict="comment", text="Why not 8G?", plan_hash=review.plan.hash,
            line=f"{servers[0].pk}/innodb_redo_log_capacity", now=now,
        )  # fmt: skip
        more = {"innodb_max_dirty_pages_pct_lwm": "5"}
        approved = _request(team, author, servers[:1], "Flush a little earlier", more, now=now)
        approved = services.submit(request=approved, actor=author, now=now)
        assert approved.plan is not None
        approved = services.review(
            request=approved, actor=reviewer, verdict="approve", text="Fine.", plan_hash=approved.plan.hash, now=now
        )
        draft = _request(team, author, servers[1:2], "Room for more connections", {"max_connections": "600"}, now=now)
    return [review, approved, draft]


def _request(
    team: Any, author: Any, servers: Sequence[Server], title: str, values: dict[str, str], *, now: datetime,
    first: Server | None = None, recommendation: Any = None, and_first: Mapping[str, str] = {}, **texts: Any,
) -> ChangeRequest:  # fmt: skip
    wanted = [
        services.Change(
            server=server, variable=name, value=value,
            recommendation=recommendation if recommendation and recommendation.server_id == server.pk else None,
        )
        for server in servers
        for name, value in {**(and_first if server == first else {}), **values}.items()
    ]  # fmt: skip
    return services.create(
        team=team, actor=author, title=title, changes=wanted, now=now, first_server=first,
        wait_seconds=1800 if first else 0, **texts,
    )  # fmt: skip


def _as_stored(server: Server, *, purpose: str = "observe", now: datetime) -> LiveFacts:
    snapshot = snapshots.latest(server.pk)
    assert snapshot is not None, f"{server} has no snapshot"
    return from_snapshot(snapshot, trust=server.tls_mode, host=server.host_facts)


def _all_as_stored(servers: Sequence[Server], *, now: datetime) -> dict[str, Any]:
    return {server.pk: _as_stored(server, now=now) for server in servers}
