"""The whole life of a recommendation with real processes: a server under load, a worker, a broker, beat, and its own
SQL.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.schedule.installation import Installation, installation, until
from tests.servers import DISTRIBUTION_SERVER, RunningServer, start_server
from tests.servers.load import write_load

RULE = "redo.redo-log-undersized"
MIB = 1024**2

#: The options that make the redo log too small, and the variable that the advice has to name.
SMALL = {
    DISTRIBUTION_SERVER: (
        # MariaDB refuses at run time a log that is smaller than its buffer, so that only this one can be set back.
        {"innodb_log_file_size": "8M", "innodb_log_buffer_size": "4M"},
        "innodb_log_file_size",
    ),
    "mysql-9.7": ({"innodb_redo_log_capacity": "8M"}, "innodb_redo_log_capacity"),
}


def recommendation(here: Installation, server_id: str) -> tuple[str, str, dict[str, Any]] | None:
    """Id, state and document of the redo log's recommendation, None where there is none."""
    rows = here.rows(
        "SELECT id, state, document FROM recommendations_recommendation WHERE server_id = ? AND rule = ?",
        server_id,
        RULE,
    )
    assert len(rows) <= 1, "one recommendation of a key, however often it comes back"
    return (rows[0][0], rows[0][1], json.loads(rows[0][2])) if rows else None


def becomes(here: Installation, server_id: str, state: str) -> Callable[[], Any]:
    def check() -> Any:
        found = recommendation(here, server_id)
        return found if found is not None and found[1] == state else None

    return check


def run_when_ready(target: RunningServer, statements: list[str]) -> None:
    """MySQL refuses a resize while another is under way (error 3166)."""
    for statement in statements:
        end = time.monotonic() + 60
        while True:
            try:
                target.sql(statement)
                break
            except Exception as error:
                if "3166" not in str(error) or time.monotonic() > end:
                    raise
                time.sleep(1)


@pytest.mark.ci
@pytest.mark.parametrize("name", SMALL)
def test_it_opens_under_load_resolves_by_its_own_sql_and_returns_by_its_undo(name: str) -> None:
    options, variable = SMALL[name]
    with (
        start_server(name, options=options) as target,
        installation() as here,
        write_load(target, seconds=900, bytes_per_second=3 * MIB),
    ):
        here.start_redis()
        here.start(
            "worker",
            here.celery(
                *("worker", "--without-gossip", "--without-mingle", "--loglevel", "INFO", "--pool", "threads"),
                *("--concurrency", "4", "--queues", "collect,judge", "--hostname", "all@test"),
            ),
        )
        here.start_beat()
        server_id = here.add_server("small", target.port, target.user, target.password, fast=5, full=20)
        identity, _, document = until("it opens", becomes(here, server_id, "open"), 180, every=1)
        assert (document["confidence"], [one["name"] for one in document["changes"]]) == ("low", [variable])
        assert document["sql"]
        assert document["undo"]

        read = f"SELECT @@GLOBAL.{variable}"
        before = target.sql(read)
        run_when_ready(target, document["sql"])
        assert target.sql(read) != before
        resolved, _, _ = until("it resolves by itself", becomes(here, server_id, "resolved"), 300, every=1)
        assert resolved == identity

        run_when_ready(target, document["undo"])
        assert target.sql(read) == before
        returned, _, again = until("its undo brings it back", becomes(here, server_id, "open"), 300, every=1)
        assert returned == identity
        assert again["changes"][0]["current"] == document["changes"][0]["current"]
        kinds = [kind for kind in here.events(server_id) if kind.startswith("recommendation.")]
        told = here.rows(
            "SELECT kind, data FROM journal_event WHERE server_id = ? AND kind LIKE 'recommendation.%' ORDER BY id",
            server_id,
        )
        mine = [kind for kind, data in told if json.loads(data)["rule"] == RULE]
        assert mine == ["recommendation.opened", "recommendation.resolved", "recommendation.returned"], kinds
