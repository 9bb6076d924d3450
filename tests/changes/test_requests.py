"""From a draft to an approval, by services."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.exceptions import PermissionDenied

from advisor.changes import gate, planning, services, states
from advisor.changes.models import ChangeRequest, Notice, Review, State
from advisor.journal.models import Event
from advisor.teams.audit import AuditEntry
from advisor.teams.roles import Role

from .building import NOW, Desk, request_for


def test_a_request_goes_from_draft_to_approved(desk: Desk) -> None:
    draft = request_for(desk)
    assert (draft.state, draft.plan, draft.number) == (State.DRAFT, None, 1)
    submitted = services.submit(request=draft, actor=desk.author, now=NOW)
    assert submitted.state == State.IN_REVIEW
    assert submitted.plan is not None
    approved = services.review(
        request=submitted, actor=desk.reviewer, verdict="approve", text="", plan_hash=submitted.plan.hash, now=NOW
    )
    assert approved.state == State.APPROVED
    assert [one.person for one in gate.valid_approvals(approved)] == [desk.reviewer]


def test_the_plan_holds_the_exact_statements_and_both_forms_of_each_value(desk: Desk) -> None:
    submitted = request_for(desk, {"innodb_redo_log_capacity": "1G"}, state=State.IN_REVIEW)
    assert submitted.plan is not None
    (server,) = submitted.plan.document["servers"]
    (change,) = server["changes"]
    assert (change["typed"], change["proposed"], change["proposed_words"]) == ("1G", "1073741824", "1 GiB")
    (step,) = server["steps"]
    assert step["statement"] == "SET PERSIST `innodb_redo_log_capacity` = 1073741824"
    assert step["undo"][-1] == "RESET PERSIST IF EXISTS `innodb_redo_log_capacity`"
    assert planning.canonical_hash(submitted.plan.document) == submitted.plan.hash


def test_every_step_is_in_the_audit_and_in_the_servers_journal(desk: Desk) -> None:
    approved = request_for(desk, state=State.APPROVED)
    steps = ["change.create", "change.submit", "change.approve"]
    assert list(AuditEntry.objects.filter(action__startswith="change.").values_list("action", flat=True)) == steps
    events = Event.objects.filter(kind__startswith="change.", server_id=desk.server.pk).order_by("pk")
    assert [one.kind for one in events] == steps
    assert approved.plan is not None
    assert events[2].data["plan_hash"] == approved.plan.hash


def test_those_who_must_act_are_told(desk: Desk) -> None:
    submitted = request_for(desk, state=State.IN_REVIEW)
    assert {one.user for one in Notice.objects.all()} == {desk.reviewer}
    Notice.objects.all().delete()
    assert submitted.plan is not None
    services.review(
        request=submitted, actor=desk.reviewer, verdict="approve", text="", plan_hash=submitted.plan.hash, now=NOW
    )
    assert {one.user for one in Notice.objects.all()} == {desk.author, desk.operator}


def test_the_author_cannot_approve_whatever_roles_he_has(desk: Desk) -> None:
    everything = desk.person("everything", *Role)
    everything.is_superuser = everything.is_staff = True
    everything.save()
    desk.author = everything
    submitted = request_for(desk, state=State.IN_REVIEW)
    assert submitted.plan is not None
    with pytest.raises(services.OwnChange):
        services.review(
            request=submitted, actor=everything, verdict="approve", text="", plan_hash=submitted.plan.hash, now=NOW
        )
    assert not Review.objects.exists()


def test_a_second_account_of_the_author_cannot_approve(desk: Desk) -> None:
    other = desk.person("other-account", Role.APPROVER, email=" AUTHOR@Example.Test ")
    submitted = request_for(desk, state=State.IN_REVIEW)
    assert submitted.plan is not None
    with pytest.raises(services.OwnChange):
        services.review(
            request=submitted, actor=other, verdict="approve", text="", plan_hash=submitted.plan.hash, now=NOW
        )


@pytest.mark.parametrize("roles", [(Role.VIEWER,), (Role.EDITOR,), (Role.OPERATOR,)])
def test_nobody_approves_without_the_role(desk: Desk, roles: tuple[Role, ...]) -> None:
    somebody = desk.person("somebody", *roles)
    submitted = request_for(desk, state=State.IN_REVIEW)
    assert submitted.plan is not None
    with pytest.raises(PermissionDenied):
        services.review(
            request=submitted, actor=somebody, verdict="approve", text="", plan_hash=submitted.plan.hash, now=NOW
        )


def test_another_hash_than_the_present_plans_is_refused(desk: Desk) -> None:
    submitted = request_for(desk, state=State.IN_REVIEW)
    with pytest.raises(services.StalePlan):
        services.review(request=submitted, actor=desk.reviewer, verdict="approve", text="", plan_hash="0" * 64, now=NOW)


def test_an_edit_lets_approvals_fall_and_asks_for_another_plan(desk: Desk) -> None:
    approved = request_for(desk, state=State.APPROVED)
    edited = services.edit(
        request=approved,
        actor=desk.author,
        now=NOW,
        title="Less",
        changes=[services.Change(desk.server, "innodb_io_capacity", "300")],
        version=approved.version,
    )
    assert (edited.state, edited.plan) == (State.DRAFT, None)
    assert Review.objects.get().fallen_why == "edited"
    assert gate.valid_approvals(edited) == []


def test_who_saw_an_older_version_came_late(desk: Desk) -> None:
    approved = request_for(desk, state=State.APPROVED)
    with pytest.raises(services.CameLate):
        services.withdraw(request=approved, actor=desk.author, now=NOW, version=approved.version - 1)
    older = ChangeRequest.objects.get(pk=approved.pk)
    services.withdraw(request=approved, actor=desk.author, now=NOW)
    with pytest.raises(services.CameLate):
        states.move(request=older, step=states.Step.BEGIN, actor=desk.operator, now=NOW)


def test_a_value_that_moved_makes_the_plan_stale_at_the_approval(desk: Desk) -> None:
    submitted = request_for(desk, state=State.IN_REVIEW)
    assert submitted.plan is not None
    desk.live.set(desk.server, innodb_io_capacity="250")
    with pytest.raises(services.StalePlan):
        services.review(
            request=submitted, actor=desk.reviewer, verdict="approve", text="", plan_hash=submitted.plan.hash, now=NOW
        )
    stale = ChangeRequest.objects.get(pk=submitted.pk)
    assert stale.state == State.STALE
    assert stale.why["values"]["running"]["value"] == "250"


@pytest.mark.parametrize(
    "part",
    [{"hostname": "db2"}, {"unique_id": "another"}, {"datadir": "/elsewhere/"}, {"booted_at": 1}, {"role": "replica"}],
)
def test_another_identity_makes_the_plan_stale_and_lets_approvals_fall(desk: Desk, part: dict[str, object]) -> None:
    desk.live.become(desk.server, role="standalone")
    approved = request_for(desk, state=State.APPROVED)
    desk.live.become(desk.server, **part)
    assert services.refresh(request=approved, now=NOW).state == State.STALE
    assert Review.objects.get().fallen_why == "stale"


def test_a_server_that_does_not_answer_proves_nothing(desk: Desk) -> None:
    approved = request_for(desk, state=State.APPROVED)
    desk.live.fail(desk.server)
    assert services.refresh(request=approved, now=NOW).state == State.APPROVED


def test_a_plan_holds_for_a_day(desk: Desk) -> None:
    approved = request_for(desk, state=State.APPROVED)
    assert services.expire(now=NOW + timedelta(hours=23, minutes=59)) == 0
    assert services.expire(now=NOW + timedelta(hours=24)) == 1
    approved.refresh_from_db()
    assert approved.state == State.STALE


def test_a_stale_request_is_submitted_again_with_the_values_of_now(desk: Desk) -> None:
    approved = request_for(desk, state=State.APPROVED)
    desk.live.set(desk.server, innodb_io_capacity="250")
    stale = services.refresh(request=approved, now=NOW)
    again = services.submit(request=stale, actor=desk.author, now=NOW)
    assert again.plan is not None
    assert again.plan.document["servers"][0]["changes"][0]["current"] == "250"
    assert again.state == State.IN_REVIEW


def test_what_is_never_changed_does_not_get_into_a_draft(desk: Desk) -> None:
    with pytest.raises(services.BadRequest) as refused:
        request_for(desk, {"init_connect": "SELECT 1", "server_id": "2", "general_log_file": "/tmp/x"})
    assert set(refused.value.errors) == {"changes.0", "changes.1", "changes.2"}


def test_a_server_of_another_team_is_refused(desk: Desk, other_team: object) -> None:
    from ..conftest import build_server

    with pytest.raises(services.BadRequest):
        request_for(desk, servers=[build_server(other_team, "theirs")])


def test_submitting_tells_every_check_that_is_not_ok(desk: Desk) -> None:
    draft = request_for(desk, {"innodb_io_capacity": "fast"})
    with pytest.raises(services.NotReady) as refused:
        services.submit(request=draft, actor=desk.author, now=NOW)
    assert {one.id for one in refused.value.checks if not one.ok} == {"values"}
    draft.refresh_from_db()
    assert draft.state == State.DRAFT


def test_two_open_requests_for_one_variable_stand_in_each_others_way(desk: Desk) -> None:
    request_for(desk, state=State.IN_REVIEW)
    with pytest.raises(services.NotReady) as refused:
        request_for(desk, {"innodb_io_capacity": "900"}, state=State.IN_REVIEW)
    assert [one.id for one in refused.value.checks if not one.ok] == ["others"]


def test_of_two_accounts_of_one_person_one_approval_counts(desk: Desk) -> None:
    from advisor.changes.models import Policy

    Policy.objects.create(team=desk.team, approvals=2, changed_at=NOW)
    twin = desk.person("twin", Role.APPROVER, email="Reviewer@example.test")
    third = desk.person("third", Role.APPROVER)
    submitted = request_for(desk, state=State.IN_REVIEW)
    assert submitted.plan is not None
    for person, state in ((desk.reviewer, State.IN_REVIEW), (twin, State.IN_REVIEW), (third, State.APPROVED)):
        submitted = services.review(
            request=submitted, actor=person, verdict="approve", text="", plan_hash=submitted.plan.hash, now=NOW
        )
        assert submitted.state == state
        assert submitted.plan is not None
