"""Which server this is: its flavor, its distribution and its number, read from what the server itself says.

The flavor never follows from the number: MySQL 26.7 is not MariaDB, and MariaDB announces itself to old clients as
5.5.5. It follows from the words in ``@@version`` and ``@@version_comment``, and where they are silent, from system
variables that only one of the two lineages has.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum


class Flavor(StrEnum):
    """The lineage of a server: MySQL (Percona Server and the managed MySQL services included) or MariaDB."""

    MYSQL = "mysql"
    MARIADB = "mariadb"


class Distribution(StrEnum):
    """Who built or runs the server, as far as the server says so."""

    COMMUNITY = "community"
    ENTERPRISE = "enterprise"
    PERCONA = "percona"
    DEBIAN = "debian"
    UBUNTU = "ubuntu"
    SOURCE = "source"
    AURORA = "aurora"
    RDS = "rds"
    CLOUD_SQL = "cloud_sql"
    AZURE = "azure"
    HEATWAVE = "heatwave"

    @property
    def managed(self) -> bool:
        """Run by a cloud: no SUPER, no option file; values are set in the provider's parameter group."""
        return self in _MANAGED


_MANAGED = frozenset(
    {Distribution.AURORA, Distribution.RDS, Distribution.CLOUD_SQL, Distribution.AZURE, Distribution.HEATWAVE}
)


class UnknownServer(ValueError):
    """What answered is not a MySQL or MariaDB server that can be told apart; the message says why, in one sentence."""


@dataclass(frozen=True)
class ServerVersion:
    """A server's flavor, number and distribution; ``text`` is ``@@version`` as the server printed it."""

    flavor: Flavor
    number: tuple[int, int, int]
    distribution: Distribution
    text: str

    @property
    def number_text(self) -> str:
        """The number alone, such as ``10.11.18`` or ``26.7.0``."""
        return ".".join(str(part) for part in self.number)

    @property
    def series(self) -> str:
        """The release series, such as ``8.0``, ``10.11`` or ``26.7``."""
        return f"{self.number[0]}.{self.number[1]}"

    @property
    def is_mysql(self) -> bool:
        return self.flavor is Flavor.MYSQL

    @property
    def is_mariadb(self) -> bool:
        return self.flavor is Flavor.MARIADB

    def __str__(self) -> str:
        name = "MariaDB" if self.is_mariadb else "MySQL"
        if self.distribution is Distribution.PERCONA:
            return f"Percona Server {self.number_text}"
        owner = _OWNERS.get(self.distribution)
        return f"{owner} ({name} {self.number_text})" if owner else f"{name} {self.number_text}"


_OWNERS = {
    Distribution.AURORA: "Amazon Aurora",
    Distribution.RDS: "Amazon RDS",
    Distribution.CLOUD_SQL: "Google Cloud SQL",
    Distribution.AZURE: "Azure Database",
    Distribution.HEATWAVE: "MySQL HeatWave",
}

#: MariaDB puts this in front of its version in the handshake, because replicas of old MySQL versions refuse a major of
#: 10.
_REPLICATION_PREFIX = "5.5.5-"

_NUMBER = re.compile(r"(\d{1,4})\.(\d{1,4})\.(\d{1,6})(?!\d)", re.ASCII)

#: Programs that speak the protocol and print a MySQL-like number, but have no InnoDB inside; word -> name.
_STRANGERS = {
    "tidb": "TiDB",
    "oceanbase": "OceanBase",
    "vitess": "Vitess",
    "proxysql": "ProxySQL",
    "maxscale": "MaxScale",
    "singlestore": "SingleStore",
    "memsql": "SingleStore",
    "starrocks": "StarRocks",
    "doris": "Doris",
    "dolt": "Dolt",
    "clickhouse": "ClickHouse",
    "databend": "Databend",
    "manticore": "Manticore Search",
}

#: Variables that one lineage has and the other has never had, whatever the version.
_MARIADB_VARIABLES = (
    "aria_block_size",
    "aria_pagecache_buffer_size",
    "gtid_domain_id",
    "server_uid",
    "join_cache_level",
)
_MYSQL_VARIABLES = ("server_uuid", "gtid_executed", "gtid_mode", "innodb_redo_log_capacity", "mysqlx_port")


def identify(version: str, comment: str = "", *, variables: Mapping[str, str] = {}) -> ServerVersion:
    """Tells flavor, distribution and number from what a server says about itself.

    ``version`` is ``@@version`` (a handshake's text will do, though proxies and gateways invent theirs), ``comment`` is
    ``@@version_comment``, ``variables`` any system variables that were read, by their lower-case names.
    Raises UnknownServer, with one sentence, where the number cannot be read or nothing tells the flavor.
    """
    text = version.strip()
    stripped = text
    if text.startswith(_REPLICATION_PREFIX) and _NUMBER.match(text[len(_REPLICATION_PREFIX) :]):
        stripped = text[len(_REPLICATION_PREFIX) :]
    match = _NUMBER.match(stripped)
    if match is None:
        raise UnknownServer(
            f"The server calls its version {text[:60]!r}, which does not begin with a number such as 8.0.33: "
            "check that host and port are those of a MySQL or MariaDB server."
        )
    number = (int(match[1]), int(match[2]), int(match[3]))
    words = f"{stripped} {comment}".lower()
    for word, name in _STRANGERS.items():
        if word in words or any(variable.startswith(word) for variable in variables):
            raise UnknownServer(
                f"The server is {name} ({text[:60]!r}), which has no InnoDB of its own: "
                "register the MySQL or MariaDB server behind it, if there is one."
            )
    flavor = _flavor(text, words, variables)
    return ServerVersion(flavor, number, _distribution(flavor, stripped.lower(), words, variables), text)


