"""The catalogue says what servers say: asked of each again, and shown on values whose fate it claims to know."""

from __future__ import annotations

import itertools
import resource
from dataclasses import astuple
from datetime import date
from pathlib import Path

import pytest

from advisor.mysql import catalogue, catalogue_data
from advisor.mysql.catalogue import CATALOGUE, Kind, UnknownVariable, ValueRefused
from advisor.mysql.lifecycle import (
    is_long_term,
    latest_support_release,
    next_long_term_series,
    series_of,
    support_ends_on,
)
from advisor.mysql.version import Flavor, ServerVersion, identify
from tests.servers import DISTRIBUTION_SERVER, SERVERS, RunningServer, start_server
from tests.servers.fixtures import each_server, server_params
from tests.servers.variables import COLUMNS, asking_options, grouped, tell

CATALOGUE_DATA = Path(catalogue.__file__).parent / "data"

target = each_server()


def mysql(number: str) -> ServerVersion:
    return identify(number, "MySQL Community Server - GPL")


def mariadb(number: str) -> ServerVersion:
    return identify(f"{number}-MariaDB")


def version_of(server: RunningServer) -> ServerVersion:
    variables = {str(name): str(value) for name, value in server.sql("SHOW GLOBAL VARIABLES")}
    return identify(variables["version"], variables["version_comment"], variables=variables)


# --- against the servers -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", server_params())
def test_a_server_asked_again_says_what_the_catalogue_has_of_it(name: str) -> None:
    """Regenerates this server's part of the data files. Any difference: run scripts/make_catalogue, review the diff."""
    if name not in SERVERS:
        pytest.skip(f"{name} is no server of the matrix, so that the catalogue has nothing of it")
    with start_server(name, options=asking_options(name)) as server:
        told = {one.name: astuple(one) for one in tell(server)}
        flavor = Flavor(server.flavor)
    text = (CATALOGUE_DATA / f"{flavor.value}.tsv").read_text(encoding="utf-8")
    header, *lines = [line.split("\t") for line in text.splitlines()]
    assert header == [COLUMNS[0], "servers", *COLUMNS[1:]]
    recorded = {line[0]: (line[0], *line[2:]) for line in lines if name in catalogue_data.spelled_out(line[1], flavor)}
    assert len(recorded) > 500
    different = {
        variable: (recorded.get(variable), told.get(variable))
        for variable in recorded.keys() | told.keys()
        if comparable(recorded.get(variable)) != comparable(told.get(variable))
    }
    assert different == {}


