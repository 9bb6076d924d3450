"""What holds for advice as a whole: silence where there is nothing to say, and few words where there is little."""

from __future__ import annotations

from contextlib import AbstractContextManager

from tests.servers import RunningServer
from tests.servers.load import write_load
from tests.truth.scenario import EVERY, MARIADB, MYSQL, Options, Scenario

MIB = 1 << 20

#: Rules that size something: they need a load, or a day, or both.
SIZING = frozenset(
    {
        "redo.redo-log-undersized",
        "redo.redo-log-oversized",
        "redo.log-buffer-too-small",
        "flushing.io-capacity-too-low",
        "flushing.io-capacity-max-too-high",
        "flushing.adaptive-flushing-blind",
        "flushing.dirty-pages-limit-reached",
        "memory.buffer-pool-undersized",
    }
)

#: True of the version itself, whatever is set.
OF_THE_VERSION = frozenset({"version.version-out-of-support"})


def moderate(server: RunningServer) -> AbstractContextManager[object]:
    """300 kB of rows a second: some 30 transactions of ten rows, as a small shop has them."""
    return write_load(server, seconds=60, threads=2, bytes_per_second=300_000, rows=4_000)


def busy(server: RunningServer) -> AbstractContextManager[object]:
    """Two MB of rows a second, about four of redo."""
    return write_load(server, seconds=60, threads=2, bytes_per_second=2_000_000)


def redo(name: str, capacity_mib: int) -> dict[str, str | None]:
    """The options that give this server a redo log of that size."""
    if name in ("mysql-8.0.33", "mysql-9.7"):
        return {"innodb_redo_log_capacity": f"{capacity_mib}M"}
    if name in ("mysql-5.7.22", "mysql-8.0.12", "mariadb-10.2.11"):
        return {"innodb_log_file_size": f"{capacity_mib // 2}M"}
    return {"innodb_log_file_size": f"{capacity_mib}M", "innodb_log_buffer_size": "2M"}


def tiny_redo(name: str) -> Options:
    """8 MiB: the log is turned over every two seconds."""
    return redo(name, 8)


def generous(name: str) -> Options:
    """Sizes and safety as a careful DBA sets them for a small server."""
    options = redo(name, 1024) | {
        "innodb_buffer_pool_size": "256M",
        "innodb_flush_log_at_trx_commit": "1",
        "sync_binlog": "1",
        "innodb_flush_method": "O_DIRECT",
        "loose_innodb_log_buffer_size": "32M",
    }
    if name in MARIADB:
        options |= {"innodb_io_capacity": "2000", "innodb_io_capacity_max": "4000"}
    return options


SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        name="idle-and-just-started",
        what="A server with the defaults of its version that does nothing gets no sizing advice",
        silent=SIZING,
        quick=True,
    ),
    Scenario(
        name="generous-settings",
        what="Enough of everything under a moderate load: nothing is to be sized",
        options=generous,
        load=moderate,
        warm_seconds=2,
        silent=SIZING | {"durability.commit-not-durable", "flushing.flush-method-buffered"},
        passes=frozenset(
            {"redo.redo-log-undersized", "durability.commit-not-durable", "engines.tables-share-one-file"}
        ),
        but={"mysql-5.7.22": {}, "mariadb-10.2.11": {}},
        quick=True,
    ),
    Scenario(
        name="tiny-redo-under-writes",
        what="A redo log of 8 MiB that is written over every few seconds",
        options=tiny_redo,
        load=busy,
        warm_seconds=3,
        fires=frozenset({"redo.redo-log-undersized"}),
        silent=frozenset({"flushing.io-capacity-max-too-high", "redo.redo-log-oversized"}),
        quick=True,
        alone=True,
    ),
    Scenario(
        name="relaxed-durability",
        what="Commits that a crash may take back",
        options={"innodb_flush_log_at_trx_commit": "2", "log_bin": None, "server_id": "7", "sync_binlog": "0"},
        fires=frozenset({"durability.commit-not-durable"}),
        seconds=3,
        quick=True,
    ),
    Scenario(
        name="limited-grants",
        what="An account that may see nothing: what it could not judge is listed with the exact GRANT",
        grants="USAGE",
        servers=tuple(name for name in EVERY if name in ("mysql-5.7.22", "mysql-8.0.12", "mariadb-10.2.11")),
        elsewhere="Newer versions show the checkpoint age and its limits to every account.",
        load=busy,
        warm_seconds=2,
        not_evaluated={"redo.redo-log-undersized": "GRANT PROCESS"},
        silent=SIZING,
    ),
    Scenario(
        name="limited-grants-inspection",
        what="An inspection by an account without grants is refused, with the GRANT, and nothing passes by absence",
        grants="USAGE",
        inspect=True,
        seconds=3,
        not_evaluated={
            "security.anonymous-accounts": "GRANT SELECT",
            "schema.tables-without-primary-key": "GRANT PROCESS",
        },
        silent=frozenset({"security.anonymous-accounts", "schema.tables-without-primary-key"}),
        quick=True,
    ),
    Scenario(
        name="low-water-mark-under-writes",
        what="Pages are flushed from 10 % of the pool on by a low maximum",
        options={
            "innodb_max_dirty_pages_pct": "10",
            "innodb_max_dirty_pages_pct_lwm": "5",
            "innodb_file_per_table": "OFF",
        },
        load=moderate,
        fires=frozenset({"flushing.dirty-pages-flushed-early", "engines.tables-share-one-file"}),
        seconds=5,
    ),
    Scenario(
        name="small-pool",
        what="More pages read from disk than a pool of 16 MiB holds; a young server is told to wait instead",
        options={"innodb_buffer_pool_size": "16M", "loose_innodb_buffer_pool_chunk_size": "8M"},
        load=busy,
        not_evaluated={"memory.buffer-pool-undersized": "10 min"},
        silent=frozenset({"memory.buffer-pool-oversized"}),
    ),
    Scenario(
        name="dedicated-server",
        what="innodb_dedicated_server sizes the pool and the redo log by itself: it is told where a size overrides it",
        servers=tuple(name for name in MYSQL if name != "mysql-5.7.22"),
        elsewhere="MySQL 8.0 and later only.",
        options={"innodb_dedicated_server": "ON", "innodb_buffer_pool_size": "256M"},
        fires=frozenset({"memory.dedicated-server-overridden"}),
        seconds=3,
    ),
)
