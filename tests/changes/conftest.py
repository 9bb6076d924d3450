"""What tests of change requests share."""

from __future__ import annotations

import pytest

from advisor.changes import tasks
from tests.web.conftest import chromium, visit

from . import building

__all__ = ["chromium", "desk", "visit"]


@pytest.fixture(autouse=True)
def handed_out(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The applications that workers were told of; there is no broker, and waiting for one takes seconds."""
    told: list[str] = []
    monkeypatch.setattr(tasks, "hand_out", told.extend)
    return told


@pytest.fixture
def desk(db: None, monkeypatch: pytest.MonkeyPatch) -> building.Desk:
    """A team at work, with a server whose live values a test may change."""
    return building.desk(monkeypatch)
