"""`manage.py verify_audit`: is the audit as it was written?"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.utils import timezone

from advisor.commands import ProductCommand
from advisor.teams import audit_verify
from advisor.teams.audit import AuditError


class Command(ProductCommand):
    help = (
        "Goes through the whole audit and its anchors. Exit status 0 where every entry is there as it was written, "
        "1 where one was altered, removed, inserted or moved, or the end was cut off: the first one is named."
    )
    refusals = (AuditError,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--format", choices=["text", "json"], default="text")
        parser.add_argument("--no-anchor", action="store_true", help="do not write down where it ends")

    def handle(self, *args: Any, **options: Any) -> None:
        found = audit_verify.verify(now=timezone.now(), anchor=not options["no_anchor"])
        if options["format"] == "json":
            wrong = None if found.wrong is None else {"sequence": found.wrong.sequence, "what": found.wrong.what}
            document = {"whole": found.whole, "last": found.last, "anchors": found.anchors, "wrong": wrong}
            self.stdout.write(json.dumps(document, ensure_ascii=False))
        elif found.wrong is None:
            self.stdout.write(f"The audit is whole: {found.last} entries, held against {found.anchors} anchors.")
            if not found.anchors and found.last:
                self.stdout.write("Its end was not anchored before: what was cut off earlier could not be missed.")
        else:
            self.stdout.write(f"The audit is NOT whole. {found.wrong}")
            if found.wrong.sequence is not None:
                self.stdout.write(f"Up to entry {found.last} it is as it was written.")
        if unguarded := audit_verify.unguarded():
            self.stderr.write(unguarded)
        if found.wrong is not None:
            sys.exit(1)
