"""Replicas and sources: each scenario starts the other server of the pair, too."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

from tests.servers import RunningServer
from tests.servers.replication import replica_for, replica_status, source_for, source_options, start, stop
from tests.truth.scenario import MARIADB, MYSQL, Options, Scenario

#: MariaDB 10.2 has no semi-synchronous replication built in, and 10.5 stands for what it does otherwise.
PAIRS = tuple(name for name in (*MYSQL, *MARIADB) if name != "mariadb-10.2.11")
WITHOUT_10_2 = "MariaDB 10.2's replicas are like those of 10.5, and each pair costs two servers"
REPLICA_ID: Options = {"server_id": "7", "skip_slave_start": None}

_EVERY_REPLICA = frozenset(
    {
        "replication.replica-writable",
        "replication.gtid-unused",
        "replication.relay-log-kept",
        "replication.errors-skipped",
        "replication.idempotent-mode",
        "replication.network-timeout-long",
        "replication.retries-off",
        "replication.checksums-unverified",
        "replication.lossy-conversions",
        "replication.replica-updates-unlogged",
        "replication.filters-active",
    }
)
_MYSQL_REPLICA = frozenset(
    {
        "replication.relay-log-not-recovered",
        "replication.commit-order-not-kept",
        "replication.transactions-of-its-own",
    }
)
_MARIADB_REPLICA = frozenset({"replication.positions-in-files", "replication.parallel-mode-idle"})


def bad_replica(name: str) -> Options:
    """All that a replica should not be, in the words of every version."""
    options: dict[str, str | None] = {
        **source_options(name),
        **REPLICA_ID,
        "relay_log_purge": "OFF",
        "slave_skip_errors": "1062",
        "slave_exec_mode": "IDEMPOTENT",
        "slave_net_timeout": "3600",
        "slave_transaction_retries": "0",
        "slave_sql_verify_checksum": "OFF",
        "slave_type_conversions": "ALL_LOSSY",
        "log_slave_updates": "OFF",
        "replicate_wild_ignore_table": "scratch.%",
    }
    if name.startswith("mysql"):
        options |= {
            "slave_parallel_workers": "4",
            "slave_preserve_commit_order": "OFF",
            "loose_slave_parallel_type": "LOGICAL_CLOCK",
        }
    else:
        options |= {"slave_parallel_threads": "4", "slave_parallel_mode": "none"}
    return options


def good_replica(name: str) -> Options:
    """All that a replica should be."""
    options: dict[str, str | None] = {
        **source_options(name),
        **REPLICA_ID,
        "log_slave_updates": "ON",
    }
    if name.startswith("mysql"):
        return options | {
            "relay_log_recovery": "ON",
            "slave_parallel_workers": "4",
            "slave_preserve_commit_order": "ON",
            "loose_slave_parallel_type": "LOGICAL_CLOCK",
            "loose_relay_log_info_repository": "TABLE",
            "loose_master_info_repository": "TABLE",
        }
    return options | {"slave_parallel_threads": "4", "slave_parallel_mode": "optimistic", "gtid_strict_mode": "ON"}


@contextmanager
def following_by_file(server: RunningServer) -> Iterator[None]:
    """The server follows a source by file and position, and runs a transaction of its own."""
    with source_for(server, by_gtid=False) as source:
        source.sql("CREATE DATABASE shop")
        server.sql("CREATE DATABASE of_its_own")
        # MySQL's set of executed GTIDs is in its status once a channel was asked for it again.
        time.sleep(0.5)
        yield


@contextmanager
def following(server: RunningServer) -> Iterator[None]:
    """The server follows a source by GTID, which writes a little, and refuses writes of its own."""
    with source_for(server) as source:
        source.sql("CREATE DATABASE shop")
        source.sql("CREATE TABLE shop.goods (id INT PRIMARY KEY, name VARCHAR(20)) ENGINE = InnoDB")
        source.sql("INSERT INTO shop.goods VALUES (1, 'a'), (2, 'b')")
        _until(server, "SELECT COUNT(*) FROM shop.goods")
        server.sql(f"SET GLOBAL {'super_read_only' if server.flavor == 'mysql' else 'read_only'} = ON")
        yield
        server.sql("SET GLOBAL read_only = OFF")


@contextmanager
def held_up(server: RunningServer) -> Iterator[None]:
    """The applier waits for a row lock, ten minutes behind what the source takes for now."""
    with source_for(server) as source, closing(server.connect()) as holder:
        # Servers forgive an event whose session set its time back. They believe the source's clock, though, which the
        # receiver asks for when it connects: ten minutes ahead makes all that is not applied ten minutes old.
        source.sql("SET GLOBAL init_connect = 'SET TIMESTAMP = UNIX_TIMESTAMP() + 600'")
        stop(server)
        start(server)
        _keyless(source)
        source.sql("CREATE TABLE shop.goods (id INT PRIMARY KEY, amount INT) ENGINE = InnoDB")
        source.sql("INSERT INTO shop.goods VALUES (1, 0)")
        _until(server, "SELECT COUNT(*) FROM shop.goods")
        cursor = holder.cursor()
        cursor.execute("BEGIN")
        cursor.execute("SELECT * FROM shop.goods WHERE id = 1 FOR UPDATE")
        for _ in range(2):
            source.sql("UPDATE shop.goods SET amount = amount + 1 WHERE id = 1")
        _until_late(server)
        yield
        cursor.execute("ROLLBACK")


@contextmanager
def broken(server: RunningServer) -> Iterator[None]:
    """A row that was written on the replica first stops it with a duplicate key."""
    with source_for(server) as source:
        source.sql("CREATE DATABASE shop")
        source.sql("CREATE TABLE shop.goods (id INT PRIMARY KEY, name VARCHAR(20)) ENGINE = InnoDB")
        _until(server, "SELECT 1 + COUNT(*) FROM shop.goods")
        server.sql("INSERT INTO shop.goods VALUES (1, 'mine')")
        source.sql("INSERT INTO shop.goods VALUES (1, 'theirs')")
        until = time.monotonic() + 15
        while replica_status(server).get("slave_sql_running") == "Yes" and time.monotonic() < until:
            time.sleep(0.1)
        yield
        stop(server)


@contextmanager
def feeding(server: RunningServer) -> Iterator[None]:
    """A replica follows this server."""
    with replica_for(server):
        time.sleep(0.5)
        yield


def _without(rules: frozenset[str], why: str) -> dict[str, str]:
    return dict.fromkeys(rules, why)


def _keyless(source: RunningServer) -> None:
    """A table without a key, of 16,384 rows."""
    source.sql("CREATE DATABASE shop")
    with closing(source.connect(db="shop")) as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE TABLE events (a INT, b INT) ENGINE = InnoDB")
        cursor.execute("INSERT INTO events VALUES (1, 1)")
        for _ in range(14):
            cursor.execute("INSERT INTO events SELECT a + 1, b FROM events")


def _until(server: RunningServer, query: str) -> None:
    """Wait until the query answers something else than nothing or 0."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        try:
            if (server.sql(query)[0][0] or "0") != "0":
                return
        except Exception:  # The table may not be there yet.
            pass
        time.sleep(0.1)
    raise TimeoutError(f"{server}: {query} found nothing")


