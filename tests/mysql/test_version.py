"""Servers are told apart by what they say."""

from __future__ import annotations

import pytest

from advisor.mysql.version import (
    Distribution,
    Flavor,
    ServerVersion,
    UnknownServer,
    VersionRange,
    VersionSet,
    identify,
)

MYSQL = {"server_uuid": "8a94f357-aab4-11df-86ab-c80aa9429562", "gtid_mode": "OFF", "gtid_executed": ""}
MARIADB = {"aria_block_size": "8192", "gtid_domain_id": "0", "join_cache_level": "2"}

#: (@@version, @@version_comment, telling variables, flavor, number, distribution, where the strings are from)
REAL_SERVERS = [
    # The nine servers of the matrix, asked by this project's tests.
    ("5.7.22", "MySQL Community Server (GPL)", {}, "mysql", "5.7.22", "community", "recorded: mysql-5.7.22"),
    ("8.0.12", "MySQL Community Server - GPL", {}, "mysql", "8.0.12", "community", "recorded: mysql-8.0.12"),
    ("8.0.33", "MySQL Community Server - GPL", {}, "mysql", "8.0.33", "community", "recorded: mysql-8.0.33"),
    ("9.7.4-2", "(Debian)", MYSQL, "mysql", "9.7.4", "debian", "recorded: mysql-9.7"),
    ("10.2.11-MariaDB", "MariaDB Server", {}, "mariadb", "10.2.11", "community", "recorded: mariadb-10.2.11"),
    ("10.5.23-MariaDB-0+deb11u1", "Debian 11", {}, "mariadb", "10.5.23", "debian", "recorded: mariadb-10.5"),
    ("10.11.19-MariaDB-0+deb12u1", "Debian 12", {}, "mariadb", "10.11.19", "debian", "recorded: mariadb-10.11"),
    ("11.4.5-MariaDB", "MariaDB Server", {}, "mariadb", "11.4.5", "community", "recorded: mariadb-11.4.5"),
    (
        "11.8.6-MariaDB-0+deb13u1 from Debian",
        "-- Please help get to 10k stars at https://github.com/MariaDB/Server",
        {},
        "mariadb",
        "11.8.6",
        "debian",
        "recorded: mariadb-11.8",
    ),
    # What MariaDB tells in the handshake, before any statement.
    (
        "5.5.5-10.11.6-MariaDB-1:10.11.6+maria~deb12",
        "mariadb.org binary distribution",
        {},
        "mariadb",
        "10.11.6",
        "community",
        "mariadb.org package for Debian 12, handshake",
    ),
    (
        "5.5.5-10.3.39-MariaDB-0ubuntu0.20.04.2",
        "Ubuntu 20.04",
        {},
        "mariadb",
        "10.3.39",
        "ubuntu",
        "Ubuntu 20.04's package, handshake",
    ),
    (
        "10.6.22-MariaDB-0ubuntu0.22.04.1",
        "Ubuntu 22.04",
        {},
        "mariadb",
        "10.6.22",
        "ubuntu",
        "Ubuntu 22.04's package",
    ),
    (
        "12.0.2-MariaDB-ubu2404",
        "mariadb.org binary distribution",
        {},
        "mariadb",
        "12.0.2",
        "community",
        "mariadb.org image 12.0",
    ),
    (
        "11.4.5-3-MariaDB-enterprise-log",
        "MariaDB Enterprise Server",
        {},
        "mariadb",
        "11.4.5",
        "enterprise",
        "MariaDB Enterprise Server's documentation of MaxScale (maxctrl show server)",
    ),
    # Percona Server.
    (
        "5.7.29-32-log",
        "Percona Server (GPL), Release 32, Revision 56bce88",
        {},
        "mysql",
        "5.7.29",
        "percona",
        "client banner in a public dump",
    ),
    (
        "8.0.22-13",
        "Percona Server (GPL), Release 13, Revision 6f7822f",
        {},
        "mysql",
        "8.0.22",
        "percona",
        "crash report of Percona Server 8.0.22",
    ),
    (
        "8.0.26-16",
        "Percona Server (GPL), Release 16, Revision 3d64165",
        {},
        "mysql",
        "8.0.26",
        "percona",
        "client banner of Percona Server 8.0.26",
    ),
    (
        "8.0.33-25.1",
        "Percona XtraDB Cluster (GPL), Release rel25, Revision 0c56202, WSREP version 26.1.4.3",
        {},
        "mysql",
        "8.0.33",
        "percona",
        "Percona XtraDB Cluster's documentation",
    ),
    # Oracle's own.
    ("8.4.6", "MySQL Community Server - GPL", {}, "mysql", "8.4.6", "community", "MySQL 8.4 Reference Manual"),
    ("26.7.0", "MySQL Community Server - GPL", {}, "mysql", "26.7.0", "community", "MySQL 26.7 release notes"),
    (
        "8.0.36-commercial",
        "MySQL Enterprise Server - Commercial",
        {},
        "mysql",
        "8.0.36",
        "enterprise",
        "MySQL 8.0 Reference Manual",
    ),
    (
        "8.0.36-u1-cloud",
        "MySQL Enterprise - Cloud",
        {},
        "mysql",
        "8.0.36",
        "heatwave",
        "MySQL Shell banner on HeatWave",
    ),
    ("9.0.1-u1-cloud", "MySQL Enterprise - Cloud", {}, "mysql", "9.0.1", "heatwave", "client banner on HeatWave"),
    # Distributions that compile MySQL.
    ("8.0.43-0ubuntu0.24.04.1", "(Ubuntu)", MYSQL, "mysql", "8.0.43", "ubuntu", "Ubuntu 24.04's package"),
    ("8.0.41", "Source distribution", MYSQL, "mysql", "8.0.41", "source", "RHEL 9's package"),
    # Managed services.
    (
        "8.0.35",
        "Source distribution",
        {**MYSQL, "basedir": "/rdsdbbin/mysql-8.0.35.R2/"},
        "mysql",
        "8.0.35",
        "rds",
        "RDS for MySQL, parameter basedir",
    ),
    (
        "8.0.32",
        "Source distribution",
        {**MYSQL, "aurora_version": "3.05.2"},
        "mysql",
        "8.0.32",
        "aurora",
        "Aurora User Guide, Aurora versioning",
    ),
    (
        "10.11.7-MariaDB",
        "managed by https://aws.amazon.com/rds/",
        {},
        "mariadb",
        "10.11.7",
        "rds",
        "client banner on RDS for MariaDB",
    ),
    (
        "5.5.5-10.6.10-MariaDB",
        "managed by https://aws.amazon.com/rds/",
        {},
        "mariadb",
        "10.6.10",
        "rds",
        "client banner on RDS for MariaDB, handshake",
    ),
    ("8.0.32-google", "(Google)", MYSQL, "mysql", "8.0.32", "cloud_sql", "log of a binlog client on Cloud SQL"),
    (
        "8.0.32",
        "Source distribution",
        {**MYSQL, "aad_auth_only": "OFF"},
        "mysql",
        "8.0.32",
        "azure",
        "version() in the documentation of Azure Database for MySQL, its server parameter aad_auth_only",
    ),
    ("8.0.37-azure", "Source distribution", MYSQL, "mysql", "8.0.37", "azure", "dumps of flexible servers"),
]


