"""A plan as other tools take it: SQL, option file, an Ansible playbook, JSON. Plain values in, text out.

Only the plan's own statements and lines become statements and lines. Titles and names are people's and servers' words:
in SQL and option files they do not stand at all, in YAML and JSON as quoted texts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from advisor.changes.planning import Document

FORMATS = ("sql", "option_file", "ansible", "json")


class NotInPlan(LookupError):
    """The plan has no such server, or nothing of this form; the message says which."""


def export(
    document: Mapping[str, Any], form: str, *, plan_hash: str, server: str | None = None, undo: bool = False
) -> str:
    """The plan, or one server's part of it, in one of ``FORMATS``; ``undo``: the way back instead. Raises NotInPlan."""
    servers = [one for one in document["servers"] if server in (None, one["server"], one["name"])]
    if not servers:
        raise NotInPlan(f"The plan has no server {str(server)[:100]!r}.")
    if form == "sql":
        return sql(servers, plan_hash, undo=undo)
    if form == "option_file":
        return option_file(servers, plan_hash, undo=undo)
    if form == "ansible":
        return ansible(servers, plan_hash, undo=undo)
    if form == "json":
        return json.dumps({**document, "servers": servers, "hash": plan_hash}, indent=2, ensure_ascii=False) + "\n"
    raise NotInPlan(f"There is no format {form[:20]!r}: choose one of {', '.join(FORMATS)}.")


def sql(servers: Sequence[Document], plan_hash: str, *, undo: bool = False) -> str:
    """Statements in order, server by server; the way back in reverse order of both."""
    lines = [f"-- plan {plan_hash}"]
    for server in reversed(servers) if undo else servers:
        lines.append(f"-- server {server['server']}")
        steps = list(reversed(server["steps"])) if undo else server["steps"]
        for step in steps:
            lines += [f"{one};" for one in (step["undo"] if undo else [step["statement"]])]
        if not steps:
            lines.append("-- nothing is set while it runs: see the option file")
    return "\n".join(lines) + "\n"


def option_file(servers: Sequence[Document], plan_hash: str, *, undo: bool = False) -> str:
    """The section of one server. Of several servers each needs its own file: raises NotInPlan."""
    if len(servers) != 1:
        raise NotInPlan("An option file is one server's: name it.")
    lines = servers[0]["undo_option_file" if undo else "option_file"]
    if not lines:
        raise NotInPlan("This server has no option file: its parameter group has to say it.")
    return "\n".join([f"# plan {plan_hash}", f"# server {servers[0]['server']}", "[mysqld]", *lines]) + "\n"


def ansible(servers: Sequence[Document], plan_hash: str, *, undo: bool = False) -> str:
    """One play for each server, by the collection community.mysql; hosts are called as Tidemark calls the servers."""
    plays = [_play(server, plan_hash, undo) for server in (reversed(servers) if undo else servers)]
    text = yaml.safe_dump(plays, sort_keys=False, allow_unicode=True, explicit_start=True, width=120)
    return str(text)


def _play(server: Document, plan_hash: str, undo: bool) -> Document:
    tasks: list[Document] = []
    steps = list(reversed(server["steps"])) if undo else server["steps"]
    for step in steps:
        for statement in step["undo"] if undo else [step["statement"]]:
            tasks.append(_task(step["variable"], statement))
    lines = server["undo_option_file" if undo else "option_file"]
    for name, value in (_option(line) for line in lines if not line.startswith("#")):
        tasks.append(
            {
                "name": f"{name} in the option file",
                "community.general.ini_file": {
                    "path": "{{ mysql_option_file | default('/etc/mysql/conf.d/tidemark.cnf') }}",
                    "section": "mysqld",
                    "option": name,
                    "value": value,
                },
            }
        )
    return {
        "name": f"Tidemark plan {plan_hash[:12]}",
        "hosts": _plain(server["name"]),
        "gather_facts": False,
        "tasks": tasks,
    }


def _task(variable: str, statement: str) -> Document:
    """A statement as it is, since a module of variables knows neither all literals nor RESET PERSIST."""
    return {
        "name": f"{variable} on the running server",
        "community.mysql.mysql_query": {"query": statement},
    }


def _option(line: str) -> tuple[str, str]:
    name, _, value = line.partition(" = ")
    return name, value


def _plain(name: str) -> str:
    """A name that Ansible takes for one host: patterns and templates are its own language."""
    return "".join(one if one.isalnum() or one in "._-" else "_" for one in name)
