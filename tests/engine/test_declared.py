"""Facts that say by their fields what they hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from advisor.engine.declared import HarmRates, Rates, Settings, Status, inspected, number
from advisor.engine.evidence import confidence_in
from advisor.engine.observation import Observation
from advisor.engine.outcome import Confidence, Inapplicable, Missing
from advisor.engine.scene import inspected as inspection
from advisor.engine.scene import scene
from advisor.engine.units import DAY, HOUR, Unit
from advisor.mysql.inspection import Inspection
from advisor.mysql.snapshot import ProbeResult, ProbeState, Remedy, RemedyKind


@dataclass(frozen=True)
class Buffers(Settings):
    also_called = {"replica_net_timeout": ("slave_net_timeout",)}

    innodb_log_buffer_size: int
    innodb_flush_sync: bool
    innodb_max_dirty_pages_pct: float
    replica_net_timeout: int = -1
    no_such_variable: str = "absent"


@dataclass(frozen=True)
class Needy(Settings):
    innodb_redo_log_capacity: int


@dataclass(frozen=True)
class Waits(HarmRates):
    innodb_log_waits: float
    innodb_nonsense: float = 0.0


@dataclass(frozen=True)
class Warm(Rates):
    uptime_seconds: ClassVar[int] = DAY

    innodb_log_waits: float


@dataclass(frozen=True)
class Peak(Status):
    max_used_connections: int
    wsrep_ready: str = "OFF"


def _seen(**more: object) -> Observation:
    return scene("mysql 8.0.33", counters={"Innodb_log_waits": 2}, deliberate=True, **more)  # type: ignore[arg-type]


def test_settings_are_read_by_the_names_of_the_fields_in_their_types() -> None:
    found = Buffers.read(_seen(variables={"slave_net_timeout": 60}, without=["replica_net_timeout"]))
    assert (found.innodb_log_buffer_size, found.innodb_flush_sync, found.innodb_max_dirty_pages_pct) == (
        16 << 20,
        True,
        90.0,
    )
    assert (found.replica_net_timeout, found.called("replica_net_timeout")) == (60, "slave_net_timeout")
    assert found.no_such_variable == "absent"
    assert not found.exists("no_such_variable")
    assert [(one.name, one.unit) for one in found.measured("innodb_log_buffer_size", "innodb_flush_sync")] == [
        ("innodb_log_buffer_size", Unit.BYTES),
        ("innodb_flush_sync", Unit.TEXT),
    ]


def test_a_value_on_trial_is_read_in_place_of_the_present_one() -> None:
    assert Buffers.read(_seen().with_proposed({"innodb_log_buffer_size": 5})).innodb_log_buffer_size == 5


def test_a_necessary_variable_that_the_server_does_not_have_ends_the_question() -> None:
    with pytest.raises(Inapplicable):
        Needy.read(scene("mariadb 10.11.18"))


def test_where_no_variable_was_read_nothing_can_be_told() -> None:
    seen = scene("mysql 8.0.33")
    with pytest.raises(Missing):
        Needy.read(replace(seen, snapshot=replace(seen.snapshot, variables={})))


def test_rates_are_the_growth_between_full_snapshots() -> None:
    found = Waits.read(_seen())
    assert found.innodb_log_waits == pytest.approx(2.0)
    assert found.innodb_nonsense == 0.0
    assert [one.name for one in found.measured()] == ["Innodb_log_waits per second"]
    assert found.withheld().innodb_log_waits == 0.0
    assert found.withheld().measured()[0].value == 0.0


def test_rates_wait_for_an_hour_unless_a_person_chose_the_window() -> None:
    seen = _seen()
    with pytest.raises(Missing):
        Waits.read(replace(seen, deliberate=False))
    assert Waits.read(replace(_seen(seconds=HOUR), deliberate=False)).innodb_log_waits == pytest.approx(2.0)


def test_a_counter_that_was_set_back_has_no_rate() -> None:
    seen = _seen()
    before = seen.counted[0]
    back = replace(before, current=replace(before.current, values={**before.current.values, "Innodb_log_waits": 1}))
    with pytest.raises(Missing):
        Waits.read(replace(seen, counted=(back,)))


def test_a_server_that_did_not_warm_up_is_not_judged() -> None:
    with pytest.raises(Missing):
        Warm.read(_seen(uptime_seconds=HOUR))
    assert Warm.read(_seen(uptime_seconds=DAY)).innodb_log_waits == pytest.approx(2.0)


def test_the_confidence_of_rates_follows_from_how_long_was_watched() -> None:
    assert confidence_in(_seen(), [Waits]).confidence is Confidence.LOW
    assert confidence_in(_seen(seconds=HOUR), [Waits]).confidence is Confidence.MEDIUM
    assert confidence_in(_seen(seconds=HOUR, uptime_seconds=HOUR - 1), [Waits]).confidence is Confidence.LOW


def test_status_variables_are_read_by_name_in_any_case() -> None:
    found = Peak.read(_seen(status={"Max_used_connections": 12}))
    assert found.max_used_connections == 12
    assert not found.exists("wsrep_ready")
    with pytest.raises(Inapplicable):
        Peak.read(_seen())


def test_rows_of_an_inspection_or_what_would_show_them() -> None:
    seen = _seen(inspection=inspection(digest_table=[{"rows": "12"}]))
    (row,) = inspected(seen, "digest_table")
    assert (number(row, "rows"), number(row, "size")) == (12.0, 0.0)
    with pytest.raises(Missing):
        inspected(seen, "tables")
    with pytest.raises(Missing):
        inspected(_seen(), "digest_table")
    remedy = Remedy(RemedyKind.GRANT, "accounts", "GRANT SELECT ON mysql.user TO x")
    refused = Inspection(0.0, "", probes=(ProbeResult("accounts", ProbeState.FAILED, remedy=remedy),))
    with pytest.raises(Missing) as reason:
        inspected(_seen(inspection=refused), "accounts")
    assert reason.value.remedies == (remedy,)
    skipped = Inspection(0.0, "", probes=(ProbeResult("errors", ProbeState.SKIPPED, reason="MariaDB counts none."),))
    with pytest.raises(Inapplicable):
        inspected(_seen(inspection=skipped), "errors")


def test_an_inspection_survives_its_json_form() -> None:
    made = inspection(tables=[{"schema": "shop", "name": "orders", "rows": "7"}])
    assert Inspection.from_dict(made.as_dict()) == made
