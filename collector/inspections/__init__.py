"""What is read of accounts, tables and statements when a person asks for it: one file for each question.

Polls and snapshots ask nothing of this. Everything here is a SELECT (or one SHOW), bounded in rows, by the server's own
time limit for a statement and by our clock; no password, no hash and no literal of anybody's statement is ever read.
"""

from __future__ import annotations

from collector.inspections import (
    accounts,
    auto_increments,
    digest_table,
    digests,
    errors,
    group_members,
    group_queue,
    indexes,
    keyless_tables,
    partitioned_tables,
    performance_schema_memory,
    sessions,
    tables,
    transactions,
)
from collector.inspections.question import Question

#: What is cheap first: should the time run out, tables are what is missing.
QUESTIONS: tuple[Question, ...] = (
    transactions.QUESTION,
    sessions.QUESTION,
    accounts.QUESTION,
    group_members.QUESTION,
    group_queue.QUESTION,
    errors.QUESTION,
    performance_schema_memory.QUESTION,
    digest_table.QUESTION,
    digests.QUESTION,
    keyless_tables.QUESTION,
    partitioned_tables.QUESTION,
    tables.QUESTION,
    auto_increments.QUESTION,
    indexes.QUESTION,
)

__all__ = ["QUESTIONS", "Question"]
