"""Nodes of Galera clusters: one by itself, two of which one is slow, three in good order, one that is cut off.

The provider is Debian's package galera-4, which fits the distribution's own MariaDB.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from MySQLdb import Error

from tests.servers import DISTRIBUTION_SERVER, RunningServer
from tests.servers.galera import found_cluster, node_options, second_node, wait_for
from tests.truth.scenario import Load, Options, Scenario

HERE = (DISTRIBUTION_SERVER,)
ELSEWHERE = "Galera comes as the distribution's package galera-4, for the distribution's own MariaDB"

#: Its proposal needs a restart, and starting a node again is left to the helper that knows how.
_NEEDS_RESTART = frozenset({"galera.auto-increment-lock-mode"})
_SET_BADLY = frozenset(
    {
        "galera.schema-changes-rolling-left",
        "galera.desync-left-on",
        "galera.keyless-tables-uncertified",
        "galera.foreign-keys-unchecked",
        "galera.dirty-reads-on",
        "galera.state-transfer-blocks",
        "galera.non-transactional-replication",
        "galera.tables-not-replicated",
        "galera.cluster-survives-no-failure",
    }
)
_SLOW = frozenset(
    {
        "galera.flow-control-pauses",
        "galera.slow-member",
        "galera.receive-queue-long",
        "galera.applier-threads-few",
    }
)


def alone() -> Options:
    """A single node with every switch the wrong way."""
    return {
        **node_options(),
        "innodb_autoinc_lock_mode": "2",
        "wsrep_osu_method": "RSU",
        "wsrep_certify_nonpk": "OFF",
        "wsrep_slave_fk_checks": "OFF",
        "wsrep_dirty_reads": "ON",
        "wsrep_sst_method": "rsync",
        "wsrep_mode": "REPLICATE_MYISAM",
    }


def node(provider_options: str = "") -> Options:
    """A node as it should be."""
    return {
        **node_options(provider_options=provider_options),
        "innodb_autoinc_lock_mode": "2",
        "wsrep_sst_method": "mariabackup",
    }


def within(options: Callable[[], Options], load: Load) -> Load:
    """The load on a server that has become the first node of a cluster: it is started plain, so that it is watched by
    an account that it has already.
    """

    @contextmanager
    def clustered(server: RunningServer) -> Iterator[None]:
        found_cluster(server, options())
        with load(server):
            yield

    return clustered


@contextmanager
def desynced(server: RunningServer) -> Iterator[None]:
    """The node is out of flow control, and has a table that is not replicated."""
    server.sql("SET GLOBAL wsrep_desync = ON")
    server.sql("CREATE DATABASE shop")
    server.sql("CREATE TABLE shop.log (id INT PRIMARY KEY) ENGINE = Aria")
    yield


@contextmanager
def writing(target: RunningServer) -> Iterator[None]:
    """Sixteen sessions insert rows that have nothing to do with each other, until the block ends."""
    target.sql("CREATE DATABASE shop")
    target.sql("CREATE TABLE shop.goods (id INT AUTO_INCREMENT PRIMARY KEY, body VARCHAR(2000)) ENGINE = InnoDB")
    ended = threading.Event()

    def write() -> None:
        until = time.monotonic() + 60
        try:
            with closing(target.connect(db="shop")) as connection:
                cursor = connection.cursor()
                while not ended.wait(0.002) and time.monotonic() < until:
                    cursor.execute("INSERT INTO goods (body) VALUES (REPEAT('x', 1000))")
        except Error:
            pass  # The node is ended while it waits for another one.

    writers = [threading.Thread(target=write, daemon=True) for _ in range(16)]
    for one in writers:
        one.start()
    try:
        yield
    finally:
        ended.set()
        for one in writers:
            one.join(5)


@contextmanager
def slow(server: RunningServer) -> Iterator[None]:
    """The other node writes, and a session here locks the table but for moments."""
    ended = threading.Event()

    def lock() -> None:
        with closing(server.connect()) as connection:
            cursor = connection.cursor()
            while not ended.is_set():
                cursor.execute("LOCK TABLES shop.goods READ")
                ended.wait(1.0)
                cursor.execute("UNLOCK TABLES")
                time.sleep(0.02)

    with second_node(server, "gcs.fc_limit=150") as other, writing(other):
        wait_for(server, "wsrep_local_state", "4")
        time.sleep(1)
        locker = threading.Thread(target=lock)
        locker.start()
        try:
            # The last thing that an observation reads has to find the queue full, so that it is locked once more.
            yield
        finally:
            ended.set()
            locker.join()


@contextmanager
def colliding(server: RunningServer) -> Iterator[None]:
    """Both nodes change the same row, and a session here holds a global read lock for a moment."""
    server.sql("CREATE DATABASE before_the_second")
    ended = threading.Event()
    with second_node(server) as other:
        other.sql("CREATE DATABASE shop")
        other.sql("CREATE TABLE shop.goods (id INT PRIMARY KEY, amount INT) ENGINE = InnoDB")
        other.sql("INSERT INTO shop.goods VALUES (1, 0)")

        def change(target: RunningServer) -> None:
            with closing(target.connect(db="shop")) as connection:
                cursor = connection.cursor()
                while not ended.is_set():
                    try:
                        cursor.execute("UPDATE goods SET amount = amount + 1 WHERE id = 1")
                    except Error:
                        ended.wait(0.01)  # A deadlock: the other node was first.

        time.sleep(0.5)
        changers = [threading.Thread(target=change, args=(each,)) for each in (server, server, other, other)]
        for one in changers:
            one.start()
        try:
            yield
        finally:
            ended.set()
            for one in changers:
                one.join()


@contextmanager
def backed_up(server: RunningServer) -> Iterator[None]:
    """A backup holds the global read lock."""
    with closing(server.connect()) as connection:
        connection.cursor().execute("FLUSH TABLES WITH READ LOCK")
        yield


@contextmanager
def three(server: RunningServer) -> Iterator[None]:
    """Three nodes, one of which writes a little."""
    with second_node(server) as second, second_node(server):
        wait_for(server, "wsrep_cluster_size", "3")
        second.sql("CREATE DATABASE shop")
        second.sql("CREATE TABLE shop.goods (id INT AUTO_INCREMENT PRIMARY KEY) ENGINE = InnoDB")
        for _ in range(20):
            second.sql("INSERT INTO shop.goods VALUES ()")
        yield


@contextmanager
def cut_off(server: RunningServer) -> Iterator[None]:
    """The other of two nodes is lost without a word."""
    with second_node(server) as other:
        other.kill()
        wait_for(server, "wsrep_cluster_status", "non-Primary")
        yield


SCENARIOS = (
    Scenario(
        name="galera-node-alone",
        what="A single node with every switch the wrong way",
        servers=HERE,
        elsewhere=ELSEWHERE,
        load=within(alone, desynced),
        seconds=3,
        interval=1,
        inspect=True,
        fires=_SET_BADLY,
        passes=frozenset({"galera.node-not-primary", "galera.node-not-synced"}),
        quick=True,
    ),
    Scenario(
        name="galera-three-nodes",
        what="Three nodes in good order",
        servers=HERE,
        elsewhere=ELSEWHERE,
        load=within(node, three),
        seconds=11,
        inspect=True,
        passes=_SET_BADLY
        | _SLOW
        | _NEEDS_RESTART
        | {
            "galera.node-not-primary",
            "galera.node-not-synced",
            "galera.certification-conflicts",
            "galera.gcache-small",
        },
    ),
    Scenario(
        name="galera-slow-node",
        what="A node with one applier and a lock makes the other wait",
        servers=HERE,
        elsewhere=ELSEWHERE,
        load=within(lambda: node("gcs.fc_limit=150"), slow),
        seconds=11,
        fires=_SLOW,
    ),
    Scenario(
        name="galera-two-nodes-collide",
        what="Two nodes change the same row, and the gcache holds seconds",
        servers=HERE,
        elsewhere=ELSEWHERE,
        load=within(lambda: node("gcache.size=1M"), colliding),
        seconds=11,
        fires=frozenset(
            {"galera.certification-conflicts", "galera.gcache-small", "galera.cluster-survives-no-failure"}
        ),
    ),
    Scenario(
        name="galera-node-backed-up",
        what="A global read lock takes the node out of step",
        servers=HERE,
        elsewhere=ELSEWHERE,
        load=within(node, backed_up),
        seconds=3,
        interval=1,
        fires=frozenset({"galera.node-not-synced"}),
        severity={"galera.node-not-synced": "notice"},
    ),
    Scenario(
        name="galera-node-cut-off",
        what="The other of two nodes is lost",
        servers=HERE,
        elsewhere=ELSEWHERE,
        load=within(lambda: {**node(), "innodb_autoinc_lock_mode": "1"}, cut_off),
        seconds=3,
        interval=1,
        fires=_NEEDS_RESTART | {"galera.node-not-primary"},
        applied=False,
    ),
)
