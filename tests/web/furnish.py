"""Fills an installation of its own with a made-up fleet: ``python -m tests.web.furnish fleet`` or ``... 1000``.

Prints one JSON line: {"session": a cookie of its administrator, "servers": {name: id}, "values": what addresses take,
"pages": [[name, path]] of every page there is}.
Settings are read from the environment, so that it fills the installation whose TIDEMARK_DATA stands there.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import django


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
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore

    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    return str(session.session_key)


def _fleet(team: Any, hours: float) -> dict[str, Any]:
    """The five servers of ``demo``, each in a state of its own, and what Tidemark noted of itself meanwhile."""
    from advisor.recommendations.models import Recommendation
    from collector.models import Heartbeat, ServerState, Shard, UpkeepSample
    from tests.recommendations.building import switched_off
    from tests.web import demo, walking

    servers = demo.build(team, hours=hours)
    busy = servers[0]
    advice = Recommendation.objects.get(server=busy, rule="redo.redo-log-undersized")
    setting = switched_off(team, "flush.neighbors-on-ssd")
    now = time.time()
    Shard.objects.update(owner="db-watch-1/5f3a9c1e/4026531836/812/91823", lease_until=now + 86_400)
    ServerState.objects.filter(failures=0).update(
        fast_slot=int(now) + 86_400,
        cost={
            "poll": {"statements": 2, "rows": 63, "bytes": 2410, "milliseconds": 0.61, "late_seconds": 0.214},
            "snapshot": {"statements": 8, "rows": 1466, "bytes": 61_930, "milliseconds": 9.4},
        },
    )
    Heartbeat.objects.bulk_create([Heartbeat(name="tick", at=now), Heartbeat(name="housekeeping", at=now)])
    hour = int(now) // 3600 * 3600
    UpkeepSample.objects.bulk_create(
        UpkeepSample(hour_at=hour - 3600 * ago, servers=5, database_bytes=24_000_000 - 140_000 * ago,
                     late_p50_seconds=0.2, late_p99_seconds=0.7)
        for ago in range(0, 96)
    )  # fmt: skip
    names = {server.name: server.pk for server in servers}
    values = walking.filling(busy, advice, setting_id=setting.pk, other_id=servers[2].pk)
    return {"servers": names, "values": values}


def _many(team: Any, count: int) -> dict[str, Any]:
    """Two servers with hours of history and many that are only rows of the fleet page."""
    from advisor.recommendations.models import Recommendation
    from tests.recommendations.building import switched_off
    from tests.web import demo, many, walking

    busy, calm = demo.build(team, hours=7, courses=(demo.COURSES[0], demo.COURSES[2]))
    many.fleet(team, max(count - 2, 0))
    advice = Recommendation.objects.get(server=busy, rule="redo.redo-log-undersized")
    setting = switched_off(team, "flush.neighbors-on-ssd")
    values = walking.filling(busy, advice, setting_id=setting.pk, other_id=calm.pk)
    return {"servers": {busy.name: busy.pk, calm.name: calm.pk}, "values": values}


if __name__ == "__main__":
    main()
