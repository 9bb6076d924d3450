"""How full the table of normalised statements is: when it is full, new statements are gathered in one row."""

from __future__ import annotations

from collector.inspections.question import Inspecting, Question, performance_schema

SQL = "SELECT COUNT(*) FROM performance_schema.events_statements_summary_by_digest"


def read(inspecting: Inspecting) -> int:
    inspecting.wants_performance_schema()
    counted = inspecting.ask(SQL).rows[0][0]
    size = inspecting.snapshot.variables.get("performance_schema_digests_size")
    lost = inspecting.snapshot.status.get("Performance_schema_digest_lost")
    return inspecting.keep("digest_table", [(counted, size, lost)])


QUESTION = Question("digest_table", "table of statement digests", read, performance_schema)