def comparable(told: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """What a server said, without the defaults that it cuts where few files may be open."""
    few_files = resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 8161
    if told is None or not few_files:
        return told
    at = COLUMNS.index("default")
    return told if not told[at].startswith("~") else (*told[:at], *told[at + 1 :])


def test_each_server_takes_at_run_time_what_the_catalogue_calls_dynamic_and_refuses_the_rest(
    target: RunningServer,
) -> None:
    driver = pytest.importorskip("MySQLdb")
    version = version_of(target)
    connection = target.connect()
    wrong = []
    try:
        cursor = connection.cursor()
        for name in CATALOGUE.names(version):
            facts = CATALOGUE.find(name, version)
            assert facts is not None
            if name.startswith("mysqlx_"):
                # The harness starts servers without the X protocol.
                continue
            scope = "SESSION" if facts.scope == "session" else "GLOBAL"
            try:
                cursor.execute(f"SET {scope} {name} = @@{scope}.{name}")
                refused = False
            except driver.Error as failure:
                refused = failure.args[0] == 1238
            if refused is facts.dynamic:
                wrong.append((name, facts.dynamic))
    finally:
        connection.close()
    assert wrong == [], wrong


#: Whole numbers that are set at run time and depend on nothing else, and that cost no memory when they are huge.
FREE = (
    "binlog_commit_wait_count binlog_expire_logs_seconds binlog_group_commit_sync_delay bulk_insert_buffer_size "
    "eq_range_index_dive_limit innodb_adaptive_flushing_lwm innodb_buffer_pool_dump_pct innodb_change_buffer_max_size "
    "innodb_flush_log_at_trx_commit innodb_flush_neighbors innodb_flushing_avg_loops innodb_idle_flush_pct "
    "innodb_lru_scan_depth innodb_max_purge_lag innodb_max_purge_lag_delay "
    "innodb_old_blocks_pct innodb_old_blocks_time innodb_online_alter_log_max_size innodb_purge_batch_size "
    "innodb_read_ahead_threshold innodb_sync_spin_loops innodb_thread_concurrency interactive_timeout "
    "join_buffer_size max_binlog_size max_heap_table_size max_prepared_stmt_count mrr_buffer_size query_cache_limit "
    "read_buffer_size read_rnd_buffer_size sort_buffer_size sync_binlog table_definition_cache temptable_max_ram "
    "thread_cache_size tmp_table_size wait_timeout"
).split()
#: The same, but far values are refused or costly: only values between the bounds are tried.
NEAR = {
    "innodb_redo_log_capacity": (123_456_789, 67_108_865),
    "innodb_log_buffer_size": (20_000_001, 33_554_431),
    "innodb_log_file_size": (123_456_789, 67_108_865),
    "key_buffer_size": (12_345_678,),
    "query_cache_size": (1_234_567,),
    "max_allowed_packet": (12_345_678,),
    "binlog_cache_size": (123_457,),
    "aria_log_file_size": (123_456_789,),
}


def test_each_server_makes_of_a_value_what_the_catalogue_says_it_will(target: RunningServer) -> None:
    version = version_of(target)
    wrong, tried = [], 0
    for name in [*FREE, *NEAR]:
        facts = CATALOGUE.find(name, version)
        if facts is None or not facts.dynamic or facts.kind is not Kind.INTEGER:
            continue
        # MariaDB 10.5 takes any innodb_thread_concurrency and goes on showing 0.
        if (facts.ignored_when or "").startswith("always"):
            continue
        before = target.value(f"@@GLOBAL.{name}")
        for value in NEAR.get(name) or tries(facts.minimum, facts.maximum):
            target.sql(f"SET GLOBAL {name} = {value}")
            tried += 1
            expected = CATALOGUE.accepted(name, version, value)
            if target.value(f"@@GLOBAL.{name}") != str(expected):
                wrong.append((name, value, expected, target.value(f"@@GLOBAL.{name}")))
        target.sql(f"SET GLOBAL {name} = {before}")
    assert wrong == [], wrong
    assert tried >= 80


def tries(minimum: float | None, maximum: float | None) -> list[int]:
    """Values at, below and above the bounds, and odd ones between them."""
    assert isinstance(minimum, int)
    assert isinstance(maximum, int)
    odd = [value for value in (7, 12_345, 1_234_567, 123_456_789) if minimum < value < maximum]
    return [
        minimum,
        *([minimum - 1] if minimum > 0 else []),
        *odd,
        maximum,
        *([maximum + 1] if maximum < 2**63 else []),
    ]


# --- between and beyond the servers ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "server", "exists"),
    [
        ("innodb_redo_log_capacity", mysql("8.0.29"), False),
        ("innodb_redo_log_capacity", mysql("8.0.30"), True),
        ("innodb_redo_log_capacity", mysql("26.7.0"), True),
        ("innodb_redo_log_capacity", mariadb("11.8.6"), False),
        ("innodb_log_file_size", mysql("8.4.3"), True),
        ("innodb_log_file_size", mysql("9.7.4"), False),
        ("innodb_log_files_in_group", mariadb("10.5.9"), True),
        ("innodb_log_files_in_group", mariadb("10.6.4"), False),
        ("innodb_thread_concurrency", mariadb("10.6.0"), False),
        ("innodb_doublewrite_pages", mysql("8.0.19"), False),
        ("innodb_doublewrite_pages", mysql("8.0.20"), True),
        ("innodb_change_buffering", mariadb("11.2.2"), False),
        ("innodb_buffer_pool_size_max", mariadb("10.11.11"), False),
        ("innodb_buffer_pool_size_max", mariadb("10.11.12"), True),
        ("innodb_buffer_pool_size_max", mariadb("11.4.5"), False),
        ("innodb_buffer_pool_size_max", mariadb("11.4.6"), True),
        ("expire_logs_days", mysql("8.4.0"), False),
        ("no_such_variable", mysql("8.0.33"), False),
    ],
)
def test_a_variable_exists_from_its_stated_boundary_on(name: str, server: ServerVersion, exists: bool) -> None:
    assert (CATALOGUE.find(name, server) is not None) is exists


