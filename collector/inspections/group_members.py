"""Members of the replication group that this server belongs to; no row where it belongs to none."""

from __future__ import annotations

from collector.inspections.question import Inspecting, Question, performance_schema
from collector.probes.probe import Skipped

MYSQL = (
    "SELECT MEMBER_HOST, MEMBER_PORT, MEMBER_STATE, MEMBER_ROLE, MEMBER_VERSION, MEMBER_ID = @@server_uuid "
    "FROM performance_schema.replication_group_members WHERE MEMBER_ID <> '' ORDER BY MEMBER_ID LIMIT 64"
)
#: Before 8.0.2 the table did not tell roles and versions: which member is the primary is a status variable.
MYSQL_5_7 = (
    "SELECT m.MEMBER_HOST, m.MEMBER_PORT, m.MEMBER_STATE, "
    "CASE s.VARIABLE_VALUE WHEN '' THEN NULL WHEN m.MEMBER_ID THEN 'PRIMARY' ELSE 'SECONDARY' END, "
    "NULL, m.MEMBER_ID = @@server_uuid FROM performance_schema.replication_group_members m "
    "LEFT JOIN performance_schema.global_status s ON s.VARIABLE_NAME = 'group_replication_primary_member' "
    "WHERE m.MEMBER_ID <> '' ORDER BY m.MEMBER_ID LIMIT 64"
)


def read(inspecting: Inspecting) -> int:
    if inspecting.server.is_mariadb:
        raise Skipped("MariaDB has no Group Replication.")
    inspecting.wants_performance_schema()
    sql = MYSQL if inspecting.server.number >= (8, 0, 2) else MYSQL_5_7
    return inspecting.keep("group_members", inspecting.ask(sql).rows)


QUESTION = Question("group_members", "members of the replication group", read, performance_schema)
