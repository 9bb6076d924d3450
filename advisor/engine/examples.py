"""Made rows and servers that the examples of several rules begin with: an account, a node, a group."""

from __future__ import annotations

from advisor.engine.observation import Observation
from advisor.engine.scene import inspected as inspection
from advisor.engine.scene import scene
from advisor.mysql.inspection import Row


def made_account(user: str, host: str, **columns: str) -> Row:
    row = {"user": user, "host": host, "plugin": "caching_sha2_password", "has_password": "1"}
    return {**row, "administrator": "0", "locked": "0", "is_role": "0", "tls": "", **columns}


def made_node(**told: object) -> dict[str, object]:
    """The status of a healthy node of three, with some of it told otherwise."""
    healthy = {
        "wsrep_cluster_status": "Primary",
        "wsrep_local_state": 4,
        "wsrep_local_state_comment": "Synced",
        "wsrep_ready": "ON",
        "wsrep_cluster_size": 3,
    }
    return {**healthy, **told}


def made_group(
    *states: str, roles: str = "PSS", versions: tuple[str, ...] = ("8.0.33",) * 5, **variables: object
) -> Observation:
    """A group with members in these states, the first of them this server; P and S are their roles."""
    words = {"P": "PRIMARY", "S": "SECONDARY", "-": ""}
    members = [
        {
            "host": f"db{index}",
            "port": "3306",
            "state": state,
            "role": words[roles[index]],
            "version": "8.0.33",
            "is_me": "1" if index == 0 else "0",
        }
        for index, state in enumerate(states)
    ]
    return scene(
        "mysql 8.0.33",
        {"group_replication_group_name": "aaaaaaaa-0000-0000-0000-000000000000", **variables},
        inspection=inspection(group_members=members),
    )
