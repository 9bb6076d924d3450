"""The compare page: which servers, what differs, who is the odd one; as a page, a file and a text."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests.conftest import build_server
from tests.web import demo

pytestmark = pytest.mark.django_db

COURSES = (
    replace(demo.COURSES[1], name="ledger-31", variables={"innodb_log_file_size": "100663296"}),
    replace(
        demo.COURSES[1],
        name="ledger-32",
        variables={"innodb_log_file_size": "100663296", "innodb_adaptive_flushing": "1"},
    ),
    replace(
        demo.COURSES[1],
        name="ledger-33",
        variables={
            "innodb_log_file_size": "50331648",
            "sync_binlog": "0",
            "innodb_dedicated_server": "ON",
            "hostname": "x",
        },
    ),
    replace(demo.COURSES[0], name="orders-07"),
)


@pytest.fixture
def four(team: Any) -> list[Any]:
    return demo.build(team, hours=0.1, courses=COURSES)


@pytest.fixture
def client(viewer: Any, sign_in: Callable[[Any], Client]) -> Client:
    return sign_in(viewer)


def page(client: Client, servers: list[Any], **more: str) -> str:
    ids = ",".join(server.pk for server in servers)
    answer = client.get(reverse("fleet-compare"), {"ids": ids, **more})
    assert answer.status_code == 200
    return str(answer.content.decode())


def table(client: Client, servers: list[Any], **more: str) -> dict[str, list[str]]:
    ids = ",".join(server.pk for server in servers)
    answer = client.get(reverse("fleet-compare-csv"), {"ids": ids, **more})
    assert answer["Content-Type"].startswith("text/csv")
    lines = list(csv.reader(io.StringIO(answer.content.decode("utf-8-sig"))))
    assert lines[0][1 : 1 + len(servers)] == [server.name for server in servers]
    return {line[0]: line[1:] for line in lines[1:]}


def test_what_differs_is_shown_and_the_odd_one_is_named(client: Client, four: list[Any]) -> None:
    shown = page(client, four[:3])
    assert "ledger-33 is the odd one" in shown
    assert "sync_binlog" in shown
    assert "innodb_page_size" not in shown
    assert "innodb_page_size" in page(client, four[:3], show="all")
    found = table(client, four[:3])
    assert found["innodb_log_file_size"][:4] == ["100663296", "100663296", "50331648", "yes"]
    assert "innodb_adaptive_flushing" not in found
    ticked = client.get(reverse("fleet-compare"), {"ids": [server.pk for server in four[:3]]})
    assert "ledger-33 is the odd one" in ticked.content.decode()
    assert "hostname" not in found


def test_only_what_people_tune_is_left_where_that_is_asked_for(client: Client, four: list[Any]) -> None:
    assert set(table(client, four[:3], show="tuned")) == {"innodb_log_file_size", "sync_binlog"}
    assert "innodb_dedicated_server" in table(client, four[:3])


def test_words_find_variables_and_values(client: Client, four: list[Any]) -> None:
    assert set(table(client, four[:3], q="sync binlog", show="all")) == {"sync_binlog"}
    assert set(table(client, four[:3], q="50331648")) == {"innodb_log_file_size"}
    assert "No variable matches" in page(client, four[:3], q="nothing like it")


def test_another_flavor_lacks_variables_and_does_not_differ_in_them(client: Client, four: list[Any]) -> None:
    shown = page(client, [four[0], four[3]])
    assert "These two differ in" in shown
    assert "not in this version" in page(client, [four[0], four[3]], show="all")


def test_load_stands_side_by_side(client: Client, four: list[Any]) -> None:
    shown = page(client, four)
    for server in four:
        assert f'href="{reverse("server", args=[server.pk])}"' in shown
    assert shown.count('class="sparkline"') == 4
    assert shown.count('class="pressure"') == 4


def test_the_wrong_number_of_servers_says_so_and_helps_to_choose(client: Client, four: list[Any], team: Any) -> None:
    assert "Choose two to six servers" in page(client, [])
    one = page(client, four[:1])
    assert "take in at least one more" in one
    assert f"ids={four[0].pk},{four[1].pk}" in one
    many = four + [build_server(team, f"more-{n}", port=40_000 + n) for n in range(3)]
    answer = client.get(reverse("fleet-compare"), {"ids": ",".join(one.pk for one in many)})
    assert answer.status_code == 422
    assert "7 servers were chosen, and 6 fit" in answer.content.decode()
    assert client.get(reverse("fleet-compare-csv"), {"ids": four[0].pk})["Location"].endswith(f"?ids={four[0].pk}")


def test_a_server_is_found_by_name_or_address(client: Client, four: list[Any], team: Any) -> None:
    build_server(team, "elsewhere", host="10.77.0.1", port=3306)
    assert "＋ orders-07" in page(client, four[:1], find="ORDERS")
    assert "＋ elsewhere" in page(client, four[:1], find="10.77")
    assert "No other server of your teams" in page(client, four[:1], find="nowhere")


def test_servers_of_others_are_not_there(
    client: Client, four: list[Any], other_team: Any, outsider: Any, sign_in: Callable[[Any], Client]
) -> None:
    theirs = build_server(other_team, "theirs")
    ids = f"{four[0].pk},{theirs.pk}"
    assert client.get(reverse("fleet-compare"), {"ids": ids}).status_code == 404
    assert client.get(reverse("fleet-compare-csv"), {"ids": ids}).status_code == 404
    assert client.get(reverse("fleet-compare"), {"ids": "no-such-server"}).status_code == 404
    assert "＋ theirs" not in page(client, four[:1], find="theirs")
    assert sign_in(outsider).get(reverse("fleet-compare"), {"ids": four[0].pk}).status_code == 404


def test_a_server_without_a_snapshot_is_compared_in_load_only(client: Client, four: list[Any], watched: Any) -> None:
    shown = page(client, [four[0], four[1], watched])
    assert "alpha has not been read yet" in shown
    assert "All of them are set alike" in shown


def test_hostile_names_and_values_are_text_and_no_formula(client: Client, team: Any) -> None:
    attack = "<img src=x onerror=alert(1)>\"'"
    log = {"innodb_log_file_size": "100663296"}
    courses = (
        replace(demo.COURSES[1], name="=cmd", tags=(), variables={**log, "init_connect": attack, "sync_binlog": "-1"}),
        replace(
            demo.COURSES[1], name="<b>two</b>".replace("/", ""), tags=(), variables={**log, "init_connect": "=1+1"}
        ),
    )
    two = demo.build(team, hours=0.1, courses=courses)
    shown = page(client, two, q=attack, find=attack) + page(client, two)
    assert "<img src" not in shown
    assert "<b>two" not in shown
    assert "&lt;img src=x onerror" in shown
    ids = ",".join(server.pk for server in two)
    text = client.get(reverse("fleet-compare-csv"), {"ids": ids}).content.decode("utf-8-sig")
    lines = {line[0]: line for line in csv.reader(io.StringIO(text))}
    assert lines["variable"][1] == "'=cmd"
    assert lines["init_connect"][2] == "'=1+1"
    assert lines["sync_binlog"][1] == "-1"


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("width", [360, 1366])
def test_servers_are_chosen_and_compared_on_any_screen(width: int, visit: Any, team: Any) -> None:
    from axe_playwright_python.sync_playwright import Axe

    three = demo.build(team, hours=0.1, courses=COURSES[:3])
    seen = visit(viewport={"width": width, "height": 900}, permissions=["clipboard-read", "clipboard-write"])
    page = seen.open(reverse("fleet-compare") + f"?ids={three[0].pk}")
    for name in ("ledger-32", "ledger-33"):
        page.fill("#find", name)
        page.get_by_role("button", name="Find").click()
        page.get_by_role("link", name=f"＋ {name}").click()
    page.wait_for_selector("text=ledger-33 is the odd one")
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.locator("summary", has_text="As text").click()
    page.locator("details[open] [data-copy]").click()
    page.wait_for_selector("#spoken:text('copied')", state="attached")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert [line.split()[0] for line in copied.splitlines()[1:]] == [
        "innodb_dedicated_server",
        "innodb_log_file_size",
        "sync_binlog",
    ]
    barriers = [one["id"] for one in Axe().run(page).response["violations"]]
    assert barriers == []
    seen.clean()
