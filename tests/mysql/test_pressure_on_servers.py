"""Pressure 1 is where a server slows its writers: shown under a write load that a small redo log cannot take."""

from __future__ import annotations

import itertools
import statistics
import time

import pytest

from advisor.mysql import redo
from advisor.mysql.version import identify
from tests.servers import start_server
from tests.servers.fixtures import server_params
from tests.servers.load import write_load

SECONDS = 12.0
#: Counters that rise only while writers wait for room in the redo log, or while pages are flushed to make that room.
HARM = ("log_on_file_space_waits", "buffer_flush_sync_waits", "buffer_flush_sync_total_pages")


def small_redo(name: str) -> dict[str, str]:
    """16 MiB in all, by the options of that version."""
    if name in ("mysql-8.0.33", "mysql-9.7"):
        return {"innodb_redo_log_capacity": "16M"}
    two_files = name in ("mysql-5.7.22", "mysql-8.0.12", "mariadb-10.2.11")
    return {"innodb_log_file_size": "8M" if two_files else "16M"}


@pytest.mark.parametrize("name", server_params())
def test_writers_are_slowed_where_the_pressure_is_one(name: str) -> None:
    options = {"innodb_buffer_pool_size": "256M", "innodb_log_buffer_size": "2M", **small_redo(name)}
    with start_server(name, options=options) as server:
        for pattern in ("log%", "buffer_flush%"):
            server.sql(f"SET GLOBAL innodb_monitor_enable = '{pattern}'")
        variables = {str(key): str(value) for key, value in server.sql("SHOW GLOBAL VARIABLES")}
        version = identify(variables["version"], variables["version_comment"], variables=variables)
        connection = server.connect()
        cursor = connection.cursor()
        seen: list[tuple[float, list[int]]] = []
        with write_load(server, seconds=SECONDS) as load:
            while load.running and time.monotonic() - load.began_at < SECONDS:
                cursor.execute("SHOW GLOBAL STATUS WHERE Variable_name REGEXP 'lsn|heckpoint|redo_log'")
                status = {str(key): str(value) for key, value in cursor.fetchall()}
                cursor.execute("SELECT NAME, COUNT FROM information_schema.INNODB_METRICS WHERE COUNT > 0")
                metrics = {str(key): int(value) for key, value in cursor.fetchall()}
                limits = redo.limits_in_force(version, variables, status, metrics)
                reading = redo.reading(version, status=status, metrics=metrics)
                assert reading is not None
                seen.append((limits.pressure(reading.age_bytes), [metrics.get(one, 0) for one in HARM]))
                time.sleep(0.02)
        connection.close()
        assert load.rows_written > 0
    highest = max(pressure for pressure, _ in seen)
    harmed = [
        max(before[0], after[0])
        for before, after in itertools.pairwise(seen)
        if any(now > then for then, now in zip(before[1], after[1], strict=True))
    ]
    assert len(harmed) >= 5, "the load did not fill the redo log"
    # 8.0.12 lets the age pass its own maximum by a tenth; all others hold it at 1 to a few percent.
    assert 0.97 <= highest <= 1.3
    assert statistics.median(harmed) >= 0.85
