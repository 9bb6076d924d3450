"""Open transactions of InnoDB, the oldest first; never what they ran."""

from __future__ import annotations

from collector.inspections.question import Inspecting, Question, process

MOST_TRANSACTIONS = 200

SQL = (
    "SELECT GREATEST(0, TIMESTAMPDIFF(SECOND, t.trx_started, NOW())), t.trx_state, t.trx_rows_modified, "
    "t.trx_rows_locked, IF(p.COMMAND = 'Sleep', p.TIME, NULL) "
    "FROM information_schema.INNODB_TRX t LEFT JOIN information_schema.PROCESSLIST p ON p.ID = t.trx_mysql_thread_id "
    f"ORDER BY t.trx_started LIMIT {MOST_TRANSACTIONS}"
)


def read(inspecting: Inspecting) -> int:
    return inspecting.keep("transactions", inspecting.ask(SQL).rows)


QUESTION = Question("transactions", "open transactions", read, process)
