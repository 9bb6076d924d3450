"""The API's description as one document: what docs/openapi.json keeps and reviews see as a difference."""

from __future__ import annotations

import json
from typing import Any, cast


def openapi_document() -> dict[str, Any]:
    """The OpenAPI document as it is published at /api/v1/openapi.json, as plain JSON values."""
    # Imported here: the library behind the API takes a second, which nothing else should pay.
    from django.core.serializers.json import DjangoJSONEncoder

    from advisor.api.routes import api

    return cast(dict[str, Any], json.loads(json.dumps(api.get_openapi_schema(), cls=DjangoJSONEncoder)))