@pytest.mark.parametrize(
    ("version", "comment", "variables", "flavor", "number", "distribution"),
    [row[:-1] for row in REAL_SERVERS],
    ids=[row[-1] for row in REAL_SERVERS],
)
def test_a_real_server_is_recognised(
    version: str, comment: str, variables: dict[str, str], flavor: str, number: str, distribution: str
) -> None:
    server = identify(version, comment, variables=variables)
    assert (server.flavor.value, server.number_text, server.distribution.value) == (flavor, number, distribution)
    assert server.text == version


def test_the_table_holds_at_least_twenty_five_servers() -> None:
    assert len({row[:2] for row in REAL_SERVERS}) >= 25


def test_a_version_that_the_handshake_and_the_server_spell_differently_is_one_server() -> None:
    shaken = identify("5.5.5-10.11.19-MariaDB-0+deb12u1")
    asked = identify("10.11.19-MariaDB-0+deb12u1", "Debian 12")
    assert (shaken.flavor, shaken.number) == (asked.flavor, asked.number)


def test_the_flavor_never_follows_from_the_number() -> None:
    assert identify("10.11.6", "mariadb.org binary distribution").flavor is Flavor.MARIADB
    assert identify("10.11.6", "MySQL Community Server - GPL").flavor is Flavor.MYSQL
    with pytest.raises(UnknownServer, match="tells MySQL from MariaDB"):
        identify("10.11.6")
    with pytest.raises(UnknownServer, match="tells MySQL from MariaDB"):
        identify("8.0.33", "Source distribution")


def test_variables_tell_the_flavor_where_the_words_are_silent() -> None:
    assert identify("10.11.6", "Source distribution", variables=MARIADB).flavor is Flavor.MARIADB
    assert identify("10.11.6", "Source distribution", variables=MYSQL).flavor is Flavor.MYSQL
    with pytest.raises(UnknownServer):
        identify("10.11.6", "Source distribution", variables={**MARIADB, **MYSQL})


