"""The changes room as a Django application."""

from __future__ import annotations

from django.apps import AppConfig


class ChangesConfig(AppConfig):
    """Registered by its label, which migrations and foreign keys name."""

    name = "advisor.changes"
    label = "changes"

    def ready(self) -> None:
        from advisor.changes import listening, webhooks  # noqa: F401 -- connects to what the collector stores
        from collector import vault

        vault.also_rotate(webhooks.rotate)  # secrets of webhooks are sealed anew with the passwords of servers
