"""A page of a signed-in person in headless Chromium, that remembers what went wrong on it."""

from __future__ import annotations

import gzip
import os
import shutil
from typing import Any

from django.conf import settings as django_settings
from django.test import Client

CHROMIUM = os.environ.get("TIDEMARK_BROWSER") or shutil.which("chromium") or shutil.which("google-chrome") or ""
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


class Visit:
    """A page of a signed-in person that remembers what went wrong on it."""

    def __init__(self, chromium: Any, base: str, user: Any, **options: Any) -> None:
        self.base = base
        self.context = chromium.new_context(**{"viewport": {"width": 1366, "height": 1000}, **options})
        client = Client()
        client.force_login(user)
        cookie = client.cookies[django_settings.SESSION_COOKIE_NAME]
        self.context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": base}])
        self.page = self.context.new_page()
        self.page.set_default_timeout(20_000)
        self.errors: list[str] = []
        self.foreign: list[str] = []
        self.scripts: dict[str, int] = {}
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on(
            "console", lambda said: self.errors.append(said.text) if said.type in ("error", "warning") else None
        )
        self.page.on("response", self._seen)

    def _seen(self, response: Any) -> None:
        if not response.url.startswith((self.base, "data:", "blob:")):
            self.foreign.append(response.url)
        if "javascript" in (response.headers.get("content-type") or "") and "plotly" not in response.url:
            self.scripts[response.url] = len(gzip.compress(response.body()))

    def open(self, path: str) -> Any:
        self.page.goto(self.base + path)
        return self.page

    def clean(self) -> None:
        """Raises where the console said anything, or something came from another host."""
        assert self.errors == []
        assert self.foreign == []
