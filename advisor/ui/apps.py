from __future__ import annotations

from django.apps import AppConfig


class UiConfig(AppConfig):
    name = "advisor.ui"
    label = "ui"
