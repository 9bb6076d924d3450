"""Servers as files: what was observed of one, kept as text, so that it can be judged again without it.

A recording is a folder: ``manifest.json`` (what, when, how long), ``first.json`` and ``last.json`` (snapshots, redacted
where they were read) and ``polls.jsonl`` (one poll a line).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from advisor.mysql.snapshot import Poll, Snapshot
from collector.errors import BadTarget
from collector.observe import Observed

FORMAT = 1
_MANIFEST = "manifest.json"

#: Names of machines and accounts are nobody's business in a repository.
_ANONYMOUS = {
    "hostname": "recorded",
    "report_host": "recorded",
    "wsrep_node_name": "recorded",
    "wsrep_node_address": "",
}
#: Paths of the machine it was recorded on, by the variable that tells them.
_PATHS = ("basedir", "datadir", "tmpdir")


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
    """A snapshot's JSON form without the names of machine and account, and without the paths of the machine."""
    variables: Mapping[str, str] = snapshot["variables"]
    replacements = {
        variables[name].rstrip("/"): f"/{name}" for name in _PATHS if len(variables.get(name, "").rstrip("/")) > 1
    }
    # The longest first: one folder may lie in another.
    ordered = sorted(replacements.items(), key=lambda pair: -len(pair[0]))

    def clean(value: str) -> str:
        for path, name in ordered:
            value = value.replace(path, name)
        return value

    host = variables.get("hostname", "")
    cleaned = {name: clean(value) for name, value in variables.items()}
    cleaned.update({name: value for name, value in _ANONYMOUS.items() if cleaned.get(name)})
    if host:
        cleaned = {
            name: value.replace(host, "recorded")
            if len(host) > 3 or value.startswith(f"{host}.") or value.startswith(f"{host}-")
            else value
            for name, value in cleaned.items()
        }
    identity = {**snapshot["identity"], "hostname": "recorded"}
    origins = {name: [kind, clean(path)] for name, (kind, path) in snapshot["origins"].items()}
    replication = [
        {**one, **{name: "recorded" for name in one if name.endswith("_host")}} for one in snapshot["replication"]
    ]
    return {
        **snapshot,
        "variables": cleaned,
        "identity": identity,
        "origins": origins,
        "replication": replication,
        "grants": [],
    }


def _write(path: Path, document: Any) -> None:
    path.write_text(json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
