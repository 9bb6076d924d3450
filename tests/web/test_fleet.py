"""The fleet page: what is shown in which order, filters that stand in the address, folds, groups and the last day."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from advisor.recommendations import fleet, fleet_groups
from advisor.recommendations.fleet_hours import HOURS, hour_of
from advisor.recommendations.models import FleetGroup, FleetRow, Recommendation, State
from tests.conftest import build_server
from tests.web import many

PART = {"HX-Request": "true"}


def _row(team: Any, name: str, *, tags: tuple[str, ...] = (), **columns: Any) -> Any:
    """A server whose row has these columns; the rest of the row follows from them."""
    server = build_server(team, name, tags=tags)
    row = FleetRow.objects.get(pk=server.pk)
    for column, value in {"condition": "calm", "state": "", **columns}.items():
        setattr(row, column, value)
    fleet.settle(row, server, timezone.now())
    row.save()
    return server


def _names(html: str) -> list[str]:
    return re.findall(r'class="server" href="[^"]*">([^<]*)<', html)


@pytest.fixture
def look(sign_in: Any, viewer: Any) -> Any:
    """``look("?q=x")``: the page of that address, as text."""
    client = sign_in(viewer)
    return lambda query="", **headers: client.get(f"/{query}", headers=headers).content.decode()


def test_a_calm_server_with_a_critical_recommendation_is_critical_everywhere(look: Any, team: Any) -> None:
    _row(team, "advised", worst_severity="critical", worst_title="Writes may be lost", pressure=0.2)
    page = look()
    assert _names(page) == ["advised"]
    assert "<title>(1 critical) Fleet" in page
    assert "1 critical</a>" in page
    assert re.search(r'<span class="count"[^>]*>1<', page)
    assert re.search(r'class="badge critical".*?Writes may be lost', page, re.S)
    assert _names(look("?state=critical")) == ["advised"]
    assert _names(look("?state=calm")) == []


@pytest.mark.parametrize(
    ("condition", "severity", "state"),
    [
        ("calm", "", "calm"),
        ("calm", "notice", "calm"),
        ("calm", "warning", "warning"),
        ("watch", "warning", "warning"),
        ("warning", "critical", "critical"),
        ("critical", "warning", "critical"),
        ("stale", "critical", "stale"),
        ("new", "critical", "new"),
    ],
)
def test_the_state_is_the_worse_of_what_is_measured_and_what_is_recommended(
    condition: str, severity: str, state: str, team: Any
) -> None:
    server = _row(team, "one", condition=condition, worst_severity=severity)
    assert FleetRow.objects.get(pk=server.pk).state == state


def test_those_that_wait_now_come_first_then_the_longest_in_trouble(look: Any, team: Any) -> None:
    _row(team, "long-warning", condition="warning", trouble_seconds=20_000)
    _row(team, "short-critical", condition="critical", trouble_seconds=120)
    _row(team, "long-critical", condition="critical", trouble_seconds=9_000)
    _row(team, "advised", worst_severity="warning", worst_title="The redo log is too small")
    assert _names(look()) == ["long-critical", "short-critical", "long-warning", "advised"]
    assert "2 h 30 min of 24 h" in look()


def test_each_order_is_that_of_its_column_and_says_so(look: Any, team: Any) -> None:
    now = timezone.now()
    before = now - timedelta(hours=1)
    _row(team, "bravo", pressure=0.9, headroom_order=60.0, transactions_per_second=5, dirty_percent=3,
         condition="warning", condition_since=now)  # fmt: skip
    _row(team, "alpha", pressure=0.5, headroom_order=30.0, transactions_per_second=9, dirty_percent=1,
         condition="warning", condition_since=before)  # fmt: skip
    _row(team, "charlie", pressure=None, transactions_per_second=None, dirty_percent=70, condition="calm")
    expected = {
        "pressure": "bravo alpha charlie", "headroom": "alpha bravo charlie", "transactions": "alpha bravo charlie",
        "dirty": "charlie bravo alpha", "name": "alpha bravo charlie", "state": "bravo alpha charlie",
    }  # fmt: skip
    for sort, names in expected.items():
        page = look(f"?state=all&sort={sort}")
        assert _names(page) == names.split(), sort
        aria = re.findall(r'<th scope="col" aria-sort="(\w+)"><a href="([^"]*)"', page)
        assert sum(direction != "none" for direction, _ in aria) == (0 if sort == "dirty" else 1), sort
    assert 'aria-sort="ascending"><a href="?state=all&amp;sort=headroom"' in look("?state=all&sort=headroom")


def test_filters_narrow_together_and_are_counted(look: Any, team: Any) -> None:
    _row(team, "orders-1", tags=("orders", "prod"), flavor="mysql", version="MySQL 8.4.6", condition="critical")
    _row(team, "orders-2", tags=("orders", "prod-eu"), flavor="mariadb", version="MariaDB 11.4.5")
    _row(team, "ledger-1", tags=("ledger", "prod"), flavor="mysql", version="MySQL 8.0.36")
    fleet_groups.fold()
    assert _names(look("?group=orders")) == ["orders-1", "orders-2"]
    assert sorted(_names(look("?tag=prod"))) == ["ledger-1", "orders-1"]
    assert sorted(_names(look("?tag=PROD"))) == ["ledger-1", "orders-1"], "tags are compared folded"
    assert _names(look("?tag=prod&group=orders&flavor=mysql&q=8.4")) == ["orders-1"]
    assert _names(look("?q=ledger+8.0")) == ["ledger-1"]
    assert _names(look("?q=127.0.0.1&flavor=mariadb")) == ["orders-2"]
    page = look("?group=orders")
    for words in ("any state (2)", "critical (1)", "orders (2)", "ledger (1)", "prod (2)", "MySQL (1)", "MariaDB (1)"):
        assert words in page, words
    assert 'value="orders" selected' in page


def test_a_search_finds_the_reason_too(look: Any, team: Any) -> None:
    _row(team, "one", worst_severity="warning", worst_title="Dirty pages are held back")
    _row(team, "two", condition="critical", headline={"text": "Writers wait for redo since {since}", "values": {}})
    assert _names(look("?q=held+BACK")) == ["one"]
    assert _names(look("?q=writers+wait")) == ["two"]
    assert _names(look("?q=100%25")) == [], "a percent sign is no wildcard"


def test_a_group_is_what_a_tag_names_else_the_first_tag(look: Any, team: Any) -> None:
    for name, tags in (("a", ("prod", "group:Orders")), ("b", ("prod",)), ("c", ())):
        build_server(team, name, tags=tags)
    assert dict(FleetRow.objects.values_list("folded", "group")) == {"a": "orders", "b": "prod", "c": ""}
    assert _names(look("?group=-")) == ["c"]
    assert "group:" not in look("?group=orders").split("<tbody>")[1].split("</tbody>")[0]


def test_another_tag_is_found_at_once(look: Any, team: Any, watched: Any) -> None:
    from collector import servers

    servers.update_server(server=watched, tags=["fresh"], name="renamed")
    assert _names(look("?tag=fresh&sort=name")) == ["renamed"]
    assert FleetGroup.objects.get(kind="tag", name="fresh").servers == 1
    servers.delete_server(server=watched)
    assert not FleetGroup.objects.exists()


def test_the_last_day_has_a_row_for_each_group_and_a_word_for_each_colour(look: Any, team: Any) -> None:
    newest = hour_of(timezone.now().timestamp())
    _row(team, "o", tags=("orders",), hours=[[newest - 7200, 0, 0, 0.41], [newest, 60, 300, 1.02]])
    _row(team, "l", tags=("ledger",), hours=[[newest - 3600, 120, 0, 0.97], [newest - 90 * 3600, 0, 9, 1.0]])
    fleet_groups.fold()
    page = look()
    lines = re.findall(r'<tr><th scope="row"><a href="\?group=(\w+)".*?</tr>', page, re.S)
    assert sorted(lines) == ["ledger", "orders"]
    assert page.count('<td class="critical"') == 1
    assert page.count('<td class="warning"') == 1
    assert page.count('<td class="p3"') == 1
    assert page.count('<td class="none"') == 2 * HOURS - 3
    assert re.search(r"×</span><span class=\"unseen\">[^<]*writers waited for 5 min", page)
    assert "nothing known" in page


def test_the_day_is_folded_by_the_worst_of_its_servers(team: Any) -> None:
    newest = hour_of(timezone.now().timestamp())
    _row(team, "a", tags=("orders",), hours=[[newest, 60, 0, 0.95]], condition="warning")
    _row(team, "b", tags=("orders",), hours=[[newest, 600, 30, 1.01]])
    fleet_groups.fold()
    group = FleetGroup.objects.get(kind="group", name="orders")
    assert (group.servers, group.needing, group.hours[-1]) == (2, 1, [1.01, 600, 30, 2])
    assert fleet_groups.fold() == 0, "what did not change is not written again"


def test_what_needs_nobody_is_folded_and_opened_on_demand(look: Any, team: Any) -> None:
    for name in ("calm-1", "calm-2"):
        _row(team, name)
    values = {"trouble": {"value": "Access denied.", "unit": "text"}, "at": {"value": 0, "unit": "instant"}}
    said = {"text": "Nothing heard since {at}: {trouble}", "values": values}
    _row(team, "silent", condition="stale", headline=said)
    page = look()
    assert "Nothing needs you" in page
    assert re.search(r'id="fold-calm".*?2 servers', page, re.S)
    assert re.search(r'id="fold-stale".*?1 server could not be read.*?silent: .*?Access denied', page, re.S)
    assert 'href="?state=calm"' in page
    opened = look("?state=calm&only=rows", **PART)
    assert "<html" not in opened
    assert _names(opened) == ["calm-1", "calm-2"]


def test_what_waits_for_the_reader_is_what_they_promised(
    sign_in: Any, team_mate: Any, viewer: Any, busy: Any, advice: Any
) -> None:
    now = timezone.now()
    Recommendation.objects.filter(pk=advice.pk).update(
        state=State.ACKNOWLEDGED, decided_by=team_mate, decided_at=now - timedelta(days=3)
    )
    assert "you acknowledged it 3 d ago" in sign_in(team_mate).get("/").content.decode()
    assert "Waiting for you" not in sign_in(viewer).get("/").content.decode()
    Recommendation.objects.filter(pk=advice.pk).update(
        state=State.DISMISSED, dismissed_until=timezone.localdate() + timedelta(days=2)
    )
    assert "its dismissal ends in 2 days" in sign_in(viewer).get("/").content.decode()


def test_a_list_is_paged_and_keeps_its_filters(look: Any, team: Any) -> None:
    many.fleet(team, 130)
    first, last = look("?state=all&sort=name"), look("?state=all&sort=name&page=3")
    assert (len(_names(first)), len(_names(last))) == (50, 30)
    assert "1–50 of 130" in first
    assert 'href="?state=all&amp;sort=name&amp;page=2"' in first
    assert len({*_names(first), *_names(look("?state=all&sort=name&page=2")), *_names(last)}) == 130
    assert _names(look("?state=all&sort=name&page=99")) == _names(last)


def test_files_hold_the_whole_list_and_no_formula(sign_in: Any, viewer: Any, team: Any) -> None:
    many.fleet(team, 120)
    server = _row(team, "=HYPERLINK(1)", tags=("@orders",), version="+1", worst_title="-2", worst_severity="warning")
    client = sign_in(viewer)
    answer = client.get(reverse("fleet-csv") + "?state=all&sort=name")
    lines = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))
    assert len(lines) == 121
    mine = next(line for line in lines if line["id"] == server.pk)
    assert (mine["name"], mine["tags"], mine["version"], mine["why"]) == ("'=HYPERLINK(1)", "'@orders", "'+1", "'-2")
    assert not [line for line in lines for value in line.values() if value.startswith(("=", "+", "-", "@"))]
    told = json.loads(b"".join(client.get(reverse("fleet-json") + "?q=HYPERLINK").streaming_content))
    assert [one["name"] for one in told["items"]] == ["=HYPERLINK(1)"]


def test_nobody_sees_servers_of_others(sign_in: Any, outsider: Any, team: Any, other_team: Any) -> None:
    newest = hour_of(timezone.now().timestamp())
    _row(team, "secret", tags=("hidden",), condition="critical", hours=[[newest, 9, 9, 1.0]])
    _row(other_team, "mine", tags=("own",), condition="critical")
    fleet_groups.fold()
    client = sign_in(outsider)
    for address in ("/", "/?state=all", "/?q=secret", "/?tag=hidden", "/?group=hidden"):
        page = client.get(address).content.decode()
        assert "secret</a>" not in page, address
        assert "hidden (" not in page.replace("hidden (0)", ""), address
    for form in ("csv", "json"):
        assert b"secret" not in b"".join(client.get(reverse(f"fleet-{form}") + "?state=all").streaming_content)


def test_somebody_in_two_teams_sees_one_order(sign_in: Any, team: Any, other_team: Any, viewer: Any) -> None:
    from advisor.teams.models import Membership

    Membership.objects.create(user=viewer, team=other_team, role="viewer")
    _row(team, "a", pressure=0.5)
    _row(other_team, "b", pressure=0.9)
    _row(team, "c", pressure=0.99)
    assert _names(sign_in(viewer).get("/?state=all&sort=pressure").content.decode()) == ["c", "b", "a"]


def test_the_empty_page_has_the_grant_to_copy(sign_in: Any, owner: Any, viewer: Any) -> None:
    page = sign_in(owner).get("/").content.decode()
    assert "Add your first server" in page
    assert page.count("GRANT PROCESS") == 2
    assert "GRANT" not in sign_in(viewer).get("/").content.decode()


def test_names_tags_and_reasons_are_text(look: Any, team: Any) -> None:
    hostile = "<img src=x onerror=alert(1)>\"'{{7*7}}"
    server = _row(team, "x", tags=(hostile,), version=hostile, condition="critical", worst_severity="critical",
                  worst_title=hostile, headline={"text": hostile, "values": {}})  # fmt: skip
    type(server).objects.filter(pk=server.pk).update(name=hostile)
    newest = hour_of(timezone.now().timestamp())
    FleetRow.objects.filter(pk=server.pk).update(hours=[[newest, 9, 9, 1.0]])
    fleet_groups.fold()
    for query in ("", "?state=all", "?q=%3Cimg", "?group=%3Cimg+src%3Dx&tag=%22%3E%3Cimg"):
        page = look(query)
        assert "<img" not in page, query
        assert "49" not in re.findall(r"alert\(1\)[^<]{0,30}", page), query
    assert "&lt;img src=x onerror=alert(1)&gt;" in look()


def test_an_address_of_nonsense_is_the_page_without_it(look: Any, team: Any, watched: Any) -> None:
    for query in ("?state=x&sort=y&flavor=z&page=-1", "?page=99999999999", "?page=²", "?q=%00", "?group=" + "x" * 999):
        assert "Which servers need you" in look(query)


def test_an_unchanged_list_is_not_sent_again(sign_in: Any, viewer: Any, team: Any) -> None:
    many.fleet(team, 60)
    client = sign_in(viewer)
    first = client.get("/?state=all", headers=PART)
    assert client.get("/?state=all", headers={**PART, "If-None-Match": first["ETag"]}).status_code == 304
    FleetRow.objects.order_by("-sort_rank").update(pressure=0.77)
    assert client.get("/?state=all", headers={**PART, "If-None-Match": first["ETag"]}).status_code == 200
