"""Faults of other advisors that concern no topic alone: flavors, versions, defaults, SQL that does not run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest

from advisor.engine.advice import prepare
from advisor.engine.evaluation import judge
from advisor.engine.observation import Observation
from advisor.engine.outcome import Finding, NotApplicable, Passed
from advisor.engine.recommendation import Recommendation, proposed_variables
from advisor.engine.scene import default_variables, inspected, scene, server_named, stated
from advisor.engine.units import DAY, GIB, MIB
from advisor.mysql import redo, series
from advisor.mysql.catalogue import CATALOGUE, Kind
from advisor.mysql.proposal import Investigate, SchemaAdvice, SetVariable, UpgradeAdvice
from advisor.mysql.statements import BadProposal, render
from advisor.mysql.values import same
from advisor.mysql.version import Distribution, Flavor, identify
from advisor.rules import all_rules, rule_by_id
from collector.collect import read_snapshot
from collector.connection import connect
from collector.inspection import read_inspection
from collector.secret import Secret
from collector.target import Target
from tests.servers import DISTRIBUTION_SERVER, start_server

VERSIONS = (
    "mysql 5.7.22",
    "mysql 8.0.12",
    "mysql 8.0.33",
    "mysql 8.4.3",
    "mysql 9.7.4",
    "mysql 26.7.0",
    "percona 8.0.36",
    "mariadb 10.2.11",
    "mariadb 10.5.23",
    "mariadb 10.6.20",
    "mariadb 10.11.18",
    "mariadb 11.4.5",
    "mariadb 11.8.6",
    "mariadb 12.3.1",
)
MARIADB = tuple(one for one in VERSIONS if one.startswith("mariadb"))


def recommended(seen: Observation) -> tuple[Recommendation, ...]:
    return judge(seen, all_rules(), strict=True).recommendations


@cache
def every_example() -> tuple[tuple[str, Observation, Finding], ...]:
    """What each rule of ours says of each of its examples: rule, server, finding."""
    return tuple(
        (rule.id, example.seen, outcome)
        for rule in all_rules()
        for example in rule.examples
        if isinstance(outcome := judge(example.seen, [rule], strict=True).outcome(rule.id), Finding)
    )


def proposals() -> Iterator[tuple[str, Observation, str, object]]:
    for rule, seen, finding in every_example():
        for item in finding.items:
            for name, value in proposed_variables(item.proposal).items():
                yield rule, seen, name, value


# --- 2: an audit that changes the server ---


def test_mysqltuner_sets_a_variable_while_it_audits_and_we_only_read() -> None:
    """Fault 2, on a server with a general log: collection and inspection read, and change nothing."""
    options = {"general_log": "ON", "innodb_stats_on_metadata": "ON", "performance_schema": "ON"}
    with start_server(DISTRIBUTION_SERVER, options=options) as server:
        question = "SHOW GLOBAL VARIABLES WHERE Variable_name NOT IN ('timestamp', 'gtid_binlog_state')"
        before = server.sql(question)
        account = Target(
            user=server.user,
            password=Secret(server.password),
            host="127.0.0.1",
            port=server.port,
            unrestricted=True,
        )
        with connect(account) as connection:
            read_inspection(connection, read_snapshot(connection))
        assert server.sql(question) == before
        assert ("innodb_stats_on_metadata", "ON") in [tuple(row) for row in before]
        asked = [
            line.split("/* tidemark */ ", 1)[1]
            for line in server.general_log().splitlines()
            if "/* tidemark */ " in line
        ]
    assert len(asked) > 20
    reading = re.compile(r"(SET STATEMENT max_statement_time=[\d.]+ FOR )?(SELECT|SHOW) |SET SESSION ")
    assert [line for line in asked if not reading.match(line)] == []


# --- 7, 8: names and flavors ---


def test_mysqltuner_tells_mariadb_to_set_replica_parallel_workers_and_we_name_what_the_server_has() -> None:
    """Fault 7: every variable that any rule proposes exists on the very server it is proposed to."""
    named = [(rule, seen, name) for rule, seen, name, _ in proposals()]
    assert len(named) > 100
    for rule, seen, name in named:
        assert CATALOGUE.find(name, seen.server) is not None, (rule, seen.server.text, name)
        if seen.server.is_mariadb:
            assert not name.startswith("replica_"), (rule, name)
    appliers = {name for rule, seen, name in named if rule == "replication.applier-serial" and seen.server.is_mariadb}
    assert appliers <= {"slave_parallel_threads"}


@pytest.mark.parametrize(
    ("version", "comment"),
    [
        ("10.11.6-MariaDB", "mariadb.org binary distribution"),
        ("10.11.6-MariaDB-log", "MariaDB Server"),
        ("10.11.6-MariaDB-0+deb12u1", "Debian 12"),
        ("10.11.6", "mariadb.org binary distribution"),
    ],
)
def test_mysqltuner_forgets_that_it_is_mariadb_and_we_know_every_spelling(version: str, comment: str) -> None:
    """Fault 8: a suffix that is cut off does not make another product."""
    server = identify(version, comment)
    assert (server.flavor, server.number) == (Flavor.MARIADB, (10, 11, 6))


@pytest.mark.parametrize("server", ["mysql 10.1.0", "mysql 26.7.0", "mysql 26.10.0"])
def test_peers_take_every_version_from_ten_on_for_mariadb_and_we_go_by_what_the_server_says(server: str) -> None:
    known = server_named(server)
    assert known.is_mysql
    outcome = judge(scene(server), all_rules(), strict=True).outcome("version.version-out-of-support")
    assert not isinstance(outcome, Finding)
    assert isinstance(
        judge(scene(server), all_rules(), strict=True).outcome("querycache.query-cache-contended"), NotApplicable
    )


# --- 9, 10: what is executed ---


def test_mysqltuner_prints_sql_that_no_server_takes_and_ours_is_typed() -> None:
    """Fault 9: no unit after a number, no sentence, no name with a hyphen, no value that is there already."""
    one_statement = re.compile(
        r"SET (GLOBAL|PERSIST|PERSIST_ONLY) `?[a-z0-9_]+`? = ('[^']*'|-?\d+(\.\d+)?|ON|OFF|DEFAULT);?"
    )
    counted = 0
    for rule in all_rules():
        for example in rule.examples:
            judgement = judge(example.seen, [rule], strict=True)
            for one in prepare(example.seen, judgement).recommendations:
                for text in one.rendered.sql:
                    if text.startswith("SET GLOBAL innodb_monitor_"):
                        continue
                    assert one_statement.fullmatch(text), (rule.id, text)
                    counted += 1
                for change in one.rendered.changes:
                    if change.kind == "variable":
                        assert not same(change.current, change.proposed), (rule.id, change)
    assert counted > 100


@pytest.mark.parametrize(
    "name",
    ["max_connections = 1; DROP TABLE accounts; --", "max_connections`", "skip-name-resolve", "no_such_variable"],
)
def test_mysqltuner_executes_whatever_begins_with_set_global_and_we_write_known_names_only(name: str) -> None:
    """Fault 10: what is no variable of that server becomes no statement."""
    server = server_named("mysql 8.0.33")
    with pytest.raises(BadProposal):
        render([SetVariable(name, 1)], server, default_variables(server))


@pytest.mark.parametrize("value", ["1; DROP TABLE accounts", "1 or 2", "2.0G", "'"])
def test_mysqltuner_passes_values_on_as_they_come_and_we_take_typed_ones(value: str) -> None:
    """Faults 9 and 10: a number that is no number is refused before a server sees it."""
    server = server_named("mysql 8.0.33")
    with pytest.raises(BadProposal):
        render([SetVariable("innodb_flush_neighbors", value)], server, default_variables(server))


# --- 11, 12: since the start, and variables that are gone ---


def test_mysqltuner_divides_all_data_by_the_uptime_and_a_restart_changes_nothing_we_say() -> None:
    """Fault 11: the same server, the same rates, nine days and ninety days after its start."""
    table = {"schema": "shop", "name": "orders", "engine": "InnoDB", "rows": "90000000"}
    said = []
    for uptime in (9 * DAY, 90 * DAY):
        seen = scene(
            "mysql 8.0.33",
            {"innodb_redo_log_capacity": 8 * MIB},
            redo_per_second=2 * MIB,
            pressure=[1.0],
            counters={"Questions": 900, "Threads_created": 40, "Connections": 60, "Select_full_join": 3},
            uptime_seconds=uptime,
            inspection=inspected(tables=[table]),
            deliberate=True,
        )
        said.append([(one.key, one.variables) for one in recommended(seen)])
    assert said[0] == said[1] != []


@pytest.mark.parametrize(
    ("here", "name", "value"),
    [
        ("mysql 5.7.22", "query_cache_size", "67108864"),
        ("mysql 8.0.33", "default_authentication_plugin", "mysql_native_password"),
        ("mysql 8.0.33", "expire_logs_days", "7"),
    ],
)
def test_mysqltuner_looks_for_removed_variables_where_they_cannot_be_and_we_before_the_upgrade(
    here: str, name: str, value: str
) -> None:
    """Fault 12: a server that runs does not have what was removed; what is set may be gone in the next."""
    seen = scene(here, {name: value}, origins={name: "option_file"})
    outcome = judge(seen, all_rules(), strict=True).outcome("version.settings-refused-by-next")
    assert isinstance(outcome, Finding)
    assert name in str(outcome.items[0])


def test_mysqltuner_removes_the_default_plugin_at_nine_and_it_is_gone_at_eight_four() -> None:
    """Fault 6, by the catalogue: there up to 8.0, and from 8.4 on not."""
    name = "default_authentication_plugin"
    assert CATALOGUE.find(name, server_named("mysql 8.0.33")) is not None
    assert CATALOGUE.find(name, server_named("mysql 8.4.3")) is None


# --- 14, 15, 17, 21: impossible, contradictory, for ever ---


@pytest.mark.parametrize("threads", [1, 2, 4, 8, 12, 16, 32, 64])
def test_mysqltuner_wants_galeras_appliers_at_one_and_at_four_times_the_cpus_and_we_are_satisfied(threads: int) -> None:
    """Fault 14: there is a number of threads after which nothing is said, and none is ever lowered."""

    def seen(count: int) -> Observation:
        return scene(
            "mariadb 10.11.18",
            {"wsrep_on": "ON", "wsrep_slave_threads": count, "innodb_autoinc_lock_mode": 2},
            status={"wsrep_cert_deps_distance": "12.7", "wsrep_cluster_size": 3, "wsrep_cluster_status": "Primary"},
            counters={"wsrep_flow_control_sent": 1},
            host=stated(cpus=8),
            deliberate=True,
        )

    said = recommended(seen(threads))
    assert any("wsrep_slave_threads" in one.variables for one in said) == (threads < 12)
    for one in said:
        wanted = one.variables.get("wsrep_slave_threads")
        if wanted is not None:
            assert int(wanted) > threads
            again = [other.variables for other in recommended(seen(int(wanted)))]
            assert not any("wsrep_slave_threads" in other for other in again)


def test_mysqltuner_wants_innodb_skipped_where_no_table_uses_it_and_we_never_do() -> None:
    """Fault 15: no proposal of any rule, and nothing for a server with MyISAM tables only, switches InnoDB off."""
    assert not [name for _, _, name, _ in proposals() if name in ("innodb", "skip_innodb", "have_innodb")]
    for rule, _, finding in every_example():
        for item in finding.items:
            for change in item.proposal:
                if isinstance(change, Investigate | SchemaAdvice | UpgradeAdvice):
                    assert "skip-innodb" not in change.advice, rule
                    assert "skip_innodb" not in change.advice, rule
    table = {"schema": "shop", "name": "old", "engine": "MyISAM", "rows": "10"}
    for one in recommended(scene("mariadb 10.11.18", inspection=inspected(tables=[table]), deliberate=True)):
        assert not any("innodb" in name for name in one.variables)


@pytest.mark.parametrize("size", [8 * MIB, 32 * MIB, 64 * MIB, 128 * MIB, GIB])
@pytest.mark.parametrize("used", [0, 100, 6000])
def test_phpmyadmin_and_mysqltuner_want_the_key_buffer_at_64m_and_at_0_and_we_settle(size: int, used: int) -> None:
    """Fault 21: applied, what is said of the key buffer is never taken back."""

    def proposed(present: int) -> int | None:
        seen = scene(
            "mysql 8.0.33",
            {"key_buffer_size": present, "key_cache_block_size": 1024},
            gauges={"Key_blocks_used": used, "Key_blocks_unused": max(0, present // 1024 - used)},
            counters={"Key_read_requests": 5, "Key_write_requests": 0, "Key_reads": 0},
            deliberate=True,
        )
        values = [
            int(one.variables["key_buffer_size"]) for one in recommended(seen) if "key_buffer_size" in one.variables
        ]
        return values[0] if values else None

    wanted = proposed(size)
    assert (wanted is not None) == (size == GIB)
    assert wanted != 0
    assert wanted is None or proposed(wanted) is None


# --- 23, 24, 26: PMM and the bands of age ---


def test_pmm_counts_a_retention_of_zero_as_too_short_and_reads_a_variable_that_is_gone_and_we_tell_for_ever() -> None:
    """Fault 23: 0 means that files stay for ever, under the name that the version has."""
    for server, name in (("mysql 8.4.3", "binlog_expire_logs_seconds"), ("mysql 5.7.22", "expire_logs_days")):
        seen = scene(server, {"log_bin": "ON", name: 0})
        judgement = judge(seen, all_rules(), strict=True)
        assert not isinstance(judgement.outcome("binlog.retention-short"), Finding)
        outcome = judgement.outcome("binlog.retention-unbounded")
        assert isinstance(outcome, Finding)
        assert proposed_variables(outcome.items[0].proposal).keys() == {name}


@pytest.mark.parametrize("server", ["mysql 5.7.22", "mysql 8.0.12"])
@pytest.mark.parametrize("files", [2, 4, 8])
def test_shell_for_vs_code_multiplies_the_age_by_the_files_and_we_divide_by_all_of_them(
    server: str, files: int
) -> None:
    """Fault 26: the same capacity in more files is the same age; with two files theirs was four times too high."""
    capacity = 512 * MIB
    variables = {"innodb_log_file_size": capacity // files, "innodb_log_files_in_group": files}
    seen = scene(server, variables, pressure=[0.5], redo_per_second=MIB)
    assert redo.capacity_in_force(seen.server, seen.snapshot.variables, seen.snapshot.status) == capacity
    limit = redo.limits_in_force(seen.server, seen.snapshot.variables, seen.snapshot.status).effective_sync_bytes
    age = float(seen.snapshot.derived[series.CHECKPOINT_AGE])
    assert 0.49 < age / limit < 0.51
    assert float(seen.snapshot.derived[series.PRESSURE]) == pytest.approx(age / limit, abs=0.01)


def test_dashboards_stay_empty_from_eight_thirty_on_and_our_age_needs_no_counter_there() -> None:
    """Fault 24: no counter of innodb_metrics is on, no old variable is there, and the age and its limit are known."""
    for server in ("mysql 8.0.33", "mysql 9.7.4", "mariadb 10.11.18"):
        seen = scene(server, pressure=[0.6], redo_per_second=MIB, without=["innodb_log_files_in_group"])
        assert not seen.snapshot.metrics
        assert {series.CHECKPOINT_AGE, series.PRESSURE, series.CAPACITY} <= set(seen.snapshot.derived)
        fired = {one.rule for one in recommended(seen)}
        assert "observability.checkpoint-age-counters-off" not in fired


# --- 17, 27: defaults ---

#: What is said of a server that nobody configured: its age, what an upgrade will change, and one default that lets the
#: files of clients be asked for (ON in MySQL 5.7 and MariaDB).
SAID_OF_DEFAULTS = {
    "version.version-out-of-support",
    "version.changed-defaults-matter",
    "security.local-infile-on",
}


@pytest.mark.parametrize("server", VERSIONS)
def test_percona_toolkit_flags_defaults_of_newer_versions_and_we_flag_none(server: str) -> None:
    """Fault 27: from settings alone nothing is proposed to a server that runs on its defaults."""
    said = recommended(scene(server, deliberate=True))
    assert {one.rule for one in said} <= SAID_OF_DEFAULTS
    assert [one.variables for one in said if one.variables] == []


def test_percona_toolkits_rules_that_cannot_fire_have_none_beside_them_here() -> None:
    """Fault 27, the other half: each rule fires on an example of a version that it applies to."""
    firing = {rule for rule, _, _ in every_example()}
    assert firing == {rule.id for rule in all_rules()}


@pytest.mark.parametrize("server", MARIADB)
def test_peers_advise_what_newer_mariadb_ignores_and_we_do_not(server: str) -> None:
    """Files in group, pool instances and page cleaners have no effect from 10.5 on."""
    known = server_named(server)
    ignored = {"innodb_log_files_in_group", "innodb_buffer_pool_instances", "innodb_page_cleaners"}
    for rule, seen, name, _ in proposals():
        if seen.server.is_mariadb and seen.server.number >= (10, 5, 0):
            assert name not in ignored, (rule, seen.server.text)
    for rule_id in ("memory.buffer-pool-instances-misfit", "flushing.page-cleaners-fewer-than-instances"):
        assert rule_by_id(rule_id).applies_to.contains(known) == (known.number < (10, 5, 0))


# --- what their users report ---


def test_tuners_raise_per_session_buffers_and_no_proposal_of_ours_raises_one() -> None:
    """join_buffer_size and its like are only ever lowered, by any rule on any example."""
    buffers = ("join_buffer_size", "sort_buffer_size", "read_buffer_size", "read_rnd_buffer_size")
    lowered = 0
    for rule, seen, name, value in proposals():
        if name in buffers:
            assert int(str(value)) < int(seen.snapshot.variables[name]), rule
            lowered += 1
    assert lowered


def test_the_memory_that_is_told_is_not_all_buffers_times_all_connections() -> None:
    """MySQLTuner told of 8,097 % of memory: a pool of 1 GiB and 2,000 connections with wide buffers, on 16 GiB."""
    seen = scene(
        "mysql 8.0.33",
        {
            "innodb_buffer_pool_size": GIB,
            "max_connections": 2000,
            "join_buffer_size": 8 * MIB,
            "sort_buffer_size": 8 * MIB,
        },
        status={"Max_used_connections": 60, "Threads_connected": 20, "Threads_running": 3},
        host=stated(memory_bytes=16 * GIB),
        deliberate=True,
    )
    outcome = judge(seen, all_rules(), strict=True).outcome("memory.buffer-pool-exceeds-memory")
    assert isinstance(outcome, Passed)


def test_releem_sets_an_integer_to_70_000000_and_our_integers_are_whole() -> None:
    checked = 0
    for rule, seen, name, value in proposals():
        known = CATALOGUE.find(name, seen.server)
        assert known is not None
        if known.kind is Kind.INTEGER:
            assert isinstance(value, int), (rule, name, value)
            assert not isinstance(value, bool), (rule, name, value)
            checked += 1
    assert checked > 50


@pytest.mark.parametrize("server", VERSIONS)
def test_percona_toolkit_compares_values_that_show_cuts_and_no_list_of_flags_is_as_long(server: str) -> None:
    """MySQL's SHOW VARIABLES ends values after 1,024 characters (tried on 8.0 and 9.7; MariaDB's does not)."""
    defaults = default_variables(server_named(server))
    assert len(defaults["optimizer_switch"]) < 1024
    assert len(defaults["sql_mode"]) < 1024


def test_tuners_tell_a_managed_server_to_set_what_its_provider_sets_and_we_give_parameters_only() -> None:
    """A managed server has neither an option file nor SET GLOBAL for its people, and a list of CVEs is not theirs."""
    seen = scene("mysql 8.0.33", {"innodb_redo_log_capacity": 32 * MIB}, redo_per_second=2 * MIB, pressure=[1.0])
    identity = seen.snapshot.identity
    version = replace(identity.version, distribution=Distribution.RDS)
    managed = replace(seen, snapshot=replace(seen.snapshot, identity=replace(identity, version=version)))
    advice = prepare(managed, judge(managed, all_rules(), strict=True)).recommendations
    assert any(one.rendered.parameters for one in advice)
    for one in advice:
        assert (one.rendered.sql, one.rendered.option_file) == ((), ())


def test_releem_sets_a_flush_method_that_the_machine_lacks_and_ours_is_one_that_the_server_knows() -> None:
    """What is proposed for innodb_flush_method is a choice of that very version, by the catalogue."""
    methods = [(seen, str(value)) for _, seen, name, value in proposals() if name == "innodb_flush_method"]
    assert methods
    for seen, value in methods:
        known = CATALOGUE.find("innodb_flush_method", seen.server)
        assert known is not None
        assert value in known.choices or not known.choices
