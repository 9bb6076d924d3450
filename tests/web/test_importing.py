"""The import page: a dry run, a confirmation, and passwords that never come back into a page."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from advisor.teams.roles import Role
from collector.models import Server
from collector.servers import target_of
from tests.conftest import build_server

pytestmark = pytest.mark.django_db

LIST = (
    "name,host,port,password,tags\n"
    "orders,10.0.0.1,3306,hunter2,prod\n"
    "same,127.0.0.1,1,hunter2,\n"
    "a/b,10.0.0.3,3306,hunter2,\n"
)


def shown(answer: Any) -> str:
    return str(answer.content.decode())


def draft_of(answer: Any) -> str:
    found = re.search(r'name="draft" value="([^"]+)"', shown(answer))
    assert found is not None
    return found[1]


def box_of(answer: Any) -> str:
    found = re.search(r"<textarea[^>]*name=\"text\"[^>]*>([^<]*)</textarea>", shown(answer))
    assert found is not None
    return found[1]


@pytest.fixture
def client(owner: Any, sign_in: Callable[[Any], Client]) -> Client:
    return sign_in(owner)


def check(client: Client, text: str = LIST, **more: Any) -> Any:
    return client.post(reverse("import-servers"), {"text": text, "user": "app", "password": "forall", **more})


def test_the_dry_run_tells_each_line_and_writes_nothing(client: Client, watched: Any) -> None:
    answer = check(client)
    assert answer.status_code == 200
    page = shown(answer)
    assert "1 server will be added" in page
    assert "1 known already" in page
    assert "1 to correct" in page
    assert "no / in it" in page
    assert Server.objects.count() == 1


def test_one_confirmation_writes_the_good_lines_and_leaves_the_bad_ones_in_the_box(
    client: Client, watched: Any
) -> None:
    answer = client.post(reverse("import-servers-confirm"), {"draft": draft_of(check(client))})
    made = Server.objects.get(name="orders")
    assert (target_of(made).password.reveal(), made.user, made.tags) == ("hunter2", "app", ["prod"])
    assert answer.status_code == 200
    assert "1 server is watched from now on" in shown(answer)
    assert box_of(answer) == "name,host,port,tags,password\na/b,10.0.0.3,3306,,\n"
    assert "line 4" in shown(answer)


def test_where_all_lines_are_good_the_fleet_is_next(client: Client) -> None:
    draft = draft_of(check(client, "host\n10.0.0.1\n10.0.0.2\n"))
    answer = client.post(reverse("import-servers-confirm"), {"draft": draft})
    assert answer.status_code == 302
    assert answer["Location"] == reverse("fleet")
    assert target_of(Server.objects.get(host="10.0.0.2")).password.reveal() == "forall"


def test_no_password_ever_comes_back_into_a_page(client: Client) -> None:
    for text in (LIST, "- {host: 10.0.0.1, password: hunter2}\n- {host: a b, password: hunter2}\n"):
        page = shown(check(client, text))
        assert "hunter2" not in page
        assert "forall" not in page
    broken = check(client, "name,host,password\na,db1,'hunter2\nb,\"db2,hunter2\n")
    assert broken.status_code == 422
    assert "quotes do not match" in shown(broken)
    assert "hunter2" not in shown(broken)
    assert "may hold passwords" in shown(broken)
    assert "hunter2" not in shown(check(client, "mysql://u:hunter2@db1\n"))


def test_a_broken_list_without_passwords_stays_in_the_box(client: Client) -> None:
    answer = check(client, 'name,host\na,"db1\n')
    assert answer.status_code == 422
    assert box_of(answer).strip() == "name,host\na,&quot;db1"


def test_a_confirmation_that_no_longer_holds_writes_nothing_and_shows_how_it_is_now(client: Client, team: Any) -> None:
    draft = draft_of(check(client, "name,host\na,10.0.0.1\nb,10.0.0.2\n"))
    build_server(team, "B", host="10.9.9.9", port=3306)
    answer = client.post(reverse("import-servers-confirm"), {"draft": draft})
    assert answer.status_code == 409
    assert "nothing was written" in shown(answer)
    assert "called B already" in shown(answer)
    assert Server.objects.count() == 1


def test_a_draft_of_somebody_else_is_not_opened(
    client: Client, team: Any, person: Callable[..., Any], sign_in: Callable[[Any], Client]
) -> None:
    draft = draft_of(check(client, "host\n10.0.0.1\n"))
    other = sign_in(person("ed", team, Role.EDITOR))
    answer = other.post(reverse("import-servers-confirm"), {"draft": draft})
    assert answer.status_code == 422
    assert "not yours" in shown(answer)
    assert Server.objects.count() == 0


def test_an_editor_is_held_to_the_deny_list(
    team: Any, person: Callable[..., Any], sign_in: Callable[[Any], Client]
) -> None:
    page = shown(check(sign_in(person("ed", team, Role.EDITOR)), "host,port\n127.0.0.1,3306\n10.0.0.1,22\n"))
    assert "2 to correct" in page
    assert "only administrators may register" in page


def test_a_file_is_read_as_what_it_is(client: Client) -> None:
    def upload(content: bytes) -> Any:
        return check(client, "", file=SimpleUploadedFile("servers.csv", content))

    assert "1 server will be added" in shown(upload("\ufeffhost;name\r\n10.0.0.1;데이터\r\n".encode()))
    assert "CSV UTF-8" in shown(upload("host;name\r\n10.0.0.1;데이터\r\n".encode("cp949")))
    assert "larger than 1 MB" in shown(upload(b"x" * 1_000_001))
    assert "nothing to read yet" in shown(upload(b""))


def test_hostile_names_are_text_wherever_they_stand(client: Client, team: Any) -> None:
    attack = "<script>alert(1)</script>'\"&"
    text = f'- name: "{attack[:25]}"\n  host: 10.0.0.1\n  tags: ["<img src=x onerror=alert(1)>"]\n'
    text += f"- host: \"<svg onload=alert(1)>\"\n  <b>: x\n- name: '{attack[:25]}/'\n  host: 10.0.0.2\n"
    page = shown(check(client, text))
    for hostile in ("<script>alert", "<img src", "<svg onload", "<b>: x"):
        assert hostile not in page
    assert "&lt;script&gt;alert" in page
    assert "&lt;img src=x onerror" in page


def test_testing_says_for_each_line_whether_it_answers_and_adds_it_all_the_same(client: Client) -> None:
    answer = check(client, "host,port\n127.0.0.1,1\n", test="on")
    assert "unreadable" in shown(answer)
    assert "Check the port" in shown(answer)
    client.post(reverse("import-servers-confirm"), {"draft": draft_of(answer)})
    assert Server.objects.count() == 1


def test_thousands_of_lines_are_counted_and_the_first_are_shown(client: Client) -> None:
    answer = check(client, "name,host\n" + "".join(f"n{n},10.1.{n // 250}.{n % 250}\n" for n in range(2000)))
    assert "2000 servers will be added" in shown(answer) or "2,000 servers will be added" in shown(answer)
    assert shown(answer).count("will add") == 200
    assert "The first 200 of" in shown(answer)


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_list_is_imported_and_corrected_without_any_script(visit: Any, team: Any) -> None:
    seen = visit(java_script_enabled=False)
    page = seen.open(reverse("import-servers"))
    page.fill("#id_text", "name,host,password\norders,10.0.0.1,p\nledger,10.0.0.1,p\n")
    page.get_by_role("button", name="Check the list").click()
    page.wait_for_selector("#plan")
    assert "Line 2 has the same address" in page.locator("#plan").inner_text()
    assert Server.objects.count() == 0
    page.get_by_role("button", name="Add 1 server").click()
    page.wait_for_selector("text=1 server is watched from now on")
    assert page.locator("#id_text").input_value() == "name,host,password\nledger,10.0.0.1,\n"
    page.fill("#id_text", "name,host,password\nledger,10.0.0.2,p\n")
    page.get_by_role("button", name="Check again").click()
    page.get_by_role("button", name="Add 1 server").click()
    page.wait_for_url("**/")
    assert sorted(Server.objects.values_list("name", flat=True)) == ["ledger", "orders"]
    seen.clean()


def test_a_paste_that_is_too_large_says_what_is_so_and_what_to_do(owner: Any, sign_in: Any) -> None:
    answer = sign_in(owner).post("/servers/import", {"text": "x" * 2_700_000})
    assert answer.status_code == 413
    assert "2.5 MiB of text at most" in answer.content.decode()
    assert "in parts" in answer.content.decode()
