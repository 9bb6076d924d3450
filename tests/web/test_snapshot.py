"""The newest snapshot, raw: found by names, values and kinds, quick with all of a real server's rows, as files."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from advisor.mysql.snapshot import Identity, Metric, Origin, ProbeResult, ProbeState, Remedy, RemedyKind, Snapshot
from advisor.mysql.version import identify
from collector import snapshots
from collector.models import ServerState, StoredSnapshot

Sign = Callable[[Any], Client]
VARIABLES = {
    "version": "8.0.36",
    "version_comment": "MySQL Community Server - GPL",
    "innodb_buffer_pool_size": "4294967296",
    "innodb_io_capacity": "200",
    "innodb_flush_method": "O_DIRECT",
    "secure_file_priv": "=cmd()",
}

NAMED = {name: VARIABLES[name] for name in ("version", "version_comment")}


def _store(server: Any, **more: Any) -> None:
    remedy = Remedy(RemedyKind.GRANT, "innodb_metrics", "GRANT PROCESS ON *.* TO 'tidemark'@'%'")
    found = Snapshot(
        taken_at=1_795_000_000.0,
        server_clock=1_795_000_000.0,
        uptime_seconds=5000,
        identity=Identity("uuid", "db", 3306, identify("8.0.36", "MySQL Community Server - GPL")),
        **{
            "variables": VARIABLES,
            "status": {"Uptime": "5000", "Innodb_os_log_written": "1073741824", "Threads_running": "-1"},
            "origins": {"innodb_buffer_pool_size": Origin("runtime"), "version": Origin("compiled")},
            "metrics": {"log_waits": Metric("log", False, 0), "buffer_pool_reads": Metric("buffer", True, 7)},
            "derived": {"redo_pressure": 0.31},
            "probes": (
                ProbeResult("status", ProbeState.OK, 1.2, 412),
                ProbeResult("innodb_metrics", ProbeState.FAILED, 0.4, 0, "access denied", remedy),
            ),
            **more,
        },
    )
    StoredSnapshot.objects.create(
        server=server, slot=1_795_000_000, taken_at=datetime.fromtimestamp(1_795_000_000, UTC),
        payload=snapshots.pack(found),
    )  # fmt: skip


def _page(client: Client, server: Any, query: str = "") -> str:
    answer = client.get(reverse("server-snapshot", args=[server.pk]) + query)
    assert answer.status_code == 200
    return str(answer.content.decode())


def _names(html: str) -> list[str]:
    return re.findall(r'<tr><th scope="row"><code>([^<]+)</code> ', html)


def test_every_row_stands_there_with_default_origin_class_and_meaning(sign_in: Sign, viewer: Any, watched: Any) -> None:
    _store(watched)
    html = _page(sign_in(viewer), watched)
    assert set(_names(html)) == {
        *VARIABLES, "Uptime", "Innodb_os_log_written", "Threads_running", "log_waits", "buffer_pool_reads",
        "redo_pressure",
    }  # fmt: skip
    pool = next(row for row in html.split("<tr>") if "innodb_buffer_pool_size" in row)
    for words in ("not the default", "default: 134217728", "4294967296", "4 GiB", "set while it ran", "safe to tune"):
        assert words in pool
    assert "↻" in next(row for row in html.split("<tr>") if "innodb_flush_method" in row)
    assert ">off</span>" in next(row for row in html.split("<tr>") if ">log_waits<" in row)


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("?q=IO_CAPACITY", ["innodb_io_capacity"]),
        ("?q=4+GiB+pool", ["innodb_buffer_pool_size"]),
        ("?q=innodb+log", ["Innodb_os_log_written"]),
        ("?kind=metric", ["buffer_pool_reads", "log_waits"]),
        ("?kind=metric&only=off", ["log_waits"]),
        ("?only=runtime", ["innodb_buffer_pool_size"]),
        ("?kind=derived", ["redo_pressure"]),
        ("?q=no+such+thing", []),
    ],
)
def test_rows_are_found_by_what_the_address_says(
    sign_in: Sign, viewer: Any, watched: Any, query: str, wanted: list[str]
) -> None:
    _store(watched)
    html = _page(sign_in(viewer), watched, query)
    assert _names(html) == wanted
    if not wanted:
        assert "Nothing in the snapshot fits." in html


def test_a_filter_that_makes_no_sense_is_left_out(sign_in: Sign, viewer: Any, watched: Any) -> None:
    _store(watched)
    client = sign_in(viewer)
    assert _names(_page(client, watched, "?kind=nonsense&only=nonsense")) == _names(_page(client, watched))


def test_probes_tell_what_they_cost_and_what_they_lack(sign_in: Sign, viewer: Any, watched: Any) -> None:
    _store(watched)
    ServerState.objects.update_or_create(
        server=watched, defaults={"cost": {"poll": {"statements": 1, "bytes": 2210, "milliseconds": 0.61, "rows": 62}}}
    )
    html = _page(sign_in(viewer), watched)
    cost = html[html.index('id="cost"') :]
    assert "1.2 ms" in cost
    assert "not read" in cost
    assert "GRANT PROCESS ON *.* TO &#x27;tidemark&#x27;@&#x27;%&#x27;" in cost
    assert "0.1 statements/s" in cost


def test_a_server_without_a_snapshot_says_when_there_will_be_one(sign_in: Sign, viewer: Any, watched: Any) -> None:
    html = _page(sign_in(viewer), watched)
    assert "No snapshot yet" in html
    assert "within 1 min" in html
    assert sign_in(viewer).get(reverse("server-snapshot-file", args=[watched.pk, "csv"])).status_code == 404


def test_files_hold_what_is_shown_and_no_formula(sign_in: Sign, viewer: Any, watched: Any) -> None:
    _store(watched)
    client = sign_in(viewer)
    answer = client.get(reverse("server-snapshot-file", args=[watched.pk, "csv"]) + "?kind=variable")
    rows = {row["name"]: row for row in csv.DictReader(io.StringIO(answer.content.decode()))}
    assert set(rows) == set(VARIABLES)
    assert rows["innodb_buffer_pool_size"]["value"] == "4294967296"
    assert rows["innodb_buffer_pool_size"]["changed"] == "True"
    assert rows["secure_file_priv"]["value"] == "'=cmd()"
    every = client.get(reverse("server-snapshot-file", args=[watched.pk, "csv"])).content.decode()
    assert "Threads_running,-1" in every, "a number stays one"
    whole = client.get(reverse("server-snapshot-file", args=[watched.pk, "json"]))
    assert Snapshot.from_dict(json.loads(whole.content)).variables == VARIABLES
    assert whole["Content-Disposition"] == 'attachment; filename="alpha-1795000000.json"'
    assert client.get(reverse("server-snapshot-file", args=[watched.pk, "exe"])).status_code == 404


def test_nothing_that_a_server_says_is_markup(sign_in: Sign, viewer: Any, watched: Any) -> None:
    evil = "<script>alert(1)</script>"
    _store(
        watched,
        variables={**NAMED, evil: evil},
        status={evil: evil},
        metrics={evil: Metric(evil, True, 1)},
        origins={evil: Origin(evil, evil)},
        probes=(ProbeResult(evil, ProbeState.FAILED, 1, 0, evil, Remedy(RemedyKind.GRANT, evil, evil)),),
    )
    html = _page(sign_in(viewer), watched)
    assert "<script>alert" not in html
    assert html.count("&lt;script&gt;alert") >= 8


def test_fifteen_hundred_rows_are_shown_by_as_many_questions_as_a_few(
    sign_in: Sign, viewer: Any, watched: Any, django_assert_max_num_queries: Any
) -> None:
    _store(
        watched,
        variables={**NAMED, **{f"innodb_variable_{number}": str(number) for number in range(650)}},
        status={f"Com_statement_{number}": str(number * 4096) for number in range(560)},
        metrics={f"metric_{number}": Metric("log", number % 2 == 0, number) for number in range(300)},
    )
    client = sign_in(viewer)
    with django_assert_max_num_queries(15):
        html = _page(client, watched)
    assert len(_names(html)) == 1513
