"""What several policies demand together, and that only admins' words become demands."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from advisor.changes import policies, services
from advisor.changes.models import Policy, State
from advisor.teams.audit import AuditEntry

from .building import NOW, Desk, request_for

MORNING = {"days": [0, 1, 2, 3, 4], "from": "09:00", "to": "11:00", "zone": "Asia/Seoul"}
NIGHT = {"days": [4], "from": "22:00", "to": "02:00", "zone": "UTC"}


def put(desk: Desk, **values: Any) -> Policy:
    return services.set_policy(team=desk.team, actor=desk.author, now=NOW, **values)


def effective(desk: Desk, *tags: str) -> dict[str, Any]:
    desk.server.tags = list(tags)
    desk.server.save()
    return policies.effective(Policy.objects.filter(team=desk.team), [desk.server])


def test_without_policies_one_other_person_approves(desk: Desk) -> None:
    demanded = effective(desk, "production")
    assert (demanded["approvals"], demanded["author_may_approve"], demanded["emergency_allowed"]) == (1, False, False)


def test_of_several_policies_the_strictest_of_each_demand_counts(desk: Desk) -> None:
    put(desk, approvals=1, author_may_approve=True, allowed_variables=["a", "b"], wait_seconds=0)
    put(desk, tag="production", approvals=3, canary_first=True, wait_seconds=600, allowed_variables=["b", "c"])
    put(desk, tag="seoul", approvals=2, author_may_approve=True, windows=[MORNING], roll_back_automatically=True)
    put(desk, tag="elsewhere", approvals=0, windows=[NIGHT])
    demanded = effective(desk, "production", "seoul")
    assert (demanded["approvals"], demanded["author_may_approve"]) == (3, False)
    assert demanded["allowed_variables"] == ["b"]
    assert (demanded["canary_first"], demanded["wait_seconds"]) == (True, 600)
    assert demanded["windows"] == [[MORNING]]
    assert demanded["roll_back_automatically"]
    assert demanded["policies"] == ["", "production", "seoul"]


def test_over_several_servers_the_strictest_counts(desk: Desk) -> None:
    put(desk, tag="lax", approvals=0)
    other = desk.add_server("beta", tags=["lax"])
    demanded = policies.effective(Policy.objects.all(), [other])
    assert demanded["approvals"] == 0
    assert policies.effective(Policy.objects.all(), [other, desk.server])["approvals"] == 1


def test_the_emergency_path_is_opened_by_tags_and_each_of_them_may_close_it(desk: Desk) -> None:
    put(desk, tag="fire", emergency_allowed=True)
    assert effective(desk, "fire")["emergency_allowed"]
    assert not effective(desk)["emergency_allowed"]
    put(desk, tag="production")
    assert not effective(desk, "fire", "production")["emergency_allowed"]
    put(desk, approvals=2)
    assert effective(desk, "fire")["emergency_allowed"]


@pytest.mark.parametrize(
    ("window", "at", "inside"),
    [
        (MORNING, datetime(2026, 11, 23, 0, 0, tzinfo=UTC), True),  # Monday 09:00 in Seoul
        (MORNING, datetime(2026, 11, 23, 2, 0, tzinfo=UTC), False),  # 11:00 is over
        (MORNING, datetime(2026, 11, 22, 0, 30, tzinfo=UTC), False),  # Sunday
        (NIGHT, datetime(2026, 11, 27, 23, 0, tzinfo=UTC), True),  # Friday night
        (NIGHT, datetime(2026, 11, 28, 1, 59, tzinfo=UTC), True),  # is Friday's until two
        (NIGHT, datetime(2026, 11, 28, 2, 0, tzinfo=UTC), False),
        (NIGHT, datetime(2026, 11, 27, 1, 0, tzinfo=UTC), False),  # Thursday's night has no window
    ],
)
def test_a_window_is_told_in_its_own_zone_and_over_midnight(window: Any, at: datetime, inside: bool) -> None:
    assert policies.is_open([[window]], at) is inside


def test_a_moment_has_to_lie_in_a_window_of_each_policy() -> None:
    at = datetime(2026, 11, 23, 0, 0, tzinfo=UTC)
    assert policies.is_open([], at)
    assert policies.is_open([[MORNING, NIGHT]], at)
    assert not policies.is_open([[MORNING], [NIGHT]], at)


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("approvals", {"approvals": 4}),
        ("approvals", {"approvals": -1}),
        ("windows", {"windows": [{**MORNING, "zone": "Mars/Base"}]}),
        ("windows", {"windows": [{**MORNING, "zone": "../../etc/passwd"}]}),
        ("windows", {"windows": [{**MORNING, "to": "09:00"}]}),
        ("windows", {"windows": [{**MORNING, "days": [7]}]}),
        ("windows", {"windows": [{}]}),
        ("allowed_variables", {"allowed_variables": ["a; b"]}),
        ("who_may_apply", {"who_may_apply": ["viewer"]}),
        ("emergency_allowed", {"emergency_allowed": True}),
        ("emergency_seconds", {"emergency_seconds": 1}),
        ("wait_seconds", {"wait_seconds": 10_000_000}),
        ("tag", {"tag": "x" * 51}),
    ],
)
def test_what_is_no_demand_is_refused_with_its_field(desk: Desk, field: str, values: dict[str, Any]) -> None:
    with pytest.raises(services.BadRequest) as refused:
        put(desk, **values)
    assert set(refused.value.errors) == {field}
    assert not Policy.objects.exists()


def test_every_change_of_a_policy_is_in_the_audit(desk: Desk) -> None:
    policy = put(desk, tag="production", approvals=2)
    services.delete_policy(policy=policy, actor=desk.author, now=NOW)
    actions = AuditEntry.objects.filter(action__startswith="policy.").values_list("action", flat=True)
    assert list(actions) == ["policy.set", "policy.deleted"]


def test_with_no_approvals_demanded_a_plan_is_approved_when_it_is_submitted(desk: Desk) -> None:
    put(desk, approvals=0)
    assert request_for(desk, state=State.IN_REVIEW).state == State.APPROVED


def test_variables_that_a_policy_does_not_name_cannot_be_submitted(desk: Desk) -> None:
    put(desk, allowed_variables=["innodb_io_capacity"])
    request_for(desk, state=State.IN_REVIEW)
    with pytest.raises(services.NotReady) as refused:
        # The maximum would come along: it is changed, so it has to be allowed.
        request_for(desk, {"max_connections": "300"}, state=State.IN_REVIEW)
    assert [one.id for one in refused.value.checks if not one.ok] == ["policy"]


def test_the_author_may_approve_where_every_policy_allows_it(desk: Desk) -> None:
    from advisor.teams import services as teams
    from advisor.teams.roles import Role

    put(desk, author_may_approve=True)
    teams.add_role(user=desk.author, team=desk.team, role=Role.APPROVER)
    desk.reviewer = desk.author
    assert request_for(desk, state=State.APPROVED).state == State.APPROVED
