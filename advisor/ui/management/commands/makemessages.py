"""Django's own command, which also finds the words that pure rooms say through typed messages instead of gettext."""

from __future__ import annotations

from django.core.management.commands import makemessages


class Command(makemessages.Command):
    """``manage.py makemessages -l ko --no-location`` brings locale/ up to the words in the sources."""

    xgettext_options = [
        *makemessages.Command.xgettext_options,
        "--keyword=Message:1",
        "--keyword=Measured:1",
        "--keyword=_made:1",
        "--keyword=_fact:1",
        "--keyword=TransactionsMethod:3",
    ]