def _until_late(server: RunningServer) -> None:
    until = time.monotonic() + 15
    while int(replica_status(server).get("seconds_behind_master") or 0) < 100:
        if time.monotonic() > until:
            raise TimeoutError(f"{server} is not late: {replica_status(server)}")
        time.sleep(0.1)


_LATE = frozenset({"replication.replica-lagging", "replication.applier-serial", "replication.rows-without-key"})
_SEMISYNC = frozenset({"replication.semisync-degraded", "replication.semisync-waits-after-commit"})
_STRICT = frozenset({"replication.strict-gtid-off"})
_ONLY_MARIADB = "what only MariaDB has"
_ONLY_MYSQL = "what only MySQL has"
PAIRED_MARIADB = tuple(name for name in MARIADB if name in PAIRS)


def late_replica(name: str) -> Options:
    """A replica with one applier."""
    workers = {"slave_parallel_threads": "0"} if name.startswith("mariadb") else {"slave_parallel_workers": "1"}
    return {**source_options(name), **REPLICA_ID, **workers}


def source_to_be(name: str) -> Options:
    """A source that tells little of what is independent, and is to wait for replicas that do not answer."""
    options = {**source_options(name)}
    if name.startswith("mariadb"):
        return options | {"rpl_semi_sync_master_enabled": "ON"}
    return options | {"binlog_transaction_dependency_tracking": "COMMIT_ORDER"}


