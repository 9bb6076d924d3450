"""Fills an installation of its own with a made-up fleet: ``python -m tests.web.furnish fleet`` or ``... 1000``.

Prints one JSON line: {"session": a cookie of its administrator, "servers": {name: id}, "values": what addresses take,
"pages": [[name, path]] of every page there is}.
Settings are read from the environment, so that it fills the installation whose TIDEMARK_DATA stands there.
"""

from __future__ import annotations

import json
import math
import sys
import time
from dataclasses import replace
from datetime import timedelta
from typing import Any

import django
from django.utils import timezone

#: The made-up history ends so far ahead: filling and looking take a while, and nobody polls these servers meanwhile.
LEAD_SECONDS = 180.0


def main() -> None:
    django.setup()
    from django.test import Client

    from advisor.teams import services
    from tests.web import walking

    team = services.ensure_team(name="Databases")
    user = services.create_user(name="dana", team=team, roles=(), administrator=True)
    what = sys.argv[1]
    if what == "empty":
        filled: dict[str, Any] = {"servers": {}, "values": {}}
    elif what == "fleet":
        filled = _fleet(team, hours=float(sys.argv[2]) if len(sys.argv) > 2 else 26.0)
    else:
        filled = _many(team, int(what))
    client = Client(headers={"Host": "127.0.0.1"})
    client.force_login(user)
    pages = [(page.name, page.path) for page in walking.pages(client, filled["values"])] if filled["values"] else []
    sys.stdout.write(json.dumps({"session": _session(user), "pages": pages, **filled}) + "\n")


def _session(user: Any) -> str:
    """The cookie of a person who is signed in."""
    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore

    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    return str(session.session_key)


def _fleet(team: Any, hours: float) -> dict[str, Any]:
    """The five servers of ``demo``, each in a state of its own, and what Tidemark noted of itself meanwhile."""
    from advisor.recommendations.models import Recommendation
    from collector.models import Heartbeat, ServerState, Shard, UpkeepSample
    from tests.recommendations.building import switched_off
    from tests.web import demo, redo_history, walking

    servers = demo.build(team, hours=hours, now=time.time() + LEAD_SECONDS)
    busy = servers[0]
    _every_number(busy, demo.COURSES[0])
    _happenings(busy)
    advice = Recommendation.objects.get(server=busy, rule="redo.redo-log-undersized")
    setting = switched_off(team, "flush.neighbors-on-ssd")
    now = time.time() + LEAD_SECONDS
    Shard.objects.update(owner="db-watch-1/5f3a9c1e/4026531836/812/91823", lease_until=now + 86_400)
    ServerState.objects.filter(failures=0).update(
        fast_slot=int(now) + 86_400,
        cost={
            "poll": {"statements": 2, "rows": 63, "bytes": 2410, "milliseconds": 0.61, "late_seconds": 0.214},
            "snapshot": {"statements": 8, "rows": 1466, "bytes": 61_930, "milliseconds": 9.4},
        },
    )
    Heartbeat.objects.bulk_create([Heartbeat(name="tick", at=now), Heartbeat(name="housekeeping", at=now)])
    hour = int(time.time()) // 3600 * 3600
    UpkeepSample.objects.bulk_create(
        UpkeepSample(hour_at=hour - 3600 * ago, servers=5, database_bytes=24_000_000 - 140_000 * ago,
                     late_p50_seconds=0.2, late_p99_seconds=0.7)
        for ago in range(0, 96)
    )  # fmt: skip
    sized = redo_history.build(team, hours=26, capacity=64 * demo.MIB, now=now)
    _people_at_work(team, [servers[0], servers[2]], advice)
    names = {server.name: server.pk for server in [*servers, sized]}
    values = walking.filling(busy, advice, setting_id=setting.pk, other_id=servers[2].pk)
    return {"servers": names, "values": values, "changes": _changes()}


