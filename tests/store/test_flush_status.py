"""FLUSH STATUS on a real server: a hole in what it sets back, never a rate below zero, and no restart."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np

from advisor.mysql.rates import Interval, between
from advisor.mysql.snapshot import Poll
from collector.collect import read_snapshot
from collector.connection import Connection, connect
from collector.numbers import numbers
from collector.secret import Secret
from collector.store import columns as codec
from collector.store import rates
from collector.target import Target
from tests.servers import RunningServer
from tests.servers.fixtures import server

__all__ = ["server"]


def _everything(connection: Connection) -> Poll:
    """A poll of all status variables: those that are polled hardly have one that FLUSH STATUS sets back."""
    snapshot = read_snapshot(connection)
    return Poll(
        float(int(time.time())), snapshot.server_clock, snapshot.uptime_seconds, numbers(snapshot.status), "server"
    )


def test_flushed_counters_have_no_rate_and_none_is_negative(server: RunningServer) -> None:
    target = Target(
        user=server.user, password=Secret(server.password), host="127.0.0.1", port=server.port, unrestricted=True
    )
    polls = []
    with connect(target) as connection:
        for step in range(5):
            if step == 3:
                server.sql("FLUSH STATUS")
            # Polls are seconds apart, as slots are.
            polls.append(_everything(connection))
            time.sleep(3)
    pairs = [between(previous, current) for previous, current in pairwise(polls)]
    assert all(isinstance(pair, Interval) for pair in pairs), pairs
    found = codec.unpack_polls([(int(poll.at), codec.pack_poll(poll)) for poll in polls])
    seconds = rates.seconds_between(found, 60)
    assert not np.isnan(seconds).any()
    fell = 0
    for name in found.names:
        if not rates.is_rate(name):
            continue
        grown = rates.growth(found, name, seconds)
        assert not (grown < 0).any(), name
        for place, pair in enumerate(pairs):
            assert isinstance(pair, Interval)
            expected = pair.delta(name)
            assert (expected is None) == bool(np.isnan(grown[place])), (name, place)
            assert expected is None or expected >= 0
        fell += int(np.isnan(grown[2]) and not np.isnan(grown[1]))
    assert fell > 0
