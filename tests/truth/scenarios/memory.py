"""Memory: settings that nobody would want, caches that are too small for what is read, and a server that is sound."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from hashlib import sha256
from typing import Any

from advisor.engine.units import DAY, GIB, MIB
from tests.servers import RunningServer
from tests.truth.scenario import EVERY, MARIADB, MYSQL, Options, Scenario
from tests.truth.scenarios.flushing import workers

#: Servers whose pool is made of chunks that somebody may choose, and of instances.
CHUNKS = (*MYSQL, "mariadb-10.2.11", "mariadb-10.5")
INSTANCES = (*MYSQL, "mariadb-10.2.11")
CEILING = ("mariadb-10.11", "mariadb-11.8")
MYSQL_EIGHT = tuple(name for name in MYSQL if name != "mysql-5.7.22")
#: Whatever value the option has, names are not looked up, and the test servers are all given it.
NO_LOOK_UPS = ("mysql-5.7.22", "mysql-8.0.12", "mariadb-10.2.11")
POOL = "1056M"
ROWS = 40_000


def without(reason: str, names: tuple[str, ...], *rules: str) -> Mapping[str, Mapping[str, str]]:
    """For each of these servers the rules that say nothing there, with the reason."""
    return {name: dict.fromkeys(rules, reason) for name in names}


def merged(*parts: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    """Several of those in one."""
    found: dict[str, dict[str, str]] = {}
    for part in parts:
        for name, rules in part.items():
            found.setdefault(name, {}).update(rules)
    return found


def others(names: tuple[str, ...]) -> tuple[str, ...]:
    """All servers but these."""
    return tuple(name for name in EVERY if name not in names)


def neglected(name: str) -> Options:
    """An option file that was copied from machine to machine."""
    return {
        "innodb_buffer_pool_size": "1008M" if name == "mysql-5.7.22" else POOL,
        "loose_innodb_buffer_pool_chunk_size": "1M" if name in CHUNKS else "0",
        "loose_innodb_buffer_pool_instances": "16",
        "innodb_buffer_pool_dump_at_shutdown": "OFF",
        "innodb_buffer_pool_load_at_startup": "OFF",
        "innodb_random_read_ahead": "ON",
        "innodb_old_blocks_time": "0",
        "innodb_deadlock_detect": "OFF",
        "innodb_lock_wait_timeout": "3600",
        "sort_buffer_size": "64M",
        "join_buffer_size": "64M",
        "read_buffer_size": "8M",
        "max_heap_table_size": "2G",
        "tmp_table_size": "2G",
        "max_connections": "5000",
        "key_buffer_size": "512M",
        "skip_name_resolve": "OFF",
        "host_cache_size": "0",
        "performance_schema": "ON",
        "performance_schema_events_statements_history_long_size": "80000" if name == "mariadb-10.2.11" else "300000",
        "loose_temptable_max_ram": "4G",
        "loose_aria_pagecache_buffer_size": "512M",
        **({"innodb_buffer_pool_size_max": POOL} if name in CEILING else {}),
        **({"thread_handling": "pool-of-threads", "thread_pool_size": "64"} if name in MARIADB else {}),
        # Its own sizes would fill the disk; they are set, which is the fault as well.
        **({"innodb_dedicated_server": "ON"} if name in MYSQL_EIGHT else {}),
        **({"innodb_log_file_size": "48M"} if name == "mysql-8.0.12" else {}),
        **({"innodb_redo_log_capacity": "100M"} if name in ("mysql-8.0.33", "mysql-9.7") else {}),
    }


def sound(name: str) -> Options:
    """Sizes as a person would choose them for 16 GiB, and nothing else."""
    return {
        "innodb_buffer_pool_size": "1G",
        "performance_schema": "ON",
        **({"innodb_buffer_pool_size_max": "12G"} if name in CEILING else {}),
    }


def starved(name: str) -> Options:
    """Caches that hold next to nothing."""
    return {
        "innodb_buffer_pool_size": "16M",
        "key_buffer_size": "64K",
        "loose_aria_pagecache_buffer_size": "1M",
        "innodb_adaptive_hash_index": "ON",
        "performance_schema": "ON",
        **({"innodb_buffer_pool_chunk_size": "1M"} if name in CHUNKS else {}),
    }


def key(number: int) -> str:
    """A text in no order; the newest servers have no MD5() of their own."""
    return sha256(str(number).encode()).hexdigest()[:32]


def three_engines(server: RunningServer) -> None:
    """Some 40 MB of InnoDB rows in order, and MyISAM (and Aria) indexes that are larger than their caches."""
    engines = {"i": "InnoDB", "m": "MyISAM"} | ({"a": "Aria TRANSACTIONAL=0"} if server.flavor == "mariadb" else {})
    with closing(server.connect()) as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE DATABASE tm_memory")
        cursor.execute("SET SESSION sql_mode = ''")
        for table, engine in engines.items():
            cursor.execute(
                f"CREATE TABLE tm_memory.{table} (id INT PRIMARY KEY, k CHAR(80) CHARACTER SET latin1 NOT NULL, "
                f"pad VARBINARY(1000) NOT NULL, KEY (k)) ENGINE={engine}"
            )
            length = 1000 if table == "i" else 50
            for first in range(0, ROWS, 4000):
                rows = ",".join(
                    f"({number}, '{key(number)}', REPEAT('a', {length}))" for number in range(first, first + 4000)
                )
                cursor.execute(f"INSERT INTO tm_memory.{table} VALUES {rows}")
        connection.commit()


@contextmanager
def scattered_reads(server: RunningServer) -> Iterator[None]:
    """Look-ups all over the tables, and short scans that stop just after the next pages were read ahead."""
    chance = random.Random(7)
    tables = ["m", "a"] if server.flavor == "mariadb" else ["m"]

    def look_ups(cursor: Any, _number: int, turn: int) -> None:
        table = tables[turn % len(tables)]
        keys = ",".join(f"'{key(chance.randrange(ROWS))}'" for _ in range(100))
        cursor.execute(f"SELECT COUNT(*) FROM tm_memory.{table} WHERE k IN ({keys})")
        cursor.fetchall()
        ids = ",".join(str(chance.randrange(ROWS)) for _ in range(200))
        cursor.execute(f"SELECT SUM(LENGTH(pad)) FROM tm_memory.i WHERE id IN ({ids})")
        cursor.fetchall()

    def scans(cursor: Any, _number: int, _turn: int) -> None:
        first = chance.randrange(ROWS - 2000)
        cursor.execute(
            f"SELECT SUM(LENGTH(pad)) FROM tm_memory.i FORCE INDEX (PRIMARY) WHERE id BETWEEN {first} AND {first + 900}"
        )
        cursor.fetchall()

    with ExitStack() as stack:
        stack.enter_context(workers(server, 2, 60, look_ups))
        stack.enter_context(workers(server, 2, 60, scans, pause=0.05))
        yield


_SETTINGS = frozenset(
    {
        "memory.buffer-pool-oversized",
        "memory.buffer-pool-growth-blocked",
        "memory.buffer-pool-chunks-misfit",
        "memory.buffer-pool-instances-misfit",
        "memory.buffer-pool-not-dumped",
        "memory.memory-budget-exceeded",
        "memory.per-connection-buffers-large",
        "memory.key-buffer-oversized",
        "memory.aria-pagecache-oversized",
        "memory.dedicated-server-overridden",
        "memory.random-read-ahead-on",
        "memory.old-blocks-time-zero",
        "memory.temptable-ram-exceeds-memory",
        "memory.heap-table-limit-large",
        "memory.performance-schema-memory-large",
        "connections.connections-oversized",
        "connections.thread-pool-misfit",
        "connections.extra-port-missing",
        "caches.open-files-limit-low",
        "caches.host-cache-off",
        "locks.deadlock-detection-off",
        "locks.lock-wait-timeout-long",
    }
)
_LOADED = frozenset(
    {
        "memory.key-buffer-undersized",
        "memory.aria-pagecache-undersized",
        "memory.adaptive-hash-index-ineffective",
        "memory.read-ahead-evicted",
    }
)
#: What these servers do not have at all.
ABSENT = merged(
    without(
        "Its pool is smaller here: told another size with chunks of 1 MiB, 5.7 may make a third one of it.",
        ("mysql-5.7.22",),
        "memory.buffer-pool-oversized",
        "memory.buffer-pool-not-dumped",
        "memory.buffer-pool-instances-misfit",
    ),
    without(
        "With so many connections performance_schema alone takes most of the memory: the pool is the matter.",
        ("mariadb-10.2.11",),
        "memory.memory-budget-exceeded",
    ),
    without("It lays its pool out by itself.", others(CHUNKS), "memory.buffer-pool-chunks-misfit"),
    without("Its pool has no instances to choose.", others(INSTANCES), "memory.buffer-pool-instances-misfit"),
    without("Its pool has no ceiling.", others(CEILING), "memory.buffer-pool-growth-blocked"),
    without("It never sizes itself.", others(MYSQL_EIGHT), "memory.dedicated-server-overridden"),
    without("It has no TempTable engine.", others(MYSQL_EIGHT), "memory.temptable-ram-exceeds-memory"),
    without("It has no Aria tables.", MYSQL, "memory.aria-pagecache-oversized", "memory.aria-pagecache-undersized"),
    without(
        "It counts no such pages.", ("mariadb-10.11", "mariadb-11.4.5", "mariadb-11.8"), "memory.read-ahead-evicted"
    ),
    without("Its option skip_name_resolve takes no OFF.", NO_LOOK_UPS, "caches.host-cache-off"),
    without("It has no thread pool.", MYSQL, "connections.thread-pool-misfit", "connections.extra-port-missing"),
)


#: What is left out for the sake of one scenario's options, not of the server.
HERE_ONLY = frozenset(
    {
        "caches.host-cache-off",
        "memory.buffer-pool-oversized",
        "memory.buffer-pool-not-dumped",
        "memory.memory-budget-exceeded",
    }
)


def absent(rules: frozenset[str]) -> dict[str, dict[str, str]]:
    """Of ABSENT what concerns these rules."""
    return {name: {rule: why for rule, why in each.items() if rule in rules} for name, each in ABSENT.items()}


SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        name="option-file-copied-for-years",
        what="Sizes and switches that nobody would choose for 4 GiB and two CPUs, on a server that is up for a week",
        options=neglected,
        setup=("SET GLOBAL table_open_cache = 12000",),
        inspect=True,
        uptime_seconds=8 * DAY,
        host={"memory_bytes": 4 * GIB, "cpus": 2},
        fires=_SETTINGS,
        but=absent(_SETTINGS),
        quick=True,
    ),
    Scenario(
        name="caches-that-hold-nothing",
        what="Look-ups all over tables of three engines whose caches hold little of them, and scans that stop early",
        options=starved,
        setup=three_engines,
        load=scattered_reads,
        warm_seconds=2,
        uptime_seconds=DAY,
        host={"memory_bytes": 256 * MIB, "cpus": 2},
        fires=_LOADED | {"memory.buffer-pool-exceeds-memory", "memory.buffer-pool-undersized"},
        but=absent(_LOADED),
        quick=True,
    ),
    Scenario(
        name="memory-connections-caches-and-locks-sound",
        what="A server with sizes for 16 GiB that has been up for a week and does little",
        options=sound,
        inspect=True,
        uptime_seconds=8 * DAY,
        host={"memory_bytes": 16 * GIB, "cpus": 16},
        passes=_SETTINGS
        | _LOADED
        | {
            "memory.buffer-pool-exceeds-memory",
            "memory.buffer-pool-undersized",
            "connections.connections-near-limit",
            "connections.connections-refused",
            "connections.clients-aborted",
            "connections.connects-aborted",
            "connections.thread-cache-small",
            "connections.threads-launched-slowly",
            "connections.back-log-small",
            "connections.idle-sessions-pile-up",
            "connections.too-many-running",
            "connections.prepared-statements-near-limit",
            "connections.names-resolved-for-nothing",
            "connections.max-connect-errors-small",
            "caches.table-open-cache-misses",
            "caches.table-open-cache-instances-few",
            "caches.table-definition-cache-small",
            "caches.innodb-open-files-low",
            "locks.row-lock-waits-long",
            "locks.table-locks-waited",
            "locks.deadlocks-frequent",
            "locks.lock-wait-timeouts",
            "locks.long-transaction-open",
            "locks.deadlocks-not-logged",
        },
        but=absent((_SETTINGS | _LOADED) - HERE_ONLY),
        quick=True,
    ),
)
