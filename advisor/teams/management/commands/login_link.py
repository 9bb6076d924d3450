"""`manage.py login_link NAME`: a way in for somebody who has no password or lost it."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from advisor.commands import ProductCommand
from advisor.teams import services
from advisor.teams.links import login_address


class Command(ProductCommand):
    help = "Prints a link that signs this person in, once, within 30 minutes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME")
        parser.add_argument(
            "--forget-second-factor",
            action="store_true",
            help="for somebody who lost it and the recovery codes: removes apps, keys and codes first",
        )
        parser.add_argument(
            "--base", default="", metavar="URL", help="scheme, host and port, such as http://127.0.0.1:8000"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            person = services.find_person(name=options["name"])
        except services.TeamsError as error:
            raise CommandError(str(error), returncode=2) from None
        if options["forget_second_factor"]:
            services.forget_second_factor(user=person)
        secret = services.create_login_link(user=person, now=timezone.now())
        self.stdout.write(f"Log in: {login_address(secret, base=options['base'])}")
