"""Members of MySQL replication groups: alone, stopped, cut off, behind, and beside others."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

from tests.servers import RunningServer
from tests.servers.group import found_group, joining, wait_for_state
from tests.truth.scenario import Scenario

GIB = 1 << 30
WITH_PLUGIN = ("mysql-8.0.33", "mysql-9.7")
ELSEWHERE = "MySQL 8.0.33 and 9.7 bring the plugin; the packages of 5.7.22 and 8.0.12 do not, MariaDB has none"
LARGE = ("mysql-8.0.33",)
ONE_IS_ENOUGH = f"several members at once: one version is enough for the machine; {ELSEWHERE}"


@contextmanager
def alone(server: RunningServer) -> Iterator[None]:
    """The only member, which would found the group again."""
    found_group(server, {"consistency": "EVENTUAL"})
    server.sql("SET GLOBAL group_replication_bootstrap_group = ON")
    yield
    server.sql("STOP GROUP_REPLICATION")


@contextmanager
def stopped(server: RunningServer) -> Iterator[None]:
    """A member that was set up and does not take part."""
    found_group(server, {"consistency": "BEFORE_ON_PRIMARY_FAILOVER"})
    server.sql("STOP GROUP_REPLICATION")
    yield


@contextmanager
def cut_off(server: RunningServer) -> Iterator[None]:
    """The other of two members is gone without a word."""
    found_group(server, {"member_expel_timeout": "60"})
    with joining(server, recovers=False, settings={"member_expel_timeout": "60"}) as other:
        port = other.port
        other.kill()
        wait_for_state(server, port, "UNREACHABLE")
        yield


@contextmanager
def behind(server: RunningServer) -> Iterator[None]:
    """The other of two primaries writes, and a lock here keeps it from being applied."""
    modes = {
        "single_primary_mode": "OFF",
        "flow_control_applier_threshold": "5",
        "flow_control_mode": "DISABLED",
    }
    found_group(server, modes)
    server.sql("CREATE DATABASE shop")
    server.sql("CREATE TABLE shop.goods (id INT AUTO_INCREMENT PRIMARY KEY)")
    with joining(server, settings=modes) as other, closing(server.connect()) as holder:
        cursor = holder.cursor()
        cursor.execute("FLUSH TABLES WITH READ LOCK")
        for _ in range(20):
            other.sql("INSERT INTO shop.goods VALUES ()")
        time.sleep(1)
        yield
        cursor.execute("UNLOCK TABLES")


@contextmanager
def three(server: RunningServer) -> Iterator[None]:
    """Two more members join and recover."""
    found_group(server)
    with joining(server, recovers=False), joining(server, server_id=3, recovers=False):
        yield


SCENARIOS = (
    Scenario(
        name="group-member-alone",
        what="The only member of a group, on a small machine, about to found it again",
        servers=WITH_PLUGIN,
        elsewhere=ELSEWHERE,
        load=alone,
        seconds=3,
        interval=1,
        inspect=True,
        host={"memory_bytes": 2 * GIB},
        fires=frozenset(
            {
                "group.survives-no-failure",
                "group.reads-stale-after-failover",
                "group.bootstrap-left-on",
                "group.message-cache-large",
            }
        ),
        passes=frozenset(
            {
                "group.member-not-online",
                "group.majority-unreachable",
                "group.applier-queue-long",
            }
        ),
    ),
    Scenario(
        name="group-member-stopped",
        what="A member that was set up and does not take part, on a large machine",
        servers=WITH_PLUGIN,
        elsewhere=ELSEWHERE,
        load=stopped,
        seconds=3,
        interval=1,
        inspect=True,
        host={"memory_bytes": 64 * GIB},
        fires=frozenset({"group.member-not-online"}),
        passes=frozenset({"group.reads-stale-after-failover", "group.bootstrap-left-on", "group.message-cache-large"}),
        severity={"group.member-not-online": "critical"},
    ),
    Scenario(
        name="group-member-cut-off",
        what="The other of two members is gone without a word",
        servers=LARGE,
        elsewhere=ONE_IS_ENOUGH,
        load=cut_off,
        seconds=3,
        interval=1,
        inspect=True,
        fires=frozenset({"group.majority-unreachable"}),
        applied=False,
    ),
    Scenario(
        name="group-member-behind",
        what="A lock keeps twenty transactions of the other primary from being applied",
        servers=LARGE,
        elsewhere=ONE_IS_ENOUGH,
        load=behind,
        seconds=3,
        interval=1,
        inspect=True,
        fires=frozenset({"group.applier-queue-long"}),
    ),
    Scenario(
        name="group-of-three",
        what="Three members, two of which still recover",
        servers=LARGE,
        elsewhere=ONE_IS_ENOUGH,
        load=three,
        seconds=3,
        interval=1,
        inspect=True,
        fires=frozenset({"group.member-not-online"}),
        passes=frozenset({"group.survives-no-failure", "group.majority-unreachable"}),
        severity={"group.member-not-online": "notice"},
    ),
)
