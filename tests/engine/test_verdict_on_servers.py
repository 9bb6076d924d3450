"""The verdict on a real server under a real load: nothing done, twice the load, a larger redo log and a smaller one.

Times are shorter than in the product, where windows last minutes: polls come five times a second, and the logs are so
small that they fill in seconds. How fast the machine is does not matter, as every judgement is between windows of one
run; where it cannot hold an even load the verdict may be *cannot tell*, and then the load has to be the reason.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from advisor.engine.units import MIB
from advisor.engine.verdict import Judgement, Verdict, Why, judge
from advisor.engine.verdict_metrics import aims_of
from advisor.engine.verdict_windows import Settle, settled_at, windows
from advisor.mysql import series
from advisor.mysql.rates import Interval, intervals
from advisor.mysql.snapshot import Poll
from collector.collect import read_poll, read_snapshot
from collector.connection import Connection, connect
from collector.plan import FastPlan
from collector.servers import target_of
from tests.conftest import build_server
from tests.servers import DISTRIBUTION_SERVER, RunningServer, start_server
from tests.servers.load import write_load

pytestmark = [pytest.mark.ci, pytest.mark.django_db]

SPACING = 0.2
SMALL, LARGE = 16 * MIB, 512 * MIB
OPTIONS = {
    "innodb_log_file_size": str(LARGE),
    "innodb_log_buffer_size": "2M",
    "innodb_buffer_pool_size": "128M",
    "innodb_flush_log_at_trx_commit": "2",
    "innodb_io_capacity": "200",
    "innodb_io_capacity_max": "2000",
}
#: The rows that the load changes: twenty megabytes, so that a large log lets a page be changed often before it is
#: written.
ROWS = 20_000


@dataclass
class Watched:
    """A server, and all polls of it so far."""

    server: RunningServer
    connection: Connection
    polls: list[Poll] = field(default_factory=list)

    def watch(self, polls: int, until: Callable[[Poll], bool] = lambda poll: False) -> None:
        """So many polls, however long a busy machine takes for them."""
        plan = FastPlan.of(read_snapshot(self.connection))
        for _ in range(polls):
            self.polls.append(read_poll(self.connection, plan))
            if until(self.polls[-1]):
                return
            time.sleep(SPACING)

    def resize(self, size: int) -> tuple[float, float]:
        began = time.time()
        self.server.sql(f"SET GLOBAL innodb_log_file_size = {size}")
        return began, time.time()

    def judged(self, began: float, ended: float, longest: float = 4.5) -> Judgement:
        found = [one for one in intervals(self.polls) if isinstance(one, Interval)]
        settled = settled_at(found, ended, Settle(least=1.5, most=3.0))
        assert settled is not None, "the load did not last until the server had settled"
        chosen = windows(found, began_at=began, settled_at=settled, until=self.polls[-1].at, longest=longest)
        return judge(chosen, aims=aims_of(["innodb_log_file_size"]))


@pytest.fixture(scope="module")
def running() -> Iterator[RunningServer]:
    with start_server(DISTRIBUTION_SERVER, options=OPTIONS) as server:
        yield server


@pytest.fixture
def watched(team: Any, running: RunningServer) -> Iterator[Watched]:
    row = build_server(team, "judged", port=running.port, user=running.user, password=running.password)
    with connect(target_of(row)) as connection:
        yield Watched(running, connection)


def told(found: Judgement) -> str:
    """For a failure's message: the load and every metric."""
    rows = [*found.load, *(row.figure for row in found.rows)]
    return f"{found.verdict} {found.why}: " + "; ".join(
        f"{one.metric.id} {one.before:.4g} -> {one.after:.4g} [{one.low} {one.high}] {one.moved}" for one in rows
    )


def test_nothing_done_is_no_difference_and_twice_the_load_is_told_as_such(watched: Watched) -> None:
    with write_load(watched.server, seconds=60, threads=2, bytes_per_second=1.0 * MIB, rows=ROWS):
        watched.watch(5)
        watched.polls.clear()
        watched.watch(64)
        polls = watched.polls
        found = [one for one in intervals(polls) if isinstance(one, Interval)]
        said: Counter[str] = Counter()
        # Twenty changes that nobody made, one poll after the other, with some sixteen polls on either side.
        for number in range(20):
            at, until = polls[27 + number].at, polls[27 + number + 16].at
            chosen = windows(found, began_at=at, settled_at=at, until=until, longest=until - at)
            one = judge(chosen, aims=aims_of(["innodb_log_file_size"]))
            said[one.verdict] += 1
            if one.verdict is Verdict.CANNOT_TELL and one.why != Why.GAPS:
                assert one.why == Why.LOAD, told(one)
                assert any(abs((load.change or 9) - 1) > 0.09 for load in one.load), told(one)
        assert said[Verdict.IMPROVED] + said[Verdict.WORSE] <= 1, said
        assert said[Verdict.NO_DIFFERENCE] >= 10, said
        doubled_at = time.time()
        with write_load(watched.server, seconds=60, threads=2, bytes_per_second=1.5 * MIB, rows=ROWS):
            watched.watch(42)
    found_doubled = watched.judged(doubled_at, doubled_at)
    assert (found_doubled.verdict, found_doubled.why) == (Verdict.CANNOT_TELL, Why.LOAD), told(found_doubled)
    assert max(load.change or 0 for load in found_doubled.load) > 1.25


def test_a_larger_redo_log_under_pressure_improved_it_and_a_smaller_one_made_it_worse(watched: Watched) -> None:
    watched.resize(SMALL)
    with write_load(watched.server, seconds=90, threads=2, bytes_per_second=4.0 * MIB, rows=ROWS):
        watched.watch(120, until=lambda poll: poll.values[series.PRESSURE] > 0.75)
        assert watched.polls[-1].values[series.PRESSURE] > 0.75, "this load cannot fill so small a log"
        watched.polls.clear()
        watched.watch(36)
        began, ended = watched.resize(LARGE)
        watched.watch(38)
        raised = watched.judged(began, ended)
        began, ended = watched.resize(SMALL)
        watched.watch(38)
        lowered = watched.judged(began, ended)
    for found, wanted in ((raised, Verdict.IMPROVED), (lowered, Verdict.WORSE)):
        if found.verdict is Verdict.CANNOT_TELL:
            assert found.why == Why.LOAD, told(found)
            assert any(abs((load.change or 9) - 1) > 0.09 for load in found.load), told(found)
        else:
            assert found.verdict is wanted, told(found)
            assert {row.figure.metric.id for row in found.deciding} & {"pressure_p95", "pages_per_redo", "above_async"}
