"""`manage.py openapi`: the API's description, as docs/openapi.json keeps it. Needs no database."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand

from advisor.api.routes import openapi_document


class Command(BaseCommand):
    help = "Prints the OpenAPI document of the REST API."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(json.dumps(openapi_document(), indent=1, sort_keys=True, ensure_ascii=False))
