"""Random, opaque ids: they tell nothing and cannot be guessed, so they may stand in addresses."""

from __future__ import annotations

import secrets
import string

_ALPHABET = string.ascii_letters + string.digits
LENGTH = 16


def new_id() -> str:
    """16 characters of 62: 95 bits."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(LENGTH))
