from __future__ import annotations

from django.apps import AppConfig


class RecommendationsConfig(AppConfig):
    name = "advisor.recommendations"
    label = "recommendations"

    def ready(self) -> None:
        from advisor.recommendations import listening  # noqa: F401 -- connects to what the collector announces
