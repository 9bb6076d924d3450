"""Durability by settings and by what is written: what is worse than it looks, and what is no fault at all."""

from __future__ import annotations

from dataclasses import replace

import pytest

from advisor.engine.evaluation import judge
from advisor.engine.observation import Observation
from advisor.engine.outcome import Finding, NotApplicable, NotEvaluated, Passed, Severity
from advisor.engine.recommendation import proposed_variables
from advisor.engine.scene import scene
from advisor.engine.units import HOUR
from advisor.mysql.version import Distribution
from advisor.rules import all_rules, rule_by_id

DURABILITY = [rule for rule in all_rules() if rule.topic == "durability"]
WRITES = {"Com_insert": 2.0, "Com_update": 0.0, "Com_delete": 0.0}


def run_by(seen: Observation, distribution: Distribution) -> Observation:
    version = replace(seen.server, distribution=distribution)
    return replace(seen, snapshot=replace(seen.snapshot, identity=replace(seen.snapshot.identity, version=version)))


@pytest.mark.parametrize(
    "server", ["mysql 5.7.22", "mysql 8.0.33", "mysql 9.7.4", "mariadb 10.2.11", "mariadb 10.11.18", "mariadb 11.8.6"]
)
def test_a_server_with_the_defaults_of_its_version_that_is_read_only_hears_nothing(server: str) -> None:
    """MariaDB's sync_binlog = 0 is of no meaning without a binary log, and nothing is written that could be lost."""
    counters = {name: 0.0 for name in WRITES} | {"Innodb_row_lock_waits": 0.0}
    seen = scene(server, counters=counters, deliberate=True)
    assert [one.rule for one in judge(seen, DURABILITY, strict=True).recommendations] == []


@pytest.mark.parametrize(
    "rule",
    ["doublewrite-off", "page-checksums-off", "log-checksums-off", "force-recovery-set", "fast-shutdown-skips-flush"],
)
def test_what_auroras_storage_does_itself_is_no_question_there(rule: str) -> None:
    careless = {"innodb_doublewrite": "OFF", "innodb_checksum_algorithm": "none", "innodb_log_checksums": "OFF"}
    careless |= {"innodb_force_recovery": "1", "innodb_fast_shutdown": "2"}
    seen = scene("mysql 8.0.33", careless)
    one = rule_by_id(f"durability.{rule}")
    assert isinstance(judge(seen, [one], strict=True).outcome(one.id), Finding)
    aurora = run_by(seen, Distribution.AURORA)
    assert isinstance(judge(aurora, [one], strict=True).outcome(one.id), NotApplicable)


@pytest.mark.parametrize(
    ("value", "severity"),
    [("OFF", Severity.CRITICAL), ("DETECT_ONLY", Severity.WARNING), ("DETECT_AND_RECOVER", None), ("ON", None)],
)
def test_pages_that_are_only_watched_are_half_protected(value: str, severity: Severity | None) -> None:
    rule = rule_by_id("durability.doublewrite-off")
    found = judge(scene("mysql 8.0.33", {"innodb_doublewrite": value}), [rule], strict=True).recommendations
    assert [one.severity for one in found] == ([severity] if severity else [])


def test_no_binary_log_is_found_after_an_hour_of_writes_and_not_before() -> None:
    rule = rule_by_id("durability.binary-log-off")
    for seconds, kind in ((600, NotEvaluated), (HOUR, Finding)):
        seen = scene("mariadb 10.11.18", counters=WRITES, seconds=seconds, every=60)
        assert isinstance(judge(seen, [rule], strict=True).outcome(rule.id), kind)


def test_an_open_finding_of_a_missing_binary_log_outlives_a_quieter_hour() -> None:
    rule = rule_by_id("durability.binary-log-off")
    for rate, kind in ((0.7, Finding), (0.4, Passed)):
        seen = scene("mariadb 10.11.18", counters={**WRITES, "Com_insert": rate}, deliberate=True)
        assert isinstance(judge(seen, [rule], holding={rule.id}, strict=True).outcome(rule.id), kind)
        assert isinstance(judge(seen, [rule], strict=True).outcome(rule.id), Passed)


def test_a_cloud_that_takes_backups_itself_is_not_asked_for_a_binary_log() -> None:
    rule = rule_by_id("durability.binary-log-off")
    seen = scene("mysql 8.0.33", {"log_bin": "OFF"}, counters=WRITES, deliberate=True)
    assert isinstance(judge(seen, [rule], strict=True).outcome(rule.id), Finding)
    assert isinstance(judge(run_by(seen, Distribution.RDS), [rule], strict=True).outcome(rule.id), NotApplicable)


def test_all_of_it_at_once_is_ended_by_its_own_proposals() -> None:
    """One value for each variable, and nothing left to say of what can be set."""
    careless: dict[str, object] = {
        "innodb_flush_log_at_trx_commit": 0,
        "innodb_flush_log_at_timeout": 30,
        "log_bin": "ON",
        "binlog_format": "STATEMENT",
        "sync_binlog": 0,
        "innodb_autoinc_lock_mode": 2,
        "innodb_doublewrite": "OFF",
        "innodb_checksums": "OFF",
        "innodb_checksum_algorithm": "none",
        "innodb_log_checksums": "OFF",
        "innodb_locks_unsafe_for_binlog": "ON",
        "innodb_strict_mode": "OFF",
        "sync_frm": "OFF",
        "delay_key_write": "ALL",
    }
    seen = scene("mysql 5.7.22", careless)
    found = judge(seen, DURABILITY, strict=True).recommendations
    wanted: dict[str, object] = {}
    for one in found:
        for name, value in proposed_variables(one.proposal).items():
            assert wanted.setdefault(name, value) == value
    assert wanted.keys() == careless.keys() - {"log_bin", "binlog_format"}
    again = judge(seen.with_proposed({name: str(value) for name, value in wanted.items()}), DURABILITY, strict=True)
    assert [one.rule for one in again.recommendations] == []
