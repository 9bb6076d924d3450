"""How one entry is bound to the one before: its canonical form, its digest, and the keys, which no database holds.

Whoever can write the database but has no key can compute no digest, so that each alteration shows.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings

#: What the first entry names as the digest before it.
BEGINNING = "0" * 64
#: The columns in the order in which they are signed. A new column becomes a new form with a number of its own.
SIGNED = (
    "sequence", "previous", "key_id", "at", "team_id", "team_name", "actor_id", "actor_name", "origin", "action",
    "subject", "data", "request_id", "address",
)  # fmt: skip
_FORM = 1


class AuditError(Exception):
    """Nothing can be written into the audit, so that what was to be done is not done; the message says what to do."""


@dataclass(frozen=True)
class Key:
    """A key of the chain. ``id`` tells keys apart and tells nothing of them."""

    id: str
    raw: bytes = field(repr=False)

    def sign(self, message: bytes) -> str:
        """HMAC-SHA256 as 64 hexadecimal digits."""
        return hmac.new(self.raw, message, hashlib.sha256).hexdigest()


def keys() -> Sequence[Key]:
    """All keys, the one that signs first. Raises AuditError where there is none or one that is no key."""
    texts = tuple(settings.AUDIT_KEYS) or _own_keys()
    if not texts:
        raise AuditError(
            "There is no audit key, so that nothing can be recorded and nothing is done: "
            "run ./start --setup, or set TIDEMARK_AUDIT_KEYS_FILE."
        )
    return _read(texts)


@lru_cache(maxsize=8)
def _read(texts: tuple[str, ...]) -> Sequence[Key]:
    found = []
    for number, text in enumerate(texts, 1):
        try:
            raw = base64.urlsafe_b64decode(text)
        except (binascii.Error, ValueError):
            raw = b""
        if len(raw) != 32:
            raise AuditError(f"Audit key {number} is not a key: each line is 32 bytes in url-safe base64.")
        found.append(Key(hashlib.sha256(b"tidemark audit key id" + raw).hexdigest()[:16], raw))
    return tuple(found)


def _own_keys() -> tuple[str, ...]:
    """The key file in the data folder, made on first use where the database lies in that folder too.

    Where several machines share a database, each would make a key that the others do not know: there a person sets it.
    """
    file = Path(settings.DATA) / "keys" / "audit_key"
    if not file.exists():
        database = settings.DATABASES["default"]
        if "sqlite3" not in str(database["ENGINE"]) or not Path(settings.DATA).is_dir():
            return ()
        file.parent.mkdir(mode=0o700, exist_ok=True)
        fresh = file.with_name(f".audit_key.{os.getpid()}.{secrets.token_hex(4)}")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as out:
            out.write(base64.urlsafe_b64encode(secrets.token_bytes(32)).decode() + "\n")
            out.flush()
            os.fsync(out.fileno())
        try:
            os.link(fresh, file)  # Of two processes at once one key stays, and no key is ever replaced.
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    return tuple(file.read_text(encoding="ascii").split())


def instant(at: datetime) -> str:
    """An instant as it is signed: UTC, microseconds, which every database of ours keeps."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def data_text(data: Mapping[str, Any]) -> str:
    """Data as it is stored and signed."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


def canonical(values: Mapping[str, Any]) -> bytes:
    """The bytes that are signed, of the columns in ``SIGNED``; ``at`` may be a datetime or its text.

    A JSON list and not a text with separators: no two entries have the same one.
    """
    at = values["at"]
    ordered = [instant(at) if name == "at" and not isinstance(at, str) else values[name] for name in SIGNED]
    return json.dumps([_FORM, *ordered], ensure_ascii=True, separators=(",", ":")).encode("ascii")
