"""Shares of time on the server page: told from seconds, so that peak, shares and words agree."""

from __future__ import annotations

import numpy as np
import pytest
from django.utils import translation

from advisor.mysql import series
from advisor.ui.period import Period
from advisor.web.server_charts import ServerCharts, build
from collector.store.interface import Buckets, PressureTimes, Series, SeriesKind

ASYNC, LIMIT = 80.0, 100.0


@pytest.fixture(autouse=True)
def _english() -> object:
    with translation.override("en"):
        yield


def _charts(least: list[float], greatest: list[float], last: list[float], times: PressureTimes) -> ServerCharts:
    at = np.arange(len(last), dtype=np.int64) * 60_000
    level = np.ones(len(last))

    def gauge(low: list[float], high: list[float], end: list[float]) -> Series:
        return Series(SeriesKind.GAUGE, np.array(low), np.array(high), np.array(end))

    named = {
        series.PRESSURE: gauge(least, greatest, last),
        series.EFFECTIVE_ASYNC_POINT: Series(SeriesKind.GAUGE, level * ASYNC, level * ASYNC, level * ASYNC),
        series.EFFECTIVE_SYNC_POINT: Series(SeriesKind.GAUGE, level * LIMIT, level * LIMIT, level * LIMIT),
    }
    end = 60.0 * len(last)
    return build(Buckets(0.0, end, 60, at, named), times, None, Period(0.0, end, "", False))


def _times(cells: dict[int, float], above_async: float = 0.0, at_limit: float = 0.0) -> PressureTimes:
    return PressureTimes(tuple(cells.get(cell, 0.0) for cell in range(31)), above_async, at_limit)


def test_a_peak_between_the_points_of_the_chart_counts_for_its_seconds() -> None:
    """Every bucket ends low, one of them held twenty seconds at the limit."""
    charts = _charts([0.2] * 10, [0.3] * 9 + [1.0], [0.25] * 10, _times({5: 580.0, 20: 20.0}, 20.0, 20.0))
    sentence = charts.over_time[0].sentence
    assert "Peaked at 100 %" in sentence
    assert "at or above the async point for 20 s" in sentence
    assert dict(charts.occupancy.figures)["above async"] == "3.3 % of time"
    assert dict(charts.occupancy.figures)["writers wait"] == "3.3 % of time"
    assert charts.occupancy.bars[20].share == pytest.approx(20 / 600)


def test_never_is_said_only_where_the_peak_stayed_below() -> None:
    below = _charts([0.2] * 3, [0.7] * 3, [0.3] * 3, _times({6: 180.0}))
    assert "never at the async point" in below.over_time[0].sentence
    unknown = _charts([0.2] * 3, [0.9] * 3, [0.3] * 3, _times({6: 180.0}))
    assert "async point" not in unknown.over_time[0].sentence


def test_no_percentile_is_above_the_peak() -> None:
    charts = _charts([0.96] * 3, [0.97] * 3, [0.97] * 3, _times({19: 180.0}))
    assert charts.pressure_p95 is not None
    assert charts.pressure_p95 <= 0.97
    assert sum(bar.share for bar in charts.occupancy.bars) == pytest.approx(1.0)


def test_percentiles_and_shares_of_time_do_not_disagree() -> None:
    """Cell 19 holds 95 to 100 %, so its middle is below the limit at which most of the time was spent."""
    charts = _charts([0.96] * 3, [0.995] * 3, [0.99] * 3, _times({19: 180.0}, 180.0, 150.0))
    assert charts.pressure_p95 == pytest.approx(0.99)
    assert dict(charts.occupancy.figures)["median"] == "99 %"
