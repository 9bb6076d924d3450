"""MySQL replication groups of real servers on loopback (the plugin group_replication)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from .galera import free_ports
from .replication import ACCOUNT, PASSWORD, account, forget
from .running import RunningServer, start_server

NAME = "aaaaaaaa-0000-4000-8000-000000000001"
DEADLINE_SECONDS = 40.0


def member_options(
    server_id: int, *, seed: int = 0, settings: Mapping[str, str] | None = None
) -> dict[str, str | None]:
    """What a member is started with; ``seed`` is the port on which another one listens for members.

    ``settings`` are further variables of the plugin, without their prefix.
    """
    port = free_ports()
    return {
        "server_id": str(server_id),
        "gtid_mode": "ON",
        "enforce_gtid_consistency": "ON",
        "log_bin": "binlog",
        "report_host": "127.0.0.1",
        "plugin_load_add": "group_replication.so",
        "loose_group_replication_group_name": NAME,
        "loose_group_replication_local_address": f"127.0.0.1:{port}",
        "loose_group_replication_group_seeds": f"127.0.0.1:{seed or port}",
        "loose_group_replication_start_on_boot": "OFF",
        "loose_group_replication_recovery_get_public_key": "ON",
        **{f"loose_group_replication_{name}": value for name, value in (settings or {}).items()},
    }


def group_port(member: RunningServer) -> int:
    """The port on which a member listens for others."""
    return int((member.value("@@GLOBAL.group_replication_local_address") or "").rpartition(":")[2])


def found_group(server: RunningServer, settings: Mapping[str, str] | None = None) -> None:
    """Make a running server the first member of a group, and leave group_replication_bootstrap_group off."""
    server.restart(member_options(1, settings=settings))
    forget(server)
    account(server)
    server.sql("SET GLOBAL group_replication_bootstrap_group = ON")
    server.sql("START GROUP_REPLICATION")
    server.sql("SET GLOBAL group_replication_bootstrap_group = OFF")


@contextmanager
def joining(
    first: RunningServer, *, server_id: int = 2, recovers: bool = True, settings: Mapping[str, str] | None = None
) -> Iterator[RunningServer]:
    """A server of the same version joins the group of ``first`` for as long as the block lasts.

    With ``recovers`` False it has no account to recover with, and stays in RECOVERING. Raises TimeoutError.
    """
    with start_server(first.name, user=f"member{server_id}") as member:
        member.restart(member_options(server_id, seed=group_port(first), settings=settings))
        forget(member)
        if recovers:
            member.sql(
                f"CHANGE REPLICATION SOURCE TO SOURCE_USER = '{ACCOUNT}', SOURCE_PASSWORD = '{PASSWORD}' "
                "FOR CHANNEL 'group_replication_recovery'"
            )
        member.sql("START GROUP_REPLICATION")
        wait_for_state(first, member.port, "ONLINE" if recovers else "RECOVERING")
        yield member


def states(member: RunningServer) -> Mapping[int, str]:
    """The state of each member as one of them sees it, by port."""
    rows = member.sql("SELECT member_port, member_state FROM performance_schema.replication_group_members")
    return {int(port or 0): str(state) for port, state in rows}


def wait_for_state(member: RunningServer, port: int, state: str) -> None:
    """Wait until ``member`` sees the member on that port in this state. Raises TimeoutError."""
    until = time.monotonic() + DEADLINE_SECONDS
    while (told := states(member)).get(port) != state:
        if time.monotonic() > until:
            raise TimeoutError(f"{member} sees {told}, not {port} as {state}\n{member.error_log_text()[-1500:]}")
        time.sleep(0.2)
