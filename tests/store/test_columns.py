"""Polls come out of open rows and sealed blocks exactly as they went in."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.mysql.snapshot import Poll
from collector.store import columns as codec

from .polls import run_of_polls

_names = st.text("abcXYZ_09é", min_size=1, max_size=12)
_numbers = st.one_of(
    st.integers(0, 2**64 - 1),
    st.sampled_from([0, 1, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1]),
    st.integers(-(2**63), -1),
    st.floats(allow_nan=False, allow_infinity=False),
)
_polls = st.lists(
    st.tuples(
        st.integers(1, 600),
        st.dictionaries(_names, _numbers, max_size=6),
        st.floats(0, 4e9),
        st.integers(0, 2**40),
        st.sampled_from(["", "a", "ü:3306"]),
    ),
    min_size=1,
    max_size=40,
)


def _rows(drawn: list[tuple[int, dict[str, int | float], float, int, str]]) -> list[tuple[int, Poll]]:
    slot, rows = 1_700_000_000, []
    for step, values, clock, uptime, identity in drawn:
        slot += step
        rows.append((slot, Poll(float(slot), clock, uptime, values, identity)))
    return rows


def _exactly(polls: list[Poll]) -> list[tuple[object, ...]]:
    """A form in which 0 and 0.0, and 0.0 and -0.0, differ."""
    return [
        (
            poll.at,
            repr(poll.server_clock),
            poll.uptime_seconds,
            poll.identity,
            *sorted((name, repr(value)) for name, value in poll.values.items()),
        )
        for poll in polls
    ]


@given(_polls)
@settings(max_examples=150, deadline=None)
def test_polls_come_back_exactly_from_open_rows_and_from_a_block(drawn: list[Any]) -> None:
    rows = _rows(drawn)
    opened = codec.unpack_polls([(slot, codec.pack_poll(poll)) for slot, poll in rows])
    expected = _exactly([poll for _, poll in rows])
    assert _exactly(opened.polls()) == expected
    assert _exactly(codec.unseal(codec.seal(opened)).polls()) == expected


@given(_polls, st.lists(_names, max_size=5, unique=True))
@settings(max_examples=100, deadline=None)
def test_reading_some_names_gives_those_values_and_no_others(drawn: list[Any], names: list[str]) -> None:
    rows = _rows(drawn)
    wanted = [*names, *list(rows[0][1].values)[:2]]
    wanted = list(dict.fromkeys(wanted))
    opened = codec.unpack_polls([(slot, codec.pack_poll(poll)) for slot, poll in rows])
    expected = _exactly(
        [replace(poll, values={name: poll.values[name] for name in wanted if name in poll.values}) for _, poll in rows]
    )
    payloads = [(slot, codec.pack_poll(poll)) for slot, poll in rows]
    assert _exactly(codec.unpack_polls(payloads, wanted).polls()) == expected
    assert _exactly(codec.unseal(codec.seal(opened), wanted).polls()) == expected


def test_what_is_no_number_is_missing_and_the_poll_is_kept() -> None:
    poll = Poll(10.0, 10.0, 5, {"a": math.nan, "b": math.inf, "c": 7, "d": 2**70})
    (back,) = codec.unpack_polls([(10, codec.pack_poll(poll))]).polls()
    assert back.values == {"c": 7, "d": float(2**70)}


def test_a_damaged_or_newer_block_is_refused_with_a_sentence() -> None:
    block = codec.seal(codec.unpack_polls([(1, codec.pack_poll(Poll(1.0, 1.0, 1, {"a": 1})))]))
    with pytest.raises(codec.UnreadableBlock, match="damaged"):
        codec.unseal(block[:-6])
    with pytest.raises(codec.UnreadableBlock, match="does not know"):
        codec.unseal(b"\x09" + block[1:])
    with pytest.raises(codec.UnreadableBlock, match="does not know"):
        codec.unpack_polls([(1, b"\x09abc")])


def test_joined_runs_keep_who_the_server_was() -> None:
    first = [(slot, replace(poll, identity="one")) for slot, poll in run_of_polls(3)]
    second = [(slot, replace(poll, identity="two")) for slot, poll in run_of_polls(3, start=first[-1][0] + 10)]
    both = codec.unpack_polls([(slot, codec.pack_poll(poll)) for slot, poll in first + second])
    assert [poll.identity for poll in both.polls()] == ["one"] * 3 + ["two"] * 3
    assert np.array_equal(both.identity, [0, 0, 0, 1, 1, 1])


def test_an_hour_of_a_busy_server_takes_less_than_a_byte_and_a_half_a_sample() -> None:
    hour = codec.unpack_polls([(slot, codec.pack_poll(poll)) for slot, poll in run_of_polls(360)])
    samples = len(hour) * len(hour.names)
    # Random increments of up to 2^19 in two thirds of the columns cannot be told in less than about 1.1 bytes.
    assert len(codec.seal(hour)) / samples < 1.5
