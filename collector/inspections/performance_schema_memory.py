"""How much memory performance_schema takes for itself."""

from __future__ import annotations

from collector.inspections.question import Inspecting, Question, process
from collector.probes.probe import Skipped

SQL = "SHOW ENGINE PERFORMANCE_SCHEMA STATUS"


def read(inspecting: Inspecting) -> int:
    if inspecting.snapshot.variables.get("performance_schema", "").upper() != "ON":
        raise Skipped("performance_schema is off and takes no memory.")
    rows = inspecting.ask(SQL).rows
    return inspecting.keep(
        "performance_schema_memory", [(row[2],) for row in rows if row[1] == "performance_schema.memory"][:1]
    )


QUESTION = Question("performance_schema_memory", "memory of performance_schema", read, process)
