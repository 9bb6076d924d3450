from __future__ import annotations

from django.apps import AppConfig


class JournalConfig(AppConfig):
    name = "advisor.journal"
    label = "journal"
