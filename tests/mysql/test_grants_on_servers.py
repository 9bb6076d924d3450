"""The statements that make an observing account are taken as they stand, and what they give is enough and no more."""

from __future__ import annotations

import pytest

from advisor.mysql import grants
from advisor.mysql.version import ServerVersion, identify
from tests.servers import RunningServer
from tests.servers.fixtures import each_server

target = each_server()

PASSWORD = "obs-Erve.9"


def version_of(server: RunningServer) -> ServerVersion:
    variables = {str(name): str(value) for name, value in server.sql("SHOW GLOBAL VARIABLES")}
    return identify(variables["version"], variables["version_comment"], variables=variables)


def readings(version: ServerVersion) -> list[str]:
    """One statement for each privilege that is asked for."""
    replica = "SHOW REPLICA STATUS" if version.is_mysql and version.number >= (8, 0, 22) else "SHOW SLAVE STATUS"
    return [
        "SHOW ENGINE INNODB STATUS",
        "SELECT COUNT(*) FROM information_schema.INNODB_METRICS",
        "SELECT COUNT(*) FROM performance_schema.setup_instruments",
        replica,
    ]


def test_the_observing_account_can_read_everything_and_change_nothing(target: RunningServer) -> None:
    version = version_of(target)
    for statement in grants.observe_grants(version, "watcher@localhost"):
        target.sql(statement.replace("<password>", PASSWORD))
    for statement in readings(version):
        target.sql(statement, user="watcher", password=PASSWORD)
    shown = [str(row[0]) for row in target.sql("SHOW GRANTS", user="watcher", password=PASSWORD)]
    held = grants.parse_grants(shown)
    assert all(grants.has_privilege(held, wanted) for wanted in grants.observe_privileges(version))
    assert grants.has_privilege(held, "SELECT ON performance_schema.*")
    assert not grants.has_privilege(held, "SUPER")
    for statement in ("SET GLOBAL innodb_io_capacity = 300", "SELECT * FROM mysql.user", "CREATE DATABASE watched"):
        with pytest.raises(Exception, match=r"denied|Access"):
            target.sql(statement, user="watcher", password=PASSWORD)


def test_each_remedy_gives_what_was_missing(target: RunningServer) -> None:
    version = version_of(target)
    target.sql(f"CREATE USER 'bare'@'localhost' IDENTIFIED BY '{PASSWORD}'")
    missing = ("PROCESS", "REPLICATION CLIENT", "SELECT ON performance_schema.*")
    held = grants.parse_grants(str(row[0]) for row in target.sql("SHOW GRANTS", user="bare", password=PASSWORD))
    assert not any(grants.has_privilege(held, wanted) for wanted in missing)
    for wanted in missing:
        target.sql(grants.remedy_for(wanted, version, "bare@localhost"))
    held = grants.parse_grants(str(row[0]) for row in target.sql("SHOW GRANTS", user="bare", password=PASSWORD))
    assert all(grants.has_privilege(held, wanted) for wanted in missing)
    for statement in readings(version):
        target.sql(statement, user="bare", password=PASSWORD)


def test_an_account_that_has_everything_is_seen_to_have_it(target: RunningServer) -> None:
    held = grants.parse_grants(str(row[0]) for row in target.sql("SHOW GRANTS"))
    assert all(grants.has_privilege(held, wanted) for wanted in ("PROCESS", "SELECT ON performance_schema.*"))
