"""Tables of people's schemas with their sizes as the server estimates them."""

from __future__ import annotations

from collector.inspections.gathering import gather
from collector.inspections.question import Inspecting, Question, all_tables


def read(inspecting: Inspecting) -> int:
    gathered = gather(inspecting)
    partitions = {(schema, name): count for schema, name, count in gathered.partitions}
    if gathered.remark:
        inspecting.remark("tables", gathered.remark)
    return inspecting.keep("tables", [(*row[:9], partitions.get((row[0], row[1]), "0")) for row in gathered.tables])


QUESTION = Question("tables", "tables", read, all_tables)
