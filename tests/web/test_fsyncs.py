"""The time of an fsync beside the transactions: from the full tier, in its own unit, or why there is none."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from advisor.mysql.snapshot import ProbeResult, ProbeState, Remedy, RemedyKind, Snapshot
from advisor.web.charts import fsyncs
from collector import snapshots
from collector.models import StoredSnapshot
from collector.store import store
from tests.web import demo

pytestmark = pytest.mark.django_db

#: How many fsyncs a minute, and the microseconds of each. In the last minute there is none.
LOGS = {"redo": (600, 2_000), "binlog": (300, 5_000)}


@pytest.fixture
def measured(team: Any) -> Any:
    """A server whose performance_schema times both logs."""
    server = demo.build(team, hours=0.4, courses=demo.COURSES[:1])[0]
    found = snapshots.latest_with_slot(server.pk)
    assert found is not None
    last, newest = found
    for minute in range(20, -1, -1):
        done = 19 if minute == 0 else 20 - minute
        slot = last - minute * 60
        snapshot = replace(
            newest,
            taken_at=float(slot),
            server_clock=float(slot),
            uptime_seconds=newest.uptime_seconds - minute * 60,
            performance_schema={
                "enabled": True,
                "instruments": {},
                "consumers": {},
                "fsyncs": {log: [done * count, done * count * each] for log, (count, each) in LOGS.items()},
            },
        )
        store().append_counters(server.pk, slot, snapshot)
    StoredSnapshot.objects.filter(server=server, slot=last).update(payload=snapshots.pack(snapshot))
    return server


def _exported(client: Client, server: Any) -> dict[tuple[str, str], list[tuple[int, float]]]:
    """(unix milliseconds, value) by series and unit, as the chart's file has them."""
    answer = client.get(reverse("server-chart-export", args=[server.pk, "transactions", "csv"]), {"range": "15m"})
    assert answer.status_code == 200
    found: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for row in csv.DictReader(io.StringIO(answer.content.decode())):
        found.setdefault((row["series"], row["unit"]), []).append((int(row["unix_ms"]), float(row["last"])))
    return found


def test_the_mean_time_of_an_fsync_is_told_in_milliseconds_at_the_times_of_the_transactions(
    client: Client, team_mate: Any, measured: Any
) -> None:
    client.force_login(team_mate)
    found = _exported(client, measured)
    redo, binlog = found["redo_fsync_ms", "ms"], found["binlog_fsync_ms", "ms"]
    assert {value for _at, value in redo} == {2.0}
    assert {value for _at, value in binlog} == {5.0}
    times = {at for at, _value in found["transactions", "1/s"]}
    # Where nothing was flushed there is no time of one flush, and no line.
    assert {at for at, _value in redo} < times
    page = client.get(reverse("server", args=[measured.pk]), {"range": "15m"}).content.decode()
    assert "fsync of the redo log, ms" in page
    assert "right: ms of one fsync" in page
    assert "fsync: mean time of one between two full snapshots, from performance_schema." in page


def test_polls_keep_their_spacing_beside_the_full_tier(client: Client, team_mate: Any, measured: Any) -> None:
    client.force_login(team_mate)
    times = sorted(at for at, _value in _exported(client, measured)["transactions", "1/s"])
    assert min(after - before for before, after in pairwise(times)) <= 10_000


def _snapshot(server: Any) -> Snapshot:
    found = snapshots.latest(server.pk)
    assert found is not None
    return found


def test_what_keeps_it_from_being_read_is_said_with_what_would_change_it(measured: Any) -> None:
    one = _snapshot(measured)
    off = replace(one, variables={**one.variables, "performance_schema": "OFF"}, performance_schema={"enabled": False})
    assert "performance_schema is off, and switching it on needs a restart" in fsyncs.words(off)
    grant = Remedy(RemedyKind.GRANT, "performance_schema", "GRANT SELECT ON performance_schema.* TO 'x'@'%'")
    denied = ProbeResult("performance_schema", ProbeState.FAILED, reason="Denied.", remedy=grant)
    assert grant.text in fsyncs.words(replace(one, performance_schema={}, probes=(denied,)))
    alone = {**one.performance_schema, "fsyncs": {"binlog": [5, 500]}}
    assert "the binary log alone" in fsyncs.words(replace(one, performance_schema=alone))
    neither = {**one.performance_schema, "fsyncs": {}}
    assert "times neither log" in fsyncs.words(replace(one, performance_schema=neither))
    before = {name: value for name, value in one.performance_schema.items() if name != "fsyncs"}
    assert fsyncs.words(replace(one, performance_schema=before)) == "Time of an fsync: not read yet."
