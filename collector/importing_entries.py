"""Entries of a list of servers: one each, as it was written, and what its columns may be called."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

MOST_BYTES = 1_000_000
MOST_SERVERS = 2_000
LONGEST_LINE = 20_000

#: What a column may be called, in lower case with underscores; the first name is ours.
COLUMNS = {
    "name": ("name", "server", "server_name", "alias"),
    "url": ("url", "uri", "dsn"),
    "host": ("host", "hostname", "address", "ip"),
    "port": ("port",),
    "socket": ("socket", "unix_socket"),
    "user": ("user", "username", "account", "login"),
    "password": ("password", "passwd", "pass"),
    "tags": ("tags", "tag", "labels", "groups"),
    "tls": ("tls", "tls_mode", "ssl", "encryption"),
    "memory": ("memory", "memory_bytes", "ram"),
    "cpus": ("cpus", "cpu", "cores"),
    "storage": ("storage", "disk"),
    "write_latency_ms": ("write_latency_ms", "write_latency"),
}
_KNOWN = {word: column for column, words in COLUMNS.items() for word in words}
PLACES = ("url", "host", "socket")


class BadList(ValueError):
    """The text as a whole cannot be read; the message says where, what is so, and what to do."""


@dataclass(frozen=True)
class Entry:
    """One server as it was written: the line it begins on, and its texts by the names of ``COLUMNS``."""

    line: int
    values: dict[str, str]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class ServerList:
    """``remarks`` are sentences about the list as a whole, such as columns that are not read."""

    entries: tuple[Entry, ...]
    remarks: tuple[str, ...] = field(default=())


def too_large() -> str:
    return _("The list is larger than 1 MB: import it in parts.")


def too_many() -> str:
    return _("The list has more than %(most)s servers: import it in parts.") % {"most": f"{MOST_SERVERS:,}"}


def column_of(word: str) -> str:
    """Our name of a column that is called so, the empty text for one that is not read."""
    return _KNOWN.get(re.sub(r"[\s-]+", "_", word.strip().strip("\"'").lower()), "")