def _flavor(text: str, words: str, variables: Mapping[str, str]) -> Flavor:
    """The flavor by words first, then by variables; raises UnknownServer where both are silent or contradict."""
    if "mariadb" in words:
        return Flavor.MARIADB
    mariadb = [name for name in _MARIADB_VARIABLES if name in variables]
    mysql = [name for name in _MYSQL_VARIABLES if name in variables]
    if mariadb and not mysql:
        return Flavor.MARIADB
    if mysql and not mariadb:
        return Flavor.MYSQL
    if re.search(r"\b(mysql|percona|aurora|google)\b", words) or "-azure" in words or "aurora_version" in variables:
        return Flavor.MYSQL
    raise UnknownServer(
        f"The server calls its version {text[:60]!r} and nothing else it says tells MySQL from MariaDB: "
        "give the account the right to read system variables, or connect to the server itself and not to a proxy."
    )


def _distribution(flavor: Flavor, version: str, words: str, variables: Mapping[str, str]) -> Distribution:
    """Who built or runs it. The managed services are told first: they keep the words of what they were built from."""
    basedir = variables.get("basedir", "").lower()
    if "aurora_version" in variables or "aurora" in words:
        return Distribution.AURORA
    if "aws.amazon.com/rds" in words or basedir.startswith("/rdsdbbin") or "rds" in version:
        return Distribution.RDS
    if "-google" in version or "(google)" in words or any(name.startswith("cloudsql_") for name in variables):
        return Distribution.CLOUD_SQL
    if "-azure" in version or "azure" in words or "aad_auth_only" in variables:
        return Distribution.AZURE
    if flavor is Flavor.MYSQL and re.search(r"-u\d+-cloud|heatwave|mysql enterprise - cloud", words):
        return Distribution.HEATWAVE
    if "percona" in words:
        return Distribution.PERCONA
    if re.search(r"enterprise|commercial|advanced", words):
        return Distribution.ENTERPRISE
    if "mariadb.org binary distribution" in words:
        return Distribution.COMMUNITY
    if re.search(r"ubuntu|ubu\d|~(?:focal|jammy|noble)", words):
        return Distribution.UBUNTU
    # Packages that mariadb.org builds for Debian carry "+maria~deb12" and are upstream's, not Debian's.
    if "+maria" not in version and re.search(r"debian|[+~]deb\d", words):
        return Distribution.DEBIAN
    if "source distribution" in words:
        return Distribution.SOURCE
    return Distribution.COMMUNITY


_BOUND = re.compile(r"(>=|<=|==|>|<)\s*(\d+(?:\.\d+){0,2})")


@dataclass(frozen=True)
class VersionRange:
    """One flavor, between bounds: ``mysql>=8.0.30,<9.0``; a flavor alone means all of its versions.

    A bound is compared as far as it goes: ``<9`` is everything before 9.0.0, ``<=8.4`` includes 8.4.9, ``==10.11`` is
    the whole series.
    """

    flavor: Flavor
    bounds: tuple[tuple[str, tuple[int, ...]], ...]

    @classmethod
    def parse(cls, text: str) -> VersionRange:
        """Reads ``mysql>=8.0.30,<9.0``. Raises ValueError, with a sentence, for anything else."""
        match = re.fullmatch(r"\s*([a-z]+)\s*(.*)", text)
        if match is None or match[1] not in set(Flavor):
            raise ValueError(f"{text!r} is no version range: write a flavor and bounds, such as mysql>=8.0.30,<9.0.")
        bounds = []
        for part in match[2].split(",") if match[2].strip() else []:
            bound = _BOUND.fullmatch(part.strip())
            if bound is None:
                raise ValueError(f"{part.strip()!r} in {text!r} is no bound: write one such as >=8.0.30 or <9.0.")
            bounds.append((bound[1], tuple(int(number) for number in bound[2].split("."))))
        return cls(Flavor(match[1]), tuple(bounds))

    def contains(self, server: ServerVersion) -> bool:
        """Whether the server is of this flavor and within all bounds."""
        return server.flavor is self.flavor and all(
            _COMPARE[sign](server.number[: len(bound)], bound) for sign, bound in self.bounds
        )

    def __str__(self) -> str:
        return self.flavor.value + ",".join(f"{sign}{'.'.join(map(str, bound))}" for sign, bound in self.bounds)


_COMPARE: dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
}


@dataclass(frozen=True)
class VersionSet:
    """Several ranges; a server belongs to the set if it belongs to one of them."""

    ranges: tuple[VersionRange, ...]

    @classmethod
    def parse(cls, texts: Iterable[str]) -> VersionSet:
        """Reads ``["mysql>=5.7", "mariadb>=10.2"]``. Raises ValueError as VersionRange.parse does."""
        return cls(tuple(VersionRange.parse(text) for text in texts))

    def contains(self, server: ServerVersion) -> bool:
        """Whether one of the ranges contains the server."""
        return any(one.contains(server) for one in self.ranges)

    def __str__(self) -> str:
        return " or ".join(str(one) for one in self.ranges)
