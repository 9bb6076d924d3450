"""The pages of change requests: the list, writing one, its plan, the box that says what is in the way, policies."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from advisor.changes import services
from advisor.changes.models import ChangeRequest, Notice, Policy, Review, State
from advisor.teams.roles import Role
from tests.changes.building import MARIADB, Desk, request_for
from tests.web import payloads

pytestmark = pytest.mark.django_db


def client_of(person: Any) -> Client:
    client = Client()
    client.force_login(person)
    return client


def text_of(answer: Any) -> str:
    return str(answer.content.decode())


def made(desk: Desk, state: State = State.IN_REVIEW, **more: Any) -> ChangeRequest:
    return request_for(desk, state=state, now=timezone.now(), **more)


def form_of(desk: Desk, **more: Any) -> dict[str, Any]:
    return {
        "title": "More I/O capacity", "reason": "Flushing falls behind.", "write": "draft",
        "row-server": desk.server.pk, "row-variable": "innodb_io_capacity", "row-value": "700",
        "row-recommendation": "", **more,
    }  # fmt: skip


# --- the list -----------------------------------------------------------------------------------------------------


def test_a_change_in_review_waits_for_who_may_approve_and_not_for_who_wrote_it(desk: Desk) -> None:
    made(desk)
    both = desk.person("both", Role.EDITOR, Role.APPROVER)
    waiting = {
        one.username: text_of(client_of(one).get("/changes?show=waiting")).count('class="title"')
        for one in (desk.author, desk.reviewer, desk.operator, both)
    }
    assert waiting == {"author": 0, "reviewer": 1, "operator": 0, "both": 1}
    rail = text_of(client_of(desk.reviewer).get("/"))
    assert re.search(r"Changes</span><span class=\"count\"[^>]*>1<", rail)


def test_an_approved_change_waits_for_who_applies(desk: Desk) -> None:
    made(desk, State.APPROVED)
    assert 'class="title"' in text_of(client_of(desk.operator).get("/changes?show=waiting"))
    assert 'class="title"' not in text_of(client_of(desk.reviewer).get("/changes?show=waiting"))


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["Two", "One"]), ("?show=mine", ["Two", "One"]), ("?show=done", []), ("?state=draft", ["One"]),
        ("?q=two", ["Two"]), ("?q=io_capacity alpha", ["Two", "One"]), ("?q=1", ["One"]), ("?q=nothing", []),
        ("?show=nonsense&state=nonsense&page=nonsense", ["Two", "One"]), ("?q=%00&page=99999999999", ["Two", "One"]),
    ],
)  # fmt: skip
def test_the_list_is_filtered_by_its_address(desk: Desk, query: str, found: list[str]) -> None:
    now = timezone.now() - timedelta(minutes=5)
    request_for(desk, now=now, title="One")
    request_for(desk, {"innodb_io_capacity": "900"}, now=now + timedelta(minutes=1), state=State.IN_REVIEW, title="Two")
    page = text_of(client_of(desk.author).get(f"/changes{query}"))
    assert re.findall(r'class="title" href="[^"]*">([^<]*)<', page) == found


def test_the_list_asks_no_more_where_there_are_more(desk: Desk, django_assert_max_num_queries: Any) -> None:
    for number in range(12):
        request_for(desk, now=timezone.now(), title=f"Number {number}")
    client = client_of(desk.author)
    client.get("/changes")
    with django_assert_max_num_queries(30):
        assert text_of(client.get("/changes")).count('class="title"') == 12


def test_nobody_sees_what_is_another_teams(desk: Desk, outsider: Any) -> None:
    request = made(desk)
    client = client_of(outsider)
    assert "More I/O capacity" not in text_of(client.get("/changes?show=all"))
    for path in ("", "/edit", f"/{desk.server.pk}/statements.sql", "/roll-back"):
        assert client.get(f"/changes/{request.pk}{path}").status_code == 404
    for path in ("/submit", "/review", "/withdraw", "/apply", "/roll-back", "/keep", "/schedule"):
        assert client.post(f"/changes/{request.pk}{path}").status_code == 404
    assert client.get("/changes/hint", {"row-server": desk.server.pk, "row-variable": "port"}).status_code == 404


# --- writing one --------------------------------------------------------------------------------------------------


def test_a_draft_is_written_by_hand_and_asks_nobody(desk: Desk) -> None:
    answer = client_of(desk.author).post("/changes/new", form_of(desk))
    request = ChangeRequest.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, f"/changes/{request.pk}")
    assert (request.state, request.author, request.wanted.get().value) == (State.DRAFT, desk.author, "700")
    assert desk.live.reads == []
    assert not Notice.objects.exists()


def test_submitting_at_once_makes_the_plan_and_tells_the_reviewers(desk: Desk) -> None:
    answer = client_of(desk.author).post("/changes/new", form_of(desk, write="submit"), follow=True)
    request = ChangeRequest.objects.get()
    assert request.state == State.IN_REVIEW
    page = text_of(answer)
    assert "1 to change in place, 0 restarts" in page
    assert "SET PERSIST `innodb_io_capacity` = 700;" in page
    inbox = client_of(desk.reviewer)
    assert "was submitted for review: More I/O capacity" in text_of(inbox.get("/notices"))
    assert Notice.objects.get().user == desk.reviewer
    inbox.get(f"/changes/{request.pk}")
    assert Notice.objects.get().read_at is not None


@pytest.mark.parametrize(
    ("typed", "field", "says"),
    [
        ({"row-value": ""}, "value-1", "Say what it is to become"),
        ({"row-value": "1.5G", "row-variable": "innodb_redo_log_capacity"}, "value-1", "1536M"),
        ({"row-variable": "datadir", "row-value": "/x"}, "variable-1", "never changed from here"),
        ({"row-variable": "no_such_thing"}, "variable-1", "no system variable of this name"),
        ({"row-server": "x" * 16}, "server-1", "Choose a server"),
        ({"reason": ""}, "id_reason", "whoever approves has to know"),
        ({"title": ""}, "id_title", "Give it a title"),
    ],
)  # fmt: skip
def test_what_is_wrong_stands_beside_its_field_and_nothing_is_lost(
    desk: Desk, typed: dict[str, str], field: str, says: str
) -> None:
    form = {"expected_effect": "kept text", **form_of(desk), **typed}
    answer = client_of(desk.author).post("/changes/new", form)
    page = text_of(answer)
    assert answer.status_code == 422
    beside = page[page.index(f'id="{field}"') :]
    assert says in beside[: beside.index('class="field"') if 'class="field"' in beside else None].replace("&#x27;", "'")
    assert "kept text" in page
    assert not ChangeRequest.objects.exists()


def test_a_line_is_added_without_losing_what_was_typed(desk: Desk) -> None:
    beta = desk.add_server("beta")
    form = {**form_of(desk), "add": "line", "also": beta.pk, "title": "half a ti"}
    form.pop("write")
    answer = client_of(desk.author).post("/changes/new", form)
    page = text_of(answer)
    assert answer.status_code == 200
    assert 'value="half a ti"' in page
    assert page.count('name="row-variable"') == 3  # the line, the same on beta, and an empty one
    assert page.count('value="innodb_io_capacity" maxlength') == 2
    assert not ChangeRequest.objects.exists()


def test_the_same_on_further_servers_is_one_request_for_all_of_them(desk: Desk) -> None:
    beta = desk.add_server("beta", MARIADB)
    client_of(desk.author).post("/changes/new", form_of(desk, also=[beta.pk], first_server=beta.pk, wait_minutes="5"))
    request = ChangeRequest.objects.get()
    assert set(request.wanted.values_list("server__name", "value")) == {("alpha", "700"), ("beta", "700")}
    assert request.wait_seconds == 0 or request.first_server == beta


def test_the_hint_says_both_forms_and_what_a_value_becomes(desk: Desk) -> None:
    client = client_of(desk.author)
    asked = {"row-server": desk.server.pk, "row-variable": "innodb_redo_log_capacity", "row-value": "8G"}
    said = text_of(client.get("/changes/hint", asked))
    assert "becomes 8 GiB (8589934592)" in said
    assert "~ dynamic" in said
    wrong = text_of(client.get("/changes/hint", {**asked, "row-value": "eight"}))
    assert "is not a whole number" in wrong


def test_editing_brings_the_values_back_and_lets_approvals_fall(desk: Desk) -> None:
    request = made(desk, State.APPROVED)
    client = client_of(desk.author)
    page = text_of(client.get(f"/changes/{request.pk}/edit"))
    assert 'value="700"' in page
    form = form_of(desk, **{"row-value": "800", "version": request.version})
    assert client.post(f"/changes/{request.pk}/edit", form).status_code == 302
    request.refresh_from_db()
    assert (request.state, request.plan, request.wanted.get().value) == (State.DRAFT, None, "800")
    assert Review.objects.get().fallen_at is not None
    late = client.post(f"/changes/{request.pk}/edit", form)
    assert late.status_code == 409
    assert "load it again" in text_of(late)


def test_a_person_without_the_role_writes_nothing(desk: Desk) -> None:
    for person in (desk.reviewer, desk.operator):
        client = client_of(person)
        assert client.get("/changes/new").status_code == 403
        assert client.post("/changes/new", form_of(desk)).status_code == 403
    assert not ChangeRequest.objects.exists()


# --- the page of one ----------------------------------------------------------------------------------------------


def test_the_page_shows_both_forms_the_statements_and_every_condition(desk: Desk) -> None:
    request = made(desk, values={"innodb_redo_log_capacity": "8G"})
    page = text_of(client_of(desk.reviewer).get(f"/changes/{request.pk}"))
    assert "<ins>8 GiB</ins>" in page
    assert re.search(r"\d+ → 8589934592", page)
    assert "SET PERSIST `innodb_redo_log_capacity` = 8589934592;" in page
    assert "Approvals that count: 0 of 1." in page
    assert "(an approver must act)" in page
    assert re.search(r"Checks [1-9]\d*/[1-9]\d*<", page)
    assert request.plan is not None
    assert f'name="plan_hash" value="{request.plan.hash}"' in page


def test_the_author_sees_why_approve_is_grey(desk: Desk) -> None:
    request = made(desk)
    page = text_of(client_of(desk.author).get(f"/changes/{request.pk}"))
    button = re.search(r"<button[^>]*value=\"approve\"[^>]*>", page)
    assert button is None or "disabled" in button[0]
    assert "another person has to approve it" in page


def test_approving_posts_the_hash_that_was_shown(desk: Desk) -> None:
    request = made(desk)
    assert request.plan is not None
    client = client_of(desk.reviewer)
    address = f"/changes/{request.pk}/review"
    stale = client.post(address, {"verdict": "approve", "plan_hash": "0" * 64}, follow=True)
    assert "not the present plan" in text_of(stale)
    assert not Review.objects.exists()
    own = client_of(desk.author).post(address, {"verdict": "approve", "plan_hash": request.plan.hash})
    assert own.status_code == 403
    good = client.post(address, {"verdict": "approve", "plan_hash": request.plan.hash, "text": "Yes."}, follow=True)
    assert "exactly the plan that was on the page" in text_of(good)
    request.refresh_from_db()
    assert request.state == State.APPROVED
    history = text_of(client.get(f"/changes/{request.pk}?tab=history"))
    assert "<b>reviewer</b> approved" in history
    assert f"?plan={request.plan.hash}" in history


def test_who_has_both_roles_cannot_approve_their_own(desk: Desk) -> None:
    both = desk.person("both", Role.EDITOR, Role.APPROVER, Role.OPERATOR)
    client = client_of(both)
    client.post("/changes/new", form_of(desk, write="submit"))
    request = ChangeRequest.objects.get()
    assert request.plan is not None
    answer = client.post(
        f"/changes/{request.pk}/review", {"verdict": "approve", "plan_hash": request.plan.hash}, follow=True
    )
    assert "another person has to approve it" in text_of(answer)
    request.refresh_from_db()
    assert request.state == State.IN_REVIEW


def test_an_old_plan_is_shown_as_what_it_was_and_offers_nothing(desk: Desk) -> None:
    request = made(desk, State.APPROVED)
    assert request.plan is not None
    first = request.plan.hash
    request = services.edit(
        request=request, actor=desk.author, now=timezone.now(), title="Other", reason="r",
        changes=[services.Change(desk.server, "innodb_io_capacity", "900")],
    )  # fmt: skip
    services.submit(request=request, actor=desk.author, now=timezone.now())
    page = text_of(client_of(desk.reviewer).get(f"/changes/{request.pk}?plan={first[:12]}"))
    assert "which was replaced" in page
    assert "= 700;" in page
    assert 'name="plan_hash"' not in page
    assert client_of(desk.reviewer).get(f"/changes/{request.pk}?plan=00000000").status_code == 404


def test_a_comment_on_a_line_stands_at_the_line(desk: Desk) -> None:
    request = made(desk)
    assert request.plan is not None
    line = f"{desk.server.pk}/innodb_io_capacity"
    said = {"verdict": "comment", "plan_hash": request.plan.hash, "line": line, "text": "Why not 2000?"}
    answer = client_of(desk.operator).post(f"/changes/{request.pk}/review", said)
    assert answer["Location"].endswith(f"#line-{line.replace('/', '-')}")
    page = text_of(client_of(desk.author).get(f"/changes/{request.pk}"))
    assert page.index("Why not 2000?") > page.index(f'id="line-{line.replace("/", "-")}"')


def test_requesting_changes_needs_words_and_sends_it_back(desk: Desk) -> None:
    request = made(desk)
    assert request.plan is not None
    client = client_of(desk.reviewer)
    empty = client.post(f"/changes/{request.pk}/review", {"verdict": "request_changes", "plan_hash": request.plan.hash})
    assert empty.status_code == 422
    assert "Say what you mean" in text_of(empty)
    said = {"verdict": "request_changes", "plan_hash": request.plan.hash, "text": "Half of that."}
    client.post(f"/changes/{request.pk}/review", said)
    request.refresh_from_db()
    assert request.state == State.CHANGES_REQUESTED
    assert "Submit again" in text_of(client_of(desk.author).get(f"/changes/{request.pk}"))


def test_a_check_that_fails_is_said_on_the_page_and_nothing_is_lost(desk: Desk) -> None:
    desk.live.fail(desk.server, "Nobody answers there.")
    answer = client_of(desk.author).post("/changes/new", form_of(desk, write="submit"))
    assert answer.status_code == 422
    assert "Nobody answers there." in text_of(answer)
    assert ChangeRequest.objects.get().state == State.DRAFT


def test_files_hold_only_statements_of_the_plan(desk: Desk) -> None:
    request = made(desk, title="x; DROP TABLE y", values={"innodb_io_capacity": "700"})
    client = client_of(desk.author)
    address = f"/changes/{request.pk}/{desk.server.pk}/statements"
    lines = [one for one in text_of(client.get(f"{address}.sql")).splitlines() if not one.startswith("--")]
    assert lines == ["SET PERSIST `innodb_io_capacity` = 700;"]
    for form in ("sql", "undo.sql", "cnf", "undo.cnf", "yml"):
        text = text_of(client.get(f"{address}.{form}"))
        assert "innodb_io_capacity" in text
        assert "DROP" not in text, form
    assert client.get(f"{address}.json").json()["servers"][0]["server"] == desk.server.pk
    assert client.get(f"{address}.exe").status_code == 404
    assert client.get(f"/changes/{request.pk}/{'x' * 16}/statements.sql").status_code == 404


def test_apply_is_locked_until_every_condition_holds_and_says_why(desk: Desk) -> None:
    request = made(desk)
    client = client_of(desk.operator)
    page = text_of(client.get(f"/changes/{request.pk}"))
    assert "Apply is locked until every line is ✔." in page
    refused = client.post(f"/changes/{request.pk}/apply", follow=True)
    assert "Approvals that count: 0 of 1." in text_of(refused)
    request.refresh_from_db()
    assert request.state == State.IN_REVIEW
    assert client_of(desk.reviewer).post(f"/changes/{request.pk}/apply").status_code == 403


def test_who_has_a_second_factor_shows_it_again_before_approving_and_applying(desk: Desk) -> None:
    from allauth.mfa.models import Authenticator

    request = made(desk)
    assert request.plan is not None
    for person in (desk.reviewer, desk.operator):
        Authenticator.objects.create(user=person, type=Authenticator.Type.TOTP, data={"secret": "x"})
    said = {"verdict": "approve", "plan_hash": request.plan.hash}
    answer = client_of(desk.reviewer).post(f"/changes/{request.pk}/review", said)
    assert answer.status_code == 302
    assert f"next=%2Fchanges%2F{request.pk}" in answer["Location"]
    assert answer["Location"].startswith("/account/second-factor/again")
    assert not Review.objects.exists()
    assert "/second-factor/" in client_of(desk.operator).post(f"/changes/{request.pk}/apply")["Location"]
    # A comment decides nothing.
    client_of(desk.reviewer).post(f"/changes/{request.pk}/review", {**said, "verdict": "comment", "text": "Hm."})
    assert Review.objects.count() == 1


def test_a_value_that_a_restart_would_lose_says_so(desk: Desk) -> None:
    request = made(desk, State.APPROVED, servers=[desk.add_server("maria", MARIADB)])
    before = text_of(client_of(desk.operator).get(f"/changes/{request.pk}"))
    assert "running only until the option file has it" in before
    ChangeRequest.objects.filter(pk=request.pk).update(state=State.KEPT)
    after = text_of(client_of(desk.operator).get(f"/changes/{request.pk}"))
    # The recording has the old value still: what runs is told, not what was hoped for.
    assert "the server has another value now" in after


def test_scheduling_takes_an_hour_to_come(desk: Desk) -> None:
    request = made(desk, State.APPROVED)
    client = client_of(desk.operator)
    address = f"/changes/{request.pk}/schedule"
    assert client.post(address, {"at": "2020-01-01T10:00"}).status_code == 422
    at = (timezone.now() + timedelta(hours=2)).strftime("%Y-%m-%dT%H:%M")
    client.post(address, {"at": at})
    request.refresh_from_db()
    assert request.state == State.SCHEDULED
    assert "Begins by itself at" in text_of(client.get(f"/changes/{request.pk}"))
    client.post(address, {"unschedule": "1"})
    request.refresh_from_db()
    assert request.state == State.APPROVED


def test_a_page_that_is_under_way_asks_again_and_one_that_rests_does_not(desk: Desk) -> None:
    resting = text_of(client_of(desk.operator).get(f"/changes/{made(desk).pk}"))
    assert "data-refresh" not in resting.partition('id="change"')[2]
    request = ChangeRequest.objects.get()
    ChangeRequest.objects.filter(pk=request.pk).update(state=State.APPLYING)
    client = client_of(desk.operator)
    part = client.get(f"/changes/{request.pk}", headers={"HX-Request": "true"})
    assert 'data-refresh="2"' in text_of(part)
    assert "<html" not in text_of(part)
    again = client.get(f"/changes/{request.pk}", headers={"HX-Request": "true", "If-None-Match": part["ETag"]})
    assert again.status_code == 304


def test_withdrawing_ends_it(desk: Desk) -> None:
    request = made(desk)
    client_of(desk.author).post(f"/changes/{request.pk}/withdraw")
    request.refresh_from_db()
    assert request.state == State.WITHDRAWN
    assert "withdrawn" in text_of(client_of(desk.author).get("/changes?show=done"))


# --- policies and notices -----------------------------------------------------------------------------------------


def test_an_admin_sets_a_policy_and_reads_what_follows_from_it(desk: Desk) -> None:
    admin = desk.person("admin", Role.ADMIN)
    client = client_of(admin)
    form = {
        "tag": "prod", "approvals": "2", "windows": "tue,thu 9:00-11:00 Asia/Seoul\nsat-sun 00:00-06:00",
        "allowed_variables": "innodb_io_capacity, INNODB_IO_CAPACITY_MAX", "canary_first": "on", "wait_minutes": "45",
        "emergency_minutes": "60",
    }  # fmt: skip
    page = text_of(client.post("/policies/set", form, follow=True))
    assert "2 people have to approve." in page
    assert "One server first, 45 min before the others." in page
    assert "Only tue,thu 09:00-11:00 Asia/Seoul; sat,sun 00:00-06:00 UTC." in page
    policy = Policy.objects.get()
    assert policy.windows[0] == {"days": [1, 3], "from": "09:00", "to": "11:00", "zone": "Asia/Seoul"}
    assert not policy.emergency_allowed
    edit = text_of(client.get(f"/policies?edit={policy.pk}"))
    assert "tue,thu 09:00-11:00 Asia/Seoul" in edit
    client.post(f"/policies/{policy.pk}/delete")
    assert not Policy.objects.exists()


@pytest.mark.parametrize(
    "wrong",
    [
        {"approvals": "4"}, {"approvals": "-1"}, {"windows": "someday"}, {"windows": "mon 25:00-26:00"},
        {"windows": "mon 10:00-10:00"}, {"windows": "mon 09:00-10:00 Mars/Base"}, {"allowed_variables": "a;b"},
        {"windows": "mon 09:00-10:00 ../../etc/passwd"}, {"emergency_allowed": "on"}, {"wait_minutes": "99999"},
        {"who_may_apply": "viewer"},
    ],
)  # fmt: skip
def test_a_policy_that_makes_no_sense_is_refused_beside_its_field(desk: Desk, wrong: dict[str, str]) -> None:
    form = {"tag": "", "approvals": "1", "wait_minutes": "30", "emergency_minutes": "240", **wrong}
    answer = client_of(desk.person("admin", Role.ADMIN)).post("/policies/set", form)
    assert answer.status_code == 422
    assert 'class="wrong"' in text_of(answer)
    assert not Policy.objects.exists()


def test_policies_are_for_admins_alone(desk: Desk) -> None:
    for person in (desk.author, desk.reviewer, desk.operator):
        assert client_of(person).get("/policies").status_code == 403
        assert client_of(person).post("/policies/set", {"approvals": "0"}).status_code == 403
    assert not Policy.objects.exists()


def test_notices_are_the_persons_own(desk: Desk) -> None:
    made(desk)
    notice = Notice.objects.get(user=desk.reviewer)
    client_of(desk.author).post("/notices/read", {"notice": notice.pk})
    client_of(desk.author).post("/notices/read")
    notice.refresh_from_db()
    assert notice.read_at is None
    client = client_of(desk.reviewer)
    assert 'class="unread"' in text_of(client.get("/notices"))
    client.post("/notices/read", {"notice": notice.pk})
    assert 'class="unread"' not in text_of(client.get("/notices"))


# --- what people write is text ------------------------------------------------------------------------------------


def test_whatever_people_write_is_text_on_every_page(desk: Desk) -> None:
    client = client_of(desk.author)
    for text in payloads.PAYLOADS:
        form = form_of(desk, title=text[:200], reason=text, expected_effect=text, price=text, test_plan=text)
        answer = client.post("/changes/new", form)
        assert "<script>tmx" not in text_of(answer)
    request = ChangeRequest.objects.latest("created_at")
    ChangeRequest.objects.filter(pk=request.pk).update(title=payloads.ALL[:200], reason=payloads.ALL)
    request.refresh_from_db()
    request = services.submit(request=request, actor=desk.author, now=timezone.now())
    assert request.plan is not None
    said = {"verdict": "comment", "plan_hash": request.plan.hash, "text": payloads.ALL[:8000]}
    client.post(f"/changes/{request.pk}/review", said)
    client.post(f"/changes/{request.pk}/review", {**said, "line": f"{desk.server.pk}/innodb_io_capacity"})
    reviewer = client_of(desk.reviewer)
    from tests.web.test_hostile_strings import _injected

    for path in ("", "?tab=checks", "?tab=verify", "?tab=history"):
        assert _injected(text_of(reviewer.get(f"/changes/{request.pk}{path}"))) == []
    for path in ("/changes", "/notices"):
        assert _injected(text_of(reviewer.get(path))) == []
    assert _injected(text_of(client.get(f"/changes/{request.pk}/edit"))) == []
    title = {"title": payloads.ALL, "server": [desk.server.pk], "variable": payloads.PAYLOADS[:5], "value": "<b>tmx"}
    assert _injected(text_of(client.get("/changes/new", title))) == []
