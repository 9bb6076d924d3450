"""What other advisors say wrongly about surviving a crash and about SQL modes; what is said here of the same facts."""

from __future__ import annotations

import pytest

from advisor.engine.evaluation import judge
from advisor.engine.outcome import Finding, Passed
from advisor.engine.recommendation import proposed_variables
from advisor.engine.scene import scene
from advisor.rules import all_rules, rule_by_id

SERVERS: tuple[str, ...] = ("mysql 5.7.22", "mysql 8.0.12", "mysql 8.0.33", "mysql 8.4.3", "mysql 9.7.4")
SERVERS += ("mariadb 10.2.11", "mariadb 10.5.23", "mariadb 10.11.18", "mariadb 11.4.5", "mariadb 11.8.6")


@pytest.mark.parametrize("server", SERVERS)
def test_pmm_flags_the_default_sql_mode_and_we_do_not(server: str) -> None:
    seen = scene(server)
    for rule in ("durability.strict-sql-mode-off", "durability.engine-substitution-allowed"):
        assert isinstance(judge(seen, [rule_by_id(rule)], strict=True).outcome(rule), Passed)


@pytest.mark.parametrize("mode", ["TRADITIONAL", "STRICT_ALL_TABLES", "strict_trans_tables,NO_ZERO_DATE"])
def test_strictness_is_known_by_all_of_its_names(mode: str) -> None:
    rule = rule_by_id("durability.strict-sql-mode-off")
    outcome = judge(scene("mysql 8.0.33", {"sql_mode": mode}), [rule], strict=True).outcome(rule.id)
    assert isinstance(outcome, Passed)


@pytest.mark.parametrize("value", [0, 1, 3])
def test_percona_toolkit_warns_of_every_other_fast_shutdown_and_we_of_the_one_that_skips_the_pages(value: int) -> None:
    rule = rule_by_id("durability.fast-shutdown-skips-flush")
    outcome = judge(scene("mariadb 10.11.18", {"innodb_fast_shutdown": value}), [rule], strict=True).outcome(rule.id)
    assert isinstance(outcome, Passed)


def test_percona_toolkit_warns_of_delayed_keys_at_their_default_and_we_only_of_all_tables() -> None:
    rule = rule_by_id("durability.key-writes-delayed")
    for value, kind in (("ON", Passed), ("OFF", Passed), ("ALL", Finding)):
        outcome = judge(scene("mysql 8.0.33", {"delay_key_write": value}), [rule], strict=True).outcome(rule.id)
        assert isinstance(outcome, kind)


def test_mysqltuner_relaxes_commits_on_galera_and_we_never_do() -> None:
    for value in (0, 1, 2):
        seen = scene("mariadb 10.11.18", {"wsrep_on": "ON", "innodb_flush_log_at_trx_commit": value})
        for one in judge(seen, all_rules(), strict=True).recommendations:
            assert proposed_variables(one.proposal).get("innodb_flush_log_at_trx_commit", 1) == 1


def test_the_algorithm_of_old_checksums_is_no_fault() -> None:
    """MySQLTuner asks for crc32 wherever it is not set; what protects a page is that there is a checksum at all."""
    rule = rule_by_id("durability.page-checksums-off")
    for algorithm in ("innodb", "strict_innodb", "strict_crc32", "full_crc32"):
        seen = scene("mariadb 10.5.23", {"innodb_checksum_algorithm": algorithm})
        assert isinstance(judge(seen, [rule], strict=True).outcome(rule.id), Passed)
