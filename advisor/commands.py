"""What all of Tidemark's commands share: trouble that is nobody's mistake ends in one sentence and exit status 2."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from advisor.teams.audit_chain import AuditError
from advisor.teams.audit_context import acting_as, operator_name


class ProductCommand(BaseCommand):
    """A command on Tidemark's own database and files. ``refusals`` are errors whose message is the sentence."""

    refusals: tuple[type[Exception], ...] = ()

    def execute(self, *args: Any, **options: Any) -> Any:
        """As Django's, in the name of who runs it. Raises CommandError where the database, the disk or a key is not
        there.
        """
        try:
            with acting_as(None, "command", name=operator_name()):
                return super().execute(*args, **options)
        except AuditError as error:
            raise CommandError(str(error), returncode=2) from None
        except self.refusals as error:
            raise CommandError(str(error), returncode=2) from None
        except DatabaseError:
            raise CommandError(
                "Tidemark's own database is not set up, or does not answer: run ./start --setup, "
                "or check TIDEMARK_DATABASE_URL.",
                returncode=2,
            ) from None
        except OSError as error:
            where = f" ({error.filename})" if error.filename else ""
            why = (error.strerror or str(error)).lower()
            raise CommandError(
                f"This needs a file or folder that cannot be used{where}: {why}. Check its path, permissions and "
                "free space.",
                returncode=2,
            ) from None
