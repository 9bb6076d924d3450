"""What other advisors say wrongly about binary logs, replicas and clusters; what is said here of the same facts."""

from __future__ import annotations

import re

import pytest

from advisor.engine.evaluation import judge
from advisor.engine.facts.replication import channel_row
from advisor.engine.observation import Observation
from advisor.engine.outcome import Finding, NotApplicable, Outcome, Passed
from advisor.engine.recommendation import proposed_variables
from advisor.engine.scene import scene
from advisor.engine.units import DAY, MIB
from advisor.mysql.catalogue import CATALOGUE
from advisor.mysql.proposal import Investigate
from advisor.rules import all_rules, rule_by_id


def said(rule: str, seen: Observation) -> Outcome:
    return judge(seen, [rule_by_id(rule)], strict=True).outcome(rule)


def advice(outcome: Outcome) -> str:
    """What a finding asks a person to do."""
    assert isinstance(outcome, Finding), outcome
    changes = [change for item in outcome.items for change in item.proposal]
    return " ".join(change.advice for change in changes if isinstance(change, Investigate))


@pytest.mark.parametrize("server", ["mariadb 10.2.11", "mariadb 10.11.18", "mariadb 11.8.6"])
def test_mysqltuner_names_replica_parallel_variables_on_mariadb_and_we_name_its_own(server: str) -> None:
    seen = scene(server, role="replica", replication=[channel_row(seconds_behind_source=600)])
    told = advice(said("replication.applier-serial", seen))
    assert "slave_parallel_threads = 4" in told
    assert "replica_parallel" not in told
    assert "STOP SLAVE" in told


def test_on_mysql_the_names_are_those_of_the_version() -> None:
    late = [channel_row(seconds_behind_source=600)]
    older = scene("mysql 5.7.22", {"slave_parallel_workers": 0}, role="replica", replication=late)
    newer = scene("mysql 9.7.4", {"replica_parallel_workers": 1}, role="replica", replication=late)
    for seen in (older, newer):
        for name in re.findall(r"SET GLOBAL (\w+)", advice(said("replication.applier-serial", seen))):
            assert CATALOGUE.find(name, seen.server) is not None, (name, seen.server)


@pytest.mark.parametrize("cpus", [1, 8, 64])
@pytest.mark.parametrize("threads", [1, 4, 32])
def test_mysqltuner_counts_cpus_for_galera_threads_and_we_count_independent_write_sets(cpus: int, threads: int) -> None:
    calm = scene(
        "mariadb 10.11.18",
        {"wsrep_on": "ON", "wsrep_slave_threads": threads},
        status={"wsrep_cert_deps_distance": "6.4"},
        counters={"wsrep_flow_control_sent": 0},
        deliberate=True,
    )
    assert isinstance(said("galera.applier-threads-few", calm), Passed), cpus
    slow = scene(
        "mariadb 10.11.18",
        {"wsrep_on": "ON", "wsrep_slave_threads": threads},
        status={"wsrep_cert_deps_distance": "6.4"},
        counters={"wsrep_flow_control_sent": 3},
        deliberate=True,
    )
    outcome = said("galera.applier-threads-few", slow)
    if threads >= 6:
        assert isinstance(outcome, Passed)
    else:
        assert isinstance(outcome, Finding)
        assert proposed_variables(outcome.items[0].proposal) == {"wsrep_slave_threads": 6}


def test_mysqltuner_flags_the_mixed_format_and_we_do_not() -> None:
    assert isinstance(said("binlog.statement-format", scene("mariadb 10.11.18", {"log_bin": "ON"})), Passed)


def test_mysqltuner_asks_for_no_lag_at_all_and_we_take_the_wanted_delay_off() -> None:
    late = [channel_row(seconds_behind_source=3610, sql_delay=3600)]
    seen = scene("mysql 8.0.33", role="replica", replication=late)
    assert isinstance(said("replication.replica-lagging", seen), Passed)
    assert isinstance(said("replication.applier-serial", seen), Passed)


def test_percona_toolkit_reads_days_only_and_we_read_seconds_too() -> None:
    """expire_logs_days = 0 is what MySQL 8 and MariaDB 10.6 show where seconds are set."""
    seen = scene("mysql 8.0.33", {"expire_logs_days": 0, "binlog_expire_logs_seconds": 30 * DAY})
    assert isinstance(said("binlog.retention-unbounded", seen), Passed)


@pytest.mark.parametrize("server", ["mysql 8.4.3", "mysql 9.7.4"])
def test_pmm_reads_a_retention_variable_that_is_gone_and_we_propose_the_one_there_is(server: str) -> None:
    outcome = said("binlog.retention-unbounded", scene(server, {"binlog_expire_logs_seconds": 0}))
    assert isinstance(outcome, Finding)
    assert proposed_variables(outcome.items[0].proposal) == {"binlog_expire_logs_seconds": 7 * DAY}


def test_pmm_flags_a_row_image_that_is_not_full_and_we_say_nothing_of_it() -> None:
    rules = [rule for rule in all_rules() if rule.topic in ("binlog", "replication")]
    seen = scene("mysql 8.0.33", {"binlog_row_image": "MINIMAL"})
    assert [one.rule for one in judge(seen, rules, strict=True).recommendations] == []


def test_percona_toolkit_flags_files_of_a_hundred_megabytes_and_we_do_not() -> None:
    seen = scene("mariadb 10.11.18", {"log_bin": "ON", "max_binlog_size": 100 * MIB})
    assert isinstance(said("binlog.files-small", seen), Passed)


@pytest.mark.parametrize(
    "server", ["mysql 5.7.22", "mysql 8.0.33", "mysql 9.7.4", "mariadb 10.11.18", "mariadb 11.8.6"]
)
def test_nothing_is_said_of_replication_and_clusters_where_there_is_none(server: str) -> None:
    for rule in all_rules():
        if rule.topic in ("replication", "galera", "group"):
            outcome = judge(scene(server, {"log_bin": "OFF"}), [rule], strict=True).outcome(rule.id)
            assert isinstance(outcome, NotApplicable), rule.id


def test_mysqltuner_takes_a_mean_since_the_start_for_flow_control_and_we_the_window() -> None:
    """wsrep_flow_control_paused says 30 % since FLUSH STATUS, weeks ago; in the window nothing was paused."""
    seen = scene(
        "mariadb 10.11.18",
        {"wsrep_on": "ON"},
        status={"wsrep_flow_control_paused": "0.3", "wsrep_local_recv_queue_avg": "40.2", "wsrep_local_recv_queue": 0},
        counters={"wsrep_flow_control_paused_ns": 0},
        deliberate=True,
    )
    assert isinstance(said("galera.flow-control-pauses", seen), Passed)
    assert isinstance(said("galera.receive-queue-long", seen), Passed)
