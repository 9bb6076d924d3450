"""Sessions by what they do: counts and the longest time, no user, no host and no statement."""

from __future__ import annotations

from advisor.mysql.version import ServerVersion
from collector.inspections.question import Inspecting, Question, Refused

#: Without the mutex that the process list takes; shows everybody to whoever may read the table. (MySQL 8.0.12 counts
#: its event scheduler as asleep, since ever: such threads have no time.)
THREADS = (
    "SELECT PROCESSLIST_COMMAND, COUNT(*), MAX(PROCESSLIST_TIME) FROM performance_schema.threads "
    "WHERE TYPE = 'FOREGROUND' AND PROCESSLIST_ID <> CONNECTION_ID() AND PROCESSLIST_TIME IS NOT NULL "
    "GROUP BY PROCESSLIST_COMMAND ORDER BY 2 DESC LIMIT 100"
)
PROCESSLIST = (
    "SELECT COMMAND, COUNT(*), MAX(TIME) FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() "
    "GROUP BY COMMAND ORDER BY 2 DESC LIMIT 100"
)


def read(inspecting: Inspecting) -> int:
    if _counts_threads(inspecting):
        return inspecting.keep("sessions", inspecting.ask(THREADS).rows)
    if not inspecting.sees_everyones_sessions():
        raise Refused("PROCESS", "Without PROCESS the process list shows the account's own sessions only.")
    return inspecting.keep("sessions", inspecting.ask(PROCESSLIST).rows)


def _counts_threads(inspecting: Inspecting) -> bool:
    return (
        inspecting.server.is_mysql
        and inspecting.snapshot.variables.get("performance_schema", "").upper() == "ON"
        and inspecting.may("SELECT ON performance_schema.*")
    )


def _privilege(_: ServerVersion) -> str:
    return "PROCESS"


QUESTION = Question("sessions", "sessions", read, _privilege)
