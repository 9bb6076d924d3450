"""What can be seen of a server: too dearly, not at all, and not of what matters."""

from __future__ import annotations

from contextlib import AbstractContextManager, closing
from typing import Any

from tests.servers import RunningServer
from tests.servers.load import prepare, write_load
from tests.truth.exceptions import except_on
from tests.truth.scenario import EVERY, MARIADB, MYSQL, Options, Scenario
from tests.truth.sessions import sessions

_WITHOUT_TRACE = ("mariadb-10.2.11",)
#: Servers that show the redo capacity by this variable.
_BY_CAPACITY = ("mysql-8.0.33", "mysql-9.7")

#: Servers that show the checkpoint age without a counter that has to be switched on.
_SHOWS_AGE = tuple(name for name in EVERY if name not in ("mysql-5.7.22", "mysql-8.0.12", "mariadb-10.2.11"))

_AGE = "observability.checkpoint-age-counters-off"
_TRACE = "observability.optimizer-trace-on"
_DIGESTS = "observability.digest-table-full"


def _dear(server: str) -> Options:
    """Everything about waits, nothing about statements, histories of a million rows, and limits that are too small."""
    options: dict[str, str | None] = {
        "performance_schema": "ON",
        "performance_schema_instrument": "wait/synch/%=ON",
        "performance_schema_consumer_events_waits_history": "ON",
        "performance_schema_consumer_statements_digest": "OFF",
        "performance_schema_events_stages_history_long_size": "200000",
        "performance_schema_max_prepared_statements_instances": "1",
        "performance_schema_max_table_handles": "1",
        "performance_schema_accounts_size": "1",
    }
    if server not in _WITHOUT_TRACE:
        options["optimizer_trace"] = "enabled=on"
    if server == "mariadb-10.2.11":
        del options["performance_schema_max_prepared_statements_instances"]
    return options


def connecting(server: RunningServer) -> AbstractContextManager[object]:
    """Accounts that come and go."""
    for number in range(3):
        server.client_user(f"guest{number}", "")

    def turn(_cursor: Any, number: int) -> None:
        with closing(server.connect(user=f"guest{number % 3}", password="tide-mark.7")):
            pass

    return sessions(server, turn, pause=0.05)


def _narrow(server: str) -> Options:
    """Room for few digests, a small redo log and flushing that does not keep up, and histories as they come."""
    return {
        "performance_schema": "ON",
        "performance_schema_digests_size": "50",
        "innodb_io_capacity": "100",
        "innodb_io_capacity_max": "200",
        _redo_log(server): "8M",
        **({} if server in _SHOWS_AGE else {"innodb_monitor_enable": "module_log"}),
    }


def _roomy(server: str) -> Options:
    """A redo log with room."""
    return {"performance_schema": "ON", _redo_log(server): "512M"}


def _redo_log(server: str) -> str:
    return "innodb_redo_log_capacity" if server in _BY_CAPACITY else "innodb_log_file_size"


def _many_digests(server: RunningServer) -> None:
    """A hundred statements that are not alike, and a table to write to."""
    prepare(server, 20_000)
    with closing(server.connect()) as connection:
        cursor = connection.cursor()
        for number in range(100):
            cursor.execute("SELECT " + ", ".join(f"1 AS c{number}_{column}" for column in range(3)))
            cursor.fetchall()


def writing(server: RunningServer) -> AbstractContextManager[object]:
    """Writes that fill a small redo log."""
    return write_load(server, seconds=60, threads=4)


_SEEN_WHOLE = frozenset(
    {
        "observability.consumers-orphaned",
        "observability.instruments-costly",
        "observability.statement-digests-off",
        "observability.instruments-lost",
        "observability.history-sizes-large",
        _TRACE,
    }
)

SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        name="watched-too-dearly",
        what="Every mutex is counted, histories are long, consumers hang in the air, statements are not added up",
        options=_dear,
        load=connecting,
        fires=_SEEN_WHOLE | {_AGE},
        passes=frozenset({"observability.performance-schema-off"}),
        but=except_on(
            (_SHOWS_AGE, "shows the checkpoint age among its status variables", (_AGE,)),
            (_WITHOUT_TRACE, "no trace of the optimizer", (_TRACE,)),
            (MARIADB, "off by default there, which is not held against it", ("observability.performance-schema-off",)),
        ),
    ),
    Scenario(
        name="digests-and-redo-log-full",
        what="More statements than digests, and a redo log at its limit without a counter that tells who flushes",
        options=_narrow,
        setup=_many_digests,
        load=writing,
        warm_seconds=2,
        inspect=True,
        fires=frozenset({_DIGESTS, "observability.flush-counters-off"}),
        passes=_SEEN_WHOLE | {_AGE},
        but=except_on(
            (_SHOWS_AGE, "shows the checkpoint age among its status variables", (_AGE,)),
            (_WITHOUT_TRACE, "no trace of the optimizer, and 200 digests at most", (_TRACE, _DIGESTS)),
        ),
    ),
    Scenario(
        name="performance-schema-switched-off",
        what="MySQL without performance_schema: said once, and rules about it do not apply",
        servers=MYSQL,
        elsewhere="off is MariaDB's default, which is not held against it",
        options={"performance_schema": "OFF"},
        seconds=3,
        fires=frozenset({"observability.performance-schema-off"}),
        silent=_SEEN_WHOLE - {_TRACE},
    ),
    Scenario(
        name="digests-with-room",
        what="A server as it comes, with performance_schema and a redo log that is large enough",
        options=_roomy,
        load=writing,
        setup=lambda server: prepare(server, 4_000),
        inspect=True,
        passes=frozenset({_DIGESTS, "observability.flush-counters-off"}),
        but=except_on((_WITHOUT_TRACE, "200 digests at most", (_DIGESTS,))),
    ),
)
