from __future__ import annotations

from django.apps import AppConfig


class TeamsConfig(AppConfig):
    name = "advisor.teams"
    label = "teams"

    def ready(self) -> None:
        from advisor.teams import audit_checks, checks, listening  # noqa: F401 -- registers the system checks and what is recorded
