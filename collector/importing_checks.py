"""The texts of one line as values: ports, sizes, tags, places; and the addresses of many names, asked for at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from collector import addresses
from collector.errors import BadTarget, TargetError, Unreachable, printable
from collector.importing_entries import Entry
from collector.target import DEFAULT_PORT, default_tls_mode, parse_url

#: All names of a list together; a name that is not known by then is checked again at every connect.
RESOLVE_SECONDS = 10.0
_RESOLVERS = 24
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,3})?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE | re.ASCII)
_FACTORS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4}
_NUMBER = re.compile(r"\d{1,9}(\.\d{1,6})?", re.ASCII)
#: What makes a cell a formula in the spreadsheet that somebody opens an export of ours with.
_FORMULA = ("=", "+", "-", "@")


def size_of(text: str) -> int | None:
    """``8G``, ``512MiB`` or ``4096`` as bytes, None for what is no size."""
    match = _SIZE.fullmatch(text.strip())
    if match is None or float(match[1]) <= 0:
        return None
    return int(float(match[1]) * _FACTORS[match[2].upper()])


@dataclass(frozen=True)
class Given:
    """One line as a server's values, not checked yet. ``problems`` are sentences; ``written`` lacks the password."""

    line: int
    values: dict[str, Any]
    password: str
    address: str
    written: dict[str, str]
    problems: tuple[str, ...]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Given(line={self.line})"


def given_of(entry: Entry, *, user: str, tls_mode: str) -> Given:
    """The values of an entry; what cannot be read stands in its problems. Passwords are never part of a sentence."""
    texts, problems, notes = entry.values, list(entry.problems), []
    for column, text in texts.items():
        if any(ord(one) < 32 or ord(one) == 127 for one in text):
            problems.append(_("%(column)s holds a line break or another control character.") % {"column": column})
        elif column in ("name", "host", "user", "tags", "url") and text.startswith(_FORMULA):
            problems.append(
                _("%(column)s begins like a spreadsheet's formula (%(sign)s): write the value itself.")
                % {"column": column, "sign": text[0]}
            )
    place = _place(texts, problems)
    host, port, socket = place["host"], place["port"], place["socket"]
    name = texts.get("name", "") or (f"{host}:{port}" if port != DEFAULT_PORT else str(host))
    password = texts.get("password", "")
    if password != password.strip():
        notes.append(_("The password begins or ends with a space."))
    values = {
        "name": name,
        **place,
        "user": texts.get("user", "") or place["user"] or user,
        "tls_mode": texts.get("tls", "").lower() or tls_mode or default_tls_mode(host, socket),
        "tags": [tag for tag in (part.strip() for part in re.split(r"[,;|]", texts.get("tags", ""))) if tag],
        "host_facts": _facts(texts, problems),
    }
    written = {
        column: _without_password(text) if column == "url" else text
        for column, text in texts.items()
        if column != "password"
    }
    # What is no port is shown as it was written, so that it is found.
    shown = socket or (f"{host}:{texts.get('port') or port}" if host else "")
    return Given(entry.line, values, password, printable(shown, 120), written, tuple(problems), tuple(notes))


def _place(texts: dict[str, str], problems: list[str]) -> dict[str, Any]:
    place: dict[str, Any] = {"host": texts.get("host", ""), "port": DEFAULT_PORT, "socket": texts.get("socket", "")}
    place["user"] = ""
    url = texts.get("url", "")
    if url:
        if place["host"] or place["socket"] or texts.get("port"):
            problems.append(_("There is a url, and host, port or socket beside it: give one or the other."))
        try:
            address = parse_url(url)
        except BadTarget as error:
            # Its words may quote the url, and with it a password.
            problems.append(
                _("The url holds a password: write it into the column password.")
                if "@" in url and ":" in url.rpartition("@")[0].partition("://")[2]
                else printable(str(error), 200)
            )
        except ValueError:
            problems.append(_("The url cannot be read: write mysql://user@host:3306."))
        else:
            place = {"host": address.host, "port": address.port, "socket": address.socket, "user": address.user}
        return place
    if not place["host"] and not place["socket"]:
        problems.append(_("The host is missing: give a name or an address."))
    port = texts.get("port", "")
    if port:
        if not re.fullmatch(r"[0-9]{1,5}", port) or not 1 <= int(port) <= 65_535:
            problems.append(
                _("%(port)s is no port: write a number from 1 to 65535.") % {"port": printable(repr(port), 40)}
            )
        else:
            place["port"] = int(port)
    return place


def _without_password(url: str) -> str:
    """A url that may be shown: who wrote a password into it is told to write it elsewhere, and never sees it again."""
    scheme, _there, rest = url.partition("://")
    account, at, place = rest.rpartition("@")
    return f"{scheme}://{account.partition(':')[0]}@{place}" if at else url


def _facts(texts: dict[str, str], problems: list[str]) -> dict[str, Any]:
    """What is said of the machine, in the units of a server's host facts."""
    facts: dict[str, Any] = {}
    if texts.get("memory"):
        memory = size_of(texts["memory"])
        if memory is None:
            problems.append(_("memory is no size: write 8G or 512M."))
        else:
            facts["memory_bytes"] = memory
    if texts.get("cpus"):
        if re.fullmatch(r"[1-9][0-9]{0,4}", texts["cpus"]):
            facts["cpus"] = int(texts["cpus"])
        else:
            problems.append(_("cpus is no whole number above 0."))
    if texts.get("storage"):
        storage = texts["storage"].lower()
        if storage in ("ssd", "hdd"):
            facts["storage"] = storage
        else:
            problems.append(_("storage is neither ssd nor hdd."))
    if texts.get("write_latency_ms"):
        text = texts["write_latency_ms"].replace(",", ".")
        if _NUMBER.fullmatch(text) and float(text) > 0:
            facts["write_latency_microseconds"] = max(1, round(float(text) * 1000))
        else:
            problems.append(_("write_latency_ms is no number above 0: write milliseconds such as 0.4."))
    return facts


class Resolved:
    """The addresses of many names, asked for side by side. Calling it answers as ``addresses.resolve`` does."""

    def __init__(self, answers: dict[str, Sequence[addresses.IpAddress] | TargetError]) -> None:
        self._answers = answers

    @classmethod
    def ask(cls, hosts: Iterable[str], seconds: float = RESOLVE_SECONDS) -> Resolved:
        """Asks for each name once. Names that are not answered in time stay unknown."""
        names = sorted({host.strip() for host in hosts if host.strip()})
        answers: dict[str, Sequence[addresses.IpAddress] | TargetError] = {}

        def one(name: str) -> None:
            try:
                answers[name] = addresses.resolve(name)
            except TargetError as error:
                answers[name] = error

        pool = ThreadPoolExecutor(_RESOLVERS, thread_name_prefix="import")
        try:
            wait([pool.submit(one, name) for name in names], timeout=seconds)
        finally:
            # What still waits for a resolver that does not answer is left behind: nobody needs it any more.
            pool.shutdown(wait=False, cancel_futures=True)
        return cls(dict(answers))

    def __call__(self, host: str) -> Sequence[addresses.IpAddress]:
        """Raises NameUnknown or Unreachable."""
        answer = self._answers.get(host) or Unreachable(f"The name {host} could not be resolved in time.")
        if isinstance(answer, TargetError):
            raise answer
        return answer
