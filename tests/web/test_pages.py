"""What pages hold: charts in the first response, parts equal to pages, few queries, and nothing of a server taken as
markup.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from advisor.recommendations.models import FleetRow, Recommendation, State
from tests.conftest import build_server
from tests.web import demo

CHARTS = ("checkpoint-age", "redo-rate", "flushing", "transactions", "dirty-pages", "occupancy")
PART = {"HX-Request": "true"}


def _figures(html: str) -> dict[str, str]:
    return {
        name: figure
        for figure in re.findall(r"<figure\b.*?</figure>", html, re.S)
        for name in CHARTS
        if f'data-chart="{name}"' in figure
    }


def test_six_charts_are_drawn_in_the_first_response(sign_in: Any, viewer: Any, busy: Any) -> None:
    figures = _figures(sign_in(viewer).get(reverse("server", args=[busy.pk])).content.decode())
    assert set(figures) == set(CHARTS)
    for name, figure in figures.items():
        assert re.search(r'<path class="(line|stack|fill)|<rect class="bar', figure), name


def test_a_server_without_a_sample_has_six_charts_that_say_so(sign_in: Any, viewer: Any, watched: Any) -> None:
    html = sign_in(viewer).get(reverse("server", args=[watched.pk])).content.decode()
    figures = _figures(html)
    assert set(figures) == set(CHARTS)
    assert all('class="nothing"' in figure for figure in figures.values())
    assert "Waiting for the first samples" in html


def test_limits_are_named_and_said_to_be_reported_or_computed(sign_in: Any, viewer: Any, team: Any) -> None:
    mysql, mariadb = demo.build(team, hours=0.2, courses=demo.COURSES[:2])
    client = sign_in(viewer)
    computed = _figures(client.get(reverse("server", args=[mysql.pk])).content.decode())["checkpoint-age"]
    assert "limits computed" in computed
    assert all(name in computed for name in ("sync point 4", "async point 3", "maximum 4", "writers wait 4"))
    reported = _figures(client.get(reverse("server", args=[mariadb.pk])).content.decode())["checkpoint-age"]
    assert "maximum age reported by the server, other lines computed" in reported
    assert "maximum age 77.1 MiB" in reported
    assert ">sync point" not in reported


def test_the_part_is_the_pages_part(sign_in: Any, viewer: Any, busy: Any) -> None:
    client = sign_in(viewer)
    for address, root in (
        (reverse("server", args=[busy.pk]) + "?from=1795000000000&to=1795003600000", "server"),
        ("/?state=all", "fleet"),
    ):
        page = client.get(address).content.decode()
        part = client.get(address, headers=PART).content.decode()
        assert "<html" not in part
        assert f'id="{root}"' in part
        plain = re.sub(r'"\S+ ago"|>[^<]* ago<|up [^<]*<', "", page)
        assert re.sub(r'"\S+ ago"|>[^<]* ago<|up [^<]*<', "", part).strip() in plain


def test_an_unchanged_part_is_not_sent_again(sign_in: Any, viewer: Any, busy: Any) -> None:
    client = sign_in(viewer)
    address = reverse("server", args=[busy.pk]) + "?from=1795000000000&to=1795003600000"
    first = client.get(address, headers=PART)
    again = client.get(address, headers={**PART, "If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    FleetRow.objects.filter(pk=busy.pk).update(updated_at=timezone.now() + timedelta(seconds=5))
    assert client.get(address, headers={**PART, "If-None-Match": first["ETag"]}).status_code == 200


def test_a_whole_page_is_never_answered_by_not_modified(sign_in: Any, viewer: Any, busy: Any) -> None:
    client = sign_in(viewer)
    address = reverse("server", args=[busy.pk]) + "?from=1795000000000&to=1795003600000"
    tag = client.get(address, headers=PART)["ETag"]
    assert client.get(address, headers={"If-None-Match": tag}).status_code == 200


def test_the_fleet_page_asks_as_much_for_forty_servers_as_for_two(
    sign_in: Any, viewer: Any, team: Any, django_assert_max_num_queries: Any
) -> None:
    def add(count: int, offset: int) -> None:
        for number in range(offset, offset + count):
            server = build_server(team, f"db-{number}")
            FleetRow.objects.filter(pk=server.pk).update(
                state="critical", pressure=1.01, async_ratio=0.93, sort_rank=600
            )

    client = sign_in(viewer)
    add(2, 0)
    with django_assert_max_num_queries(17) as few:
        client.get("/")
    add(38, 2)
    with django_assert_max_num_queries(17) as many:
        client.get("/")
    assert len(many) == len(few)


def test_the_server_page_asks_a_bounded_number_of_questions(
    sign_in: Any, viewer: Any, busy: Any, django_assert_max_num_queries: Any
) -> None:
    client = sign_in(viewer)
    # A long range is read from rollups of days, sealed hours and open ones; changed settings are one question more, and
    # what waits for the reader three.
    with django_assert_max_num_queries(35):
        client.get(reverse("server", args=[busy.pk]) + "?range=30d")


def test_six_hours_of_charts_are_small(sign_in: Any, viewer: Any, team: Any) -> None:
    import gzip

    server = demo.build(team, hours=6, courses=demo.COURSES[:1])[0]
    html = sign_in(viewer).get(reverse("server", args=[server.pk]) + "?range=6h").content
    assert len(gzip.compress(html)) < 45 * 1024


HOSTILE = "<img src=x onerror=alert(1)>\"'&{{7*7}}</script>"


def test_what_a_server_says_is_never_markup(sign_in: Any, owner: Any, busy: Any, advice: Any) -> None:
    busy.name = HOSTILE[:90]
    busy.tags = [HOSTILE]
    busy.save()
    FleetRow.objects.filter(pk=busy.pk).update(
        version=HOSTILE[:80],
        worst_title=HOSTILE,
        headline={
            "text": HOSTILE + "{x}",
            "values": {"x": {"value": HOSTILE, "unit": "text"}},
            "facts": [{"name": HOSTILE, "value": HOSTILE, "unit": "text"}],
        },
    )
    document = dict(advice.document)
    document |= dict.fromkeys(("title", "expected", "would_change_our_mind"), HOSTILE)
    document |= {name: [HOSTILE] for name in ("sql", "option_file", "undo", "notes")}
    change = dict.fromkeys(("name", "current", "proposed"), HOSTILE)
    figure = dict.fromkeys(("name", "value", "source"), HOSTILE)
    document |= {
        "words": {},
        "references": ["javascript:alert(1)", HOSTILE],
        "changes": [{"kind": "variable", "needs_restart": False, "effect": "at_once", **change}],
        "evidence": [{"unit": "text", "window": None, **figure}],
        "price": [{"kind": "disk", "text": HOSTILE}],
    }
    Recommendation.objects.filter(pk=advice.pk).update(document=document, dismissed_reason=HOSTILE)
    client = sign_in(owner)
    for address in (
        "/?state=all",
        reverse("server", args=[busy.pk]),
        reverse("recommendation", args=[busy.pk, advice.pk]),
        reverse("rule", args=["redo.redo-log-undersized"]),
        reverse("server-settings", args=[busy.pk]),
        "/?q=" + "%3Cimg%20src%3Dx%3E",
    ):
        html = client.get(address).content.decode()
        assert "<img" not in html, address
        assert 'href="javascript:' not in html, address
        assert "49" not in re.findall(r"onerror=alert\(1\)[^<]{0,30}", html), address


def test_the_charts_data_is_json_that_holds_no_markup_context(sign_in: Any, viewer: Any, busy: Any) -> None:
    answer = sign_in(viewer).get(reverse("server-charts", args=[busy.pk]) + "?range=15m")
    data = json.loads(answer.content)
    assert answer["Content-Type"] == "application/json"
    assert {chart["id"] for chart in data["charts"]} == set(CHARTS) - {"occupancy"}
    for chart in data["charts"]:
        for trace in chart["traces"]:
            assert len(trace["x"]) == len(trace["y"]) <= 1200


def test_state_search_and_tag_narrow_the_fleet(sign_in: Any, viewer: Any, team: Any) -> None:
    for name, state, tags in (
        ("alpha", "critical", ["prod"]),
        ("beta", "calm", ["prod-eu"]),
        ("gamma", "stale", ["test"]),
    ):
        FleetRow.objects.filter(pk=build_server(team, name, tags=tags).pk).update(state=state)
    client = sign_in(viewer)

    def names(query: str) -> list[str]:
        return re.findall(r'class="server" href="[^"]*">([^<]*)<', client.get(f"/?{query}").content.decode())

    assert names("") == ["alpha"]
    assert sorted(names("state=all")) == ["alpha", "beta", "gamma"]
    assert names("state=stale") == ["gamma"]
    assert names("tag=prod") == ["alpha"]
    assert names("q=GAM") == ["gamma"]
    assert "1 server could not be read" in client.get("/").content.decode()


def test_a_stale_server_says_why(sign_in: Any, viewer: Any, team: Any) -> None:
    server = demo.build(team, hours=0.2, courses=(demo.COURSES[4],))[0]
    html = sign_in(viewer).get("/?state=stale").content.decode()
    assert "Access denied for the user tidemark" in html
    page = sign_in(viewer).get(reverse("server", args=[server.pk])).content.decode()
    assert "<title>(stale)" in page
    assert "Nothing heard since" in page


def test_the_missing_grant_is_named_with_its_statement(sign_in: Any, viewer: Any, busy: Any) -> None:
    from advisor.recommendations.models import Judgement

    missing = [{"kind": "grant", "what": "innodb_metrics", "remedy": "GRANT PROCESS ON *.* TO 'tidemark'@'%'"}]
    Judgement.objects.filter(server=busy).update(
        outcomes=[
            {"rule": "redo.x", "outcome": "not_evaluated", "missing": missing},
            {"rule": "redo.y", "outcome": "passed", "evidence": []},
        ]
    )
    html = sign_in(viewer).get(reverse("server", args=[busy.pk])).content.decode()
    assert "1 rule passed" in html
    assert "1 not evaluated" in html
    assert "GRANT PROCESS ON *.* TO &#x27;tidemark&#x27;@&#x27;%&#x27;" in html


def test_a_recommendation_keeps_the_trust_contract(sign_in: Any, viewer: Any, busy: Any, advice: Any) -> None:
    html = sign_in(viewer).get(reverse("recommendation", args=[busy.pk, advice.pk])).content.decode()
    for words in (
        "Harm now",
        "After",
        "Price",
        "Confidence",
        "Would change our mind",
        "Undo",
        "Option file",
        "History",
    ):
        assert words in html, words
    assert "innodb_redo_log_capacity" in html
    assert "512 MiB" in html
    assert advice.document["sql"][0] in html
    assert 'data-chart="evidence"' in html
    assert "Acknowledge</button>" not in html, "a viewer may look only"


def test_acknowledge_dismiss_and_reopen_go_through_their_services(
    sign_in: Any, team_mate: Any, busy: Any, advice: Any
) -> None:
    client = sign_in(team_mate)

    def at(name: str) -> str:
        return reverse(f"recommendation-{name}", args=[busy.pk, advice.pk])

    def state() -> str:
        return Recommendation.objects.get(pk=advice.pk).state

    assert client.post(at("acknowledge")).status_code == 302
    assert state() == State.ACKNOWLEDGED
    refused = client.post(at("dismiss"), {"reason": "   "})
    assert refused.status_code == 422
    assert "autofocus" in refused.content.decode()
    day = (datetime.now(UTC) + timedelta(days=30)).date()
    assert client.post(at("dismiss"), {"reason": "import week", "until": day.isoformat()}).status_code == 302
    assert state() == State.DISMISSED
    page = client.get(reverse("recommendation", args=[busy.pk, advice.pk])).content.decode()
    assert f"until {day}" in page
    assert "import week" in page
    assert client.post(at("reopen")).status_code == 302
    assert state() == State.OPEN
    twice = client.post(at("reopen"), follow=True)
    assert "cannot be opened again" in twice.content.decode()


def test_a_dismissal_until_yesterday_is_told(sign_in: Any, team_mate: Any, busy: Any, advice: Any) -> None:
    answer = sign_in(team_mate).post(
        reverse("recommendation-dismiss", args=[busy.pk, advice.pk]), {"reason": "x", "until": "2020-01-01"}
    )
    assert answer.status_code == 422
    assert "has to lie in the future" in answer.content.decode()


@pytest.mark.django_db
def test_every_rule_has_a_page_with_executed_examples(sign_in: Any, viewer: Any) -> None:
    from advisor.rules import all_rules

    client = sign_in(viewer)
    listed = client.get(reverse("rules")).content.decode()
    for rule in all_rules():
        assert rule.id in listed
        html = client.get(reverse("rule", args=[rule.id])).content.decode()
        assert html.count(">fires<") == sum(example.outcome.__name__ == "Finding" for example in rule.examples), rule.id
        assert html.count(">passes<") == sum(example.outcome.__name__ == "Passed" for example in rule.examples), rule.id
    assert client.get(reverse("rule", args=["no.such-rule"])).status_code == 404


def test_the_system_page_says_that_nobody_collects(sign_in: Any, viewer: Any, busy: Any) -> None:
    html = sign_in(viewer).get(reverse("system")).content.decode()
    assert "polled by nobody" in html


def test_readiness_asks_the_database(client: Client, monkeypatch: pytest.MonkeyPatch, db: None) -> None:
    from django.db import OperationalError

    from advisor.web.views import system

    assert client.get("/readyz").status_code == 200

    class Gone:
        def cursor(self) -> None:
            raise OperationalError("gone")

    monkeypatch.setattr(system, "connection", Gone())
    assert client.get("/readyz").status_code == 503
    assert client.get("/healthz").status_code == 200


def test_a_failing_view_answers_with_a_page_of_ours(
    monkeypatch: pytest.MonkeyPatch, sign_in: Callable[[Any], Client], viewer: Any
) -> None:
    from advisor.web import fleet_page

    def fail(*args: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(fleet_page, "read", fail)
    client = sign_in(viewer)
    client.raise_request_exception = False
    answer = client.get("/")
    assert answer.status_code == 500
    assert "Something failed on our side" in answer.content.decode()
    assert "secret detail" not in answer.content.decode()


def test_the_history_says_since_when_only_of_what_is_still_open(
    sign_in: Any, viewer: Any, busy: Any, advice: Any
) -> None:
    client, address = sign_in(viewer), reverse("recommendation", args=[busy.pk, advice.pk])
    assert "Open since" in client.get(address).content.decode()
    Recommendation.objects.filter(pk=advice.pk).update(
        state=State.RESOLVED, resolved_at=advice.last_seen_at, current=None
    )
    resolved = client.get(address).content.decode()
    assert "Open since" not in resolved
    assert "resolved " in resolved


def test_a_managed_server_is_shown_its_parameter_group_alone_and_a_confidence_its_reason(
    sign_in: Any, viewer: Any, busy: Any, advice: Any
) -> None:
    client, address = sign_in(viewer), reverse("recommendation", args=[busy.pk, advice.pk])
    page = client.get(address).content.decode()
    assert "[mysqld]" in page
    assert advice.document["confidence_why"] in page
    advice.document |= {"sql": [], "undo": [], "option_file": [], "parameters": ["innodb_redo_log_capacity = 1"]}
    advice.save()
    managed = client.get(address).content.decode()
    assert "[mysqld]" not in managed
    assert "innodb_redo_log_capacity = 1" in managed
    assert "parameter group" in managed
