"""Bytes on disk per sample: sealed blocks against one indexed row per sample, for polls and for all counters."""

from __future__ import annotations

import sqlite3
import time
from dataclasses import replace
from pathlib import Path

from advisor.mysql.snapshot import Poll
from benchmarks.ratio import Ratio
from collector.collect import read_poll, read_snapshot
from collector.connection import connect
from collector.plan import FastPlan
from collector.secret import Secret
from collector.store import columns, full_tier
from collector.target import Target
from tests.servers import DISTRIBUTION_SERVER, start_server
from tests.servers.load import write_load

POLLS = 360
STEP_SECONDS = 10
HOUR_AT = 1_700_002_800


def recorded_hour() -> list[Poll]:
    """An hour's number of polls of a real server under a write load, read each 0.1 s and stamped ten seconds apart.

    Counters move less in a tenth of a second than in ten, which flatters both sides alike where values are small; rows
    cost the same whatever they hold, so the comparison is, if anything, kind to us by less than a byte a sample.
    """
    with (
        start_server(DISTRIBUTION_SERVER, options={"innodb_buffer_pool_size": "128M"}) as server,
        write_load(server, seconds=120, threads=2, bytes_per_second=3_000_000),
    ):
        target = Target(
            user=server.user, password=Secret(server.password), host="127.0.0.1", port=server.port, unrestricted=True
        )
        with connect(target) as connection:
            plan = FastPlan.of(read_snapshot(connection))
            polls = []
            for _ in range(POLLS):
                polls.append(read_poll(connection, plan))
                time.sleep(0.1)
    return [
        replace(poll, at=float(HOUR_AT + number * STEP_SECONDS), server_clock=HOUR_AT + number * STEP_SECONDS + 0.1)
        for number, poll in enumerate(polls)
    ]


def recorded_snapshots() -> list[tuple[int, Poll]]:
    """A quarter of a day's number of full snapshots of such a server, read one after the other, stamped a minute apart.

    A day's block holds four times as many, so that its names and first values weigh less than here.
    """
    with (
        start_server(DISTRIBUTION_SERVER, options={"innodb_buffer_pool_size": "128M"}) as server,
        write_load(server, seconds=180, threads=2, bytes_per_second=3_000_000),
    ):
        target = Target(
            user=server.user, password=Secret(server.password), host="127.0.0.1", port=server.port, unrestricted=True
        )
        found = []
        with connect(target) as connection:
            for number in range(POLLS):
                found.append((HOUR_AT + number * 60, full_tier.counters_of(read_snapshot(connection))))
                time.sleep(0.1)
    return found


def blocks_against_rows(folder: Path) -> tuple[list[Ratio], list[str]]:
    """One figure each, no blocks to alternate: sizes do not depend on the machine's mood."""
    polls = recorded_hour()
    ratio = _blocks_against_rows(folder, "bytes per sample on disk", [(int(poll.at), poll) for poll in polls])
    names = {name for poll in polls for name in poll.values}
    samples = sum(len(poll.values) for poll in polls)
    return [ratio], [f"{samples:,} samples of {len(names)} series from a real server under a write load."]


def counters_against_rows(folder: Path) -> tuple[list[Ratio], list[str]]:
    """The same for every number of full snapshots."""
    found = recorded_snapshots()
    ratio = _blocks_against_rows(folder, "bytes per sample on disk, all counters", found)
    samples, names = sum(len(poll.values) for _, poll in found), len(found[-1][1].values)
    return [ratio], [f"{samples:,} samples of {names} counters from full snapshots of such a server."]


def _blocks_against_rows(folder: Path, name: str, polls: list[tuple[int, Poll]]) -> Ratio:
    samples = sum(len(poll.values) for _, poll in polls)
    packed = columns.seal(columns.unpack_polls([(slot, columns.pack_poll(poll)) for slot, poll in polls]))

    def size(file: str, schema: str, insert: str, rows: list[tuple[object, ...]]) -> int:
        path = folder / file
        path.unlink(missing_ok=True)
        with sqlite3.connect(path) as database:
            empty = database.execute("PRAGMA page_count").fetchone()[0]
            database.executescript(schema)
            database.executemany(insert, rows)
            database.commit()
            database.execute("VACUUM")
            pages = database.execute("PRAGMA page_count").fetchone()[0] - empty
            return int(pages * database.execute("PRAGMA page_size").fetchone()[0])

    servers = 50
    ours = size(
        "blocks.sqlite3",
        "CREATE TABLE block (id INTEGER PRIMARY KEY, server TEXT, hour INTEGER, count INTEGER, payload BLOB);"
        "CREATE UNIQUE INDEX one ON block (server, hour);",
        "INSERT INTO block (server, hour, count, payload) VALUES (?, ?, ?, ?)",
        [(f"server{number:010}", HOUR_AT, len(polls), packed) for number in range(servers)],
    ) / (servers * samples)
    series = {name: number for number, name in enumerate(sorted({name for _, poll in polls for name in poll.values}))}
    theirs = (
        size(
            "rows.sqlite3",
            "CREATE TABLE sample (id INTEGER PRIMARY KEY, server INTEGER, series INTEGER, at INTEGER, value NUMERIC);"
            "CREATE UNIQUE INDEX one ON sample (server, series, at);",
            "INSERT INTO sample (server, series, at, value) VALUES (?, ?, ?, ?)",
            [
                # SQLite has no unsigned 64 bits; a float takes as many bytes.
                (1, series[name], slot, value if value < 1 << 63 else float(value))
                for slot, poll in polls
                for name, value in poll.values.items()
            ],
        )
        / samples
    )
    ratio = ours / theirs
    return Ratio(
        name=name,
        peer="one indexed row per sample (SQLite)",
        ours=f"{ours:.3g} B",
        theirs=f"{theirs:.3g} B",
        median=ratio,
        low=ratio,
        high=ratio,
        target=0.02,
    )
