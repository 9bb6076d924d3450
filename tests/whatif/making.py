"""Histories for tests of the model: readings of an emulated server as the arrays and digests that the model takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from advisor.engine.facts.redo import AT_LIMIT
from advisor.mysql import redo
from advisor.mysql.digest import PRESSURE_STEP, HourlyDigest
from advisor.whatif.flushing import FlushSettings
from advisor.whatif.history import F64, Samples
from advisor.whatif.sizing import Candidate
from tests.whatif.emulated import MIB, MYSQL, Emulated, Reading


def wave(scale: float) -> Callable[[float], float]:
    """Bytes of redo a second: an hourly wave and five busier minutes in it."""

    def wanted(at: float) -> float:
        busy = 1.5 if 2400 < at % 3600 < 2700 else 0.0
        return MIB * scale * (1.2 + 0.8 * math.sin(at / 3600 * 2 * math.pi) + busy)

    return wanted


def samples(readings: Sequence[Reading]) -> Samples:
    """Polls as the store gives them: rates over the time since the poll before, the first one unknown."""

    def column(value: Callable[[Reading], float]) -> F64:
        return np.array([float(value(one)) for one in readings])

    at = column(lambda one: one.at)

    def rate(position: F64) -> F64:
        return np.concatenate(([np.nan], np.diff(position) / np.diff(at)))

    return Samples(
        at=at,
        written=rate(column(lambda one: one.lsn)),
        advanced=rate(column(lambda one: one.lsn - one.age)),
        age=column(lambda one: one.age),
        limit=column(lambda one: one.limits.effective_sync_bytes),
        async_point=column(lambda one: one.limits.effective_async_bytes),
        capacity=column(lambda one: one.capacity),
        pages_flushed=rate(column(lambda one: one.flushed)),
        dirty_pages=column(lambda one: one.dirty),
    )


def digests(readings: Sequence[Reading]) -> list[HourlyDigest]:
    """The same condensed by the hour."""
    found = []
    for hour in range(int(readings[0].at) // 3600, int(readings[-1].at) // 3600 + 1):
        part = [one for one in readings if hour * 3600 <= one.at < (hour + 1) * 3600]
        if len(part) < 8:
            continue
        spacing = part[1].at - part[0].at
        pressures = [one.age / one.limits.effective_sync_bytes for one in part]
        histogram = [0.0] * 31
        for pressure in pressures:
            histogram[min(int(pressure / PRESSURE_STEP), 30)] += spacing
        each = max(int(60 / spacing), 1)
        minutes = [part[i + each].lsn - part[i].lsn for i in range(len(part) - each)]
        above = sum(spacing for one in part if one.age >= one.limits.effective_async_bytes)
        found.append(
            HourlyDigest(
                hour_at=hour * 3600,
                seconds=spacing * len(part),
                redo_written_bytes=int(part[-1].lsn - part[0].lsn),
                busiest_minute_bytes=int(max(minutes)),
                pressure_histogram=tuple(histogram),
                seconds_above_async=above,
                seconds_at_limit=sum(spacing for pressure in pressures if pressure >= AT_LIMIT),
                pages_flushed_median=0.0,
                pages_flushed_p95=0.0,
                capacity_bytes=part[-1].capacity,
            )
        )
    return found


def settings(server: Emulated) -> FlushSettings:
    return FlushSettings.read(MYSQL, server.variables(), server.pool_pages)


def candidates(*mebibytes: int) -> list[Candidate]:
    """Sizes with the limits that MySQL 8.0.30+ has for them."""
    return [Candidate(one * MIB, redo.limits(MYSQL, capacity_bytes=one * MIB, page_size=16384)) for one in mebibytes]
