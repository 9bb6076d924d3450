"""Servers as files: what was observed of one, kept as text, so that it can be judged again without it.

A recording is a folder: ``manifest.json`` (what, when, how long), ``first.json`` and ``last.json`` (snapshots, redacted
where they were read), ``polls.jsonl`` (one poll a line), and ``inspection.json`` where the server was inspected.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from advisor.mysql.inspection import Inspection
from advisor.mysql.snapshot import Poll, Snapshot
from collector.errors import BadTarget
from collector.observe import Observed

FORMAT = 1
_MANIFEST = "manifest.json"
_INSPECTION = "inspection.json"

#: Names of machines are nobody's business in a repository.
_NAMES = ("hostname", "report_host", "wsrep_node_name", "wsrep_node_address", "wsrep_node_incoming_address")
#: A managed service is told by this path.
_KEPT_PATHS = ("/rdsdbbin",)


def is_recording(text: str) -> bool:
    """Whether the text is the path of a recording."""
    return (Path(text) / _MANIFEST).is_file()


def write(path: Path, observed: Observed, *, what: str, version: str) -> None:
    """Writes a recording. ``what`` says in a few words what was going on, ``version`` is Tidemark's."""
    path.mkdir(parents=True, exist_ok=True)
    server = observed.last.identity.version
    manifest = {
        "format": FORMAT,
        "what": what,
        "server": str(server),
        "recorded_at": datetime.fromtimestamp(observed.started_at, UTC).isoformat(timespec="seconds"),
        "seconds": round(observed.seconds, 1),
        "polls": len(observed.polls),
        "remarks": observed.remarks,
        "tidemark": version,
        "connections": observed.connections,
        "statements": observed.cost.statements,
    }
    _write(path / _MANIFEST, manifest)
    _write(path / "first.json", anonymous(observed.first.as_dict()))
    last = anonymous(observed.last.as_dict())
    _write(path / "last.json", last)
    if observed.inspection is not None:
        inspected = anonymous_inspection(observed.inspection.as_dict())
        # Where a server has no id of its own, its machine's name is a part of what it is known by.
        _write(path / _INSPECTION, {**inspected, "identity": Snapshot.from_dict(last).identity.fingerprint})
    else:
        # What an earlier recording of the same name left belongs to another observation.
        (path / _INSPECTION).unlink(missing_ok=True)
    lines = [
        json.dumps(
            {
                "at": poll.at,
                "server_clock": poll.server_clock,
                "uptime_seconds": poll.uptime_seconds,
                "values": dict(poll.values),
            },
            sort_keys=True,
        )
        for poll in observed.polls
    ]
    (path / "polls.jsonl").write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def read(path: Path) -> Observed:
    """Reads a recording. Raises BadTarget where it is none, or is newer than this program."""
    try:
        manifest = json.loads((path / _MANIFEST).read_text(encoding="utf-8"))
        if manifest.get("format") != FORMAT:
            raise BadTarget(f"The recording {path} has format {manifest.get('format')}, this program knows {FORMAT}.")
        first = Snapshot.from_dict(json.loads((path / "first.json").read_text(encoding="utf-8")))
        last = Snapshot.from_dict(json.loads((path / "last.json").read_text(encoding="utf-8")))
        inspection = None
        if (path / _INSPECTION).exists():
            inspection = Inspection.from_dict(json.loads((path / _INSPECTION).read_text(encoding="utf-8")))
        identity = last.identity.fingerprint
        polls = [
            Poll(identity=identity, **json.loads(line))
            for line in (path / "polls.jsonl").read_text(encoding="utf-8").splitlines()
            if line
        ]
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise BadTarget(f"The recording {path} cannot be read: {error}.") from None
    started_at = polls[0].at if polls else first.taken_at
    observed = Observed(first, last, polls, list(manifest.get("remarks", [])), started_at, last.taken_at)
    observed.connections = int(manifest.get("connections", 1))
    observed.cost.statements = int(manifest.get("statements", 0))
    observed.inspection = inspection
    return observed


def anonymous(snapshot: dict[str, Any]) -> dict[str, Any]:
    """A snapshot's JSON form without names of machine and account, and without the paths of the machine."""
    variables: Mapping[str, str] = snapshot["variables"]
    host = variables.get("hostname", "")
    return {
        **snapshot,
        "variables": {name: _anonymous_value(name, value, host) for name, value in variables.items()},
        "identity": {**snapshot["identity"], "hostname": "recorded"},
        "origins": {name: [kind, _anonymous_path(path)] for name, (kind, path) in snapshot["origins"].items()},
        "replication": [
            {name: "recorded" if value and name.endswith("_host") else value for name, value in channel.items()}
            for channel in snapshot["replication"]
        ],
        # They name the account and where it comes from; what is missing stands in the probes.
        "grants": [],
        "probes": [_anonymous_probe(probe) for probe in snapshot["probes"]],
    }


#: Accounts of these names are everywhere, and rules may look for them.
_KEPT_USERS = ("", "root", "PUBLIC")
_KEPT_HOSTS = ("", "%", "localhost", "127.0.0.1", "::1")


def anonymous_inspection(inspection: dict[str, Any]) -> dict[str, Any]:
    """An inspection's JSON form with numbers in place of accounts, and without names of machines."""
    rowsets = dict(inspection["rowsets"])
    users: dict[str, str] = {}
    rowsets["accounts"] = [
        {**row, "user": _anonymous_user(row["user"] or "", users), "host": _anonymous_host(row["host"] or "")}
        for row in rowsets.get("accounts", [])
    ]
    rowsets["group_members"] = [{**row, "host": "recorded"} for row in rowsets.get("group_members", [])]
    return {
        **inspection,
        "rowsets": {name: rows for name, rows in rowsets.items() if name in inspection["rowsets"]},
        "probes": [_anonymous_probe(probe) for probe in inspection["probes"]],
    }


def _anonymous_user(user: str, users: dict[str, str]) -> str:
    return user if user in _KEPT_USERS else users.setdefault(user, f"user{len(users) + 1}")


def _anonymous_host(host: str) -> str:
    if host in _KEPT_HOSTS:
        return host
    return "%.recorded" if "%" in host or "_" in host else "recorded"


def _anonymous_value(name: str, value: str, host: str) -> str:
    if name in _NAMES:
        return "recorded" if value else ""
    if value.startswith(("/", "./")) and not value.startswith(_KEPT_PATHS):
        return f"/recorded/{name}"
    if host and value.startswith((f"{host}.", f"{host}-")):
        # Names of log files are made of the machine's name.
        return f"recorded{value[len(host) :]}"
    return value


def _anonymous_path(path: str) -> str:
    return f"/recorded/{path.rsplit('/', 1)[-1]}" if path else ""


def _anonymous_probe(probe: dict[str, Any]) -> dict[str, Any]:
    remedy = probe["remedy"]
    if remedy and remedy["kind"] == "grant":
        remedy = {**remedy, "remedy": _ACCOUNT.sub(" TO 'tidemark'@'%'", remedy["remedy"])}
    return {**probe, "reason": _ACCOUNT_IN_ERROR.sub("'tidemark'@'recorded'", probe["reason"]), "remedy": remedy}


_ACCOUNT = re.compile(r" TO '[^']*'@'[^']*'$")
_ACCOUNT_IN_ERROR = re.compile(r"'[^']*'@'[^']*'")


def _write(path: Path, document: Any) -> None:
    path.write_text(json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