@pytest.mark.parametrize(
    ("name", "server", "default"),
    [
        ("innodb_io_capacity", mysql("8.0.44"), "200"),
        ("innodb_io_capacity", mysql("8.4.2"), "10000"),
        ("innodb_io_capacity", mysql("26.7.1"), "10000"),
        ("innodb_change_buffering", mysql("8.4.0"), "none"),
        ("innodb_change_buffering", mysql("9.7.4"), "all"),
        ("innodb_change_buffering", mariadb("10.5.14"), "all"),
        ("innodb_change_buffering", mariadb("10.5.15"), "none"),
        ("innodb_max_dirty_pages_pct", mariadb("10.5.6"), "75.000000"),
        ("innodb_max_dirty_pages_pct", mariadb("10.5.7"), "90.000000"),
        ("innodb_flush_method", mariadb("10.6.3"), "O_DIRECT"),
        ("innodb_log_file_size", mariadb("10.5.1"), str(96 << 20)),
        ("innodb_snapshot_isolation", mariadb("11.4.9"), "OFF"),
        ("innodb_snapshot_isolation", mariadb("11.7.2"), "ON"),
        ("innodb_log_writer_threads", mysql("8.4.5"), None),
        ("innodb_buffer_pool_size", mysql("5.7.44"), str(128 << 20)),
    ],
)
def test_a_default_is_that_of_the_nearest_stated_boundary(name: str, server: ServerVersion, default: str) -> None:
    facts = CATALOGUE.find(name, server)
    assert facts is not None
    assert facts.default == default


@pytest.mark.parametrize(
    ("name", "server", "dynamic"),
    [
        ("innodb_log_file_size", mariadb("10.8.3"), False),
        ("innodb_log_file_size", mariadb("10.9.0"), True),
        ("innodb_log_file_size", mysql("8.0.33"), False),
        ("innodb_redo_log_capacity", mysql("8.0.30"), True),
        ("innodb_doublewrite", mysql("8.0.29"), False),
        ("innodb_doublewrite", mysql("8.0.30"), True),
        ("innodb_log_buffer_size", mysql("8.0.12"), True),
        ("innodb_log_buffer_size", mariadb("11.8.6"), False),
        ("performance_schema", mariadb("11.8.6"), False),
    ],
)
def test_a_variable_is_dynamic_from_its_stated_boundary_on(name: str, server: ServerVersion, dynamic: bool) -> None:
    facts = CATALOGUE.find(name, server)
    assert facts is not None
    assert facts.dynamic is dynamic
    assert (facts.effect == "restart") is not dynamic


@pytest.mark.parametrize(
    ("server", "verified"),
    [
        (mysql("5.6.51"), False),
        (mysql("5.7.44"), True),
        (mysql("8.0.44"), True),
        (mysql("8.4.3"), False),
        (mysql("9.7.9"), True),
        (mysql("26.7.0"), False),
        (mariadb("10.4.34"), False),
        (mariadb("10.6.20"), False),
        (mariadb("10.11.19"), True),
        (mariadb("12.3.1"), False),
    ],
)
def test_only_series_in_which_a_server_was_asked_are_verified(server: ServerVersion, verified: bool) -> None:
    facts = CATALOGUE.find("innodb_io_capacity", server)
    assert facts is not None
    assert facts.verified is verified


def test_between_two_servers_of_a_series_that_disagree_without_a_stated_boundary_nothing_is_verified() -> None:
    bounds = {}
    for number in ("8.0.12", "8.0.20", "8.0.33"):
        facts = CATALOGUE.find("innodb_spin_wait_delay", mysql(number))
        assert facts is not None
        bounds[number] = (facts.maximum, facts.verified)
    assert bounds == {"8.0.12": (2**64 - 1, True), "8.0.20": (2**64 - 1, False), "8.0.33": (1000, True)}


