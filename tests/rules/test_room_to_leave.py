"""Every ``leave_at`` of the rules about the redo log is alive: between it and its threshold a finding stays open and
none opens, beyond it an open one ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from advisor.engine.evaluation import judge
from advisor.engine.observation import Observation
from advisor.engine.outcome import Finding, NotEvaluated, Outcome, Severity
from advisor.engine.redo_sizing import ENLARGE_FIRST
from advisor.engine.scene import hours, scene, stated
from advisor.engine.units import GIB, HOUR, KIB, MIB
from advisor.rules import rule_by_id

SMALL = rule_by_id("redo.redo-log-undersized")
BIG = rule_by_id("redo.redo-log-oversized")
SLOW = rule_by_id("flushing.io-capacity-too-low")


def at_limit(share: float) -> Observation:
    """A day with this share of the time at the limit, else calm."""
    return scene(
        "mysql 8.0.33",
        {"innodb_redo_log_capacity": GIB},
        redo_per_second=2 * MIB,
        pressure=[0.3],
        counters={"Innodb_buffer_pool_pages_flushed": 1500},
        digests=hours(24, redo_per_hour=7 * GIB, pressure=0.3, capacity_bytes=GIB, at_limit_ratio=share),
    )


def likely(p95: float) -> Observation:
    """A minute with an age that stays at this share of the limit."""
    return scene(
        "mysql 8.0.33",
        {"innodb_redo_log_capacity": GIB},
        redo_per_second=2 * MIB,
        pressure=[p95],
        counters={"Innodb_buffer_pool_pages_flushed": 1950},
    )


def hour(p95: float, capacities: float = 2.0) -> Observation:
    """An hour that writes so many capacities, with an age at this share of the limit."""
    return scene(
        "mysql 8.0.33",
        {"innodb_redo_log_capacity": 4 * GIB},
        redo_per_second=capacities * 4 * GIB / HOUR,
        pressure=[p95],
        seconds=HOUR,
        every=60,
    )


def turned_over(seconds: float) -> Observation:
    """A log of 96 MiB whose usable part (about 80 MB) is written in so many seconds, with a low age."""
    empty = scene("mariadb 11.8.6")
    limit = empty.intervals[0].current.values["redo_maximum_age"]
    return scene("mariadb 11.8.6", redo_per_second=limit / seconds, pressure=[0.3])


def week(*, p99: float = 0.01, hours_held: float = 300.0, capacity: int = 64 * GIB, peak: float = 0.0) -> Observation:
    """A week of a big log; ``peak`` is the rate of its busiest minute."""
    digests = hours(170, redo_per_hour=int(capacity / hours_held), pressure=p99, capacity_bytes=capacity)
    if peak:
        digests = tuple(replace(one, busiest_minute_bytes=int(60 * peak)) for one in digests)
    return scene(
        "mysql 8.0.33",
        {"innodb_redo_log_capacity": capacity},
        redo_per_second=60 * KIB,
        pressure=[0.01],
        digests=digests,
        host=stated(storage="ssd"),
    )


#: Threshold to how a figure is made, and figures that open, that only keep open, and that end a finding.
CASES: dict[tuple[str, str], tuple[Callable[[float], Observation], float, float, float]] = {
    (SMALL.id, "at_limit_ratio"): (at_limit, 0.011, 0.005, 0.001),
    (SMALL.id, "likely_p95_ratio"): (likely, 0.92, 0.85, 0.78),
    (SMALL.id, "hour_p95_ratio"): (hour, 0.72, 0.65, 0.58),
    (SMALL.id, "hour_capacities"): (lambda capacities: hour(0.75, capacities), 1.6, 1.4, 1.2),
    (SMALL.id, "held_seconds"): (turned_over, 28, 40, 47),
    (BIG.id, "p99_ratio"): (lambda p99: week(p99=p99), 0.06, 0.11, 0.16),
    (BIG.id, "hours_held"): (lambda held: week(hours_held=held), 8.5, 7.5, 6.5),
    (BIG.id, "recovery_seconds"): (lambda seconds: week(capacity=int(seconds * 100 * MIB / 0.83)), 305, 290, 270),
    (BIG.id, "proposed_ratio"): (lambda ratio: week(peak=ratio * 64 * GIB * 0.75 / 1200), 0.45, 0.52, 0.6),
}


def said(seen: Observation, rule: str, held: bool) -> Outcome:
    one = rule_by_id(rule)
    return judge(seen, [one], holding={rule} if held else (), strict=True).outcome(rule)


@pytest.mark.parametrize("case", CASES, ids=".".join)
def test_between_entering_and_leaving_what_is_open_stays_and_nothing_opens(case: tuple[str, str]) -> None:
    rule, _ = case
    made, opens, keeps, ends = CASES[case]
    assert [isinstance(said(made(figure), rule, False), Finding) for figure in (opens, keeps, ends)] == [
        True,
        False,
        False,
    ]
    assert [isinstance(said(made(figure), rule, True), Finding) for figure in (opens, keeps, ends)] == [
        True,
        True,
        False,
    ]


def test_every_room_to_leave_that_is_declared_has_a_case() -> None:
    declared = {
        (rule.id, one.name)
        for rule in (SMALL, BIG)
        if rule.parameters is not None
        for one in rule.parameters.described()
        if one.leave_at != one.value
    }
    assert declared == set(CASES) | {(SMALL.id, "critical_at_limit_ratio")}


@pytest.mark.parametrize(
    ("share", "before", "after"),
    [
        (0.06, Severity.WARNING, Severity.CRITICAL),
        (0.04, Severity.CRITICAL, Severity.CRITICAL),
        (0.04, Severity.WARNING, Severity.WARNING),
        (0.02, Severity.CRITICAL, Severity.WARNING),
    ],
)
def test_a_severity_has_room_to_leave_too(share: float, before: Severity, after: Severity) -> None:
    [one] = judge(at_limit(share), [SMALL], holding={SMALL.id: before}, strict=True).recommendations
    assert one.severity is after


def test_flushing_asks_about_the_redo_log_by_the_thresholds_in_force() -> None:
    between = likely(0.85)
    alone = judge(between, [SMALL, SLOW], strict=True)
    assert isinstance(alone.outcome(SLOW.id), Finding), "the log is not too small: flushing is judged"
    beside = judge(between, [SMALL, SLOW], holding={SMALL.id}, strict=True)
    assert isinstance(beside.outcome(SMALL.id), Finding)
    assert beside.outcome(SLOW.id) == NotEvaluated((ENLARGE_FIRST,))


def test_flushing_asks_by_the_thresholds_that_a_team_chose() -> None:
    chosen = {SMALL.id: SMALL.with_thresholds(likely_p95_ratio=0.84)}
    judged = judge(likely(0.85), [SLOW, SMALL], thresholds=chosen, strict=True)
    assert isinstance(judged.outcome(SMALL.id), Finding)
    assert judged.outcome(SLOW.id) == NotEvaluated((ENLARGE_FIRST,))
