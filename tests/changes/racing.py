"""Fifty people who approve and apply one request at the same moment, each thread on a connection of its own."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections

from advisor.changes import applying, gate, services
from advisor.changes.models import Application, ChangeRequest, State
from advisor.teams.roles import Role

from . import building
from .building import NOW, request_for

SOON = NOW + timedelta(minutes=5)
PEOPLE = 50
THREADS = 10


def race(monkeypatch: pytest.MonkeyPatch) -> tuple[list[Any], list[Exception], ChangeRequest]:
    """What began, what was refused, and the request at the end. Call it in a thread of its own."""
    desk = building.desk(monkeypatch)
    request = request_for(desk, state=State.IN_REVIEW)
    assert request.plan is not None
    plan_hash, begun, refused = request.plan.hash, [], []
    everybody = [desk.person(f"person{number}", Role.APPROVER, Role.OPERATOR) for number in range(PEOPLE)]
    ready = threading.Barrier(THREADS)

    def approve_and_apply(people: list[Any]) -> None:
        ready.wait()
        try:
            for person in people:
                found = ChangeRequest.objects.select_related("team", "plan", "author", "last_editor").get(pk=request.pk)
                try:
                    services.review(
                        request=found, actor=person, verdict="approve", text="", plan_hash=plan_hash, now=SOON
                    )
                    begun.extend(applying.begin(request=found, actor=person, now=SOON))
                except Exception as error:
                    refused.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=approve_and_apply, args=(everybody[n::THREADS],)) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return begun, refused, ChangeRequest.objects.get(pk=request.pk)


def check(begun: list[Any], refused: list[Exception], request: ChangeRequest) -> None:
    """Exactly one began it, and everybody else was told why not."""
    expected = (gate.NotOpen, services.CameLate, services.WrongState, services.StalePlan)
    # On a busy machine somebody may wait for SQLite's one writer longer than its 20 s: that one did nothing, either.
    odd = [repr(one) for one in refused if not isinstance(one, expected) and "database is locked" not in str(one)]
    assert odd == [], odd[:3]
    assert len(begun) == Application.objects.count() == 1
    assert len(refused) == PEOPLE - 1
    assert request.state == State.APPLYING
