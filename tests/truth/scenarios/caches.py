"""Caches: more tables than the caches of tables, definitions and files hold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any

from tests.servers import RunningServer
from tests.truth.scenario import Options, Scenario
from tests.truth.scenarios.flushing import workers

#: More than the fewest definitions that a server keeps, which is 400.
TABLES = 430


def few_places(_name: str) -> Options:
    """As few open tables, definitions and files as servers take, all in one part."""
    return {
        "table_open_cache": "50",
        "table_open_cache_instances": "1",
        "table_definition_cache": "400",
        "innodb_open_files": "30",
        "innodb_flush_log_at_trx_commit": "0",
    }


def many_tables(server: RunningServer) -> None:
    """So many empty tables."""
    with closing(server.connect()) as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE DATABASE tm_caches")
        for number in range(TABLES):
            cursor.execute(f"CREATE TABLE tm_caches.t{number} (id INT PRIMARY KEY) ENGINE=InnoDB")


@contextmanager
def round_and_round(server: RunningServer) -> Iterator[None]:
    """One session goes round all tables, two say something very short very often."""

    def round_trip(cursor: Any, _number: int, turn: int) -> None:
        cursor.execute(f"SELECT COUNT(*) FROM tm_caches.t{turn % TABLES}")
        cursor.fetchall()

    def short(cursor: Any, _number: int, _turn: int) -> None:
        for _ in range(50):
            cursor.execute("DO 0")

    with ExitStack() as stack:
        stack.enter_context(workers(server, 1, 60, round_trip))
        stack.enter_context(workers(server, 2, 60, short))
        yield


SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        name="more-tables-than-the-caches-hold",
        what="A session goes round more tables than the caches of tables, definitions and files hold",
        options=few_places,
        setup=many_tables,
        load=round_and_round,
        warm_seconds=3,
        host={"cpus": 16},
        fires=frozenset(
            {
                "caches.table-open-cache-misses",
                "caches.table-open-cache-instances-few",
                "caches.table-definition-cache-small",
                "caches.innodb-open-files-low",
            }
        ),
        quick=True,
    ),
)
