"""A real worker inspects a server that it polls: with the same account, within its limits, and without a hole."""

from __future__ import annotations

import json
from typing import Any

from advisor.mysql.grants import observe_grants, optional_grants
from advisor.mysql.version import identify
from tests.servers import DISTRIBUTION_SERVER, start_server

from .installation import installation, until

PASSWORD = "tide-mark.7"


def test_a_worker_inspects_what_it_watches_without_disturbing_it() -> None:
    with start_server(DISTRIBUTION_SERVER, options={"performance_schema": "ON"}) as target, installation() as ours:
        target.sql("CREATE DATABASE shop")
        target.sql("CREATE TABLE shop.keyless (a INT)")
        version = identify(target.value("@@version") or "", target.value("@@version_comment") or "")
        for statement in observe_grants(version, "watcher@127.0.0.1"):
            target.sql(statement.replace("<password>", PASSWORD))
        for one in optional_grants(version, "watcher@127.0.0.1"):
            target.sql(one.statement)
        server_id = ours.add_server("inspected", target.port, "watcher", PASSWORD, fast=3)

        def standing() -> Any:
            return json.loads(
                ours.python(
                    "import json\nfrom collector import inspecting\n"
                    f"found = inspecting.standing({server_id!r})\n"
                    "print(json.dumps([found.state, found.error, found.cost]))"
                )
            )

        ours.start_redis()
        ours.start_worker()
        until("it is polled", lambda: len(ours.slots(server_id)) >= 2, 60)
        ours.python(
            # As the web process does, so that the message finds our broker.
            "import advisor.celery\nfrom collector.models import Server\nfrom collector import inspecting\n"
            f"inspecting.request_inspection(server=Server.objects.get(pk={server_id!r}))"
        )
        until("it is inspected", lambda: standing()[0] not in {"waiting", "running"}, 40, every=0.2)
        state, error, cost = standing()
        assert (state, error) == ("done", "")
        assert 10 <= cost["statements"] <= 45
        assert ours.rows("SELECT COUNT(*) FROM collector_storedinspection") == [(1,)]
        slots = ours.slots(server_id)
        until("it is polled on", lambda: len(ours.slots(server_id)) >= len(slots) + 2, 30)
        slots = ours.slots(server_id)
        assert slots[1:] == list(range(slots[1], slots[-1] + 1, 3))
        assert ours.gaps(server_id) == []
        assert ours.state(server_id)["failures"] == 0
        # The connection that was opened for it is gone.
        held = target.value("(SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'watcher')")
        assert held == "1"
