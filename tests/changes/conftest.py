"""What tests of change requests share."""

from __future__ import annotations

import pytest

from . import building


@pytest.fixture
def desk(db: None, monkeypatch: pytest.MonkeyPatch) -> building.Desk:
    """A team at work, with a server whose live values a test may change."""
    return building.desk(monkeypatch)
