"""Servers as files: what was observed of one, kept as text, so that it can be judged again without it.

A recording is a folder: ``manifest.json`` (what, when, how long), ``first.json`` and ``last.json`` (snapshots, redacted
where they were read) and ``polls.jsonl`` (one poll a line).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from advisor.mysql.snapshot import Poll, Snapshot
from collector.errors import BadTarget
from collector.observe import Observed

FORMAT = 1
_MANIFEST = "manifest.json"

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
    _write(path / "last.json", anonymous(observed.last.as_dict()))
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
