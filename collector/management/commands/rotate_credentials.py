"""Seal all stored passwords with the newest key."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError

from advisor.commands import ProductCommand
from advisor.teams import services
from collector import vault


class Command(ProductCommand):
    help = (
        "Seal every stored password with the first credential key. Put a new key on the first line of the key file, "
        "keep the old ones below it, restart, run this, and then remove the old ones. "
        "It can be interrupted and run again."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            done = vault.rotate()
        except vault.VaultError as error:
            raise CommandError(str(error), returncode=2) from None
        try:
            factors = services.seal_second_factors_anew()
        except ImproperlyConfigured as error:
            raise CommandError(f"{error} Keep the old keys.", returncode=3) from None
        for name, why in done.failed:
            self.stderr.write(f"{name}: {why}")
        self.stdout.write(
            f"{done.rotated} passwords sealed anew, {done.current} were sealed with the first key already."
        )
        if factors:
            self.stdout.write(f"{factors} secrets of second factors sealed anew.")
        if done.failed:
            raise CommandError(f"{len(done.failed)} passwords could not be read; keep the old keys.", returncode=3)
