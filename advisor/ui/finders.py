"""Plotly's JavaScript out of the Python package of the same name: one pin for both, and nothing of others in our
repository.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage, Storage

NAME = "plotly.min.js"
PREFIX = "plotly"


class PlotlyFinder(BaseFinder):
    """Finds ``plotly/plotly.min.js`` and nothing else of the package's data."""

    def __init__(self, app_names: Any = None, *args: Any, **kwargs: Any) -> None:
        self.folder = Path(str(files("plotly") / "package_data"))
        self.storage = FileSystemStorage(location=str(self.folder))
        self.storage.prefix = PREFIX  # type: ignore[attr-defined]

    def check(self, **kwargs: Any) -> list[Any]:
        return []

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        """The file's place, or nothing (an empty list where all are asked for)."""
        all_wanted = find_all or bool(kwargs.get("all"))
        found = str(self.folder / NAME) if path == f"{PREFIX}/{NAME}" else ""
        if all_wanted:
            return [found] if found else []
        return found or None

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, Storage]]:
        yield NAME, self.storage
