"""Rates over many polls at once: ``advisor.mysql.rates`` pair by pair, said in arrays.

The rules are those of ``rates.between`` and ``Interval.per_second``; a test holds the two against each other.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from advisor.mysql import series
from advisor.mysql.counters import Kind, kind, reset_by_flush_status
from collector.store.columns import F64, Columns, Flags

FLUSHED = "Uptime_since_flush_status"
#: Counters that nothing but a restart sets back, both at once.
BEGUN_ANEW = ("Questions", "Connections")
#: Names without which the rates of others cannot be told.
HELPERS = (FLUSHED, series.TRANSACTIONS_METHOD, *BEGUN_ANEW)
#: A time without polls that is longer than this, and than four times the usual spacing, is a hole: no line crosses it.
_SHORTEST_HOLE_SECONDS = 60.0


def longest_seconds(slots: npt.NDArray[np.int64]) -> float:
    """How far two consecutive polls may lie apart to be one interval, from the spacing that these polls have."""
    if slots.size < 2:
        return _SHORTEST_HOLE_SECONDS
    # The lower quartile: the interval that is polled at, even where many polls were missed or it was changed meanwhile.
    usual = float(np.quantile(np.diff(slots), 0.25, method="lower"))
    return max(_SHORTEST_HOLE_SECONDS, 4 * usual)


def seconds_between(columns: Columns, longest: float) -> F64:
    """The server's seconds from each poll to the next, NaN where there is a gap instead of an interval."""
    seconds = np.diff(columns.clock)
    grown = np.diff(columns.uptime).astype(np.float64)
    ours = np.diff(columns.slots).astype(np.float64)
    same = _same_server(columns)
    tolerance = np.maximum(2.0, 0.1 * seconds)
    fine = (
        same
        & ~np.logical_and.reduce([_fell(columns, name) for name in BEGUN_ANEW])
        & (grown >= 0)
        & (seconds > 0)
        & (grown >= seconds - tolerance)
        & (grown <= seconds + tolerance)
        & (np.abs(seconds - ours) <= np.maximum(30.0, np.minimum(seconds, ours)))
        & (seconds <= longest)
    )
    return np.where(fine, seconds, np.nan)


def begun_anew(columns: Columns) -> Flags:
    """For each poll but the first: whether the server was restarted since the one before, or is another one."""
    seconds = np.diff(columns.clock)
    grown = np.diff(columns.uptime).astype(np.float64)
    fell = np.logical_and.reduce([_fell(columns, name) for name in BEGUN_ANEW])
    # A clock that jumped ahead looks the same as a restart to the uptime alone; ours tells them apart.
    passed = np.minimum(seconds, np.diff(columns.slots))
    result: Flags = ~_same_server(columns) | fell | (grown < 0) | (grown < passed - np.maximum(2.0, 0.1 * passed))
    return result


def _same_server(columns: Columns) -> Flags:
    """For each poll but the first: whether the server of the one before told it, as far as both say who they are."""
    if not columns.identities:
        return np.ones(max(0, len(columns) - 1), np.bool_)
    nameless = np.array([identity == "" for identity in columns.identities], dtype=np.bool_)
    either = nameless[columns.identity[1:]] | nameless[columns.identity[:-1]]
    same: Flags = either | (columns.identity[1:] == columns.identity[:-1])
    return same


def _fell(columns: Columns, name: str) -> Flags:
    """Where a counter is smaller than a poll before; nowhere where it was not read."""
    if name not in columns.names:
        return np.zeros(max(0, len(columns) - 1), np.bool_)
    row = columns.names.index(name)
    raw, kinds, present = columns.raw[row], columns.kind[row], columns.present[row]
    whole = (kinds[1:] == 0) & (kinds[:-1] == 0)
    fell = np.where(whole, raw[1:] < raw[:-1], np.diff(columns.floats_of(row)) < 0)
    result: Flags = present[1:] & present[:-1] & fell
    return result


def is_rate(name: str) -> bool:
    """Whether the series of that name is told per second (a counter or a position) or as it is (a gauge)."""
    return kind(name) is not Kind.GAUGE


def growth(columns: Columns, name: str, seconds: F64) -> F64:
    """By how much the series grew from each poll to the next; NaN where that cannot be told, never negative."""
    row = columns.names.index(name)
    raw, kinds, present = columns.raw[row], columns.kind[row], columns.present[row]
    known: Flags = present[1:] & present[:-1] & ~np.isnan(seconds)
    whole = (kinds[1:] == 0) & (kinds[:-1] == 0)
    if bool(whole.all()):
        # Unsigned arithmetic: exact up to 2^64-1, where a float would round by thousands.
        grown = (raw[1:] - raw[:-1]).astype(np.float64)
        known &= raw[1:] >= raw[:-1]
    else:
        grown = np.diff(columns.floats_of(row))
        exact = (raw[1:] - raw[:-1]).astype(np.float64)
        grown = np.where(whole, exact, grown)
        known &= np.where(whole, raw[1:] >= raw[:-1], grown >= 0)
    if reset_by_flush_status(name):
        known &= ~_flushed(columns, seconds)
    if name == series.TRANSACTIONS:
        known &= ~_changed(columns, series.TRANSACTIONS_METHOD)
    return np.where(known, grown, np.nan)


def _flushed(columns: Columns, seconds: F64) -> Flags:
    """Where FLUSH STATUS ran: the time since the last one did not grow by the interval."""
    row = columns.names.index(FLUSHED)
    since = columns.raw[row].view(np.int64)
    known = columns.present[row][1:] & columns.present[row][:-1]
    with np.errstate(invalid="ignore"):
        flushed: Flags = known & (np.diff(since) < seconds - 2)
    return flushed


def _changed(columns: Columns, name: str) -> Flags:
    row = columns.names.index(name)
    raw, present = columns.raw[row], columns.present[row]
    changed: Flags = (present[1:] != present[:-1]) | (present[1:] & present[:-1] & (raw[1:] != raw[:-1]))
    return changed