def _people_at_work(team: Any, servers: list[Any], advice: Any) -> None:
    """Two more members, and what they and dana want to change."""
    from django.contrib.auth.models import User

    from advisor.teams import services
    from advisor.teams.roles import Role
    from tests.web import changes_made

    author = services.create_user(name="minji", team=team, roles=[Role.EDITOR])
    reviewer = services.create_user(name="omar", team=team, roles=[Role.APPROVER, Role.OPERATOR])
    User.objects.filter(pk=reviewer.pk).update(email="omar@example.test")
    changes_made.build(team, author=author, reviewer=reviewer, servers=servers, advice=advice, now=timezone.now())


def _changes() -> list[str]:
    """The change requests, the first that was made first."""
    from advisor.changes.models import ChangeRequest

    return list(ChangeRequest.objects.order_by("number").values_list("pk", flat=True))


def _every_number(server: Any, course: Any) -> None:
    """Three hours of full snapshots of a server whose queries lose an index in the last half hour."""
    from collector.store import store
    from tests.web.demo import _polls, _snapshot

    end = (int(time.time()) + int(LEAD_SECONDS)) // 60 * 60
    rates = {
        "Handler_read_key": (41_000, 39_500), "Handler_read_next": (118_000, 115_000), "Handler_read_first": (3, 3),
        "Handler_read_rnd_next": (2_100, 861_000), "Handler_write": (5_400, 5_300), "Select_scan": (4, 151),
        "Select_full_join": (0, 12), "Sort_rows": (3_300, 3_250), "Created_tmp_tables": (61, 64),
        "Com_select": (9_100, 8_700), "Bytes_sent": (7_400_000, 7_150_000), "Bytes_received": (910_000, 880_000),
        "Table_open_cache_hits": (9_300, 8_900),
    }  # fmt: skip
    totals = dict.fromkeys(rates, 4e9)
    for number, poll in enumerate(_polls(course, end - 3 * 3600, end)[::6]):
        lost = poll.at > end - 1800
        for name, (usual, later) in rates.items():
            totals[name] += (later if lost else usual) * 60 * (1 + 0.03 * math.sin(number * (2 + len(name) % 5)))
        snapshot = _snapshot(course, poll)
        status = {**snapshot.status, **{name: str(int(value)) for name, value in totals.items()}}
        store().append_counters(server.pk, int(poll.at), replace(snapshot, status=status))


def _happenings(server: Any) -> None:
    """What stands in the events' lane and list."""
    from django.contrib.auth.models import User

    from advisor.journal import annotations
    from advisor.journal.services import record

    now = timezone.now()
    dana = User.objects.get(username="dana")
    changes = {"innodb_io_capacity": ["2000", "200"]}
    for hours, kind, data in (
        (20.0, "server.restarted", {"uptime_seconds": 11}),
        (3.2, "server.variables_changed", {"changes": changes, "count": 1, "source": "foreign"}),
    ):
        at = now - timedelta(hours=hours)
        record(team_id=server.team_id, kind=kind, at=at, server_id=server.pk, data=data)
    annotations.create_annotation(
        team_id=server.team_id, server_id=server.pk, text="orders service 4.81 rolled out", actor=dana, now=now,
        at=now - timedelta(minutes=31), tags=["deploy"],
    )  # fmt: skip


def _many(team: Any, count: int) -> dict[str, Any]:
    """Two servers with hours of history and many that are only rows of the fleet page."""
    from advisor.recommendations.models import Recommendation
    from tests.recommendations.building import switched_off
    from tests.web import demo, many, walking

    busy, calm = demo.build(team, hours=7, courses=(demo.COURSES[0], demo.COURSES[2]), now=time.time() + LEAD_SECONDS)
    many.fleet(team, max(count - 2, 0))
    advice = Recommendation.objects.get(server=busy, rule="redo.redo-log-undersized")
    setting = switched_off(team, "flush.neighbors-on-ssd")
    values = walking.filling(busy, advice, setting_id=setting.pk, other_id=calm.pk)
    return {"servers": {busy.name: busy.pk, calm.name: calm.pk}, "values": values}


if __name__ == "__main__":
    main()
