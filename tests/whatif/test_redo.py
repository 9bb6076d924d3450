"""The sizing model: held against a server that is emulated page by page and knows nothing of it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from advisor.engine.statistics import weighted_percentile
from advisor.mysql import redo
from advisor.mysql.digest import PRESSURE_STEP
from advisor.whatif import history
from advisor.whatif.calibration import calibrate, percentile
from advisor.whatif.flushing import FlushSettings, Points
from advisor.whatif.history import Recorded
from advisor.whatif.redo import busiest_hour, candidate_sizes, size_redo
from advisor.whatif.sizing import CannotTell, Evidence, Objective, Point, Sizing, Verdict, Why
from tests.whatif.emulated import MARIADB, MIB, MYSQL, Emulated, Reading
from tests.whatif.making import candidates, digests, samples, settings, wave

HOURS = 2 * 3600
SIZES = (64, 128, 256, 512, 2048)


@cache
def _ran(mebibytes: int, scale: float = 2.2, seed: int = 1, hours: int = 2) -> tuple[Reading, ...]:
    return tuple(Emulated(mebibytes * MIB, seed=seed).run(hours * 3600, wave(scale), step=2))


@cache
def _recorded(mebibytes: int, scale: float = 2.2, seed: int = 1) -> Recorded:
    readings = _ran(mebibytes, scale, seed)
    return history.from_samples(samples(readings), start=0, end=readings[-1].at)


def _sized(recorded: Recorded, *, objective: Objective | None = None, **options: Any) -> Sizing:
    emulated = settings(Emulated(128 * MIB))
    return size_redo(recorded, emulated, candidates(*SIZES), objective=objective or Objective(), **options)


def _p95(recorded: Recorded) -> float:
    return percentile(recorded.known_shares(), 0.95)


@pytest.mark.parametrize("scale", [1.0, 2.2])
def test_the_band_of_every_size_holds_what_a_server_of_that_size_does(scale: float) -> None:
    sizing = _sized(_recorded(128, scale))
    highs = [size.p95.high for size in sizing.sizes if not size.measured]
    assert highs == sorted(highs, reverse=True)
    for size in sizing.sizes:
        if not size.measured:
            done = _p95(_recorded(size.capacity_bytes // MIB, scale, seed=2))
            assert size.p95.low <= done <= size.p95.high, f"{size.capacity_bytes // MIB} MiB: {done} not in {size.p95}"


def test_a_log_sixteen_times_as_big_is_not_filled_a_sixteenth_as_far() -> None:
    """Why the recorded ages may not simply be divided: the server flushes later under a bigger log."""
    small, large = _p95(_recorded(128)), _p95(_recorded(2048, seed=2))
    assert large > 4 * small / 16
    predicted = next(one for one in _sized(_recorded(128)).sizes if one.capacity_bytes == 2048 * MIB)
    assert predicted.p95.high >= large


def test_how_many_pages_change_again_is_bracketed_by_what_was_recorded() -> None:
    """The age has to move for it, by more than a late checkpoint could."""
    readings = Emulated(1024 * MIB, hot_pages=20_000).run(HOURS, wave(4.0), step=4)
    recorded = history.from_samples(samples(readings), start=0, end=readings[-1].at)
    found = calibrate(recorded, settings(Emulated(1024 * MIB)), Points.of(1024 * MIB, candidates(1024)[0].limits))
    least, most = found.changing_pages
    assert least <= 20_000 <= most


def test_the_back_test_tells_how_far_the_model_was_off() -> None:
    test = _sized(_recorded(128)).back_test
    assert test.p95_error < 0.05
    assert test.mape < 0.25
    assert test.seconds == pytest.approx(HOURS / 2, rel=0.1)


def test_the_present_size_is_measured_and_not_simulated() -> None:
    recorded = _recorded(128)
    present = _sized(recorded).present
    assert present is not None
    assert present.p95.low == present.p95.high == pytest.approx(_p95(recorded))


def test_the_smallest_size_is_the_first_whose_worse_end_holds_the_objective() -> None:
    sizing = _sized(_recorded(128))
    assert sizing.smallest is not None
    assert sizing.smallest.above_async.high <= 0.001
    verdicts = [one.verdict for one in sizing.sizes]
    at = verdicts.index(Verdict.SMALLEST)
    assert set(verdicts[:at]) <= {Verdict.TOO_SMALL, Verdict.UNSURE}
    assert set(verdicts[at + 1 :]) == {Verdict.MORE}


def test_a_size_without_disk_for_it_says_so() -> None:
    sizing = _sized(_recorded(128), free_disk_bytes=500.0 * MIB)
    assert sizing.sizes[-1].verdict is Verdict.NO_ROOM


def test_recovery_is_a_range_that_widens_where_the_storage_is_unknown() -> None:
    known = _sized(_recorded(128), storage="ssd").sizes[0].recovery_seconds
    unknown = _sized(_recorded(128)).sizes[0].recovery_seconds
    assert unknown.low == pytest.approx(known.low)
    assert unknown.high > 3 * known.high


def _why(recorded: Recorded, *, known_peak: float = 0.0) -> CannotTell:
    with pytest.raises(CannotTell) as caught:
        _sized(recorded, known_peak_bytes_per_second=known_peak)
    return caught.value


def test_less_than_an_hour_under_load_is_refused_with_what_is_missing() -> None:
    readings = _ran(128)[:300]
    reason = _why(history.from_samples(samples(readings), start=0, end=readings[-1].at))
    assert reason.why is Why.LITTLE_LOAD
    assert reason.seen == pytest.approx(2990, abs=20)
    assert reason.wanted == 3600


def test_a_window_full_of_gaps_is_refused() -> None:
    readings = _ran(128)
    kept = [one for one in _ran(128, hours=4) if not 3600 < one.at < 9000]
    recorded = history.from_samples(samples(kept), start=0, end=4 * 3600)
    assert recorded.excluded.gap_seconds == pytest.approx(5410, abs=30)
    assert _why(recorded).why is Why.GAPS
    assert len(readings) > len(kept) / 2


def test_a_window_that_misses_the_known_peak_is_refused() -> None:
    recorded = _recorded(128)
    reason = _why(recorded, known_peak=3 * busiest_hour(recorded))
    assert reason.why is Why.NO_PEAK


def test_no_samples_are_refused() -> None:
    assert _why(history.from_samples(samples(_ran(128)[:1]), start=0, end=100.0)).why is Why.NO_SAMPLES


def _saturated(mebibytes: int, seed: int = 1) -> Recorded:
    """A server that may write 200 pages a second and is asked for more: under 64 MiB the age stands near the limit."""
    server = Emulated(mebibytes * MIB, io_capacity=100, io_capacity_max=200, seed=seed)
    readings = server.run(HOURS, wave(3.0), step=2)
    return history.from_samples(samples(readings), start=0, end=readings[-1].at)


def test_a_history_at_the_limit_passes_any_back_test_and_its_bands_are_the_wider() -> None:
    recorded = _saturated(64)
    server = settings(Emulated(64 * MIB, io_capacity=100, io_capacity_max=200))
    sizing = size_redo(recorded, server, candidates(64, 256, 1024), objective=Objective())
    assert sizing.back_test.p95_error < 0.01
    assert not sizing.calibrated.tells_speed
    assert sizing.smallest is None
    for size in sizing.sizes[1:]:
        done = _p95(_saturated(size.capacity_bytes // MIB, seed=2))
        assert size.p95.low <= done <= size.p95.high
    assert sizing.sizes[-1].p95.high - sizing.sizes[-1].p95.low > 0.5


def test_a_history_whose_ages_move_tells_the_speed() -> None:
    assert _sized(_recorded(128)).calibrated.tells_speed


def test_ages_that_follow_nothing_are_refused_by_the_back_test() -> None:
    """The first half idles low, the second stands high under the same writes: no constant explains both."""
    recorded = _recorded(128)
    half = len(recorded.steps) // 2
    steps = tuple(
        replace(step, share=0.05 if index < half else 0.9, begins=0.05 if index == 0 else None)
        for index, step in enumerate(recorded.steps)
    )
    assert _why(replace(recorded, steps=steps)).why is Why.BACK_TEST


def test_resizes_resets_and_gaps_are_left_out_and_counted() -> None:
    small, large = _ran(128)[:300], [replace(one, at=one.at + 3000) for one in _ran(256)[:600]]
    found = samples([*small, *large])
    written = found.written.copy()
    written[100:103] = np.nan
    recorded = history.from_samples(replace(found, written=written), start=0, end=9000)
    assert recorded.excluded.resizes == 1
    assert recorded.excluded.resize_seconds == pytest.approx(history.SETTLE_SECONDS, abs=20)
    assert recorded.excluded.reset_seconds == pytest.approx(30, abs=1)
    assert recorded.capacity_bytes == 256 * MIB
    # What was written under the old size counts, its ages do not.
    before = [step for step in recorded.steps if step.share is None]
    assert sum(step.seconds for step in before) == pytest.approx(2950, abs=60)
    assert all(step.written > 0 for step in before)


def test_hours_that_are_known_by_their_digests_tell_about_the_same() -> None:
    readings = _ran(128, hours=6)
    condensed = digests(readings)
    recorded = history.from_digests(condensed, start=0, end=6 * 3600, capacity_bytes=128 * MIB)
    cells = [sum(cell) for cell in zip(*(one.pressure_histogram for one in condensed), strict=True)]
    sizing = _sized(
        recorded,
        calibrated_on=_recorded(128),
        measured=(weighted_percentile(cells, PRESSURE_STEP, 0.95), 0.0, 0.0),
    )
    for size in sizing.sizes:
        if not size.measured:
            done = _p95(_recorded(size.capacity_bytes // MIB, seed=2))
            assert size.p95.low - 0.03 <= done <= size.p95.high + 0.03


def test_a_mariadb_that_ignores_the_age_is_told_apart_by_waits_only() -> None:
    variables = {"innodb_io_capacity": "200", "innodb_io_capacity_max": "2000", "innodb_max_dirty_pages_pct_lwm": "0"}
    flushing = FlushSettings.read(MARIADB, variables, 65_536)
    assert flushing.ignores_age
    limits = redo.limits(MARIADB, capacity_bytes=128 * MIB, page_size=16384)
    points = Points.of(128 * MIB, limits)
    # It asks for the same from a tenth of the log to the async point.
    assert flushing.pressure(0.2 * points.limit_bytes, 1000, points) == 1.0
    assert flushing.pressure(0.8 * points.limit_bytes, 1000, points) == 1.0
    assert not FlushSettings.read(MARIADB, {**variables, "innodb_max_dirty_pages_pct_lwm": "5"}, 65_536).ignores_age


def test_the_points_of_a_size_are_those_of_this_version_to_the_byte() -> None:
    limits = redo.limits(MYSQL, capacity_bytes=100 * MIB, page_size=16384)
    points = Points.of(100 * MIB, limits)
    assert points.sync_bytes == 87_086_592 - limits.margin_bytes
    assert points.async_bytes == 81_281_024 - limits.margin_bytes
    assert points.limit_bytes == 92_892_672 - limits.margin_bytes


def test_candidates_stay_within_what_the_server_takes_and_hold_the_present_size() -> None:
    found = candidate_sizes(100 * MIB, smallest=64 * MIB, largest=1024 * MIB, also=[300 * MIB, 4096 * MIB])
    assert found == [64 * MIB, 100 * MIB, 128 * MIB, 256 * MIB, 300 * MIB, 512 * MIB, 1024 * MIB]


def test_the_objective_may_be_about_waits_alone() -> None:
    sizing = _sized(_recorded(128), objective=Objective(Point.SYNC, 0.99))
    assert sizing.smallest is not None
    assert sizing.smallest.waiting.high <= 0.01


def test_evidence_may_be_asked_for_less_where_a_person_watches() -> None:
    readings = _ran(128)[:300]
    recorded = history.from_samples(samples(readings), start=0, end=readings[-1].at)
    assert _sized(recorded, evidence=Evidence(loaded_seconds=600)).sizes
