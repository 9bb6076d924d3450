"""Collecting into a MariaDB as product database, also while that is restarted."""

from __future__ import annotations

import time

import pytest

from tests.servers import DISTRIBUTION_SERVER, RunningServer, start_server

from .installation import installation, until

INTERVAL = 6
#: Four writers of the audit at once; what the database says to changing it; how many entries are right.
AUDIT = """
import threading
from datetime import UTC, datetime
from django.db import Error, connection, connections
from advisor.teams import audit, audit_triggers, audit_verify
from advisor.teams.models import AuditEntry
before = AuditEntry.objects.count()
def write():
    for _ in range(30):
        audit.record(team_id=None, action="test.written", subject="línea 한국어 🐬", at=datetime.now(UTC))
    connections.close_all()
writers = [threading.Thread(target=write) for _ in range(4)]
for one in writers: one.start()
for one in writers: one.join()
for statement in ("UPDATE %s SET subject = ''", "DELETE FROM %s", "REPLACE INTO %s SELECT * FROM teams_auditentry"):
    try:
        connection.cursor().execute(statement % "teams_auditentry")
    except Error as error:
        print("refused" if "never changed" in str(error) else error, end=" ")
found = audit_verify.verify(now=datetime.now(UTC))
print(sorted(audit_triggers.missing(connection)), found.last - before, found.whole, end="")
"""


def _slots(product: RunningServer, server_id: str) -> list[int]:
    rows = product.sql(f"SELECT slot FROM tidemark.collector_opensample WHERE server_id = '{server_id}' ORDER BY slot")
    return [int(str(row[0])) for row in rows]


@pytest.mark.ci
def test_collecting_survives_a_restart_of_the_product_database() -> None:
    with start_server(DISTRIBUTION_SERVER) as product, start_server(DISTRIBUTION_SERVER) as target:
        product.sql("CREATE DATABASE tidemark CHARACTER SET utf8mb4")
        account = product.client_user("product", "ALL")
        target.client_user("watcher", "PROCESS")
        url = f"mysql://product:{account.password}@127.0.0.1:{product.port}/tidemark"
        with installation(url) as ours:
            server_id = ours.add_server("kept", target.port, "watcher", "tide-mark.7", fast=INTERVAL)
            ours.start_redis()
            ours.start_beat()
            worker = ours.start_worker()
            until("polls", lambda: len(_slots(product, server_id)) >= 3, 60)
            product.kill()
            time.sleep(INTERVAL)
            product.start()
            restarted = time.time()
            until("polls again", lambda: [slot for slot in _slots(product, server_id) if slot > restarted], 60)
            slots = _slots(product, server_id)
            assert len(slots) == len(set(slots))
            # What was missed meanwhile is told, in a gap that has an end.
            missed = set(range(slots[1], slots[-1] + 1, INTERVAL)) - set(slots)
            gaps = product.sql(
                f"SELECT started_at, ended_at FROM tidemark.collector_gap WHERE server_id = '{server_id}'"
            )
            for slot in missed:
                assert any(float(str(start)) <= slot < float(str(end)) for start, end in gaps), (slot, gaps)
            text = worker.text()
            assert "Traceback" not in text, text[-3000:]
            assert worker.terminate() < 10
            assert product.sql("SELECT DISTINCT owner FROM tidemark.collector_shard") == [("",)]
            assert ours.python(AUDIT) == "refused refused refused [] 120 True"