def test_successors_are_named_on_the_versions_that_have_them() -> None:
    assert CATALOGUE.successor("innodb_log_file_size", mysql("9.7.4")) == "innodb_redo_log_capacity"
    assert CATALOGUE.successor("innodb_log_file_size", mysql("8.0.29")) is None
    assert CATALOGUE.successor("innodb_log_file_size", mariadb("11.8.6")) is None
    facts = CATALOGUE.find("innodb_log_file_size", mysql("8.0.33"))
    assert facts is not None
    assert (facts.replaced_by, facts.ignored_when) == ("innodb_redo_log_capacity", "innodb_redo_log_capacity is set")
    cleaners = CATALOGUE.find("innodb_page_cleaners", mariadb("10.5.23"))
    assert cleaners is not None
    assert cleaners.replaced_by is None
    assert cleaners.ignored_when is not None


def test_a_successor_is_a_variable_that_the_catalogue_knows_there() -> None:
    servers = [mysql(n) for n in ("5.7.44", "8.0.44", "8.4.5", "9.7.4")]
    servers += [mariadb(n) for n in ("10.5.23", "10.6.20", "10.11.19", "11.4.7", "11.8.6")]
    named = [
        (server, successor)
        for server, variable in itertools.product(
            servers,
            CATALOGUE.names(mysql("5.7.22")) + CATALOGUE.names(mysql("8.0.33")) + CATALOGUE.names(mariadb("10.2.11")),
        )
        if (successor := CATALOGUE.successor(variable, server)) is not None
    ]
    assert len(named) > 20
    # MySQL 8.4 took the choice of how replicas work in parallel away together with its variable's second name.
    assert [(str(s), n) for s, n in named if CATALOGUE.find(n, s) is None and n != "replica_parallel_type"] == []


# --- what a value becomes ----------------------------------------------------------------------------------------


def test_numbers_are_clamped_and_rounded_down_to_the_block() -> None:
    server = mysql("8.0.33")
    assert CATALOGUE.accepted("innodb_redo_log_capacity", server, 123_456_789) == 122_683_392
    assert CATALOGUE.accepted("innodb_redo_log_capacity", server, "1G") == 1 << 30
    assert CATALOGUE.accepted("innodb_redo_log_capacity", server, 1) == 8 << 20
    assert CATALOGUE.accepted("innodb_redo_log_capacity", server, 1 << 50) == 128 << 30
    assert CATALOGUE.accepted("innodb_max_dirty_pages_pct", server, 100) == 99.999
    assert CATALOGUE.accepted("innodb_log_file_size", mariadb("10.11.19"), (100 << 20) + 5000) == (100 << 20) + 4096


def test_words_come_back_as_the_server_spells_them() -> None:
    assert CATALOGUE.accepted("innodb_adaptive_hash_index", mysql("8.0.33"), "on") is True
    assert CATALOGUE.accepted("innodb_adaptive_hash_index", mysql("8.0.33"), 0) is False
    assert CATALOGUE.accepted("innodb_doublewrite", mysql("8.0.33"), "detect_only") == "DETECT_ONLY"
    assert CATALOGUE.accepted("innodb_doublewrite", mysql("8.0.33"), False) == "OFF"
    assert CATALOGUE.accepted("binlog_format", mariadb("10.11.19"), 2) == "ROW"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("innodb_io_capacity", "fast"),
        ("innodb_io_capacity", True),
        ("innodb_io_capacity", 200.5),
        ("innodb_adaptive_flushing", "maybe"),
        ("innodb_doublewrite", "sometimes"),
        ("innodb_max_dirty_pages_pct", True),
        ("innodb_max_dirty_pages_pct", "most"),
        ("innodb_monitor_enable", 3),
    ],
)
def test_a_value_of_another_kind_is_refused_in_one_sentence_that_names_the_variable(
    name: str, value: str | float | bool
) -> None:
    with pytest.raises(ValueRefused, match=name):
        CATALOGUE.accepted(name, mysql("8.0.33"), value)


def test_a_variable_that_the_version_lacks_is_unknown() -> None:
    with pytest.raises(UnknownVariable, match=r"MySQL 9\.7\.4 has no system variable innodb_log_file_size"):
        CATALOGUE.accepted("innodb_log_file_size", mysql("9.7.4"), 1 << 30)


# --- the files themselves ----------------------------------------------------------------------------------------


def test_rows_are_sorted_and_servers_that_agree_share_one() -> None:
    for flavor in Flavor:
        lines = (CATALOGUE_DATA / f"{flavor.value}.tsv").read_text(encoding="utf-8").splitlines()[1:]
        names = [line.split("\t")[0] for line in lines]
        assert names == sorted(names)
        facts = [(line.split("\t")[0], *line.split("\t")[2:]) for line in lines]
        assert len(facts) == len(set(facts))


