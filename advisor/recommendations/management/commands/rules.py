"""`manage.py rules`: what Tidemark looks for, with the documentation of every rule. Needs no database."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from advisor.recommendations.rule_documents import rule_documents
from advisor.rules.outside import from_packages


class Command(BaseCommand):
    help = "Lists all rules with their documentation."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--format", choices=["text", "json"], default="text")

    def handle(self, *args: Any, **options: Any) -> None:
        rules = rule_documents()
        for name, why in from_packages().refused.items():
            self.stderr.write(f"The rule {name} of another package is left out: {why}.")
        if options["format"] == "json":
            self.stdout.write(json.dumps({"rules": rules}, indent=2, ensure_ascii=False))
            return
        for rule in rules:
            self.stdout.write(f"{rule['id']}  ({rule['severity']}; {', '.join(rule['applies_to'])})")
            self.stdout.write(f"    {rule['title']}")
            for heading, text in rule["documentation"].items():
                self.stdout.write(f"    {heading}:")
                for line in text.split("\n"):
                    self.stdout.write(f"        {line.strip()}")
            self.stdout.write("")
