"""What a person has typed and not confirmed yet, passwords among it, sealed so that a page can carry it.

A page that asks "is this what you mean?" must not hold a password that anybody could read, and a server with several
web processes has no memory in common. So the page carries the form encrypted with the credential key, bound to the
person and to what it is for, and it opens for an hour.
"""

from __future__ import annotations

import base64
import binascii
import json
import time
import zlib
from typing import Any

from collector import vault
from collector.secret import Secret

SECONDS = 3600
#: What may come out of a draft, in bytes: the largest import and what goes with it.
_LARGEST = 8_000_000


class DraftLost(ValueError):
    """The draft is too old, was altered, or belongs to somebody else."""


def seal(values: dict[str, Any], *, person: str, purpose: str) -> str:
    """``values`` (JSON) as text for a hidden field. Raises VaultError without a credential key."""
    text = json.dumps({"at": int(time.time()), "values": values}, ensure_ascii=False)
    packed = base64.b64encode(zlib.compress(text.encode("utf-8", "replace"))).decode()
    sealed, _ = vault.seal(Secret(packed), team_id="", server_id=f"draft of {person}", purpose=purpose)
    return base64.urlsafe_b64encode(sealed).decode()


def unseal(text: str, *, person: str, purpose: str) -> dict[str, Any]:
    """What ``seal`` made the text of. Raises DraftLost."""
    try:
        sealed = base64.urlsafe_b64decode(text)
        packed = vault.open_sealed(sealed, team_id="", server_id=f"draft of {person}", purpose=purpose)
        unpacking = zlib.decompressobj()
        draft = json.loads(unpacking.decompress(base64.b64decode(packed.reveal()), _LARGEST))
    except (vault.VaultError, binascii.Error, zlib.error, ValueError):
        raise DraftLost("What was checked cannot be read any more.") from None
    if not 0 <= time.time() - draft["at"] <= SECONDS:
        raise DraftLost("What was checked is older than an hour.")
    values: dict[str, Any] = draft["values"]
    return values
