"""The buffer pool on real servers: too small for what is read, it is found; holding it all, it is not.

How many pages a full pool keeps free is the server's doing, so that made examples alone would prove nothing.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from advisor.engine.evaluation import judge
from advisor.engine.facts.memory import PoolMisses
from advisor.engine.observation import HostFacts, Observation
from advisor.engine.outcome import Finding, Passed
from advisor.engine.scene import stated
from advisor.engine.units import DAY, GIB
from advisor.recommendations.observing import observation
from advisor.rules import rule_by_id
from collector.observe import observe
from collector.target import from_url
from tests.servers import CI_SERVERS, RunningServer, start_server
from tests.servers.fixtures import server_params
from tests.servers.load import SCHEMA, beside, prepare, write_load

RULE = rule_by_id("memory.buffer-pool-undersized")
#: About 90 MB of table, read at random: thrice the small pool, a third of the big one.
ROWS = 80_000
SMALL, BIG = "32M", "256M"


@contextmanager
def random_reads(server: RunningServer) -> Iterator[None]:
    """Reads nine hundred rows of different pages a second by two threads, until the block ends.

    Faster than that, MySQL, which evicts pages once a second, runs out of free pages between two rounds.
    """

    def work(cursor: Any, number: int, ended: threading.Event) -> None:
        chance = random.Random(number)
        while not ended.wait(0.22):
            ids = ",".join(str(chance.randrange(ROWS)) for _ in range(100))
            cursor.execute(f"SELECT SUM(LENGTH(pad)) FROM {SCHEMA}.t WHERE id IN ({ids})")
            cursor.fetchall()

    with beside(server, work):
        yield


def seen_under_reads(name: str, pool: str) -> Observation:
    """The server as `advise` sees it for some seconds of random reads.

    It is young, and a pool is judged after ten minutes: that wait alone is left out, its pool was filled by the load.
    """
    with start_server(name, options={"innodb_buffer_pool_size": pool}) as server:
        prepare(server, ROWS)
        server.sql(f"SELECT SUM(LENGTH(pad)) FROM {SCHEMA}.t")
        target = from_url(server.url, password_file=str(server.password_file), unrestricted=True)
        # Some writes with it, as every server has: without any MySQL evicts no page before its room is wanted.
        with write_load(server, seconds=60, rows=ROWS, bytes_per_second=400_000), random_reads(server):
            observed = observe(target, seconds=8, interval=2)
    seen = observation(observed, HostFacts(memory_bytes=stated(memory_bytes=8 * GIB).memory_bytes))
    return replace(seen, snapshot=replace(seen.snapshot, uptime_seconds=DAY))


@pytest.fixture(params=server_params(CI_SERVERS))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_pool_smaller_than_what_is_read_at_random_is_found(name: str) -> None:
    seen = seen_under_reads(name, SMALL)
    misses = PoolMisses.read(seen)
    # The reason for the rule's second threshold: a full pool keeps more than 1 % of its pages free.
    assert misses.free_ratio > 0.01, misses
    assert misses.median_reads > 500, misses
    outcome = judge(seen, [RULE], strict=True).outcome(RULE.id)
    assert isinstance(outcome, Finding), (outcome, misses)


def test_the_same_reads_from_a_pool_that_holds_everything_pass(name: str) -> None:
    seen = seen_under_reads(name, BIG)
    misses = PoolMisses.read(seen)
    outcome = judge(seen, [RULE], strict=True).outcome(RULE.id)
    assert isinstance(outcome, Passed), (outcome, misses)
    assert misses.median_reads < 50, misses
