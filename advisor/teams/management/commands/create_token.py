"""`manage.py create_token NAME`: a program's way in."""

from __future__ import annotations

import re
from argparse import ArgumentParser
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from advisor.commands import ProductCommand
from advisor.teams import services
from advisor.teams.scopes import Scope


def _end(text: str, now: datetime) -> datetime | None:
    """When a token ends: so many days or hours from now, or as a date begins (UTC); None: never by itself.

    Raises CommandError for what cannot be read or has passed.
    """
    if not text:
        return None
    if span := re.fullmatch(r"([1-9][0-9]{0,4})([dh])", text):
        return now + timedelta(**{"days" if span[2] == "d" else "hours": int(span[1])})
    try:
        end = datetime.fromisoformat(text)
    except ValueError:
        raise CommandError(f"--expires {text!r}: write 90d, 12h or a date such as 2027-06-30.", returncode=2) from None
    end = end if end.tzinfo else end.replace(tzinfo=UTC)
    if end <= now:
        raise CommandError(f"--expires {text!r} has passed.", returncode=2)
    return end


class Command(ProductCommand):
    help = "Makes an API token with that person's rights, or fewer, and prints it, once, alone on the last line."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", metavar="NAME", help="the person the token speaks for")
        parser.add_argument("--name", default="", metavar="TEXT", help="what the token is for")
        parser.add_argument(
            "--scope",
            action="append",
            default=[],
            choices=[scope.value for scope in Scope],
            help="may be given several times; without any: all that the person may do",
        )
        parser.add_argument("--expires", default="", metavar="WHEN", help="90d, 12h or a date such as 2027-06-30")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            person = services.find_person(name=options["user"])
        except services.TeamsError as error:
            raise CommandError(str(error), returncode=2) from None
        made = services.create_token(
            user=person,
            name=options["name"],
            scopes=[Scope(name) for name in options["scope"]],
            expires_at=_end(options["expires"], timezone.now()),
        )
        # Progress goes to stderr, so that `$(manage.py create_token NAME)` is the token.
        self.stderr.write(f"A token for {person.username}. It is shown this once and stored only as a digest.")
        self.stdout.write(made.text)
