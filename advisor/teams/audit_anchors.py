"""Where the audit ended, and when, written down outside of the database: so that an end that was cut off is missed.

A file that only grows, one JSON object a line, each signed with the audit's key. Whoever can write the database cannot
write here; who ships the file to another machine can show what was there even if this one is lost.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.conf import settings

from advisor.teams.audit_chain import instant, keys

_TAIL_BYTES = 4096


@dataclass(frozen=True)
class Anchor:
    """At ``at`` (ISO 8601, UTC) the audit ended with this entry. ``line`` is its place in the file, from 1 on."""

    sequence: int
    digest: str
    at: str
    line: int = 0


class BadAnchor(ValueError):
    """A line that we did not write; the message names it."""


def file() -> Path:
    """The file, which need not exist yet."""
    return Path(settings.AUDIT_ANCHORS)


def append(*, sequence: int, digest: str, now: datetime) -> None:
    """Adds a line, onto the disk. Raises OSError where the file cannot be written."""
    key = keys()[0]
    at = instant(now)
    line = json.dumps(
        {
            "sequence": sequence,
            "digest": digest,
            "at": at,
            "key": key.id,
            "mac": key.sign(_signed(sequence, digest, at)),
        }
    )
    path = file()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # One write of one short line to a file opened for appending: two processes at once do not mix theirs.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(descriptor, f"{line}\n".encode("ascii"))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def every() -> Iterator[Anchor]:
    """All anchors, the oldest first; none where there is no file. Raises BadAnchor, and OSError."""
    try:
        lines = file().open(encoding="ascii", errors="replace")
    except FileNotFoundError:
        return
    with lines:
        for number, line in enumerate(lines, 1):
            yield _read(line, number)


def last() -> Anchor | None:
    """The newest one, without reading the whole file. Raises BadAnchor, and OSError."""
    try:
        with file().open("rb") as opened:
            opened.seek(0, os.SEEK_END)
            opened.seek(max(0, opened.tell() - _TAIL_BYTES))
            lines = opened.read().decode("ascii", "replace").splitlines()
    except FileNotFoundError:
        return None
    return _read(lines[-1], 0) if lines else None


def _read(line: str, number: int) -> Anchor:
    where = f"Line {number}" if number else "The last line"
    try:
        one = json.loads(line)
        sequence, digest, at = int(one["sequence"]), str(one["digest"]), str(one["at"])
        right = any(key.id == one["key"] and key.sign(_signed(sequence, digest, at)) == one["mac"] for key in keys())
    except (ValueError, TypeError, KeyError):
        right = False
    if not right:
        raise BadAnchor(f"{where} of the anchors ({file()}) was altered, or signed with a key that is not known.")
    return Anchor(sequence, digest, at, number)


def _signed(sequence: int, digest: str, at: str) -> bytes:
    return json.dumps(["anchor", sequence, digest, at]).encode("ascii")
