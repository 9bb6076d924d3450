"""What watching costs a server: our fast poll against mysqld_exporter's scrape as it comes, and advise against
MySQLTuner.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

from benchmarks.peers import exporter, unpacked
from benchmarks.ratio import Ratio, compare, cpu_seconds
from collector.collect import read_poll, read_snapshot
from collector.connection import connect
from collector.plan import FastPlan
from collector.secret import Secret
from collector.target import Target
from tests.servers import DISTRIBUTION_SERVER, RunningServer, available, start_server
from tests.servers.load import write_load

ROOT = Path(__file__).resolve().parent.parent
POLLS = 200
SCRAPES = 40
TUNED_SERVER = "mysql-5.7.22"


def _counted(server: RunningServer, name: str) -> int:
    return int(server.sql(f"SHOW GLOBAL STATUS LIKE '{name}'")[0][1] or 0)


def _statements_and_connections(server: RunningServer, act: Callable[[], object]) -> tuple[int, int]:
    """What one act costs in statements and new connections; what asking for it costs is measured too and taken off."""

    def grown(what: Callable[[], object]) -> tuple[int, int]:
        questions, connections = _counted(server, "Questions"), _counted(server, "Connections")
        what()
        return _counted(server, "Questions") - questions, _counted(server, "Connections") - connections

    asking, asked = grown(lambda: None), grown(act)
    return asked[0] - asking[0], asked[1] - asking[1]


def polls_against_scrapes(folder: Path) -> tuple[list[Ratio], list[str]]:
    """Server CPU and wall time per poll and per scrape ; exact counts of statements and new connections."""
    notes = []
    with start_server(DISTRIBUTION_SERVER, options={"innodb_buffer_pool_size": "256M"}) as server:
        target = Target(
            user=server.user, password=Secret(server.password), host="127.0.0.1", port=server.port, unrestricted=True
        )
        with (
            connect(target) as connection,
            exporter(folder, port=server.port, user=server.user, password=server.password) as (address, version),
        ):
            plan = FastPlan.of(read_snapshot(connection))

            def poll() -> None:
                read_poll(connection, plan)

            def scrape() -> None:
                with urllib.request.urlopen(address, timeout=30) as answer:  # noqa: S310 -- our own loopback address
                    answer.read()

            peer = f"mysqld_exporter {version.split('-')[0]}, default collectors"
            ours, theirs = _statements_and_connections(server, poll), _statements_and_connections(server, scrape)
            notes.append(
                f"One poll is {ours[0]} statement on {ours[1]} new connections; one scrape of {peer} "
                f"is {theirs[0]} statements on {theirs[1]} new connections."
            )

            def block(act: Callable[[], None], count: int, clock: Callable[[], float]) -> Callable[[], float]:
                def measure() -> float:
                    began = clock()
                    for _ in range(count):
                        act()
                    return (clock() - began) / count

                return measure

            def server_cpu() -> float:
                return cpu_seconds(server.pid)

            ratios = [
                compare(
                    "server CPU of a fast poll",
                    peer,
                    block(poll, POLLS, server_cpu),
                    block(scrape, SCRAPES, server_cpu),
                    unit="ms",
                    scale=1000,
                    target=0.12,
                ),
                compare(
                    "wall time of a fast poll",
                    peer,
                    block(poll, POLLS, time.perf_counter),
                    block(scrape, SCRAPES, time.perf_counter),
                    unit="ms",
                    scale=1000,
                    target=0.08,
                ),
            ]
    return ratios, notes


def advise_against_mysqltuner(folder: Path) -> tuple[list[Ratio], list[str]]:
    """From the command to the advice, the asked observing time taken off; both judge the same server.

    On MySQL 5.7.22, since the MySQLTuner of Debian 12 divides by zero on a MariaDB whose innodb_buffer_pool_chunk_size
    is 0, as it is on the distribution's own.
    """
    if not available(TUNED_SERVER):
        subprocess.run([ROOT / "tests/servers/fetch", TUNED_SERVER], check=True)
    root, version = unpacked("mysqltuner", folder)
    # It runs the command-line clients, and of mariadb-client's programs our tests install only the client itself.
    clients, _ = unpacked("mariadb-client", folder)
    environment = {**os.environ, "PATH": f"{clients / 'usr/bin'}:{os.environ['PATH']}"}
    with (
        start_server(TUNED_SERVER, options={"innodb_buffer_pool_size": "256M"}) as server,
        write_load(server, seconds=600, threads=1, bytes_per_second=200_000),
    ):
        documents = []

        def ours() -> float:
            command = [sys.executable, "manage.py", "advise", server.url, "--password-file", str(server.password_file)]
            began = time.perf_counter()
            answer = subprocess.run(
                [*command, "--observe", "2", "--interval", "1", "--format", "json"],
                cwd=ROOT,
                capture_output=True,
                text=True,
                check=True,
                timeout=120,
            )
            wall = time.perf_counter() - began
            documents.append(json.loads(answer.stdout))
            return wall - float(documents[-1]["observed"]["seconds"])

        def theirs() -> float:
            began = time.perf_counter()
            subprocess.run(
                [
                    "perl",
                    root / "usr/bin/mysqltuner",
                    "--host=127.0.0.1",
                    f"--port={server.port}",
                    f"--user={server.user}",
                    f"--pass={server.password}",
                    "--forcemem=4096",
                    "--forceswap=1024",
                    "--silent",
                ],
                cwd=folder,
                env=environment,
                capture_output=True,
                check=True,
                timeout=120,
            )
            return time.perf_counter() - began

        peer = f"MySQLTuner {version.split('-')[0]}"
        ratio = compare("wall time to advice, observing taken off", peer, ours, theirs, unit="s", blocks=10)
        tuner = _statements_and_connections(server, theirs)
    observed = documents[-1]["observed"]
    note = (
        f"advise used {observed['connections']} connection and {observed['statements']} statements, polls included; "
        f"{peer} used {tuner[1]} connections and about {tuner[0]} statements (the write load's are in that figure)."
    )
    return [ratio], [note]
