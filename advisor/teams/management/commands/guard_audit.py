"""`manage.py guard_audit`: makes the triggers by which the database refuses to change the audit."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError
from django.db import connection

from advisor.commands import ProductCommand
from advisor.teams import audit_triggers


class Command(ProductCommand):
    help = "Makes the triggers that refuse to change or delete audit entries, where migrating was not allowed to."

    def handle(self, *args: Any, **options: Any) -> None:
        if not audit_triggers.install(connection):
            raise CommandError(
                "The database does not let this account make triggers: it takes the TRIGGER privilege, and with binary "
                "logs on log_bin_trust_function_creators.",
                returncode=2,
            )
        self.stdout.write("The database refuses to change and to delete entries of the audit.")
