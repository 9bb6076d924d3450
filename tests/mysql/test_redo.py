"""The redo log's limits equal what servers report, to the byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.mysql import redo
from advisor.mysql.redo import GIB, MIB, RedoUnknown
from advisor.mysql.snapshot import RemedyKind
from advisor.mysql.version import ServerVersion, identify


def mysql(number: str) -> ServerVersion:
    return identify(number, "MySQL Community Server - GPL")


def mariadb(number: str) -> ServerVersion:
    return identify(f"{number}-MariaDB", "MariaDB Server")


#: server, capacity, files, page size, thread concurrency -> async, sync, maximum, as the servers reported them; None
#: where a server reports no such thing.
REPORTED = [
    (mysql("5.7.22"), 96 * MIB, 2, 16384, 0, 70_722_894, 75_774_529, None),
    (mysql("5.7.22"), 96 * MIB, 2, 16384, 64, 67_419_879, 72_235_585, None),
    (mariadb("10.2.11"), 96 * MIB, 2, 16384, 0, 70_722_894, 75_774_529, None),
    (mysql("8.0.12"), 96 * MIB, 2, 16384, 0, 70_722_624, 75_774_240, None),
    (mysql("8.0.33"), 100 * MIB, None, 16384, 0, 81_281_024, 87_086_592, None),
    (mysql("9.7.4"), 100 * MIB, None, 16384, 0, 81_281_024, 87_086_592, None),
    (mysql("8.0.33"), 8 * MIB, None, 16384, 0, 6_352_896, 6_806_528, None),
    (mysql("8.0.33"), 1177 * MIB, None, 16384, 0, 958_419_456, 1_026_877_952, None),
    (mariadb("10.5.23"), 48 * MIB, None, 16384, 0, 35_051_790, None, 40_059_188),
    (mariadb("10.5.23"), 96 * MIB, None, 16384, 0, None, None, 80_827_823),
    (mariadb("10.11.18"), 48 * MIB, None, 16384, 0, 35_044_532, None, 40_050_893),
    (mariadb("11.4.5"), 96 * MIB, None, 16384, 0, None, None, 80_819_529),
    (mariadb("11.8.6"), 200 * MIB, None, 16384, 0, None, None, 169_151_571),
    (mariadb("10.11.18"), 256 * MIB, None, 16384, 0, 189_625_606, None, 216_714_978),
    (mariadb("10.11.18"), 512 * MIB, None, 16384, 0, None, None, 434_147_697),
]


@pytest.mark.parametrize(
    ("server", "capacity", "files", "page", "threads", "async_point", "sync_point", "maximum"),
    REPORTED,
    ids=[f"{row[0]}-{row[1] // MIB}M-{row[4]}" for row in REPORTED],
)
def test_computed_limits_equal_what_the_server_reports(
    server: ServerVersion,
    capacity: int,
    files: int | None,
    page: int,
    threads: int,
    async_point: int | None,
    sync_point: int | None,
    maximum: int | None,
) -> None:
    limits = redo.limits(server, capacity_bytes=capacity, page_size=page, thread_concurrency=threads, files=files)
    assert async_point in (None, limits.async_point_bytes)
    assert sync_point == limits.sync_point_bytes
    assert maximum in (None, limits.maximum_bytes)
    assert limits.verified
    assert limits.reported == frozenset()


@pytest.mark.parametrize(
    ("capacity", "threads", "metric"),
    [(8 * MIB, 0, 1_022_464), (8 * MIB, 333, 3_868_304), (1177 * MIB, 0, 55_426_048)],
)
def test_the_concurrency_margin_equals_mysqls_metric(capacity: int, threads: int, metric: int) -> None:
    """log_concurrency_margin of 8.0.33, which counts data bytes; the margin counts bytes of log with block framing."""
    limits = redo.limits(mysql("8.0.33"), capacity_bytes=capacity, page_size=16384, thread_concurrency=threads)
    assert limits.margin_bytes == metric * 512 // 496


def test_writers_wait_on_mysql_at_the_maximum_less_the_margin() -> None:
    """8.0.33 under load never let the age pass 87,418,861 bytes by more than a block or two with 100 MiB."""
    limits = redo.limits(mysql("8.0.33"), capacity_bytes=100 * MIB, page_size=16384)
    assert abs(limits.effective_sync_bytes - 87_418_861) < 2_000
    assert limits.effective_async_bytes == limits.async_point_bytes - limits.margin_bytes
    assert limits.pressure(limits.effective_sync_bytes) == 1.0


@pytest.mark.parametrize("server", [mysql("5.7.22"), mysql("8.0.12"), mariadb("10.4.12")])
def test_older_servers_slow_writers_at_the_sync_point(server: ServerVersion) -> None:
    limits = redo.limits(server, capacity_bytes=96 * MIB, page_size=16384, files=2)
    assert limits.effective_sync_bytes == limits.sync_point_bytes
    assert limits.effective_async_bytes == limits.async_point_bytes


def test_mariadb_slows_writers_at_the_maximum_and_has_no_sync_point() -> None:
    limits = redo.limits(mariadb("10.11.18"), capacity_bytes=96 * MIB, page_size=16384)
    assert limits.sync_point_bytes is None
    assert limits.effective_sync_bytes == limits.maximum_bytes


def test_what_no_server_confirmed_says_so() -> None:
    limits = redo.limits(mysql("8.0.28"), capacity_bytes=96 * MIB, page_size=16384, files=2)
    assert (limits.async_point_bytes, limits.sync_point_bytes) == (75_305_984, 80_685_056)
    assert not limits.verified


VERSIONS = [mysql(n) for n in ("5.7.22", "8.0.12", "8.0.20", "8.0.33", "9.7.4", "26.7.0")]
VERSIONS += [mariadb(n) for n in ("10.2.11", "10.4.1", "10.5.23", "10.8.3", "11.8.6")]


@given(
    st.sampled_from(VERSIONS),
    st.integers(min_value=48, max_value=100_000),
    st.sampled_from([4096, 8192, 16384, 32768, 65536]),
    st.integers(min_value=0, max_value=64),
)
def test_the_points_stand_in_their_order_on_every_version(
    server: ServerVersion, mebibytes: int, page: int, threads: int
) -> None:
    capacity = mebibytes // 2 * 2 * MIB
    limits = redo.limits(server, capacity_bytes=capacity, page_size=page, thread_concurrency=threads)
    assert 0 < limits.effective_async_bytes < limits.effective_sync_bytes <= limits.maximum_bytes < capacity
    assert limits.async_point_bytes < (limits.sync_point_bytes or limits.maximum_bytes) <= limits.maximum_bytes
    if limits.hard_bytes is not None:
        assert limits.maximum_bytes < limits.hard_bytes < capacity


def test_a_redo_log_too_small_to_start_with_is_refused() -> None:
    with pytest.raises(RedoUnknown, match="refuses to start"):
        redo.limits(mysql("5.7.22"), capacity_bytes=2 * MIB, page_size=65536, files=2)
    with pytest.raises(RedoUnknown, match="refuses to start"):
        redo.limits(mariadb("10.11.18"), capacity_bytes=MIB, page_size=65536)


MYSQL_8_0_33 = {
    "innodb_redo_log_capacity": "104857600",
    "innodb_log_file_size": "50331648",
    "innodb_log_files_in_group": "2",
    "innodb_page_size": "16384",
    "innodb_thread_concurrency": "0",
    "innodb_log_buffer_size": "16777216",
}


def test_the_capacity_in_force_is_the_resized_one() -> None:
    server = mysql("8.0.33")
    status = {"Innodb_redo_log_capacity_resized": "1073741824"}
    assert redo.capacity_in_force(server, MYSQL_8_0_33, status) == GIB
    assert redo.capacity_in_force(server, MYSQL_8_0_33, {}) == 100 * MIB
    with pytest.raises(RedoUnknown, match="innodb_redo_log_capacity was not read"):
        redo.capacity_in_force(server, {}, {})


def test_the_capacity_of_older_servers_is_file_size_times_files() -> None:
    variables = {"innodb_log_file_size": str(48 * MIB), "innodb_log_files_in_group": "3"}
    assert redo.capacity_in_force(mysql("5.7.22"), variables) == 144 * MIB
    assert redo.capacity_in_force(mariadb("10.4.1"), variables) == 144 * MIB
    assert redo.capacity_in_force(mariadb("10.5.23"), variables) == 48 * MIB


def test_what_the_server_reports_wins_and_is_named() -> None:
    server = mysql("8.0.33")
    metrics = {"log_max_modified_age_async": 81_281_024, "log_max_modified_age_sync": 87_086_592}
    computed = redo.limits_in_force(server, MYSQL_8_0_33)
    reported = redo.limits_in_force(server, MYSQL_8_0_33, {}, metrics)
    assert computed.origin == "computed"
    assert reported.origin == "reported"
    assert reported.reported == {"async_point_bytes", "sync_point_bytes"}
    assert reported.effective_sync_bytes == computed.effective_sync_bytes
    moved = redo.limits_in_force(server, MYSQL_8_0_33, {}, {"log_max_modified_age_sync": 60_000_000})
    assert moved.sync_point_bytes == 60_000_000
    assert moved.effective_sync_bytes == 64_000_000 - moved.margin_bytes


def test_a_metric_that_is_zero_was_not_reported() -> None:
    limits = redo.limits_in_force(
        mysql("8.0.33"), MYSQL_8_0_33, {}, {"log_concurrency_margin": 0, "log_max_modified_age_sync": 0}
    )
    assert limits.reported == frozenset()


def test_mariadbs_maximum_age_is_taken_from_its_status() -> None:
    variables = {"innodb_log_file_size": str(48 * MIB), "innodb_page_size": "16384"}
    limits = redo.limits_in_force(mariadb("10.11.18"), variables, {"Innodb_checkpoint_max_age": "40000000"})
    assert limits.maximum_bytes == limits.effective_sync_bytes == 40_000_000
    assert limits.async_point_bytes == 35_000_000
    assert limits.origin == "reported"


def test_percona_servers_maximum_means_another_point_on_8_and_is_not_taken_for_it() -> None:
    server = identify("8.4.6-6", "Percona Server (GPL), Release 6, Revision d4d8bb1")
    limits = redo.limits_in_force(server, MYSQL_8_0_33, {"Innodb_checkpoint_max_age": 87_417_344})
    assert limits.reported == frozenset()
    assert limits.effective_sync_bytes // 512 * 512 == 87_417_344


def test_another_capacity_is_asked_about_without_what_is_reported_now() -> None:
    server = mysql("8.0.33")
    metrics = {"log_max_modified_age_sync": 87_086_592}
    after = redo.limits_in_force(server, MYSQL_8_0_33, {}, metrics, capacity_bytes=GIB)
    assert after == redo.limits(server, capacity_bytes=GIB, page_size=16384)


@pytest.mark.parametrize(
    ("status", "metrics", "text", "expected"),
    [
        (
            {"Innodb_redo_log_current_lsn": "2000", "Innodb_redo_log_checkpoint_lsn": "500"},
            {},
            None,
            (2000, 500, 1500, "status"),
        ),
        (
            {"Innodb_lsn_current": 2000, "Innodb_lsn_last_checkpoint": 500, "Innodb_checkpoint_age": 1500},
            {},
            None,
            (2000, 500, 1500, "status"),
        ),
        ({}, {"log_lsn_current": 2000, "log_lsn_last_checkpoint": 1981}, None, (2000, 1981, 19, "metrics")),
        (
            {"Innodb_redo_log_current_lsn": "500", "Innodb_redo_log_checkpoint_lsn": "512"},
            {},
            None,
            (500, 512, 0, "status"),
        ),
    ],
)
def test_the_age_is_read_from_the_cheapest_source_that_tells(
    status: dict[str, str | int], metrics: dict[str, int], text: str | None, expected: tuple[int, int, int, str]
) -> None:
    reading = redo.reading(mysql("8.0.33"), status=status, metrics=metrics, innodb_status=text)
    assert reading is not None
    assert (reading.lsn, reading.checkpoint_lsn, reading.age_bytes, reading.source) == expected


INNODB_STATUS = """
---
LOG
---
Log sequence number 1980447
Log flushed up to   1980447
Pages flushed up to 1980447
Last checkpoint at  1980428
0 pending log flushes, 0 pending chkp writes
"""
INNODB_STATUS_8_0 = """
---
LOG
---
Log sequence number          30265785
Log buffer assigned up to    30265785
Log buffer completed up to   30265785
Log written up to            30265785
Log flushed up to            30265785
Added dirty pages up to      30265785
Pages flushed up to          30265785
Last checkpoint at           29974540
"""


def test_old_servers_are_read_from_their_status_text() -> None:
    reading = redo.reading(mysql("5.7.22"), status={}, innodb_status=INNODB_STATUS)
    assert reading == redo.RedoReading(1_980_447, 1_980_428, 19, "innodb_status")
    assert redo.parse_innodb_status(INNODB_STATUS_8_0) == (30_265_785, 29_974_540)
    assert redo.parse_innodb_status("---\nBUFFER POOL AND MEMORY\n---\n") is None
    assert redo.parse_innodb_status("Log sequence number x\nLast checkpoint at 5\n") is None


def test_where_nothing_tells_the_grant_is_named() -> None:
    server = mysql("5.7.22")
    assert redo.reading(server, status={"Uptime": 5}) is None
    remedy = redo.missing_reading(server, "tidemark@localhost")
    assert remedy.kind is RemedyKind.GRANT
    assert remedy.text == "GRANT PROCESS ON *.* TO 'tidemark'@'localhost'"


def test_aurora_has_no_redo_log_of_its_own() -> None:
    aurora = identify("8.0.32", "Source distribution", variables={"aurora_version": "3.05.2"})
    assert not redo.has_redo_log(aurora)
    assert redo.missing_reading(aurora).kind is RemedyKind.VERSION
    with pytest.raises(RedoUnknown, match="no redo capacity to set"):
        redo.variable_changes_for_capacity(aurora, MYSQL_8_0_33, GIB)


@pytest.mark.parametrize(
    ("server", "variables", "capacity", "expected"),
    [
        (mysql("8.0.33"), MYSQL_8_0_33, 4 * GIB, {"innodb_redo_log_capacity": 4 * GIB}),
        (mysql("8.0.33"), MYSQL_8_0_33, 123_456_789, {"innodb_redo_log_capacity": 118 * MIB}),
        (mysql("8.0.33"), MYSQL_8_0_33, 1, {"innodb_redo_log_capacity": 8 * MIB}),
        (mysql("8.0.33"), MYSQL_8_0_33, 900 * GIB, {"innodb_redo_log_capacity": 128 * GIB}),
        (mysql("5.7.22"), {"innodb_log_files_in_group": "2"}, GIB + 1, {"innodb_log_file_size": 513 * MIB}),
        (mysql("5.7.22"), {"innodb_log_files_in_group": "3"}, GIB, {"innodb_log_file_size": 342 * MIB}),
        (mysql("5.7.22"), {"innodb_log_files_in_group": "3"}, 900 * GIB, {"innodb_log_file_size": 174_762 * MIB}),
        (mariadb("10.2.11"), {"innodb_log_files_in_group": "2"}, GIB, {"innodb_log_file_size": 512 * MIB}),
        (mariadb("10.5.23"), {"innodb_log_files_in_group": "1"}, GIB, {"innodb_log_file_size": GIB}),
        (mariadb("11.4.5"), {"innodb_log_buffer_size": "67108864"}, 1, {"innodb_log_file_size": 64 * MIB}),
    ],
)
def test_a_capacity_becomes_the_variable_of_that_very_version(
    server: ServerVersion, variables: dict[str, str], capacity: int, expected: dict[str, int]
) -> None:
    assert redo.variable_changes_for_capacity(server, variables, capacity) == expected


@given(st.sampled_from(VERSIONS), st.integers(min_value=1, max_value=400 * GIB), st.integers(min_value=2, max_value=8))
def test_setting_a_capacity_gives_at_least_that_capacity_within_bounds(
    server: ServerVersion, capacity: int, count: int
) -> None:
    variables = {**MYSQL_8_0_33, "innodb_log_files_in_group": str(count)}
    changes = redo.variable_changes_for_capacity(server, variables, capacity)
    after = redo.capacity_after(server, variables, {"Innodb_redo_log_capacity_resized": "104857600"}, changes)
    low, high = redo.capacity_bounds(server, variables)
    assert min(capacity, high - count * MIB) <= after <= high
    assert after >= low


def test_no_change_leaves_the_capacity_in_force() -> None:
    status = {"Innodb_redo_log_capacity_resized": "1073741824"}
    assert redo.capacity_after(mysql("8.0.33"), MYSQL_8_0_33, status, {"innodb_io_capacity": 400}) == GIB


def test_which_servers_resize_online() -> None:
    online = [mysql("8.0.33"), mysql("26.7.0"), mariadb("10.9.1"), mariadb("11.8.6")]
    restart = [mysql("5.7.22"), mysql("8.0.29"), mariadb("10.2.11"), mariadb("10.5.23"), mariadb("10.8.3")]
    assert [redo.resizable_online(server) for server in online] == [True] * 4
    assert [redo.resizable_online(server) for server in restart] == [False] * 5
