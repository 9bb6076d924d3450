"""`manage.py export_audit`: the audit as a file, with its digests."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from advisor.commands import ProductCommand
from advisor.teams import audit_reading as reading
from advisor.teams.audit_models import AuditEntry


class Command(ProductCommand):
    help = "Writes the entries of all teams, the oldest first, to standard output."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--format", choices=["jsonl", "csv"], default="jsonl")
        parser.add_argument("--team", default="", metavar="ID", help="of one team, by its id")
        parser.add_argument("--actor", default="", metavar="NAME")
        parser.add_argument("--action", default="", metavar="A", help="change.approved, or its first word: change")
        parser.add_argument("--subject", default="", metavar="TEXT", help="whose subject holds this")
        parser.add_argument("--from", dest="since", default="", metavar="DAY", help="2026-11-21, in UTC")
        parser.add_argument("--to", default="", metavar="DAY", help="this day included")

    def handle(self, *args: Any, **options: Any) -> None:
        texts = {name: options[name] for name in ("team", "actor", "action", "subject", "to")}
        asked = reading.asked({**texts, "from": options["since"]})
        for name, day in (("from", options["since"]), ("to", options["to"])):
            if day and not asked.texts[name]:
                raise CommandError(f"--{name} is {day!r}: write a day as 2026-11-21.", returncode=2)
        rows = reading.in_order(AuditEntry.objects.filter(asked.filters.conditions()))
        for line in reading.as_csv(rows) if options["format"] == "csv" else reading.as_json_lines(rows):
            self.stdout.write(line, ending="")
