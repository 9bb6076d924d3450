"""The changes room as a Django application."""

from __future__ import annotations

from django.apps import AppConfig


class ChangesConfig(AppConfig):
    """Registered by its label, which migrations and foreign keys name."""

    name = "advisor.changes"
    label = "changes"

    def ready(self) -> None:
        from advisor.changes import listening  # noqa: F401 -- connects to what the collector stores
