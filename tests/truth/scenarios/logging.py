"""The server's logs: too much of everything, nothing of what matters, and written where nobody reads."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from tests.servers import RunningServer
from tests.truth.scenario import MYSQL, Options, Scenario
from tests.truth.sessions import sessions


def _quiet(server: str) -> dict[str, str | None]:
    """An error log without warnings."""
    return {"log_error_verbosity": "1"} if server in MYSQL else {"log_warnings": "0"}


def _everything(server: str) -> Options:
    """Logs of everything, into tables, but no warnings."""
    return {
        **_quiet(server),
        "general_log": "ON",
        "slow_query_log": "ON",
        "log_output": "TABLE",
        "long_query_time": "30",
        "log_queries_not_using_indexes": "ON",
        "innodb_status_output": "ON",
    }


def _asking(cursor: Any, _number: int) -> None:
    cursor.execute("SELECT 1")
    cursor.fetchall()


def asking(server: RunningServer) -> AbstractContextManager[object]:
    """Two sessions with some hundred statements a second."""
    return sessions(server, _asking, _asking, pause=0.005)


_FIRED_BY_EVERYTHING = frozenset(
    {
        "logging.general-log-on",
        "logging.logs-in-tables",
        "logging.slow-log-threshold-high",
        "logging.unindexed-statements-logged-unthrottled",
        "logging.error-log-too-quiet",
        "logging.innodb-monitor-output-on",
    }
)

SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        name="logs-of-everything",
        what="Every statement in tables, statements from half a minute on called slow, and no warnings",
        options=_everything,
        load=asking,
        fires=_FIRED_BY_EVERYTHING,
        passes=frozenset(
            {
                "logging.logs-written-nowhere",
                "logging.slow-log-floods",
                "logging.slow-log-off",
            }
        ),
    ),
    Scenario(
        name="slow-log-of-all-thrown-away",
        what="All statements are slow by long_query_time = 0, and what is written goes nowhere",
        options={"slow_query_log": "ON", "long_query_time": "0", "log_output": "NONE"},
        load=asking,
        fires=frozenset({"logging.slow-log-floods", "logging.logs-written-nowhere"}),
        passes=_FIRED_BY_EVERYTHING | {"logging.slow-log-off"},
    ),
)
