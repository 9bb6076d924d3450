"""A proven stall is never passed, whatever keeps the log from being enlarged; and what is said of it makes sense."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.engine.evaluation import judge
from advisor.engine.facts.redo import RedoLoad, RedoLog, RedoPressure
from advisor.engine.observation import Observation
from advisor.engine.outcome import Confidence, Finding, Item, NotApplicable, NotEvaluated, Passed, Severity
from advisor.engine.redo_sizing import ENLARGE_FIRST, Bound, RedoThresholds, TooSmall, enlarged, target_bytes, too_small
from advisor.engine.scene import hours, scene, stated
from advisor.engine.units import DAY, GIB, HOUR, KIB, MIB
from advisor.engine.wording import message_text
from advisor.mysql.proposal import Investigate
from advisor.mysql.version import Distribution
from advisor.rules import rule_by_id

SMALL = rule_by_id("redo.redo-log-undersized")
SLOW = rule_by_id("flushing.io-capacity-too-low")
P = RedoThresholds()


def stalling_day(capacity: int, *, rate: float = 8 * MIB, **more: Any) -> Observation:
    """A day on which a tenth of the time was spent at the limit."""
    return scene(
        "mysql 8.0.33",
        {"innodb_redo_log_capacity": capacity},
        redo_per_second=rate,
        pressure=[0.8],
        counters={"Innodb_buffer_pool_pages_flushed": 1500},
        digests=hours(26, redo_per_hour=int(8 * MIB * HOUR), pressure=0.8, capacity_bytes=capacity, at_limit_ratio=0.1),
        **more,
    )


def item(seen: Observation) -> Item:
    outcome = judge(seen, [SMALL], strict=True).outcome(SMALL.id)
    assert isinstance(outcome, Finding), outcome
    return outcome.items[0]


def advice(seen: Observation) -> str:
    [change] = item(seen).proposal
    assert isinstance(change, Investigate), change
    return change.advice


def test_a_full_disk_is_named_and_nobody_is_told_to_wait() -> None:
    told = advice(stalling_day(4 * GIB, host=stated(free_disk_bytes=8 * GIB)))
    assert "8 GiB of free disk" in told
    assert "2 GiB" in told
    hasty = scene(
        "mysql 8.0.33",
        {"innodb_redo_log_capacity": 4 * GIB},
        redo_per_second=20 * MIB,
        pressure=[1.0],
        host=stated(free_disk_bytes=8 * GIB),
    )
    assert "free disk" in advice(hasty)


def test_the_biggest_proposal_is_named_where_a_log_has_it_already() -> None:
    assert "Above 64 GiB" in advice(_busy(64 * GIB))


def _busy(capacity: int) -> Observation:
    seen = stalling_day(capacity)
    return replace(seen, digests=tuple(replace(one, redo_written_bytes=40 * GIB) for one in seen.digests))


def test_too_little_evidence_for_a_bigger_log_is_a_finding_that_asks_for_more() -> None:
    short = scene("mysql 8.0.33", {"innodb_redo_log_capacity": 4 * GIB}, redo_per_second=20 * MIB, pressure=[1.0])
    assert "only from an hour of observation" in advice(short)
    seen = _busy(16 * GIB)
    assert "only from a day of observation" in advice(
        replace(
            seen,
            digests=seen.digests[-2:],
            intervals=scene(
                "mysql 8.0.33", {"innodb_redo_log_capacity": 16 * GIB}, redo_per_second=20 * MIB, pressure=[1.0]
            ).intervals,
        )
    )


def managed(seen: Observation) -> Observation:
    identity = seen.snapshot.identity
    version = replace(identity.version, distribution=Distribution.RDS)
    return replace(seen, snapshot=replace(seen.snapshot, identity=replace(identity, version=version)))


def test_a_managed_log_that_sizes_itself_keeps_neither_rule_waiting_for_ever() -> None:
    variables = {"innodb_redo_log_capacity": 512 * MIB, "innodb_dedicated_server": "ON"}
    seen = managed(
        scene(
            "mysql 8.0.33",
            variables,
            redo_per_second=8 * MIB,
            pressure=[1.0],
            counters={"Innodb_buffer_pool_pages_flushed": 1500},
        )
    )
    assert "innodb_dedicated_server" in advice(seen)
    assert isinstance(judge(seen, [SLOW], strict=True).outcome(SLOW.id), Finding)
    calm = managed(scene("mysql 8.0.33", variables, redo_per_second=8 * MIB, pressure=[0.3]))
    assert isinstance(judge(calm, [SMALL], strict=True).outcome(SMALL.id), NotApplicable)


def test_flushing_waits_for_a_bigger_log_only_where_there_can_be_one() -> None:
    can = judge(stalling_day(GIB), [SLOW], strict=True).outcome(SLOW.id)
    assert can == NotEvaluated((ENLARGE_FIRST,))
    cannot = stalling_day(4 * GIB, host=stated(free_disk_bytes=8 * GIB))
    assert isinstance(judge(cannot, [SLOW], strict=True).outcome(SLOW.id), Finding)


def test_a_log_that_is_likely_too_small_waits_for_evidence_and_passes_where_the_disk_is_the_bound() -> None:
    likely = scene("mysql 8.0.33", {"innodb_redo_log_capacity": 4 * GIB}, redo_per_second=20 * MIB, pressure=[0.95])
    waits = judge(likely, [SMALL], strict=True).outcome(SMALL.id)
    assert isinstance(waits, NotEvaluated)
    assert "an hour of evidence" in waits.missing[0].text
    bound = replace(likely, host=stated(free_disk_bytes=8 * GIB))
    assert isinstance(judge(bound, [SMALL], strict=True).outcome(SMALL.id), Passed)


@pytest.mark.parametrize("pressure", [0.3, 1.0])
def test_a_log_that_stays_turned_over_with_all_the_disk_there_is_is_not_enlarged_a_little(pressure: float) -> None:
    seen = scene(
        "mysql 8.0.33",
        {"innodb_redo_log_capacity": 64 * MIB},
        redo_per_second=20 * MIB,
        pressure=[pressure],
        host=stated(free_disk_bytes=512 * MIB),
    )
    assert "512 MiB of free disk" in advice(seen)


def small_log(capacity: int, free_disk: int | None = None) -> RedoLog:
    return replace(
        RedoLog.read(scene("mysql 8.0.33", {"innodb_redo_log_capacity": capacity})), free_disk_bytes=free_disk
    )


@given(
    st.integers(8, 4000).map(lambda megabytes: megabytes * MIB),
    st.integers(64, 400_000).map(lambda megabytes: megabytes * MIB),
    st.floats(KIB, 200 * MIB),
    st.sampled_from([one for one in TooSmall if one is not TooSmall.NOT]),
)
def test_never_more_than_a_quarter_of_the_free_disk(capacity: int, free: int, rate: float, verdict: TooSmall) -> None:
    log = small_log(capacity, free)
    load = RedoLoad.read(scene("mysql 8.0.33", redo_per_second=rate))
    assert target_bytes(log, load, verdict, P) <= max(capacity, free / 4)


def test_400_mib_of_free_disk_allow_64() -> None:
    load = RedoLoad.read(scene("mysql 8.0.33", redo_per_second=MIB))
    assert target_bytes(small_log(8 * MIB, 400 * MIB), load, TooSmall.PROVEN, P) == 64 * MIB


def test_twice_the_busiest_hour_only_where_a_stall_is_proven() -> None:
    seen = scene(
        "mysql 8.0.33",
        {"innodb_redo_log_capacity": 100 * MIB},
        redo_per_second=4 * MIB,
        pressure=[0.3],
        seconds=HOUR,
        every=60,
    )
    log, load = RedoLog.read(seen), RedoLoad.read(seen)
    assert load.hour_measured
    verdict = too_small(log, load, RedoPressure.read(seen), P)
    assert verdict is TooSmall.TURNED_OVER
    assert target_bytes(log, load, verdict, P) == 15 * GIB  # One busy hour: 14.06 GiB.
    assert not isinstance(enlarged(log, load, verdict, P), Bound)


@pytest.mark.parametrize("rate", [0.0, 10.0, 3 * KIB])
def test_an_idle_hour_after_a_day_of_stalls_is_described_by_the_hour_that_stalled(rate: float) -> None:
    seen = replace(stalling_day(GIB, rate=rate), host=stated(storage="ssd"))
    found = item(seen)
    title = message_text(found.message)
    # 8 MiB/s against nine tenths of a GiB: something below two minutes, at which the log was really full.
    assert title.startswith("The redo log of 1 GiB holds 1 min")
    assert title.endswith("of the busiest writes")
    assert found.expected is not None
    assert " d " not in message_text(found.expected)
    assert found.severity is Severity.CRITICAL
    assert judge(seen, [SMALL], strict=True).recommendations[0].confidence is Confidence.HIGH


def test_a_stall_of_a_minute_after_a_change_is_not_critical_by_the_load_of_the_day_before() -> None:
    seen = stalling_day(GIB)
    stalling = scene("mysql 8.0.33", {"innodb_redo_log_capacity": GIB}, redo_per_second=8 * MIB, pressure=[1.0])
    changed = replace(seen, intervals=stalling.intervals, configured_at=stalling.intervals[0].started_at)
    assert item(changed).severity is None


def test_the_price_says_what_it_assumes_of_the_storage() -> None:
    def price(seen: Observation) -> str:
        return message_text(item(seen).price[1].message)

    assert "if the storage is an SSD" in price(stalling_day(GIB))
    assert "SSD" not in price(stalling_day(GIB, host=stated(storage="hdd")))


def test_most_of_an_hour_is_an_hour_and_half_of_one_is_not() -> None:
    def load(seconds: float) -> RedoLoad:
        digest = replace(stalling_day(GIB).digests[-1], seconds=seconds)
        return RedoLoad.read(replace(stalling_day(GIB, rate=MIB), digests=(digest,)))

    assert not load(2000).hour_measured
    assert load(2000).busiest_hour_bytes == 8 * MIB * HOUR, "what was written in a part of an hour was written"
    assert load(3500).hour_measured
    assert load(3500).busiest_hour_bytes == pytest.approx(8 * MIB * HOUR * HOUR / 3500)


def test_two_polls_are_counted_by_how_far_apart_polls_are() -> None:
    """Three minutes of a day at the limit are one poll of a server that is polled every five minutes."""
    day = tuple(
        replace(one, seconds_at_limit=300.0 if index == 3 else 0.0)
        for index, one in enumerate(hours(24, redo_per_hour=GIB, pressure=0.5, capacity_bytes=GIB))
    )
    seen = scene(
        "mysql 8.0.33",
        {"innodb_redo_log_capacity": GIB},
        redo_per_second=MIB,
        pressure=[0.5],
        seconds=2 * HOUR,
        every=300,
        uptime_seconds=9 * DAY,
        digests=day,
    )
    assert not RedoPressure.read(seen).stalls_proven
