"""Lists in pages by keyset: a page begins after the last row of the one before, however many rows came or went
meanwhile.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import Model, Q, QuerySet

from advisor.api.problems import Problem

LARGEST = 500
DEFAULT = 100
_BAD_CURSOR = "The cursor is not one that a list answered as 'next'."
ModelT = TypeVar("ModelT", bound=Model)


def page(
    rows: QuerySet[ModelT], order: Sequence[str], *, cursor: str | None, limit: int
) -> tuple[list[ModelT], str | None]:
    """The rows after the cursor and the cursor of the next page, None where there is none.

    ``order`` names the fields as ``order_by`` does; together they must be unique, so the last is an id. Raises Problem
    for a cursor that we did not make.
    """
    if cursor:
        values = _read(cursor, len(order))
        try:
            rows = rows.filter(_after(order, values))
        except (ValueError, ValidationError):  # a value of another type than the column's
            raise Problem(422, "bad-cursor", _BAD_CURSOR) from None
    found = list(rows.order_by(*order)[: limit + 1])
    if len(found) <= limit:
        return found, None
    return found[:limit], _write([getattr(found[limit - 1], name.lstrip("-")) for name in order])


def _after(order: Sequence[str], values: Sequence[Any]) -> Q:
    """Rows that sort behind these values: (a > x) or (a = x and b > y) or ..."""
    behind, same = Q(), Q()
    for name, value in zip(order, values, strict=True):
        field, comparison = name.lstrip("-"), "lt" if name.startswith("-") else "gt"
        behind |= same & Q(**{f"{field}__{comparison}": value})
        same &= Q(**{field: value})
    return behind


def _write(values: Sequence[Any]) -> str:
    plain = [value.isoformat() if isinstance(value, datetime) else value for value in values]
    return base64.urlsafe_b64encode(json.dumps(plain, separators=(",", ":")).encode()).decode().rstrip("=")


def _read(cursor: str, length: int) -> list[Any]:
    try:
        values = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError):
        values = None
    if (
        not isinstance(values, list)
        or len(values) != length
        or not all(isinstance(one, str | int) and not isinstance(one, bool) for one in values)
    ):
        raise Problem(422, "bad-cursor", _BAD_CURSOR)
    return values
