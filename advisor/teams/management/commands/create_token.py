"""`manage.py create_token NAME`: a program's way in."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from advisor.commands import ProductCommand
from advisor.teams import services


class Command(ProductCommand):
    help = "Makes an API token with all that person's rights and prints it, once, alone on the last line."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", metavar="NAME", help="the person the token speaks for")
        parser.add_argument("--name", default="", metavar="TEXT", help="what the token is for")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            person = services.find_person(name=options["user"])
        except services.TeamsError as error:
            raise CommandError(str(error), returncode=2) from None
        made = services.create_token(user=person, name=options["name"])
        # Progress goes to stderr, so that `$(manage.py create_token NAME)` is the token.
        self.stderr.write(f"A token for {person.username}. It is shown this once and stored only as a digest.")
        self.stdout.write(made.text)
