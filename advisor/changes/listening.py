"""Hears that settings of a server changed, and has it said whose doing it was."""

from __future__ import annotations

import logging
from typing import Any

from django.db import Error as DatabaseError
from django.db import transaction
from django.db.models.signals import post_save
from django.dispatch import receiver

from collector.models import SettingsChange

log = logging.getLogger(__name__)


@receiver(post_save, sender=SettingsChange, dispatch_uid="changes.tell_apart")
def settings_changed(sender: object, *, instance: SettingsChange, created: bool, raw: bool = False, **_: Any) -> None:
    """After the snapshot's transaction, as the event is written later in it."""
    if created and not raw:
        transaction.on_commit(lambda: _tell_apart(instance.server_id, instance.at), robust=True)


def _tell_apart(server_id: str, slot: int) -> None:
    from advisor.changes import foreign

    try:
        foreign.tell_apart(server_id=server_id, slot=slot)
    except DatabaseError as error:
        log.warning("Whose doing the changes of server %s were is not told: %s", server_id, error)
