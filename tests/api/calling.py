"""Calling the API as a program would: operations by their operationId, from the document it publishes."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import urlencode

from django.test import Client


class Caller:
    """One program with one token (or none)."""

    def __init__(self, token: str = "") -> None:
        self.client = Client(raise_request_exception=False)
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}
        document = self.client.get("/api/v1/openapi.json").json()
        self.operations = {
            one["operationId"]: (method, path)
            for path, methods in document["paths"].items()
            for method, one in methods.items()
        }

    def __call__(self, operation: str, body: Any = None, **parameters: Any) -> Any:
        """The response of an operation; path parameters are named as in the document, the others become the query."""
        method, path = self.operations[operation]
        for name in re.findall(r"{(\w+)}", path):
            path = path.replace(f"{{{name}}}", str(parameters.pop(name)))
        query = f"?{urlencode(parameters, doseq=True)}" if parameters else ""
        text = "" if body is None else json.dumps(body)
        return self.client.generic(
            method.upper(), path + query, text, content_type="application/json", headers=self.headers
        )
