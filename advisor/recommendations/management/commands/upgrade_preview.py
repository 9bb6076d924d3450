"""What an upgrade would do to one server's settings. Reads one snapshot, changes nothing, needs no database of ours."""

from __future__ import annotations

import argparse
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

from django.core.management.base import BaseCommand

from advisor.mysql.lifecycle import next_long_term_series
from advisor.mysql.snapshot import Snapshot
from advisor.mysql.upgrade import BadTarget as BadVersion
from advisor.mysql.upgrade import preview, target_version
from advisor.recommendations import upgrade_document
from advisor.recommendations.management.ending import end
from collector import recording, resolve
from collector.collect import read_snapshot
from collector.connection import connect
from collector.errors import BadTarget, TargetError
from collector.target import is_url

USAGE, FAILED = 2, 3


class Command(BaseCommand):
    help = (
        "Tell what another version would do with this server's settings: removed, renamed, refused, ignored, other "
        "defaults, and what is expected to be slower. Exit status: 0 told, 1 something prevents a start and "
        "--fail-on-stop was given, 2 wrong usage, 3 the server could not be read."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        resolve.add_arguments(parser)
        parser.add_argument(
            "--to", default="", metavar="VERSION", help="such as mysql:8.4 (default: the next long-term series)"
        )
        parser.add_argument("--format", choices=["text", "json"], default="text")
        parser.add_argument(
            "--fail-on-stop", action="store_true", help="exit with 1 if a setting prevents the start of that version"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        self._json = options["format"] == "json"
        try:
            wanted = target_version(options["to"]) if options["to"] else None
            snapshot = self._snapshot(options)
            here = snapshot.identity.version
            if wanted is None:
                following = next_long_term_series(here)
                if following is None:
                    raise BadVersion(f"{here} is of the newest long-term series known: say --to which version.")
                wanted = target_version(f"{here.flavor.value} {following.name}")
            found = preview(snapshot.variables, snapshot.origins, here, wanted)
        except BadVersion as error:
            self._end(USAGE, "bad-version", str(error), "")
        except BadTarget as error:
            self._end(USAGE, error.kind, error.sentence, error.next_step)
        except TargetError as error:
            self._end(FAILED, error.kind, error.sentence, error.next_step)
        if self._json:
            document = upgrade_document.document(found)
            document["read_at"] = datetime.fromtimestamp(snapshot.taken_at, UTC).isoformat(timespec="seconds")
            self.stdout.write(json.dumps(document, indent=2, ensure_ascii=False))
        else:
            self.stdout.write(upgrade_document.text(found), ending="")
        self.stdout.flush()
        if options["fail_on_stop"] and any(one.breaks_start is not False for one in found.changes):
            sys.exit(1)

    def _snapshot(self, options: dict[str, Any]) -> Snapshot:
        server = options["server"]
        if not is_url(server) and recording.is_recording(server):
            return recording.read(Path(server)).last
        target = resolve.target(
            server,
            password_file=options["password_file"],
            defaults_group=options["defaults_group"],
            tls_mode=options["tls_mode"],
            tls_ca=options["tls_ca"],
        )
        with connect(target) as connection:
            return read_snapshot(connection)

    def _end(self, status: int, kind: str, sentence: str, next_step: str) -> NoReturn:
        end(self, status, kind, sentence, next_step, as_json=self._json)
