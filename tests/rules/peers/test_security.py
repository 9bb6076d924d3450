"""What other advisors say wrongly about accounts and logins, and what is said here of the same facts."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from advisor.engine.evaluation import judge
from advisor.engine.outcome import Finding, NotApplicable, Passed
from advisor.engine.scene import inspected, scene, server_named
from advisor.mysql.inspection import ROWSETS
from advisor.mysql.proposal import Investigate
from advisor.rules import all_rules, rule_by_id
from collector.inspections import accounts
from collector.inspections.question import Inspecting

SECURITY = [rule for rule in all_rules() if rule.topic == "security"]
SERVERS = ("mysql 5.7.22", "mysql 8.0.33", "mysql 9.7.4", "mysql 26.7.0", "mariadb 10.2.11", "mariadb 10.11.18")

GOOD = {"user": "app", "host": "10.1.%", "plugin": "caching_sha2_password", "has_password": "1"}
GOOD |= {"administrator": "0", "locked": "0", "is_role": "0", "tls": "ANY"}


def test_mysqltuner_advises_password_functions_that_are_gone_and_no_proposal_of_ours_does() -> None:
    for rule in SECURITY:
        for example in rule.examples:
            outcome = judge(example.seen, [rule], strict=True).outcome(rule.id)
            for item in outcome.items if isinstance(outcome, Finding) else ():
                for change in item.proposal:
                    text = change.advice if isinstance(change, Investigate) else str(change)
                    assert "PASSWORD(" not in text.upper(), rule.id
                    assert "mysql.user" not in text, rule.id


@pytest.mark.parametrize("server", SERVERS)
def test_mysqltuner_reads_mariadbs_table_of_every_server_from_ten_on_and_we_go_by_flavor(server: str) -> None:
    """MT 151: a version number of 10.4 and more does not make a MySQL of the year 2026 a MariaDB."""
    asked: list[str] = []

    def ask(sql: str) -> Any:
        asked.append(sql)
        return SimpleNamespace(rows=[])

    version = server_named(server)
    inspecting = SimpleNamespace(server=version, ask=ask, keep=lambda name, rows: 0, remark=print)
    accounts.read(cast(Inspecting, inspecting))
    of_mariadb = any("mysql.global_priv" in sql for sql in asked)
    assert of_mariadb == (version.is_mariadb and version.number >= (10, 4, 0))


def test_mysqltuner_looks_for_default_authentication_plugin_where_it_is_gone_and_we_read_the_policy() -> None:
    rule = rule_by_id("security.default-authentication-plugin-weak")
    fine = scene("mysql 8.4.3", {"authentication_policy": "*,,"}, without=["default_authentication_plugin"])
    assert isinstance(judge(fine, [rule], strict=True).outcome(rule.id), Passed)
    weak = scene("mysql 8.4.3", {"authentication_policy": "mysql_native_password,,"})
    outcome = judge(weak, [rule], strict=True).outcome(rule.id)
    assert isinstance(outcome, Finding)
    assert "authentication_policy" in str(outcome.items[0].proposal)
    assert isinstance(judge(scene("mariadb 11.8.6"), [rule], strict=True).outcome(rule.id), NotApplicable)


def test_mysqltuner_tries_passwords_and_we_do_not_even_read_their_hashes() -> None:
    """MT 152 and 154 are refused: whether there is a password is all that is asked."""
    columns = set(ROWSETS["accounts"])
    assert "has_password" in columns
    assert not {one for one in columns if "hash" in one or "string" in one or one == "password"}


@pytest.mark.parametrize("server", SERVERS)
def test_pmm_wants_passwords_to_expire_and_we_do_not(server: str) -> None:
    """Forced rotation makes people count up a digit; nothing is said of an account that is well kept."""
    seen = scene(
        server,
        {"default_password_lifetime": 0, "bind_address": "127.0.0.1", "mysqlx_bind_address": "::1", "have_ssl": "YES"},
        status={"Ssl_server_not_after": "Nov 18 11:26:43 2036 GMT"},
        inspection=inspected(accounts=[GOOD]),
    )
    fired = [one.rule for one in judge(seen, SECURITY, strict=True).recommendations]
    assert fired == []
