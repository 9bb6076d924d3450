"""Which errors the server raised since it started, and how often (MySQL 8 and later)."""

from __future__ import annotations

from collector.inspections.question import Inspecting, Question, performance_schema
from collector.probes.probe import Skipped

SQL = (
    "SELECT ERROR_NAME, SUM_ERROR_RAISED FROM performance_schema.events_errors_summary_global_by_error "
    "WHERE ERROR_NAME IS NOT NULL AND SUM_ERROR_RAISED > 0 ORDER BY SUM_ERROR_RAISED DESC LIMIT 200"
)


def read(inspecting: Inspecting) -> int:
    server = inspecting.server
    if server.is_mariadb or server.number < (8, 0, 0):
        raise Skipped("This server does not count errors by name.")
    inspecting.wants_performance_schema()
    return inspecting.keep("errors", inspecting.ask(SQL).rows)


QUESTION = Question("errors", "errors by name", read, performance_schema)
