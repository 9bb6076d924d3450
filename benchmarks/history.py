"""Days of history of a made-up server: a recorded one, carried on under a load that waves, drifts and jitters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from advisor.mysql import series
from advisor.mysql.counters import METRICS_PREFIX, Kind, enabled_counts, kind
from advisor.mysql.snapshot import Number
from collector import recording
from collector.numbers import numbers
from collector.store.columns import F64, Columns
from collector.store.rows import HOUR_SECONDS

RECORDING = Path(__file__).resolve().parent.parent / "tests/recorded/mysql-8.0.33-small-redo"
FAST_SECONDS, FULL_SECONDS = 10, 60
_UNSIGNED, _FLOAT = 0, 2


def fast_hours(start: int, hours: int, *, seed: int = 1) -> Iterator[Columns]:
    """Hours of polls, each ten seconds, oldest first; ``start`` is a full hour in unix seconds."""
    observed = recording.read(RECORDING)
    before, after = observed.polls[0], observed.polls[-1]
    yield from _hours(before.values, after.values, after.at - before.at, start, hours, FAST_SECONDS, seed)


def full_hours(start: int, hours: int, *, seed: int = 1) -> Iterator[Columns]:
    """Hours of full snapshots' numbers, one a minute."""
    observed = recording.read(RECORDING)

    def values(snapshot: object) -> dict[str, Number]:
        metrics = enabled_counts(snapshot.metrics)  # type: ignore[attr-defined]
        return {
            **numbers(snapshot.status),  # type: ignore[attr-defined]
            **{METRICS_PREFIX + name: count for name, count in metrics.items()},
        }

    first, last = observed.first, observed.last
    yield from _hours(
        values(first), values(last), last.server_clock - first.server_clock, start, hours, FULL_SECONDS, seed
    )


def _hours(
    before: Mapping[str, Number],
    after: Mapping[str, Number],
    seconds: float,
    start: int,
    hours: int,
    spacing: int,
    seed: int,
) -> Iterator[Columns]:
    """What moved while the server was recorded moves on as fast, times the load; what stood still stands still."""
    dice = np.random.default_rng(seed)
    names = tuple(sorted(name for name in before if name in after))
    count = HOUR_SECONDS // spacing
    reached = {name: float(after[name]) for name in names}
    for hour in range(hours):
        slots = start + hour * HOUR_SECONDS + spacing * np.arange(count, dtype=np.int64)
        load = _load(slots, dice)
        raw = np.zeros((len(names), count), np.uint64)
        kinds = np.zeros((len(names), count), np.uint8)
        for row, name in enumerate(names):
            moved = before[name] != after[name]
            if name in {"Uptime", "Uptime_since_flush_status"}:
                raw[row] = slots - start + 100_000
            elif kind(name) is Kind.GAUGE:
                value = float(after[name]) * (load * dice.uniform(0.9, 1.1, count) if moved else np.ones(count))
                if isinstance(after[name], float):
                    raw[row], kinds[row] = value.view(np.uint64), _FLOAT
                else:
                    raw[row] = value.clip(0, 2.0**63).astype(np.uint64)
            else:
                grown = (float(after[name]) - float(before[name])) / seconds * spacing if moved else 0.0
                value = reached[name] + np.cumsum(np.rint(grown * load * dice.uniform(0.8, 1.2, count)))
                reached[name] = float(value[-1])
                raw[row] = value.astype(np.uint64)
        _consistent(names, raw, kinds)
        yield Columns(
            names,
            slots,
            slots + 0.1 + np.rint(dice.uniform(0, 2e4, count)) / 1e6,
            slots - start + 100_000,
            np.zeros(count, np.int64),
            ("recorded",),
            raw,
            kinds,
            np.ones(raw.shape, np.bool_),
        )


def _load(slots: np.ndarray, dice: np.random.Generator) -> F64:
    """Around 1: a wave of a day, one of seven minutes (checkpoints), and chance."""
    day, minutes = np.sin(slots / 13_750.0), np.sin(slots / 67.0)
    load: F64 = np.clip(0.7 + 0.25 * day + 0.1 * minutes + dice.normal(0, 0.08, slots.size), 0.05, None)
    return load


def _consistent(names: tuple[str, ...], raw: np.ndarray, kinds: np.ndarray) -> None:
    """What is derived follows from what it is derived from, as in a real poll."""
    at = {name: row for row, name in enumerate(names)}
    if not {series.LSN, series.CHECKPOINT_AGE, series.PRESSURE}.issubset(at):
        return
    age = raw[at[series.CHECKPOINT_AGE]]
    raw[at[series.CHECKPOINT_LSN]] = raw[at[series.LSN]] - age
    limit = raw[at[series.EFFECTIVE_SYNC_POINT]].astype(np.float64)
    raw[at[series.PRESSURE]] = (age / limit).view(np.uint64)
    kinds[at[series.PRESSURE]] = _FLOAT
