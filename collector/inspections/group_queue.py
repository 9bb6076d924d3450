"""How far this member of a replication group is behind: its queues and what certification turned away."""

from __future__ import annotations

from collector.inspections.question import Inspecting, Question, performance_schema
from collector.probes.probe import Skipped

MYSQL = (
    "SELECT COUNT_TRANSACTIONS_REMOTE_IN_APPLIER_QUEUE, COUNT_TRANSACTIONS_IN_QUEUE, COUNT_CONFLICTS_DETECTED, "
    "COUNT_TRANSACTIONS_CHECKED FROM performance_schema.replication_group_member_stats "
    "WHERE MEMBER_ID = @@server_uuid LIMIT 1"
)
#: Before 8.0.2 the applier's queue was not counted.
MYSQL_5_7 = MYSQL.replace("COUNT_TRANSACTIONS_REMOTE_IN_APPLIER_QUEUE", "NULL")


def read(inspecting: Inspecting) -> int:
    if inspecting.server.is_mariadb:
        raise Skipped("MariaDB has no Group Replication.")
    inspecting.wants_performance_schema()
    sql = MYSQL if inspecting.server.number >= (8, 0, 2) else MYSQL_5_7
    return inspecting.keep("group_queue", inspecting.ask(sql).rows)


QUESTION = Question("group_queue", "queues of the replication group", read, performance_schema)
