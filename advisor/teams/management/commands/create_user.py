"""`manage.py create_user NAME`: a person who can come in, without a question asked."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction
from django.utils import timezone

from advisor.commands import ProductCommand
from advisor.teams import services
from advisor.teams.links import login_address
from advisor.teams.roles import Role


class Command(ProductCommand):
    help = "Makes a person and prints a link that signs them in once. Without --team the only team is used."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME")
        parser.add_argument("--team", default="", metavar="T", help="made where there is none of that name")
        parser.add_argument(
            "--role",
            action="append",
            default=[],
            choices=[role.value for role in Role],
            help="may be given several times; without any: viewer",
        )
        parser.add_argument("--admin", action="store_true", help="administrator of the team and of Tidemark itself")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with transaction.atomic():
                team = services.ensure_team(name=options["team"])
                person = services.create_user(
                    name=options["name"],
                    team=team,
                    roles=[Role(role) for role in options["role"]],
                    administrator=options["admin"],
                )
                secret = services.create_login_link(user=person, now=timezone.now())
        except services.TeamsError as error:
            raise CommandError(str(error), returncode=2) from None
        roles = ", ".join(sorted(person.memberships.values_list("role", flat=True)))
        self.stdout.write(f"{person.username} is {roles} of the team {team.name}.")
        self.stdout.write(f"Log in: {login_address(secret)}")
