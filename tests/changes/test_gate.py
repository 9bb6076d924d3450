"""The gate of applying: whatever happened to a person, a plan or a policy since, nothing slips through."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from advisor.changes import applying, gate, planning, services, states
from advisor.changes.models import Application, ChangeRequest, Plan, Review, State
from advisor.teams.models import Membership
from advisor.teams.roles import Role
from collector.models import Credential

from .building import NOW, Desk, request_for

SOON = NOW + timedelta(minutes=5)


def unmet(request: ChangeRequest, person: Any, now: Any = SOON) -> set[str]:
    request = ChangeRequest.objects.select_related("team", "plan", "author", "last_editor").get(pk=request.pk)
    with pytest.raises(gate.NotOpen) as shut:
        gate.check(request=request, person=person, now=now)
    with pytest.raises(gate.NotOpen):
        applying.begin(request=request, actor=person, now=now)
    assert not Application.objects.exists()
    return {one.id for one in shut.value.unmet}


def test_an_approved_request_passes(desk: Desk) -> None:
    request = request_for(desk, state=State.APPROVED)
    gate.check(request=request, person=desk.operator, now=SOON)
    assert all(one.met for one in gate.conditions(request=request, person=desk.operator, now=SOON))


def _demote(desk: Desk) -> None:
    Membership.objects.filter(user=desk.reviewer).update(role=Role.VIEWER)


def _remove(desk: Desk) -> None:
    Membership.objects.filter(user=desk.reviewer).delete()


def _deactivate(desk: Desk) -> None:
    desk.reviewer.is_active = False
    desk.reviewer.save()


def _delete(desk: Desk) -> None:
    desk.reviewer.delete()


def _turn_out_to_be_the_author(desk: Desk) -> None:
    desk.reviewer.email = desk.author.email.upper()
    desk.reviewer.save()


def _move_to_another_team(desk: Desk) -> None:
    from advisor.teams import services as teams

    Membership.objects.filter(user=desk.reviewer).update(team=teams.ensure_team(name="Others"))


@pytest.mark.parametrize(
    "happens", [_demote, _remove, _deactivate, _delete, _turn_out_to_be_the_author, _move_to_another_team]
)
def test_an_approval_counts_only_as_long_as_its_approver_may_give_it(
    desk: Desk, happens: Callable[[Desk], None]
) -> None:
    request = request_for(desk, state=State.APPROVED)
    happens(desk)
    assert unmet(request, desk.operator) == {"approvals"}


def test_an_edit_after_the_approval_takes_another_approval(desk: Desk) -> None:
    request = request_for(desk, state=State.APPROVED)
    services.edit(
        request=request,
        actor=desk.author,
        now=NOW,
        title="Other",
        changes=[services.Change(desk.server, "innodb_io_capacity", "701")],
    )
    assert unmet(request, desk.operator) >= {"state", "plan", "approvals"}


def test_whoever_edited_last_is_an_author_too(desk: Desk) -> None:
    from advisor.teams import services as teams

    teams.add_role(user=desk.reviewer, team=desk.team, role=Role.EDITOR)
    request = request_for(desk)
    request = services.edit(
        request=request,
        actor=desk.reviewer,
        now=NOW,
        title="Other",
        changes=[services.Change(desk.server, "innodb_io_capacity", "701")],
    )
    request = services.submit(request=request, actor=desk.author, now=NOW)
    assert request.plan is not None
    with pytest.raises(services.OwnChange):
        services.review(
            request=request, actor=desk.reviewer, verdict="approve", text="", plan_hash=request.plan.hash, now=NOW
        )


def test_an_approval_written_past_the_service_does_not_count_for_the_author(desk: Desk) -> None:
    request = request_for(desk, state=State.IN_REVIEW)
    assert request.plan is not None
    Membership.objects.create(user=desk.author, team=desk.team, role=Role.APPROVER)
    Review.objects.create(
        request=request, plan=request.plan, person=desk.author, person_name="author", verdict="approve", at=NOW
    )
    ChangeRequest.objects.filter(pk=request.pk).update(state=State.APPROVED)
    assert unmet(request, desk.operator) == {"approvals"}


def test_an_approval_that_is_in_no_signed_entry_does_not_count(desk: Desk) -> None:
    request = request_for(desk, state=State.IN_REVIEW)
    assert request.plan is not None
    Review.objects.create(
        request=request, plan=request.plan, person=desk.reviewer, person_name="reviewer", verdict="approve", at=NOW
    )
    ChangeRequest.objects.filter(pk=request.pk).update(state=State.APPROVED)
    assert unmet(request, desk.operator) == {"approvals"}


def test_a_plan_that_was_altered_together_with_its_hash_has_no_approval(desk: Desk) -> None:
    request = request_for(desk, state=State.APPROVED)
    plan = Plan.objects.get()
    plan.document["servers"][0]["steps"][0]["statement"] = "SET PERSIST `innodb_io_capacity` = 9000"
    Plan.objects.filter(pk=plan.pk).update(document=plan.document, hash=planning.canonical_hash(plan.document))
    assert unmet(request, desk.operator) == {"approvals"}


def test_a_second_address_that_an_issuer_vouched_for_makes_one_person_of_two_accounts(desk: Desk) -> None:
    from allauth.account.models import EmailAddress

    request = request_for(desk, state=State.APPROVED)
    EmailAddress.objects.create(user=desk.reviewer, email=desk.author.email.upper(), verified=True)
    assert unmet(request, desk.operator) == {"approvals"}


def test_a_later_request_for_changes_by_the_same_person_takes_the_approval_back(desk: Desk) -> None:
    request = request_for(desk, state=State.APPROVED)
    assert request.plan is not None
    twin = desk.person("twin", Role.APPROVER, email=desk.reviewer.email)
    services.review(
        request=request, actor=twin, verdict="request_changes", text="no", plan_hash=request.plan.hash, now=SOON
    )
    assert gate.valid_approvals(ChangeRequest.objects.get(pk=request.pk)) == []


def test_an_edited_plan_row_is_refused(desk: Desk) -> None:
    request = request_for(desk, state=State.APPROVED)
    plan = Plan.objects.get()
    plan.document["servers"][0]["steps"][0]["statement"] = "SET GLOBAL `init_connect` = 'x'"
    Plan.objects.filter(pk=plan.pk).update(document=plan.document)
    assert unmet(request, desk.operator) == {"plan"}


def test_a_plan_of_another_request_is_refused(desk: Desk) -> None:
    approved = request_for(desk, state=State.APPROVED)
    other = desk.add_server("beta")
    lent = request_for(desk, servers=[other], state=State.APPROVED)
    ChangeRequest.objects.filter(pk=approved.pk).update(plan=lent.plan)
    assert unmet(approved, desk.operator) >= {"plan", "approvals"}


def test_a_plan_that_ran_out_is_refused(desk: Desk) -> None:
    assert unmet(request_for(desk, state=State.APPROVED), desk.operator, NOW + timedelta(hours=25)) == {"fresh"}


def test_a_superuser_is_nobody_special(desk: Desk) -> None:
    desk.author.is_superuser = desk.author.is_staff = True
    desk.author.save()
    assert unmet(request_for(desk, state=State.IN_REVIEW), desk.author) == {"state", "approvals", "who"}


@pytest.mark.parametrize("who", ["author", "reviewer"])
def test_only_who_may_apply_applies(desk: Desk, who: str) -> None:
    assert unmet(request_for(desk, state=State.APPROVED), getattr(desk, who)) == {"who"}


def test_without_an_account_for_applying_nothing_begins(desk: Desk) -> None:
    request = request_for(desk, state=State.APPROVED)
    Credential.objects.filter(purpose="apply").delete()
    assert unmet(request, desk.operator) == {"credential"}


def test_two_changes_are_not_at_work_on_one_server(desk: Desk) -> None:
    first = request_for(desk, state=State.APPROVED)
    second = request_for(desk, {"max_connections": "300"}, state=State.APPROVED)
    states.move(request=first, step=states.Step.BEGIN, actor=desk.operator, now=SOON)
    assert unmet(second, desk.operator) == {"others"}


def test_a_stricter_policy_counts_at_once_and_a_looser_one_does_not(desk: Desk) -> None:
    request = request_for(desk, state=State.APPROVED)
    services.set_policy(team=desk.team, actor=desk.author, now=NOW, approvals=2)
    assert unmet(request, desk.operator) == {"approvals"}
    services.set_policy(team=desk.team, actor=desk.author, now=NOW, approvals=0)
    gate.check(request=request, person=desk.operator, now=SOON)
    Review.objects.all().update(fallen_at=NOW)
    assert unmet(request, desk.operator) == {"approvals"}


def test_outside_of_its_window_nothing_begins(desk: Desk) -> None:
    request = request_for(desk, state=State.APPROVED)
    window = {"days": [NOW.weekday()], "from": "05:00", "to": "06:00", "zone": "UTC"}
    services.set_policy(team=desk.team, actor=desk.author, now=NOW, windows=[window])
    assert unmet(request, desk.operator) == {"window"}
    gate.check(request=request, person=desk.operator, now=NOW + timedelta(hours=2, minutes=30))


def test_who_may_apply_may_be_narrowed_to_a_role(desk: Desk) -> None:
    request = request_for(desk, state=State.APPROVED)
    services.set_policy(team=desk.team, actor=desk.author, now=NOW, who_may_apply=["admin"])
    assert unmet(request, desk.operator) == {"who"}
    gate.check(request=request, person=desk.person("boss", Role.ADMIN), now=SOON)


def test_an_emergency_begins_without_approval_where_the_tag_allows_it_only(desk: Desk) -> None:
    with pytest.raises(services.NotReady) as refused:
        request_for(desk, state=State.IN_REVIEW, emergency=True)
    assert {one.id for one in refused.value.checks if not one.ok} == {"emergency"}
    desk.server.tags = ["fire"]
    desk.server.save()
    ChangeRequest.objects.all().delete()
    services.set_policy(
        team=desk.team, actor=desk.author, now=NOW, tag="fire", emergency_allowed=True, emergency_seconds=600
    )
    request = request_for(desk, state=State.IN_REVIEW, emergency=True)
    applying.begin(request=request, actor=desk.operator, now=SOON)
    begun = ChangeRequest.objects.get(pk=request.pk)
    assert (begun.state, begun.expires_at) == (State.APPLYING, SOON + timedelta(seconds=600))
    told = {one.user for one in begun.notices.filter(kind="change.begin_emergency")}
    assert told >= {desk.reviewer, desk.author}


def test_an_emergency_takes_nothing_that_needs_a_restart(desk: Desk) -> None:
    desk.server.tags = ["fire"]
    desk.server.save()
    services.set_policy(team=desk.team, actor=desk.author, now=NOW, tag="fire", emergency_allowed=True)
    with pytest.raises(services.NotReady) as refused:
        request_for(desk, {"innodb_buffer_pool_instances": "4"}, state=State.IN_REVIEW, emergency=True)
    assert "emergency" in {one.id for one in refused.value.checks if not one.ok}
