from __future__ import annotations

from pathlib import Path

from django.apps import AppConfig


class UiConfig(AppConfig):
    name = "advisor.ui"
    label = "ui"

    def ready(self) -> None:
        from django.conf import settings

        from advisor.ui.translations import compile_folder

        for folder in settings.LOCALE_PATHS:
            compile_folder(Path(folder))
