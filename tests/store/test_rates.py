"""Rates in arrays are those that the pure room tells pair by pair."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.mysql import series
from advisor.mysql.rates import Interval, between
from advisor.mysql.snapshot import Poll
from collector.store import columns as codec
from collector.store import rates

_counter = st.one_of(st.none(), st.integers(0, 30), st.integers(2**64 - 30, 2**64 - 1), st.floats(0, 30))
_step = st.tuples(
    st.integers(1, 90),  # our clock
    st.sampled_from([0.0, 0.0, 0.0, 0.4, -5.0, 40.0, -400.0]),  # how far the server's clock strays
    st.sampled_from([0, 0, 0, 1, -1, -10_000, 50]),  # how far its uptime strays
    st.sampled_from(["a", "a", "a", "", "b"]),
    _counter,
    _counter,
    st.one_of(st.none(), st.sampled_from([0, 0, 0, -10_000])),  # uptime since FLUSH STATUS strays
    st.sampled_from([None, 1, 1, 2]),
)


@given(st.lists(_step, min_size=2, max_size=30))
@settings(max_examples=300, deadline=None)
def test_rates_in_arrays_equal_those_of_each_pair(steps: list[Any]) -> None:
    at, polls = 1_700_000_000, []
    for step, stray, uptime_stray, identity, counter, connections, flush_stray, method in steps:
        at += step
        uptime = max(0, at - 1_699_990_000 + uptime_stray)
        values = {
            "Questions": counter,
            "Connections": connections,
            "Slow_queries": counter,
            series.TRANSACTIONS: counter,
            rates.FLUSHED: None if flush_stray is None else max(0, uptime + flush_stray),
            series.TRANSACTIONS_METHOD: method,
        }
        present = {name: value for name, value in values.items() if value is not None}
        polls.append(Poll(float(at), at + stray, uptime, present, identity))
    found = codec.unpack_polls(
        [(int(poll.at), codec.pack_poll(poll)) for poll in polls],
        ("Questions", "Slow_queries", series.TRANSACTIONS, *rates.HELPERS),
    )
    longest = rates.longest_seconds(found.slots)
    seconds = rates.seconds_between(found, longest)
    for index, (previous, current) in enumerate(pairwise(polls)):
        pair = between(previous, current, longest_seconds=longest)
        assert (seconds[index] == pair.seconds) if isinstance(pair, Interval) else math.isnan(seconds[index]), index
    for name in ("Questions", "Slow_queries", series.TRANSACTIONS):
        grown = rates.growth(found, name, seconds)
        for index, (previous, current) in enumerate(pairwise(polls)):
            pair = between(previous, current, longest_seconds=longest)
            expected = pair.delta(name) if isinstance(pair, Interval) else None
            if expected is None:
                assert math.isnan(grown[index]), (name, index)
            else:
                assert grown[index] == float(expected), (name, index)
                assert grown[index] >= 0


def test_a_quick_restart_whose_uptime_grew_all_the_same_has_no_rate() -> None:
    before = Poll(1000.0, 1000.0, 1, {"Questions": 50, "Connections": 9, "Com_select": 5})
    after = Poll(1010.0, 1010.0, 9, {"Questions": 20, "Connections": 3, "Com_select": 900})
    rows = [(int(poll.at), codec.pack_poll(poll)) for poll in (before, after)]
    for names in (None, ("Com_select", *rates.HELPERS)):
        found = codec.unpack_polls(rows, names)
        assert np.isnan(rates.seconds_between(found, 60)).all()
    assert not isinstance(between(before, after), Interval)


def test_a_counter_at_the_top_of_64_bits_keeps_its_exact_difference() -> None:
    polls = [Poll(float(at), float(at), at, {"Questions": 2**64 - 40 + at}) for at in (10, 20)]
    found = codec.unpack_polls([(int(p.at), codec.pack_poll(p)) for p in polls], ("Questions", *rates.HELPERS))
    assert rates.growth(found, "Questions", rates.seconds_between(found, 60)).tolist() == [10.0]


def test_missed_polls_do_not_raise_what_counts_as_a_hole() -> None:
    assert rates.longest_seconds(np.array([0, 10, 20, 900, 910, 920])) == 60
    assert rates.longest_seconds(np.array([0, 300, 600, 5000])) == 1200
