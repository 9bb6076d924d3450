from __future__ import annotations

from django.apps import AppConfig


class CollectorConfig(AppConfig):
    name = "collector"
    label = "collector"
