"""Galera clusters of real servers on loopback: one node by its options alone, a second one that joins it."""

from __future__ import annotations

import itertools
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from .running import RunningServer, ServerDidNotStart, start_server

#: Where distributions put the provider (Debian's package galera-4).
PLACES = ("/usr/lib/galera", "/usr/lib", "/usr/lib64/galera-4", "/usr/lib64/galera", "/usr/lib/x86_64-linux-gnu/galera")
FIRST_PORT, LAST_PORT = 31500, 31599
DEADLINE_SECONDS = 30.0

#: A lost node is noticed within two seconds instead of fifteen.
_IMPATIENT = (
    "evs.keepalive_period=PT0.3S;evs.suspect_timeout=PT1S;evs.inactive_timeout=PT2S;evs.inactive_check_period=PT0.2S;"
    "evs.install_timeout=PT2S"
)


def provider() -> str:
    """The path of the Galera library. Raises FileNotFoundError where the package galera-4 is not installed."""
    for place in PLACES:
        path = Path(place) / "libgalera_smm.so"
        if path.exists():
            return str(path)
    raise FileNotFoundError("There is no libgalera_smm.so: install the package galera-4.")


_offered = itertools.cycle(range(FIRST_PORT, LAST_PORT - 1, 3))
_one_at_a_time = threading.Lock()


def free_ports() -> int:
    """The first of two free ports, one after the other: a provider takes the next one for state transfers.

    Cells of one process run side by side: each is offered other ports. Raises OSError.
    """
    with _one_at_a_time:
        for _ in range((LAST_PORT - FIRST_PORT) // 3):
            port = next(_offered)
            try:
                for each in (port, port + 1):
                    with socket.socket() as probe:
                        probe.bind(("127.0.0.1", each))
            except OSError:
                continue
            return port
    raise OSError(f"No free ports between {FIRST_PORT} and {LAST_PORT}.")


def node_options(*, joins: int = 0, provider_options: str = "", port: int = 0) -> dict[str, str | None]:
    """The options of a node that founds a cluster, or joins the one of which a node listens on port ``joins``."""
    port = port or free_ports()
    further = f";{provider_options}" if provider_options else ""
    return {
        "wsrep_on": "ON",
        "wsrep_provider": provider(),
        "wsrep_cluster_address": f"gcomm://127.0.0.1:{joins}" if joins else "gcomm://",
        "wsrep_node_address": "127.0.0.1",
        "wsrep_provider_options": f"base_port={port};gmcast.listen_addr=tcp://127.0.0.1:{port};{_IMPATIENT}{further}",
        "binlog_format": "ROW",
    }


def start_node(server: RunningServer, options: Mapping[str, str | None]) -> None:
    """Start a server again, as a node. Raises ServerDidNotStart.

    Galera sets the priority of a thread that it has just made, and ends where the kernel does not know that thread yet
    (No such process): on a busy machine that happens, and the next attempt succeeds.
    """
    for attempt in range(8):
        try:
            return server.restart(options)
        except ServerDidNotStart as failure:
            if attempt == 7 or "thread schedparams" not in str(failure) + server.error_log_text():
                raise


def found_cluster(server: RunningServer, options: Mapping[str, str | None]) -> None:
    """Make a running server the first node of a cluster, and wait until it answers as one."""
    start_node(server, options)
    wait_for(server, "wsrep_ready", "ON")


def group_port(node: RunningServer) -> int:
    """The port on which a running node listens for others."""
    options = node.value("@@GLOBAL.wsrep_provider_options") or ""
    listening = next(part for part in options.split(";") if part.strip().startswith("gmcast.listen_addr"))
    return int(listening.rpartition(":")[2])


@contextmanager
def second_node(first: RunningServer, provider_options: str = "") -> Iterator[RunningServer]:
    """A node that joins ``first`` for as long as the block lasts; its own account has another name.

    No state is transferred: both data directories come from one template, and the second node is told that it holds
    what the first one holds. Rows from before are missing on it; accounts, too. Raises TimeoutError.
    """
    with start_server(first.name, user="second") as second:
        second.stop()
        told = first.status("wsrep%")
        (second.datadir / "grastate.dat").write_text(
            f"# GALERA saved state\nversion: 2.1\nuuid:    {told['wsrep_cluster_state_uuid']}\n"
            f"seqno:   {told['wsrep_last_committed']}\nsafe_to_bootstrap: 0\n"
        )
        start_node(second, node_options(joins=group_port(first), provider_options=provider_options))
        wait_for(second, "wsrep_ready", "ON")
        yield second


def wait_for(node: RunningServer, name: str, value: str) -> None:
    """Wait until a status variable has this value. Raises TimeoutError."""
    until = time.monotonic() + DEADLINE_SECONDS
    while (told := node.status(name).get(name)) != value:
        if time.monotonic() > until:
            raise TimeoutError(f"{node}: {name} is {told}, not {value}\n{node.error_log_text()[-1000:]}")
        time.sleep(0.1)
