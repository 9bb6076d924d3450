"""Plans that wait: held against the collector's snapshots, scheduled in somebody's name, ended by the clock."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied

from advisor.changes import services, upkeep
from advisor.changes.models import ChangeRequest, State
from collector import snapshots
from collector.models import StoredSnapshot

from .building import MYSQL, NOW, Desk, request_for, snapshot_of

LATER = NOW + timedelta(minutes=10)


def snapshot(desk: Desk, *, at: datetime = LATER, seconds_up: int = 0, **variables: str) -> None:
    """The collector stores one more snapshot, in which these variables have these values."""
    recorded = snapshot_of(MYSQL)
    passed = at.timestamp() - recorded.taken_at
    seen = replace(
        recorded,
        taken_at=at.timestamp(),
        server_clock=recorded.server_clock + passed,
        uptime_seconds=seconds_up or round(recorded.uptime_seconds + passed),
        variables={**recorded.variables, **variables},
    )
    StoredSnapshot.objects.create(
        server=desk.server, slot=int(at.timestamp()), taken_at=at, payload=snapshots.pack(seen)
    )


def state_of(request: ChangeRequest) -> str:
    return str(ChangeRequest.objects.get(pk=request.pk).state)


@pytest.mark.parametrize("state", [State.IN_REVIEW, State.APPROVED])
def test_a_plan_whose_values_did_not_move_goes_on(desk: Desk, state: State) -> None:
    request = request_for(desk, state=state)
    snapshot(desk)
    assert upkeep.hold(LATER) == 0
    assert state_of(request) == state


@pytest.mark.parametrize("state", [State.IN_REVIEW, State.APPROVED])
def test_a_value_that_moved_ends_the_plan_within_a_snapshot(desk: Desk, state: State) -> None:
    request = request_for(desk, state=state)
    snapshot(desk, innodb_io_capacity="250")
    assert upkeep.hold(LATER) == 1
    assert state_of(request) == State.STALE


def test_a_restart_ends_the_plan(desk: Desk) -> None:
    request = request_for(desk, state=State.APPROVED)
    snapshot(desk, seconds_up=30)
    assert upkeep.hold(LATER) == 1
    assert state_of(request) == State.STALE


def test_somebody_who_runs_the_approved_statements_by_hand_is_not_drift(desk: Desk) -> None:
    request = request_for(desk, {"innodb_io_capacity": "700", "max_connections": "300"}, state=State.APPROVED)
    snapshot(desk, innodb_io_capacity="700")
    assert upkeep.hold(LATER) == 0
    assert state_of(request) == State.APPROVED


def test_in_review_even_the_wanted_value_is_another_than_was_read(desk: Desk) -> None:
    request = request_for(desk, state=State.IN_REVIEW)
    snapshot(desk, innodb_io_capacity="700")
    assert upkeep.hold(LATER) == 1
    assert state_of(request) == State.STALE


def test_a_snapshot_that_is_older_than_the_plan_tells_nothing(desk: Desk) -> None:
    request = request_for(desk, state=State.APPROVED)
    snapshot(desk, at=NOW - timedelta(minutes=1), innodb_io_capacity="250")
    StoredSnapshot.objects.filter(slot=int(NOW.timestamp())).delete()
    assert upkeep.hold(LATER) == 0
    assert state_of(request) == State.APPROVED


def test_one_damaged_snapshot_holds_up_no_other_plan(desk: Desk) -> None:
    other = desk.add_server("beta")
    first = request_for(desk, servers=[other], state=State.APPROVED)
    second = request_for(desk, state=State.APPROVED)
    StoredSnapshot.objects.create(server=other, slot=int(LATER.timestamp()), taken_at=LATER, payload=b"broken")
    snapshot(desk, innodb_io_capacity="250")
    assert upkeep.hold(LATER) == 1
    assert (state_of(first), state_of(second)) == (State.APPROVED, State.STALE)


def schedule(request: ChangeRequest, actor: Any, at: datetime | None) -> ChangeRequest:
    return services.schedule(request=request, actor=actor, at=at, now=NOW)


def test_an_approved_request_is_scheduled_in_somebodys_name_and_taken_back(desk: Desk) -> None:
    scheduled = schedule(request_for(desk, state=State.APPROVED), desk.operator, LATER)
    assert (scheduled.state, scheduled.scheduled_at, scheduled.scheduled_by) == (State.SCHEDULED, LATER, desk.operator)
    back = schedule(scheduled, desk.operator, None)
    assert (back.state, back.scheduled_at, back.scheduled_by) == (State.APPROVED, None, None)


@pytest.mark.parametrize("at", [NOW, NOW - timedelta(hours=1), NOW + timedelta(hours=25)])
def test_no_hour_is_scheduled_at_which_the_plan_cannot_begin(desk: Desk, at: datetime) -> None:
    with pytest.raises(services.BadRequest):
        schedule(request_for(desk, state=State.APPROVED), desk.operator, at)


def test_no_hour_outside_of_the_windows_is_scheduled(desk: Desk) -> None:
    window = {"days": [LATER.weekday()], "from": "20:00", "to": "21:00", "zone": "UTC"}
    services.set_policy(team=desk.team, actor=desk.author, now=NOW, windows=[window])
    approved = request_for(desk, state=State.APPROVED)
    with pytest.raises(services.BadRequest):
        schedule(approved, desk.operator, LATER)
    assert schedule(approved, desk.operator, LATER.replace(hour=20, minute=30)).state == State.SCHEDULED


def test_who_may_not_apply_schedules_nothing(desk: Desk) -> None:
    with pytest.raises(PermissionDenied):
        schedule(request_for(desk, state=State.APPROVED), desk.author, LATER)


def test_what_is_not_approved_is_not_scheduled(desk: Desk) -> None:
    with pytest.raises(services.WrongState):
        schedule(request_for(desk, state=State.IN_REVIEW), desk.operator, LATER)
