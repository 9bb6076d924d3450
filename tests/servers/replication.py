"""Pairs of real servers: a replica attached to a source of the same version, both on loopback."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from .running import RunningServer, start_server

ACCOUNT = "replicator"
PASSWORD = "tide-mark.8"
DEADLINE_SECONDS = 20.0


def number_of(server: RunningServer) -> tuple[int, ...]:
    """The server's version as numbers."""
    return tuple(int(part) for part in server.version.split("."))


def source_options(name: str) -> dict[str, str | None]:
    """What a server needs to be a source, and another one's partner, whatever its version."""
    options: dict[str, str | None] = {"log_bin": "binlog", "server_id": "101"}
    if name.startswith("mysql"):
        options |= {"loose_gtid_mode": "ON", "loose_enforce_gtid_consistency": "ON", "log_slave_updates": "ON"}
        if not name.startswith("mysql-5"):
            del options["log_slave_updates"]
    return options


@contextmanager
def source_for(replica: RunningServer, *, by_gtid: bool = True) -> Iterator[RunningServer]:
    """Start a source of the replica's version, and let ``replica`` follow it for as long as the block lasts.

    What the replica holds from before stays its own. Raises TimeoutError where the replica does not follow
    in time.
    """
    with start_server(replica.name, options=source_options(replica.name)) as source:
        account(source)
        attach(replica, source, by_gtid=by_gtid)
        yield source


@contextmanager
def replica_for(source: RunningServer, *, options: Mapping[str, str | None] | None = None) -> Iterator[RunningServer]:
    """Start a replica of the source's version that follows ``source`` for as long as the block lasts."""
    account(source)
    wanted = {**source_options(source.name), "server_id": "102", **(options or {})}
    with start_server(source.name, options=wanted) as replica:
        attach(replica, source, by_gtid=False)
        yield replica


def account(source: RunningServer) -> None:
    """An account on the source for its replicas, which the replicas do not learn of."""
    mysql8 = source.flavor == "mysql" and number_of(source) >= (8, 0, 0) and number_of(source) < (9, 0, 0)
    plugin = " WITH mysql_native_password" if mysql8 else ""
    with_password = f"IDENTIFIED{plugin} BY '{PASSWORD}'"
    connection = source.connect()
    try:
        cursor = connection.cursor()
        cursor.execute("SET SESSION sql_log_bin = 0")
        cursor.execute(f"CREATE USER '{ACCOUNT}'@'127.0.0.1' {with_password}")
        cursor.execute(f"GRANT REPLICATION SLAVE ON *.* TO '{ACCOUNT}'@'127.0.0.1'")
    finally:
        connection.close()


def attach(replica: RunningServer, source: RunningServer, *, by_gtid: bool = True) -> None:
    """Let ``replica`` follow ``source`` from where the source is now. Raises TimeoutError."""
    newer = replica.flavor == "mysql" and number_of(replica) >= (8, 0, 23)
    word = "SOURCE" if newer else "MASTER"
    given = f"{word}_HOST = '127.0.0.1', {word}_PORT = {source.port}"
    given += f", {word}_USER = '{ACCOUNT}', {word}_PASSWORD = '{PASSWORD}'"
    if newer:
        given += ", GET_SOURCE_PUBLIC_KEY = 1"
    renamed = source.flavor == "mysql" and number_of(source) >= (8, 4, 0)
    status = "SHOW BINARY LOG STATUS" if renamed else "SHOW MASTER STATUS"
    place = source.sql(status)[0]
    forget(replica)
    if replica.flavor == "mariadb":
        if by_gtid:
            replica.sql(f"SET GLOBAL gtid_slave_pos = '{source.value('@@gtid_binlog_pos') or ''}'")
            given += ", MASTER_USE_GTID = slave_pos"
        else:
            given += f", MASTER_LOG_FILE = '{place[0]}', MASTER_LOG_POS = {place[1]}, MASTER_USE_GTID = no"
    elif by_gtid:
        executed = source.value("@@GLOBAL.gtid_executed") or ""
        if executed:
            replica.sql(f"SET GLOBAL gtid_purged = '{executed}'")
        given += f", {word}_AUTO_POSITION = 1"
    else:
        given += f", {word}_LOG_FILE = '{place[0]}', {word}_LOG_POS = {place[1]}"
    replica.sql(f"CHANGE {'REPLICATION SOURCE' if newer else 'MASTER'} TO {given}")
    start(replica)


def forget(replica: RunningServer) -> None:
    """Let the replica forget what it wrote itself, where it logs at all: its accounts are transactions, too."""
    if replica.value("@@GLOBAL.log_bin") == "1":
        newer = replica.flavor == "mysql" and number_of(replica) >= (8, 4, 0)
        replica.sql("RESET BINARY LOGS AND GTIDS" if newer else "RESET MASTER")


def replica_status(replica: RunningServer) -> dict[str, str | None]:
    """The first channel's status by column, in lower case and by the older names; empty where there is none."""
    newer = replica.flavor == "mysql" and number_of(replica) >= (8, 0, 22)
    connection = replica.connect(conv={})
    try:
        cursor = connection.cursor()
        cursor.execute("SHOW REPLICA STATUS" if newer else "SHOW SLAVE STATUS")
        row = cursor.fetchone()
        names = [column[0].lower() for column in cursor.description or ()]
    finally:
        connection.close()
    if row is None:
        return {}
    texts = (value.decode("utf-8", "replace") if isinstance(value, bytes) else value for value in row)
    older = (name.replace("source", "master").replace("replica_", "slave_") for name in names)
    return dict(zip(older, texts, strict=True))


def wait_until_running(replica: RunningServer) -> None:
    """Wait until both threads run. Raises TimeoutError with the replica's errors."""
    until = time.monotonic() + DEADLINE_SECONDS
    while True:
        told = replica_status(replica)
        if told.get("slave_io_running") == "Yes" and told.get("slave_sql_running") == "Yes":
            return
        if time.monotonic() > until:
            errors = {name: told.get(name) for name in ("last_io_error", "last_sql_error", "slave_io_running")}
            raise TimeoutError(f"{replica} does not follow: {errors}\n{replica.error_log_text()[-1000:]}")
        time.sleep(0.1)


def start(replica: RunningServer) -> None:
    """Start both threads and wait until they run. Raises TimeoutError."""
    newer = replica.flavor == "mysql" and number_of(replica) >= (8, 0, 22)
    replica.sql("START REPLICA" if newer else "START SLAVE")
    wait_until_running(replica)


def stop(replica: RunningServer) -> None:
    """Stop both threads."""
    newer = replica.flavor == "mysql" and number_of(replica) >= (8, 0, 22)
    replica.sql("STOP REPLICA" if newer else "STOP SLAVE")
