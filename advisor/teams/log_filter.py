"""Keeps login links and invitations out of the logs: whoever reads one before its owner could come in with it."""

from __future__ import annotations

import logging
import re

_LINK = re.compile(r"((?:/|%2F)(?:login|invitation)(?:/|%2F))[A-Za-z0-9_-]{16,}", re.IGNORECASE)


class WithoutLoginLinks(logging.Filter):
    """Replaces the secret part of login links in messages such as Django's "Internal Server Error: <path>"."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass, without secrets."""
        message = record.getMessage()
        if "login" in message or "invitation" in message:
            record.msg, record.args = _LINK.sub(r"\1[secret]", message), ()
        return True
