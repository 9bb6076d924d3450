"""What an observing account needs, in the words of each server."""

from __future__ import annotations

import pytest

from advisor.mysql import grants
from advisor.mysql.version import ServerVersion, identify

MYSQL = identify("8.0.33", "MySQL Community Server - GPL")
MARIADB_10_4 = identify("10.4.12-MariaDB")
MARIADB_10_5_8 = identify("10.5.8-MariaDB")
MARIADB = identify("10.11.18-MariaDB")


def test_the_observing_account_of_each_flavor() -> None:
    assert grants.observe_grants(MYSQL, "tidemark@10.0.0.%") == [
        "CREATE USER 'tidemark'@'10.0.0.%' IDENTIFIED BY '<password>' WITH MAX_USER_CONNECTIONS 2",
        "GRANT PROCESS, REPLICATION CLIENT ON *.* TO 'tidemark'@'10.0.0.%'",
        "GRANT SELECT ON performance_schema.* TO 'tidemark'@'10.0.0.%'",
    ]
    assert grants.observe_grants(MARIADB)[0].endswith("WITH MAX_USER_CONNECTIONS 2 MAX_STATEMENT_TIME 5")
    assert grants.observe_grants(MARIADB)[1] == (
        "GRANT PROCESS, BINLOG MONITOR, SLAVE MONITOR ON *.* TO 'tidemark'@'%'"
    )
    assert "REPLICATION CLIENT" in grants.observe_grants(MARIADB_10_4)[1]
    assert "REPLICATION CLIENT" in grants.observe_grants(MARIADB_10_5_8)[1]


@pytest.mark.parametrize("server", [MYSQL, MARIADB_10_4, MARIADB])
def test_nothing_dangerous_is_ever_asked_for(server: ServerVersion) -> None:
    text = " ".join(grants.observe_grants(server))
    assert not any(
        word in text for word in ("SUPER", "ALL", "FILE", "RELOAD", "SELECT ON *.*", "INSERT", "GRANT OPTION")
    )


def test_a_remedy_is_the_statement_to_run() -> None:
    assert grants.remedy_for("PROCESS", MYSQL, "`a`@`localhost`") == "GRANT PROCESS ON *.* TO 'a'@'localhost'"
    assert grants.remedy_for("REPLICATION CLIENT", MARIADB) == (
        "GRANT BINLOG MONITOR, SLAVE MONITOR ON *.* TO 'tidemark'@'%'"
    )
    assert grants.remedy_for("SELECT ON performance_schema.*", MYSQL, "a@%") == (
        "GRANT SELECT ON performance_schema.* TO 'a'@'%'"
    )


@pytest.mark.parametrize("account", ["a'b@localhost", "a@b@c", "nobody", "a\n@b", "'a'@'b'; DROP USER root"])
def test_an_account_that_cannot_be_quoted_safely_is_refused(account: str) -> None:
    with pytest.raises(ValueError, match="account"):
        grants.quoted_account(account)


def test_show_grants_is_read_on_both_flavors() -> None:
    mysql = grants.parse_grants(
        [
            "GRANT PROCESS, REPLICATION CLIENT ON *.* TO `tidemark`@`%`",
            "GRANT SYSTEM_VARIABLES_ADMIN ON *.* TO `tidemark`@`%`",
            "GRANT SELECT ON `performance_schema`.* TO `tidemark`@`%`",
            "GRANT SELECT (`a`, `b`), INSERT ON `shop`.`orders` TO `tidemark`@`%`",
            "GRANT `role`@`%` TO `tidemark`@`%`",
            "GRANT PROXY ON ``@`` TO `root`@`localhost` WITH GRANT OPTION",
        ]
    )
    assert mysql == {
        "PROCESS",
        "REPLICATION CLIENT",
        "SYSTEM_VARIABLES_ADMIN",
        "SELECT ON performance_schema.*",
        "SELECT (`A`, `B`) ON shop.orders",
        "INSERT ON shop.orders",
    }
    mariadb = grants.parse_grants(
        [
            "GRANT PROCESS, BINLOG MONITOR, SLAVE MONITOR ON *.* TO `t`@`%` "
            "IDENTIFIED BY PASSWORD '*ABC' WITH MAX_USER_CONNECTIONS 2"
        ]
    )
    assert mariadb == {"PROCESS", "BINLOG MONITOR", "SLAVE MONITOR"}


def test_a_privilege_is_found_under_each_of_its_names() -> None:
    assert grants.has_privilege(frozenset({"ALL PRIVILEGES"}), "PROCESS")
    assert grants.has_privilege(frozenset({"BINLOG MONITOR"}), "REPLICATION CLIENT")
    assert grants.has_privilege(frozenset({"SELECT"}), "SELECT ON performance_schema.*")
    assert grants.has_privilege(frozenset({"ALL PRIVILEGES ON performance_schema.*"}), "SELECT ON performance_schema.*")
    assert not grants.has_privilege(frozenset({"USAGE"}), "PROCESS")
    assert not grants.has_privilege(frozenset({"SELECT ON shop.*"}), "SELECT ON performance_schema.*")
