"""The query cache of MySQL 5.7 and MariaDB: in everybody's way, too large, and allocated for nobody."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from tests.servers import RunningServer
from tests.truth.scenario import EVERY, MARIADB, Scenario
from tests.truth.sessions import Turn, prepared, sessions

_WITH_QUERY_CACHE = tuple(name for name in EVERY if name in MARIADB or name == "mysql-5.7.22")
_WITHOUT = "MySQL 8.0 and later have no query cache"


_TABLES = 8


def _rows(server: RunningServer) -> None:
    """Eight tables of 500 rows of 100 to 1,000 bytes, whose results fill a small cache."""
    values = ",".join(f"({number}, REPEAT('r', {100 + number % 7 * 150}))" for number in range(500))
    prepared(server, "CREATE DATABASE tm_cache")
    for table in range(_TABLES):
        prepared(
            server,
            f"CREATE TABLE tm_cache.t{table} (id INT PRIMARY KEY, words VARCHAR(2000) NOT NULL) ENGINE=InnoDB",
            f"INSERT INTO tm_cache.t{table} VALUES {values}",
        )


def _reading(step: int) -> Turn:
    """Statements that come again after some thousand others only."""

    def turn(cursor: Any, number: int) -> None:
        first, table = number * step % 490, number * step % _TABLES
        cursor.execute(
            f"SELECT id, words, {number % 97} FROM tm_cache.t{table} WHERE id BETWEEN {first} AND {first + 3}"
        )
        cursor.fetchall()

    return turn


def _writing(cursor: Any, number: int) -> None:
    cursor.execute(f"UPDATE tm_cache.t{number % _TABLES} SET words = REPEAT('w', {100 + number % 900}) WHERE id = 495")


def reading_anew(server: RunningServer) -> AbstractContextManager[object]:
    """Two sessions whose statements are seldom the same, and one that makes results wrong now and then."""

    @contextmanager
    def both() -> Iterator[None]:
        reading = sessions(server, _reading(17), _reading(23), pause=0.002)
        with reading, sessions(server, _writing, pause=0.06):
            yield

    return both()


SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        name="query-cache-in-the-way",
        what="A small query cache that answers little, throws out much and is in pieces: off and its memory back, once",
        servers=_WITH_QUERY_CACHE,
        elsewhere=_WITHOUT,
        options={"query_cache_type": "ON", "query_cache_size": "512K"},
        setup=_rows,
        load=reading_anew,
        warm_seconds=3,
        fires=frozenset(
            {
                "querycache.query-cache-contended",
                "querycache.query-cache-pruned",
                "querycache.query-cache-fragmented",
            }
        ),
        passes=frozenset({"querycache.query-cache-oversized", "querycache.query-cache-allocated-but-off"}),
    ),
    Scenario(
        name="query-cache-large-and-idle",
        what="A query cache of 256 MiB that nobody uses yet: too large for its lock",
        servers=_WITH_QUERY_CACHE,
        elsewhere=_WITHOUT,
        options={"query_cache_type": "ON", "query_cache_size": "256M"},
        fires=frozenset({"querycache.query-cache-oversized"}),
        passes=frozenset(
            {
                "querycache.query-cache-contended",
                "querycache.query-cache-pruned",
                "querycache.query-cache-fragmented",
                "querycache.query-cache-allocated-but-off",
            }
        ),
    ),
    Scenario(
        name="query-cache-allocated-but-off",
        what="A query cache that was switched off while the server ran, and keeps 64 MiB",
        servers=_WITH_QUERY_CACHE,
        elsewhere=_WITHOUT,
        # MariaDB switches it on at the start wherever a size is given, even beside query_cache_type = OFF.
        options={"query_cache_type": "ON", "query_cache_size": "64M"},
        setup=("SET GLOBAL query_cache_type = OFF",),
        seconds=3,
        fires=frozenset({"querycache.query-cache-allocated-but-off"}),
        passes=frozenset({"querycache.query-cache-oversized"}),
    ),
)
