"""Words are English in each test unless it says otherwise: a page that was asked for in Korean leaves its language
behind.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.utils import translation


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    with translation.override("en"):
        yield