def test_a_real_milestone_of_mysql_is_not_mistaken_for_the_replication_prefix() -> None:
    server = identify("5.5.5-m3", "MySQL Community Server (GPL)")
    assert (server.flavor, server.number) == (Flavor.MYSQL, (5, 5, 5))


@pytest.mark.parametrize(
    ("version", "comment", "variables"),
    [
        ("8.0.11-TiDB-v7.5.0", "TiDB Server (Apache License 2.0) Community Edition", {}),
        ("5.7.25-OceanBase-v4.2.1.0", "OceanBase 4.2.1.0", {}),
        ("8.0.30-Vitess", "Vitess", {}),
        ("8.0.11", "(ProxySQL)", {}),
        ("5.7.32", "SingleStoreDB source distribution", {}),
        ("8.0.33", "Dolt", {}),
        ("8.0.33", "StarRocks version 3.2.0", {}),
        ("8.0.33", "Source distribution", {**MYSQL, "tidb_mem_quota_query": "1"}),
    ],
)
def test_what_only_speaks_the_protocol_is_refused_by_name(
    version: str, comment: str, variables: dict[str, str]
) -> None:
    with pytest.raises(UnknownServer, match="has no InnoDB of its own"):
        identify(version, comment, variables=variables)


@pytest.mark.parametrize("version", ["", "MySQL", "SSH-2.0-OpenSSH_9.2", "10.11", "x8.0.33", "\x00\x01"])
def test_what_is_no_version_is_refused_with_a_sentence(version: str) -> None:
    with pytest.raises(UnknownServer, match=r"check that host and port are those of a MySQL or MariaDB server\.$"):
        identify(version)


def test_a_server_is_named_as_people_name_it() -> None:
    assert str(identify("8.0.33", "MySQL Community Server - GPL")) == "MySQL 8.0.33"
    assert str(identify("8.0.26-16", "Percona Server (GPL), Release 16, Revision 3d64165")) == "Percona Server 8.0.26"
    assert str(identify("10.11.7-MariaDB", "managed by https://aws.amazon.com/rds/")) == "Amazon RDS (MariaDB 10.11.7)"


def test_managed_services_are_known_as_managed() -> None:
    managed = {one for one in Distribution if one.managed}
    assert managed == {
        Distribution.AURORA,
        Distribution.RDS,
        Distribution.CLOUD_SQL,
        Distribution.AZURE,
        Distribution.HEATWAVE,
    }


def mysql(number: str) -> ServerVersion:
    return identify(number, "MySQL Community Server - GPL")


def test_the_series_is_the_first_two_numbers() -> None:
    assert [mysql(number).series for number in ("8.4.6", "9.7.4", "26.7.0")] == ["8.4", "9.7", "26.7"]


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("mysql>=8.0.30,<9.0", ["8.0.30", "8.4.6"], ["8.0.29", "9.0.0", "26.7.0"]),
        ("mysql>=8.0.30", ["26.7.0", "9.7.4"], ["8.0.12"]),
        ("mysql<=8.4", ["8.4.9", "5.7.22"], ["9.0.1"]),
        ("mysql>8.4", ["9.0.1"], ["8.4.9"]),
        ("mysql==8.0", ["8.0.12", "8.0.33"], ["8.4.6"]),
        ("mysql", ["5.7.22", "26.7.0"], []),
    ],
)
def test_a_range_compares_as_far_as_its_bound_goes(text: str, inside: list[str], outside: list[str]) -> None:
    parsed = VersionRange.parse(text)
    assert all(parsed.contains(mysql(number)) for number in inside)
    assert not any(parsed.contains(mysql(number)) for number in outside)
    assert VersionRange.parse(str(parsed)) == parsed


def test_a_range_holds_for_its_flavor_only() -> None:
    mariadb = identify("10.11.6-MariaDB")
    both = VersionSet.parse(["mysql>=5.7", "mariadb>=10.2"])
    assert both.contains(mariadb)
    assert both.contains(mysql("8.0.33"))
    assert not VersionSet.parse(["mysql>=5.7"]).contains(mariadb)
    assert str(both) == "mysql>=5.7 or mariadb>=10.2"


@pytest.mark.parametrize("text", ["", "percona>=8", "mysql=8.0", "mysql>=8.0,", "mysql>=8.0.1.2", "mysql 8.0"])
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"write"):
        VersionRange.parse(text)
