"""Write what is observed of a server into files, without secrets and names, to be judged again later."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from advisor.commands import ProductCommand
from collector import recording, resolve
from collector.errors import BadTarget, TargetError
from collector.observe import observe


class Command(ProductCommand):
    help = "Record a server into a folder: two snapshots and the polls between them, without secrets and names."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        resolve.add_arguments(parser)
        parser.add_argument(
            "path", metavar="PATH", help="the folder to write, such as tests/recorded/mysql-8.0.33-busy"
        )
        parser.add_argument("--observe", type=float, default=60, metavar="SECONDS", help="how long (default: 60)")
        parser.add_argument("--interval", type=float, default=5, metavar="SECONDS", help="between polls (default: 5)")
        parser.add_argument(
            "--inspect",
            action="store_true",
            help="also read accounts, tables and statement digests; names of accounts and hosts are replaced, "
            "names of schemas, tables and columns are kept",
        )
        parser.add_argument("--what", default="", help="what was going on, in a few words")

    def handle(self, *args: Any, **options: Any) -> None:
        path = Path(options["path"])
        if path.exists() and not path.is_dir():
            raise CommandError(f"{path} is a file: name a folder.", returncode=2)
        if path.exists() and not recording.is_recording(str(path)) and any(path.iterdir()):
            raise CommandError(f"{path} exists and is no recording: name another folder.", returncode=2)
        try:
            target = resolve.target(
                options["server"],
                password_file=options["password_file"],
                defaults_group=options["defaults_group"],
                tls_mode=options["tls_mode"],
                tls_ca=options["tls_ca"],
            )
        except BadTarget as error:
            raise CommandError(str(error), returncode=2) from None
        # What cannot be written is told now, not after minutes of observing.
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
        try:
            observed = observe(
                target, seconds=options["observe"], interval=options["interval"], inspect=options["inspect"]
            )
        except TargetError as error:
            raise CommandError(str(error), returncode=3) from None
        recording.write(path, observed, what=options["what"] or path.name, version=settings.VERSION)
        self.stdout.write(
            f"{path}: {observed.last.identity.version}, {len(observed.polls)} polls in {observed.seconds:.0f} s."
        )