SCENARIOS = (
    Scenario(
        name="replica-set-badly",
        what="A writable replica by file and position with errors skipped, filters, and nothing that survives a crash",
        servers=PAIRS,
        elsewhere=WITHOUT_10_2,
        options=bad_replica,
        load=following_by_file,
        seconds=3,
        interval=1,
        fires=_EVERY_REPLICA | _MYSQL_REPLICA | _MARIADB_REPLICA,
        passes=frozenset({"replication.replica-stopped", "replication.replica-lagging", "replication.applier-serial"}),
        but={
            name: _without(_MARIADB_REPLICA, "MySQL has no such mode, and since 8.0 its positions are in tables")
            for name in MYSQL
        }
        | {name: _without(_MYSQL_REPLICA, _ONLY_MYSQL) for name in PAIRED_MARIADB}
        | {"mysql-5.7.22": _without(frozenset({"replication.parallel-mode-idle"}), _ONLY_MARIADB)},
        quick=True,
    ),
    Scenario(
        name="replica-as-it-should-be",
        what="A replica by GTID that refuses writes, keeps its position with its data and applies in parallel",
        servers=PAIRS,
        elsewhere=WITHOUT_10_2,
        options=good_replica,
        load=following,
        seconds=3,
        interval=1,
        inspect=True,
        passes=_EVERY_REPLICA
        | _MYSQL_REPLICA
        | _MARIADB_REPLICA
        | _LATE
        | _SEMISYNC
        | _STRICT
        | {"replication.replica-stopped"},
        but={
            name: _without(
                _SEMISYNC | _STRICT | frozenset({"replication.parallel-mode-idle"}),
                "what MySQL does not have, or has in a plugin only",
            )
            for name in MYSQL
        }
        | {name: _without(_MYSQL_REPLICA, _ONLY_MYSQL) for name in PAIRED_MARIADB},
        quick=True,
    ),
    Scenario(
        name="replica-that-is-late",
        what="One applier that waits for a lock, ten minutes behind; and a table without a key",
        servers=PAIRS,
        elsewhere=WITHOUT_10_2,
        options=late_replica,
        load=held_up,
        seconds=3,
        interval=1,
        inspect=True,
        fires=_LATE | _STRICT,
        passes=frozenset({"replication.replica-stopped"}),
        but={name: _without(_STRICT, _ONLY_MARIADB) for name in MYSQL},
    ),
    Scenario(
        name="replica-that-stopped",
        what="A row that is there already stops the applier with a duplicate key",
        servers=PAIRS,
        elsewhere=WITHOUT_10_2,
        options=late_replica,
        load=broken,
        seconds=3,
        interval=1,
        fires=frozenset({"replication.replica-stopped"}),
        severity={"replication.replica-stopped": "critical"},
    ),
    Scenario(
        name="source-with-a-replica",
        what="Dependencies by commit order on MySQL; semi-synchronous replication without effect on MariaDB",
        servers=("mysql-5.7.22", "mysql-8.0.12", "mysql-8.0.33", *PAIRED_MARIADB),
        elsewhere=f"{WITHOUT_10_2}; MySQL 9.7 knows no other way to tell dependencies",
        options=source_to_be,
        load=feeding,
        seconds=3,
        interval=1,
        fires=_SEMISYNC | {"replication.dependency-tracking-by-commit-order"},
        but={
            name: _without(_SEMISYNC, "a plugin there, which not all of these servers have")
            for name in MYSQL
            if name != "mysql-9.7"
        }
        | {
            name: _without(frozenset({"replication.dependency-tracking-by-commit-order"}), _ONLY_MYSQL)
            for name in PAIRED_MARIADB
        },
    ),
    Scenario(
        name="source-that-tells-dependencies",
        what="Dependencies by what was written",
        servers=("mysql-5.7.22", "mysql-8.0.12", "mysql-8.0.33"),
        elsewhere="MariaDB has no such variable, and MySQL 9.7 knows no other way",
        options=lambda name: {
            **source_options(name),
            "transaction_write_set_extraction": "XXHASH64",
            "binlog_transaction_dependency_tracking": "WRITESET",
        },
        load=feeding,
        seconds=3,
        interval=1,
        passes=frozenset({"replication.dependency-tracking-by-commit-order"}),
    ),
)
