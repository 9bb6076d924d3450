"""Asking for an inspection on the server page: the line follows what becomes of it, without a reload."""

from __future__ import annotations

import os
from typing import Any

import pytest

from advisor.engine.scene import inspected
from collector import inspecting, tasks
from collector.errors import TooManyConnections
from collector.models import InspectionRequest, StoredInspection
from tests.web.visiting import Visit

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_the_line_follows_the_inspection(
    chromium: Any, live_server: Any, owner: Any, busy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks.inspect, "apply_async", lambda **_: None)

    def refuse(*_: Any, **__: Any) -> Any:
        raise TooManyConnections("db takes no further connection from us.")

    visit = Visit(chromium, live_server.url, owner)
    page = visit.open(f"/s/{busy.pk}")
    line = page.locator("#inspection")
    assert "not inspected yet" in line.inner_text()
    page.evaluate("document.querySelector('h1').dataset.same = 'page'")
    line.get_by_role("button", name="Inspect now").click()
    line.get_by_text("being inspected now").wait_for()
    assert not inspecting.inspect_server(server_id=busy.pk, dial=refuse)
    line.get_by_text("db takes no further connection from us.").wait_for()
    if folder := os.environ.get("TIDEMARK_PICTURES"):
        page.screenshot(path=f"{folder}/failed.png", full_page=True)
    line.get_by_role("button", name="Inspect now").click()
    line.get_by_text("being inspected now").wait_for()
    (request,) = InspectionRequest.objects.all()
    StoredInspection.objects.create(
        server=busy,
        taken_at=request.requested_at,
        identity="x",
        payload=inspecting.pack(inspected()),
        cost={"statements": 26, "rows": 90, "bytes": 9000, "milliseconds": 54.2},
    )
    InspectionRequest.objects.update(ended_at=request.requested_at)
    line.get_by_text("26 statements").wait_for()
    assert line.get_by_role("button", name="Inspect now").is_visible()
    assert page.evaluate("document.querySelector('h1').dataset.same") == "page"
    if folder:
        page.screenshot(path=f"{folder}/done.png", full_page=True)
    visit.clean()