def test_stated_boundaries_name_variables_and_servers_that_were_asked() -> None:
    known = {line.split("\t")[0] for line in (CATALOGUE_DATA / "measured.tsv").read_text().splitlines()[1:]}
    lines = [line for line in (CATALOGUE_DATA / "between.tsv").read_text().splitlines() if not line.startswith("#")]
    for line in lines[1:]:
        name, flavor, _, as_on, _ = line.split("\t")
        told = (CATALOGUE_DATA / f"{flavor}.tsv").read_text(encoding="utf-8")
        assert as_on == "manual" or f"\n{name}\t" in told, line
        assert as_on in {"absent", "manual"} or as_on in known, line


def test_no_default_is_a_place_on_the_machine_that_was_asked() -> None:
    places = [
        (flavor.value, name, facts.default)
        for flavor in Flavor
        for name in catalogue_data.variable_names(flavor)
        for point in catalogue_data.timeline(flavor, name)
        if (facts := point.facts) is not None and facts.default is not None and "/" in facts.default
    ]
    assert len(places) > 5
    assert [place for place in places if not place[2].startswith(("./", "+ ->")) and "://" not in place[2]] == []


def test_every_recorded_variable_is_found_on_the_server_that_told_it() -> None:
    servers = {"mysql": mysql, "mariadb": mariadb}
    found = 0
    for line in (CATALOGUE_DATA / "measured.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        name, flavor, number = line.split("\t")
        server = servers[flavor](number)
        text = (CATALOGUE_DATA / f"{flavor}.tsv").read_text(encoding="utf-8")
        rows = [row.split("\t") for row in text.splitlines()[1:]]
        told = {row[0] for row in rows if name in catalogue_data.spelled_out(row[1], Flavor(flavor))}
        assert told == set(CATALOGUE.names(server))
        found += len(told)
    assert found > 5500


def test_grouping_keeps_every_answer() -> None:
    with start_server(DISTRIBUTION_SERVER) as server:
        told = tell(server)
    rows = grouped({"x-1": told, "x-2": told[1:], "x-3": told})
    assert [servers for _, servers, _ in rows] == ["1,3", *["1..3"] * (len(told) - 1)]


# --- how long series live ----------------------------------------------------------------------------------------


def test_support_ends_when_the_vendors_say() -> None:
    assert support_ends_on(mysql("8.0.44")) == date(2026, 4, 30)
    assert support_ends_on(mysql("8.4.3")) == date(2032, 4, 30)
    assert support_ends_on(mariadb("10.6.20")) == date(2026, 7, 6)
    assert support_ends_on(mysql("26.7.0")) is None
    assert support_ends_on(mysql("27.1.0")) is None
    assert series_of(mysql("27.1.0")) is None


def test_a_number_never_tells_a_long_term_series() -> None:
    assert is_long_term(mysql("9.7.4")) is True
    assert is_long_term(mysql("9.6.0")) is False
    assert is_long_term(mysql("26.7.0")) is False
    assert is_long_term(mysql("27.1.0")) is None
    assert is_long_term(mariadb("11.7.2")) is False


@pytest.mark.parametrize("flavor", list(Flavor))
def test_every_upgrade_path_ends_at_the_newest_long_term_series(flavor: Flavor) -> None:
    newest = latest_support_release(flavor)
    text = (CATALOGUE_DATA / "lifecycle.tsv").read_text(encoding="utf-8")
    series = [line.split("\t")[1] for line in text.splitlines() if line.startswith(f"{flavor.value}\t")]
    assert len(series) >= 15
    for name in series:
        server = (mysql if flavor is Flavor.MYSQL else mariadb)(f"{name}.5")
        here = series_of(server)
        assert here is not None
        if here.number >= newest.number:
            assert next_long_term_series(server) is None
            continue
        following = next_long_term_series(server)
        assert following is not None
        assert following.number > here.number
        assert following.long_term


def test_mysql_leaves_no_long_term_series_out() -> None:
    path = ["5.7"]
    while (following := next_long_term_series(mysql(f"{path[-1]}.1"))) is not None:
        path.append(following.name)
    assert path == ["5.7", "8.0", "8.4", "9.7"]
