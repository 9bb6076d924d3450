"""`manage.py import_servers FILE`: watch the servers of a list (CSV or YAML) from now on; all of them, or none."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from advisor.commands import ProductCommand
from advisor.teams import services as teams
from collector import importing, servers
from collector.errors import BadTarget
from collector.importing import Defaults, Line, Verdict
from collector.importing_entries import MOST_BYTES, BadList
from collector.importing_text import decode
from collector.models import TlsMode
from collector.secret import Secret
from collector.target import read_password_file
from collector.trying import tested
from collector.vault import VaultError

_WORDS = {Verdict.ADD: "will add", Verdict.KNOWN: "known already", Verdict.ERROR: "ERROR"}


class Command(ProductCommand):
    refusals = (VaultError,)
    help = "Registers the servers of a CSV or YAML file. Lines that are wrong are said, and then nothing is written."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", help="CSV or YAML; - reads standard input")
        parser.add_argument("--dry-run", action="store_true", help="say what every line would do, and write nothing")
        parser.add_argument("--skip-errors", action="store_true", help="register the good lines where others are wrong")
        parser.add_argument(
            "--test", action="store_true", help="try each connection, sixteen at once, for 20 s at most"
        )
        parser.add_argument("--team", default="", metavar="T", help="by default the only team")
        parser.add_argument(
            "--tag", action="append", default=[], metavar="X", help="for all; may be given several times"
        )
        parser.add_argument("--user", default="tidemark", metavar="U", help="for lines that name none")
        parser.add_argument("--password-file", default="", metavar="F", help="its first line, for lines that have none")
        parser.add_argument(
            "--tls", default="", choices=["", *TlsMode.values], metavar="MODE", help="for lines without"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._import(options)
        except (teams.TeamsError, BadTarget, BadList, servers.InvalidServer, importing.Changed) as error:
            raise CommandError(str(error), returncode=2) from None

    def _import(self, options: dict[str, Any]) -> None:
        team = teams.get_team(name=options["team"])
        password = read_password_file(options["password_file"]) if options["password_file"] else Secret("")
        # Whoever has the command line may name any address: loopback, sockets and any port.
        plan = importing.plan(
            team=team,
            text=decode(_content(options["file"])),
            defaults=Defaults(options["user"], password, tuple(options["tag"]), options["tls"]),
            unrestricted=True,
        )
        if options["test"]:
            plan = tested(plan)
        for remark in plan.remarks:
            self.stderr.write(remark)
        for line in plan.lines:
            self._say(line)
        counts = f"{len(plan.good)} to add, {len(plan.known)} known already, {len(plan.bad)} wrong"
        if options["dry_run"]:
            self.stdout.write(f"{counts}; nothing was written (dry run).")
        if plan.bad and not options["skip_errors"]:
            raise CommandError(
                f"{counts}: nothing was written. Correct the list, or leave the wrong lines out with --skip-errors.",
                returncode=2,
            )
        if not options["dry_run"]:
            made = importing.write(team=team, plan=plan)
            self.stdout.write(f"{len(made)} servers are watched from now on (team {team.name}); {counts}.")

    def _say(self, line: Line) -> None:
        words = [f"line {line.number}: {_WORDS[line.verdict]}", line.name, line.address, *line.problems, *line.notes]
        if line.known is not None and line.known.name != line.name:
            words.append(f"(as {line.known.name})")
        if line.report is not None:
            failure, identity = line.report.failure, line.report.identity
            words.append(
                f"answers: {identity.version}" if identity else f"cannot be read: {failure.sentence if failure else ''}"
            )
        out = self.stderr if line.verdict is Verdict.ERROR else self.stdout
        out.write("  ".join(word for word in words if word))


def _content(name: str) -> bytes:
    """A byte more than may be read is enough to know that it is too much."""
    if name == "-":
        return sys.stdin.buffer.read(MOST_BYTES + 1)
    with Path(name).open("rb") as file:
        return file.read(MOST_BYTES + 1)
