"""What SERVER means in a command: a mysql:// URL, a registered name (NAME or TEAM/NAME), or a recording's path."""

from __future__ import annotations

import argparse

from django.db import DatabaseError

from collector import recording
from collector.errors import BadTarget
from collector.models import Server
from collector.servers import target_of
from collector.target import Target, from_url, is_url
from collector.vault import VaultError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments that every command with a SERVER has."""
    parser.add_argument("server", metavar="SERVER", help="mysql://user@host:port, a registered NAME or TEAM/NAME")
    parser.add_argument("--password-file", default="", metavar="FILE", help="a file whose first line is the password")
    parser.add_argument(
        "--defaults-group", default="", metavar="GROUP", help="take user and password from this group of ~/.my.cnf"
    )
    parser.add_argument("--tls-mode", default="", help="verify-identity, verify-ca, opportunistic or insecure")
    parser.add_argument("--tls-ca", default="", metavar="FILE", help="certificate authority in PEM form")


def target(server: str, *, password_file: str, defaults_group: str, tls_mode: str = "", tls_ca: str = "") -> Target:
    """The target that a command's arguments name. Raises BadTarget."""
    if is_url(server):
        return from_url(
            server,
            password_file=password_file,
            defaults_group=defaults_group,
            tls_mode=tls_mode,
            tls_ca=_authority(tls_ca),
            unrestricted=True,
        )
    if password_file or defaults_group or tls_mode or tls_ca:
        raise BadTarget("A registered server has its own account and TLS mode: these options are for URLs only.")
    try:
        return target_of(registered(server))
    except VaultError as error:
        raise BadTarget(str(error)) from None


def registered(name: str) -> Server:
    """The registered server called NAME or TEAM/NAME. Raises BadTarget where there is none, or more than one."""
    team, _, short = name.rpartition("/")
    try:
        found = Server.objects.filter(folded=short.casefold()).select_related("team")
        if team:
            found = found.filter(team__folded=team.casefold())
        rows = list(found[:10])
    except DatabaseError:
        raise BadTarget(
            f"No server called {name!r} is known: Tidemark's own database is not set up.",
            "Give a URL (mysql://user@host:port), or run ./start --setup first.",
        ) from None
    if not rows:
        hint = (
            "" if recording.is_recording(name) else " Give a registered name, a URL (mysql://user@host:port) or a path."
        )
        raise BadTarget(f"No server called {name!r} is registered.{hint}")
    if len(rows) > 1:
        names = ", ".join(f"{row.team.name}/{row.name}" for row in rows)
        raise BadTarget(f"Several teams have a server called {name!r}: write one of {names}.")
    return rows[0]


def _authority(path: str) -> str:
    if not path:
        return ""
    try:
        with open(path, encoding="ascii") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        raise BadTarget(f"The certificate authority's file {path} cannot be read.", field="tls_ca") from None
