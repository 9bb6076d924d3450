"""How big the redo log should be, from recorded data only: each size with what the same writes would have made of it.

The model
    The redo that was written is the workload's and is replayed as it was recorded. How fast the checkpoint follows is
    the server's, and depends on the log's size: it is simulated with the flushing heuristics of this version and these
    settings (``flushing``), step by step (``simulation``), after they were calibrated on what this very server did
    (``calibration``). Copying the recorded checkpoint advance instead would be wrong in the direction that misleads:
    under a bigger log flushing starts later, so that the age in bytes grows with it.
Why a band
    Two things are not known from one recorded size: how many changes of a page a bigger log would save (bracketed by
    two hypotheses, the closer the more the age moved meanwhile), and what the model leaves out (told by the back-test,
    whose error widens every figure). A size meets an objective only where the worse end of its band does.
What it cannot tell
    It refuses, with the reason: without an hour of loaded time; with more than a fifth of the window missing; where
    the window misses the peak that is known of the last week; where the back-test fails.
    While writers waited, less was written than was wanted: such a window makes every size look better than it is,
    which is said beside the table and not corrected, since nobody knows what they would have written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from advisor.engine.facts.redo import AT_LIMIT
from advisor.engine.units import GIB, HOUR, MIB
from advisor.whatif.calibration import Calibrated, Uncalibrated, calibrate, percentile
from advisor.whatif.flushing import FlushSettings, Points
from advisor.whatif.history import Recorded
from advisor.whatif.simulation import simulate
from advisor.whatif.sizing import (
    Candidate,
    CannotTell,
    Evidence,
    Objective,
    Point,
    Range,
    Size,
    Sizing,
    Verdict,
    Why,
)

#: Bytes of redo that crash recovery applies in a second, slowest and fastest that is assumed for each kind of storage:
#: nobody measured this server's, so that the range is wide. The slow ends are those of ``engine.redo_sizing``.
REPLAY_BYTES_PER_SECOND: dict[str | None, tuple[float, float]] = {
    "ssd": (100.0 * MIB, 400.0 * MIB),
    "hdd": (30.0 * MIB, 120.0 * MIB),
    None: (30.0 * MIB, 400.0 * MIB),
}
#: What every simulated age may be off by, as a share of the limit, however well the back-test went: half a saw-tooth.
_LEAST_ERROR = 0.05
#: No size above this is offered: recovery would take too long for what it gains.
_LARGEST = 64 * GIB
#: How many powers of two below and above the present size are looked at.
_BELOW, _ABOVE = 2, 6


def candidate_sizes(present: int, *, smallest: int, largest: int, also: Sequence[int] = ()) -> list[int]:
    """Powers of two around the present size, itself, and ``also``, within what the server takes; bytes, ascending."""
    power = 1 << max(present - 1, 1).bit_length()
    powers = [power >> step for step in range(_BELOW + 1)] + [power << step for step in range(1, _ABOVE + 1)]
    bounded = {one for one in powers if smallest <= one <= min(largest, max(_LARGEST, present))}
    return sorted(bounded | {present} | {one for one in also if smallest <= one <= largest})


def size_redo(
    recorded: Recorded,
    settings: FlushSettings,
    candidates: Sequence[Candidate],
    *,
    objective: Objective,
    evidence: Evidence | None = None,
    calibrated_on: Recorded | None = None,
    known_peak_bytes_per_second: float = 0.0,
    storage: str | None = None,
    free_disk_bytes: float | None = None,
    measured: tuple[float, float, float] | None = None,
) -> Sizing:
    """The sizing table for these candidates, the present capacity among them. Raises CannotTell.

    ``calibrated_on`` are recent polls where ``recorded`` is of digests. ``known_peak_bytes_per_second`` is the busiest
    hour known of the last week. ``measured`` is (95th percentile, share above async, share waiting) of the present
    size as the rest of the page tells them; without it they are told from the steps.
    """
    rules = evidence or Evidence()
    base = calibrated_on or recorded
    require(recorded, base, rules, known_peak_bytes_per_second=known_peak_bytes_per_second)
    present = next(one for one in candidates if one.capacity_bytes == recorded.capacity_bytes)
    try:
        calibrated = calibrate(base, settings, Points.of(present.capacity_bytes, present.limits))
    except Uncalibrated as reason:
        raise CannotTell(Why.UNCALIBRATED, text=str(reason)) from reason
    error = calibrated.back_test.p95_error
    if error > rules.p95_error:
        raise CannotTell(Why.BACK_TEST, seen=error, wanted=rules.p95_error)
    if calibrated.back_test.mape > rules.mape:
        raise CannotTell(Why.AGES, seen=calibrated.back_test.mape, wanted=rules.mape)
    rows = [
        _row(one, recorded, calibrated, error, storage, present, measured if one is present else None)
        for one in candidates
    ]
    return Sizing(
        sizes=tuple(_judged(rows, objective, free_disk_bytes)),
        objective=objective,
        recorded=recorded,
        calibrated=calibrated,
        by_design=settings.ignores_age,
    )


def require(
    recorded: Recorded, base: Recorded, rules: Evidence | None = None, *, known_peak_bytes_per_second: float = 0.0
) -> None:
    """Raises CannotTell where too little was recorded to replay: the part of the answer that takes no simulation."""
    rules, peak = rules or Evidence(), known_peak_bytes_per_second
    if len(base.steps) < 8 or len(recorded.steps) < 8:
        raise CannotTell(Why.NO_SAMPLES)
    for one in (base, recorded):
        if one.loaded_seconds < rules.loaded_seconds:
            raise CannotTell(Why.LITTLE_LOAD, seen=one.loaded_seconds, wanted=rules.loaded_seconds)
    if recorded.gap_ratio > rules.gap_ratio:
        raise CannotTell(Why.GAPS, seen=recorded.gap_ratio, wanted=rules.gap_ratio)
    busiest = busiest_hour(recorded)
    if busiest < rules.peak_ratio * peak:
        raise CannotTell(Why.NO_PEAK, seen=busiest, wanted=peak)


def busiest_hour(recorded: Recorded) -> float:
    """The highest mean of the bytes written per second over an hour (a shorter window: over all of it)."""
    steps, best, first = recorded.steps, 0.0, 0
    seconds = written = 0.0
    for step in steps:
        seconds, written = seconds + step.seconds, written + step.written * step.seconds
        while seconds - steps[first].seconds >= HOUR:
            seconds, written = seconds - steps[first].seconds, written - steps[first].written * steps[first].seconds
            first += 1
        if seconds >= 0.95 * HOUR:
            best = max(best, written / seconds)
    return best or (written / seconds if seconds else 0.0)


def _row(
    one: Candidate,
    recorded: Recorded,
    calibrated: Calibrated,
    error: float,
    storage: str | None,
    present: Candidate,
    measured: tuple[float, float, float] | None,
) -> Size:
    points = Points.of(one.capacity_bytes, one.limits)
    asynchronous = points.async_bytes / points.limit_bytes
    known = recorded.known_shares()
    if one is present and measured is not None:
        p95, above, waiting = (Range(value, value) for value in measured)
    elif one is present and known:
        value, above_ratio, waiting_ratio = _shares(known, asynchronous)
        p95, above, waiting = Range(value, value), Range(above_ratio, above_ratio), Range(waiting_ratio, waiting_ratio)
    else:
        lows, highs = [], []
        margin = max(error, _LEAST_ERROR)
        for hypothesis in calibrated.hypotheses:
            shares = simulate(recorded.steps, hypothesis, points, settled=True)
            # A late checkpoint is a part of the ages that the speed was fitted to: on a smaller log the same lateness
            # weighs more, on a bigger one less, so that one end of the band is moved by it. Half of it is usual.
            late = hypothesis.settings.checkpoint_seconds / points.limit_bytes
            smaller = one.capacity_bytes < present.capacity_bytes
            worse = [
                (min(share + (late * step.written if smaller else 0.0), 1.0), step.seconds)
                for share, step in zip(shares, recorded.steps, strict=True)
            ]
            better = [
                (max(share - (0.0 if smaller else late / 2 * step.written), 0.0), step.seconds)
                for share, step in zip(shares, recorded.steps, strict=True)
            ]
            highs.append(_shares(worse, asynchronous, margin))
            lows.append(_shares(better, asynchronous, -margin))
        p95, above, waiting = (
            Range(min(low[index] for low in lows), max(high[index] for high in highs)) for index in range(3)
        )
    slow, fast = REPLAY_BYTES_PER_SECOND.get(storage, REPLAY_BYTES_PER_SECOND[None])
    return Size(
        capacity_bytes=one.capacity_bytes,
        limits=one.limits,
        p95=p95,
        above_async=above,
        waiting=waiting,
        recovery_seconds=Range(p95.low * points.limit_bytes / fast, p95.high * points.limit_bytes / slow),
        disk_bytes=one.capacity_bytes - present.capacity_bytes,
        measured=one is present,
        verdict=Verdict.MORE,
    )


def _shares(
    shares: Sequence[tuple[float, float]], asynchronous: float, error: float = 0.0
) -> tuple[float, float, float]:
    """(95th percentile, share of time at or above the async point, share at the limit), the ages off by ``error``.

    A simulated age stands at the limit where the law cannot hold it: no error of the back-test makes waiting of an
    age that is far below, so that the error counts half there.
    """
    seconds = sum(length for _share, length in shares) or 1.0
    p95 = min(max(percentile(shares, 0.95) + error, 0.0), 1.0)
    above = sum(length for share, length in shares if share + error >= asynchronous)
    waiting = sum(length for share, length in shares if share + error / 2 >= AT_LIMIT)
    return p95, above / seconds, waiting / seconds


def _judged(rows: Sequence[Size], objective: Objective, free_disk: float | None) -> list[Size]:
    judged, found = [], False
    allowed = 1.0 - objective.share + 1e-9
    for row in rows:
        spent = row.above_async if objective.point is Point.ASYNC else row.waiting
        if found:
            verdict = Verdict.MORE
        elif spent.high <= allowed:
            verdict, found = Verdict.SMALLEST, True
        else:
            verdict = Verdict.UNSURE if spent.low <= allowed else Verdict.TOO_SMALL
        if free_disk is not None and row.disk_bytes > free_disk:
            verdict = Verdict.NO_ROOM
        judged.append(replace(row, verdict=verdict))
    return judged
