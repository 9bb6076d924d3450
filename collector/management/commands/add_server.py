"""`manage.py add_server mysql://user@host:port --name NAME`: watch a server from now on.

The connection is tried first. What cannot be read is not registered, and the exit status is 3, unless --no-test says
that the server is to be watched in any case, such as one that is not there yet.
"""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction

from advisor.commands import ProductCommand
from advisor.teams import services as teams
from advisor.teams.models import Team
from collector import servers
from collector.errors import BadTarget
from collector.importing_checks import size_of
from collector.models import Server, TlsMode
from collector.secret import Secret
from collector.target import Address, Target, default_tls_mode, parse_url, read_defaults_group, read_password_file
from collector.vault import VaultError


def size(text: str) -> int:
    """``8G`` as bytes."""
    found = size_of(text)
    if found is None:
        raise ArgumentTypeError(f"{text!r} is no size: write 8G or 512M")
    return found


class Command(ProductCommand):
    refusals = (VaultError,)
    help = "Tries a server and registers it; exit status 3, and nothing registered, where it cannot be read."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("url", metavar="URL", help="mysql://user@host:port, without a password")
        parser.add_argument("--name", required=True, metavar="N")
        parser.add_argument("--team", default="", metavar="T", help="by default the only team")
        parser.add_argument("--tag", action="append", default=[], metavar="X", help="may be given several times")
        parser.add_argument("--password-file", default="", metavar="F", help="a file whose first line is the password")
        parser.add_argument("--defaults-group", default="", metavar="G", help="user and password from ~/.my.cnf")
        parser.add_argument(
            "--apply-user", default="", metavar="U", help="the account that approved changes are made with"
        )
        parser.add_argument("--apply-password-file", default="", metavar="F")
        parser.add_argument(
            "--tls", default="", choices=["", *TlsMode.values], metavar="MODE", help=", ".join(TlsMode.values)
        )
        parser.add_argument("--tls-ca", default="", metavar="F", help="the authority's certificate in PEM form")
        parser.add_argument(
            "--no-test", action="store_true", help="register it without trying the connection: it may come up later"
        )
        parser.add_argument("--host-memory", type=size, metavar="8G", help="memory of the server's machine")
        parser.add_argument("--host-cpus", type=int, metavar="N")
        parser.add_argument("--storage", choices=["ssd", "hdd"])

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._add(options)
        except (teams.TeamsError, BadTarget, servers.InvalidServer) as error:
            raise CommandError(str(error), returncode=2) from None

    def _add(self, options: dict[str, Any]) -> None:
        address = parse_url(options["url"])
        user, password = address.user, Secret("")
        if options["defaults_group"]:
            group = read_defaults_group(options["defaults_group"])
            user, password = user or group.get("user", ""), Secret(group.get("password", ""))
        if options["password_file"]:
            password = read_password_file(options["password_file"])
        if bool(options["apply_user"]) != bool(options["apply_password_file"]):
            raise BadTarget("--apply-user and --apply-password-file go together: give both or none.")
        apply_password = read_password_file(options["apply_password_file"]) if options["apply_password_file"] else None
        team = teams.get_team(name=options["team"])
        known = Server.objects.filter(team=team, folded=" ".join(options["name"].split()).casefold()).first()
        if known is not None:
            self._already(known, address, user, team)
            return
        # Whoever has the command line may name any address: loopback, sockets and any port.
        values: dict[str, Any] = {
            "name": options["name"],
            "user": user,
            "host": address.host,
            "port": address.port,
            "socket": address.socket,
            "tls_mode": options["tls"] or default_tls_mode(address.host, address.socket),
            "tls_ca": _text_of(options["tls_ca"]) if options["tls_ca"] else "",
            "tags": options["tag"],
            "host_facts": {
                "memory_bytes": options["host_memory"],
                "cpus": options["host_cpus"],
                "storage": options["storage"],
            },
            "unrestricted": True,
        }
        checked = servers.checked_values({**values, **servers.default_intervals()})
        if not options["no_test"]:
            place = ("user", "host", "port", "socket", "tls_mode", "tls_ca", "unrestricted")
            self._try(Target(password=password, **{name: checked[name] for name in place}), options["name"])
        with transaction.atomic():
            server = servers.add_server(team=team, password=password, **values)
            if apply_password is not None:
                servers.set_credential(
                    server=server, purpose="apply", user=options["apply_user"], password=apply_password
                )
        self.stdout.write(f"{server.name} at {server.address} is watched from now on (team {team.name}).")

    def _already(self, known: Server, address: Address, user: str, team: Team) -> None:
        """Registering the same server again is no mistake; another one under its name is."""
        same = (known.socket or known.host, known.socket or known.port, known.user) == (
            address.socket or address.host,
            address.socket or address.port,
            user,
        )
        if not same:
            raise BadTarget(
                f"The team {team.name} has a server called {known.name} already, at {known.address} as {known.user}.",
                "Choose another name, or change that server on its page.",
            )
        self.stdout.write(f"{known.name} at {known.address} is watched already (team {team.name}): nothing changed.")

    def _try(self, target: Target, name: str) -> None:
        """Says whether it can be read. Raises CommandError (exit status 3) where it cannot."""
        report = servers.check_connection(target)
        if report.failure is not None:
            self.stderr.write(f"It cannot be read yet: {report.failure.sentence} {report.failure.next_step}".rstrip())
            for title, statements in report.account_statements:
                self.stderr.write(f"{title}:")
                for statement in statements:
                    self.stderr.write(f"  {statement.rstrip(';')};")
            raise CommandError(
                f"{name} was not registered. Put that right, or register it all the same with --no-test.", returncode=3
            )
        if report.identity is not None:
            self.stdout.write(
                f"It answers: {report.identity.version}, {'with' if report.encrypted else 'without'} TLS."
            )
        for remedy in report.missing:
            self.stderr.write(f"Missing: {remedy.what}. {remedy.text}")


def _text_of(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        raise BadTarget(f"The certificate authority's file {path} cannot be read.", field="tls_ca") from None
