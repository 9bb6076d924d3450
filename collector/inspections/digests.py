"""Normalised statements with their totals: those that took most time, and those that wrote most rows.

The server has replaced every literal before we see a statement; its samples of real statements are never read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from advisor.mysql.snapshot import Remedy, RemedyKind
from collector.connection import Row
from collector.inspections.question import NOT_PEOPLES, Inspecting, Question, performance_schema, seconds
from collector.probes.probe import Skipped

BY_TIME = 200
BY_ROWS_WRITTEN = 50

_COLUMNS = (
    "SCHEMA_NAME, DIGEST, DIGEST_TEXT, COUNT_STAR, SUM_TIMER_WAIT, SUM_LOCK_TIME, SUM_ROWS_EXAMINED, SUM_ROWS_SENT, "
    "SUM_ROWS_AFFECTED, SUM_NO_INDEX_USED, SUM_NO_GOOD_INDEX_USED, SUM_SELECT_FULL_JOIN, SUM_SELECT_RANGE, "
    "SUM_CREATED_TMP_TABLES, SUM_CREATED_TMP_DISK_TABLES, SUM_SORT_ROWS, SUM_SORT_MERGE_PASSES, SUM_ERRORS, "
    "GREATEST(0, TIMESTAMPDIFF(SECOND, FIRST_SEEN, NOW())), GREATEST(0, TIMESTAMPDIFF(SECOND, LAST_SEEN, NOW()))"
)
#: A few more than are kept, since some will turn out to be our own.
SQL = (
    f"SELECT {_COLUMNS} FROM performance_schema.events_statements_summary_by_digest "
    f"WHERE SCHEMA_NAME IS NULL OR SCHEMA_NAME NOT IN {NOT_PEOPLES} "
)
TOP_BY_TIME = f"{SQL} ORDER BY SUM_TIMER_WAIT DESC LIMIT {BY_TIME + 60}"
TOP_BY_ROWS_WRITTEN = f"{SQL} ORDER BY SUM_ROWS_AFFECTED DESC LIMIT {BY_ROWS_WRITTEN}"
OVERFLOW = f"SELECT {_COLUMNS} FROM performance_schema.events_statements_summary_by_digest WHERE DIGEST IS NULL LIMIT 1"

#: What is asked without a schema of one's own, about the server itself: our questions, and those of other programs
#: that watch it.
_ABOUT_THE_SERVER = re.compile(
    r"^(?:SHOW|SET|COMMIT|ROLLBACK|SELECT (?:@@|CURRENT_USER|`?CONNECTION_ID|VERSION))"
    r"|`?(?:information_schema|performance_schema)`? \. |`?mysql`? \. `?(?:user|global_priv|global_grants)`?",
    re.IGNORECASE,
)
_CONSUMERS = ("global_instrumentation", "statements_digest")


def read(inspecting: Inspecting) -> int:
    inspecting.wants_performance_schema()
    _wants_digests(inspecting)
    by_time = [row for row in inspecting.ask(TOP_BY_TIME).rows if not _is_about_the_server(row)][:BY_TIME]
    written = [
        row
        for row in inspecting.ask(TOP_BY_ROWS_WRITTEN).rows
        if not _is_about_the_server(row) and (row[8] or "0") != "0"
    ]
    found: dict[tuple[str | None, str | None], Row] = {}
    for row in (*by_time, *written, *inspecting.ask(OVERFLOW).rows):
        found.setdefault((row[0], row[1]), row)
    return inspecting.keep(
        "digests", [(*row[:4], seconds(row[4]), seconds(row[5]), *row[6:]) for row in found.values()]
    )


def _is_about_the_server(row: Row) -> bool:
    return row[0] is None and row[1] is not None and _ABOUT_THE_SERVER.search(row[2] or "") is not None


def _wants_digests(inspecting: Inspecting) -> None:
    """Raises Skipped where statements are not counted: an empty table then means nothing."""
    if inspecting.snapshot.variables.get("performance_schema_digests_size") == "0":
        raise Skipped(
            "The table of statement digests has no place for any.",
            Remedy(
                RemedyKind.ENABLE,
                "statement digests",
                "performance_schema_digests_size = 10000 in the option file, then a restart",
            ),
        )
    set_up: Mapping[str, Any] = inspecting.snapshot.performance_schema
    consumers = set_up.get("consumers")
    if consumers and not all(consumers.get(name) for name in _CONSUMERS):
        names = ", ".join(f"'{name}'" for name in _CONSUMERS)
        raise Skipped(
            "The consumer of statement digests is switched off.",
            Remedy(
                RemedyKind.ENABLE,
                "statement digests",
                f"UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME IN ({names})",
            ),
        )
    instruments = set_up.get("instruments") or {}
    counted = instruments.get("statement/sql")
    if counted and counted[1] == 0:
        raise Skipped(
            "The instruments of statements are switched off.",
            Remedy(
                RemedyKind.ENABLE,
                "statement digests",
                "UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES' "
                "WHERE NAME LIKE 'statement/%'",
            ),
        )


QUESTION = Question("digests", "statement digests", read, performance_schema)
