"""What rules about the redo log say together, and where they have nothing to say."""

from __future__ import annotations

import pytest

from advisor.engine.evaluation import judge
from advisor.engine.observation import Observation
from advisor.engine.outcome import Finding, NotApplicable, NotEvaluated, Passed
from advisor.engine.scene import hours, inspected, scene, stated
from advisor.engine.units import GIB, HOUR, KIB, MIB
from advisor.mysql.redo import capacity_variable
from advisor.mysql.snapshot import RemedyKind
from advisor.rules import rule_by_id

UNDERSIZED = rule_by_id("redo.redo-log-undersized")
OVERSIZED = rule_by_id("redo.redo-log-oversized")
SHORT = rule_by_id("redo.redo-log-shorter-than-busy-hour")
THREADS = rule_by_id("redo.redo-log-writer-threads-misfit")
WRITERS = rule_by_id("redo.redo-written-by-few-statements")
SIZERS = [UNDERSIZED, OVERSIZED, SHORT]
SERVERS = ("mysql 5.7.22", "mysql 8.0.33", "mysql 9.7.4", "mariadb 10.2.11", "mariadb 10.11.18")


def day(server: str, *, capacity: int, per_hour: int, pressure: float, count: int = 26) -> Observation:
    """So many equal hours of writes against a log of this capacity."""
    variable = capacity_variable(scene(server, seconds=0).server)
    files = 2 if variable == "innodb_log_file_size" and server in ("mysql 5.7.22", "mariadb 10.2.11") else 1
    return scene(
        server,
        {variable: capacity // files},
        redo_per_second=per_hour / HOUR,
        pressure=[pressure],
        digests=hours(count, redo_per_hour=per_hour, pressure=pressure, capacity_bytes=capacity),
    )


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("pressure", [0.05, 0.35, 0.65, 0.75, 0.95, 1.0])
@pytest.mark.parametrize("capacity", [512 * MIB, 2 * GIB, 64 * GIB])
def test_at_most_one_rule_speaks_of_the_size(server: str, pressure: float, capacity: int) -> None:
    for per_hour in (64 * MIB, GIB, 8 * GIB):
        for count in (26, 170):
            seen = day(server, capacity=capacity, per_hour=per_hour, pressure=pressure, count=count)
            judgement = judge(seen, SIZERS, strict=True)
            spoke = [one.rule.id for one in judgement.outcomes if isinstance(one.outcome, Finding)]
            assert len(spoke) <= 1, spoke


@pytest.mark.parametrize("server", SERVERS)
def test_a_log_short_for_its_hour_gets_the_size_that_one_that_is_too_small_would_get(server: str) -> None:
    """The same hour at an age that proves nothing, and at one that does on MySQL: one formula."""
    seen = day(server, capacity=GIB, per_hour=3 * GIB, pressure=0.5)
    (short,) = judge(seen, SIZERS, strict=True).recommendations
    assert short.rule == SHORT.id
    assert set(short.variables.values()) == (
        {3 * GIB // 2} if server in ("mysql 5.7.22", "mariadb 10.2.11") else {3 * GIB}
    )
    if server != "mariadb 10.11.18":  # There a high age is no sign.
        busier = judge(day(server, capacity=GIB, per_hour=3 * GIB, pressure=0.8), SIZERS, strict=True)
        assert busier.recommendations[0].rule == UNDERSIZED.id
        assert busier.recommendations[0].variables == short.variables
        assert isinstance(busier.outcome(SHORT.id), NotApplicable)


def test_half_a_day_is_no_day() -> None:
    outcome = judge(day("mysql 8.0.33", capacity=GIB, per_hour=3 * GIB, pressure=0.5, count=12), [SHORT], strict=True)
    found = outcome.outcome(SHORT.id)
    assert isinstance(found, NotEvaluated)
    assert [one.kind for one in found.missing] == [RemedyKind.WINDOW]


def test_nothing_is_said_where_the_disk_has_no_room_for_the_hour() -> None:
    roomy = day("mysql 8.0.33", capacity=GIB, per_hour=3 * GIB, pressure=0.5)
    full = scene(
        "mysql 8.0.33",
        {"innodb_redo_log_capacity": GIB},
        redo_per_second=3 * GIB / HOUR,
        pressure=[0.5],
        digests=roomy.digests,
        host=stated(free_disk_bytes=5 * GIB),
    )
    assert isinstance(judge(roomy, [SHORT], strict=True).outcome(SHORT.id), Finding)
    assert isinstance(judge(full, [SHORT], strict=True).outcome(SHORT.id), Passed)


@pytest.mark.parametrize(("per_hour", "kind"), [(1.51, Finding), (1.49, Passed)])
def test_the_hour_is_short_from_one_and_a_half_capacities_on(per_hour: float, kind: type) -> None:
    seen = day("mysql 8.0.33", capacity=GIB, per_hour=int(per_hour * GIB), pressure=0.5)
    assert isinstance(judge(seen, [SHORT], strict=True).outcome(SHORT.id), kind)
    open_one = day("mysql 8.0.33", capacity=GIB, per_hour=int(1.35 * GIB), pressure=0.5)
    assert isinstance(judge(open_one, [SHORT], holding={SHORT.id}, strict=True).outcome(SHORT.id), Finding)


def test_writer_threads_are_asked_about_only_where_the_cpus_decide() -> None:
    def outcome(running: int, cpus: int | None) -> object:
        seen = scene(
            "mysql 8.0.33",
            {"innodb_log_writer_threads": "ON"},
            counters={"Innodb_log_writes": 500},
            gauges={"Threads_running": running},
            host=stated(cpus=cpus),
            deliberate=True,
        )
        return judge(seen, [THREADS], strict=True).outcome(THREADS.id)

    assert isinstance(outcome(4, 8), Finding)
    assert isinstance(outcome(4, 32), Passed)
    assert isinstance(outcome(40, None), Passed)
    asked = outcome(4, None)
    assert isinstance(asked, NotEvaluated)
    assert [one.kind for one in asked.missing] == [RemedyKind.HOST_FACT]


def test_who_writes_the_redo_is_told_by_statement_and_by_schema_and_no_reader_is_named() -> None:
    def row(schema: str, text: str, affected: int) -> dict[str, str]:
        return {
            "schema": schema,
            "digest": text,
            "text": text,
            "count": "1000",
            "total_seconds": "5",
            "rows_affected": str(affected),
            "seen_seconds": "90000",
            "idle_seconds": "0",
        }

    seen = scene(
        "mysql 8.0.33",
        redo_per_second=2 * MIB,
        inspection=inspected(
            digests=[
                row("a", "UPDATE `x` SET `n` = ?", 600),
                row("a", "INSERT INTO `y` VALUES (...)", 300),
                row("b", "DELETE FROM `z` WHERE `id` = ?", 100),
                row("b", "SELECT ?", 0),
            ]
        ),
    )
    outcome = judge(seen, [WRITERS], strict=True).outcome(WRITERS.id)
    assert isinstance(outcome, Finding)
    shares = {one.name: one.value for one in outcome.items[0].evidence if one.name.startswith("share")}
    assert shares == {
        "share of changed rows of a: UPDATE `x` SET `n` = ?": 0.6,
        "share of changed rows of a: INSERT INTO `y` VALUES (...)": 0.3,
        "share of changed rows of b: DELETE FROM `z` WHERE `id` = ?": 0.1,
        "share of changed rows in schema a": 0.9,
        "share of changed rows in schema b": 0.1,
    }


def test_without_an_inspection_who_writes_is_asked_for_and_not_passed() -> None:
    seen = scene("mysql 8.0.33", redo_per_second=2 * MIB)
    assert isinstance(judge(seen, [WRITERS], strict=True).outcome(WRITERS.id), NotEvaluated)


def test_a_log_that_is_just_made_smaller_is_not_sized_by_old_names() -> None:
    rule = rule_by_id("redo.redo-log-sized-by-old-names")
    seen = scene(
        "mysql 8.0.33",
        {"innodb_redo_log_capacity": 512 * MIB},
        redo_per_second=100 * KIB,
        gauges={"Innodb_redo_log_capacity_resized": GIB},
    )
    assert isinstance(judge(seen, [rule], strict=True).outcome(rule.id), Passed)
