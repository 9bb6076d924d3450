"""What the operations take and give."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from advisor.api.routes import openapi_document
from advisor.mysql import series
from advisor.mysql.snapshot import Poll
from advisor.recommendations import services
from advisor.recommendations.models import Recommendation
from collector.models import Server
from collector.store import store

from ..conftest import build_server
from ..recommendations.building import START, Judging, found
from ..store.snapshots import run_of_snapshots
from .calling import Caller

GOOD = {"name": "beta", "url": "mysql://tidemark@127.0.0.1:3307", "password": "secret"}


@pytest.fixture
def api(owner: Any, token_of: Callable[[Any], str]) -> Caller:
    return Caller(token_of(owner))


@pytest.fixture
def editor(team_mate: Any, token_of: Callable[[Any], str]) -> Caller:
    return Caller(token_of(team_mate))


def test_the_document_is_open_and_names_addresses_from_the_root(db: None) -> None:
    caller = Caller()
    document = caller.client.get("/api/v1/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    assert all(path.startswith("/api/v1/") for path in document["paths"])
    assert set(caller.operations) >= {
        "listServers", "addServer", "getServer", "deleteServer", "checkConnection",
        "listRecommendations", "getRecommendation", "getSeries", "listRules",
    }  # fmt: skip


def test_the_frozen_document_is_the_present_one() -> None:
    frozen = Path(__file__).parents[2] / "docs" / "openapi.json"
    assert json.loads(frozen.read_text()) == openapi_document(), "write it anew: scripts/make_docs"


def test_a_server_is_added_shown_and_deleted(api: Caller) -> None:
    added = api("addServer", {**GOOD, "tags": ["prod"], "host_facts": {"memory_bytes": 8 << 30, "storage": "ssd"}})
    assert added.status_code == 201, added.content
    server = added.json()
    assert (server["name"], server["address"], server["tags"]) == ("beta", "127.0.0.1:3307", ["prod"])
    assert server["host"]["memory_bytes"] == {"value": 8 << 30, "origin": "stated"}
    assert server["state"] == "new"
    assert "secret" not in added.content.decode()
    assert api("getServer", id=server["id"]).json() == server
    assert api("deleteServer", id=server["id"]).status_code == 204
    assert not Server.objects.exists()


def test_a_name_that_is_taken_is_a_conflict(api: Caller) -> None:
    assert api("addServer", GOOD).status_code == 201
    again = api("addServer", {**GOOD, "name": "BETA"})
    assert (again.status_code, again.json()["code"]) == (409, "name-taken")
    assert Server.objects.count() == 1


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"name": ""}, "name"),
        ({"name": "a/b"}, "name"),
        ({"url": "http://127.0.0.1"}, "mysql://"),
        ({"url": "mysql://u:p@127.0.0.1"}, "password"),
        ({"url": None}, "host is missing"),
        ({"host": "127.0.0.1"}, "either a url"),
        ({"tls": "none"}, "tls"),
        ({"tls_ca": "no certificate"}, "certificate"),
        ({"tags": ["x" * 51]}, "tags"),
        ({"host_facts": {"memory_bytes": -1}}, "memory_bytes"),
        ({"host_facts": {"colour": "red"}}, "colour"),
        ({"pasword": "x"}, "pasword"),
    ],
)
def test_a_body_that_cannot_be_used_is_refused_with_the_field_named(
    api: Caller, change: dict[str, Any], named: str
) -> None:
    answer = api("addServer", {**GOOD, **change})
    assert answer.status_code == 422, answer.content
    assert named in answer.json()["detail"]
    assert not Server.objects.exists()


@pytest.mark.parametrize("url", ["mysql://u@127.0.0.1:3306", "mysql://u@169.254.169.254:3306", "mysql://u@/run/x.sock"])
def test_who_is_no_administrator_cannot_point_tidemark_at_its_own_machine(editor: Caller, url: str) -> None:
    answer = editor("addServer", {**GOOD, "url": url})
    assert answer.status_code == 422, answer.content
    assert not Server.objects.exists()


def test_checking_a_connection_says_what_is_wrong_and_what_to_do(api: Caller, watched: Any) -> None:
    answer = api("checkConnection", id=watched.pk)
    assert answer.status_code == 200
    report = answer.json()
    assert (report["ok"], report["kind"], report["version"]) == (False, "refused", None)
    assert report["sentence"]
    assert report["next_step"]


def test_a_body_that_is_no_json_is_refused_in_words(api: Caller) -> None:
    answer = api.client.post("/api/v1/servers", "{", content_type="application/json", headers=api.headers)
    assert answer.status_code in (400, 422)
    assert answer["Content-Type"] == "application/problem+json"


def test_pages_of_a_list_hold_each_server_once_whatever_is_added_meanwhile(api: Caller, team: Any) -> None:
    for number in range(7):
        build_server(team, f"server {number}")
    names, cursor = [], None
    while True:
        answer = api("listServers", limit=2, **({"cursor": cursor} if cursor else {})).json()
        names += [one["name"] for one in answer["items"]]
        if not names[2:]:
            build_server(team, "server 0 again")
        cursor = answer["next"]
        if cursor is None:
            break
    assert names == [f"server {number}" for number in range(7)]


@pytest.mark.parametrize("cursor", ["x", "WyJhIl0", "W10", "bm90IGpzb24", "W251bGwsbnVsbF0", "é"])
@pytest.mark.parametrize("operation", ["listServers", "listRecommendations"])
def test_a_cursor_that_is_none_is_refused(api: Caller, operation: str, cursor: str) -> None:
    answer = api(operation, cursor=cursor)
    assert (answer.status_code, answer.json()["code"]) == (422, "bad-cursor"), answer.content


def test_a_recommendation_is_an_item_of_the_schema_and_more(api: Caller, watched: Any) -> None:
    Judging(watched)(found())
    (item,) = api("listRecommendations", server=watched.pk).json()["items"]
    assert (item["server"], item["state"], item["opened_at"]) == (watched.pk, "open", "2026-11-21T12:00:00Z")
    assert item["sql"] == ["SET GLOBAL innodb_log_file_size = 268435456"]
    assert item["changes"][0]["proposed"] == 268_435_456
    assert api("getRecommendation", id=item["id"]).json() == item


def test_recommendations_are_chosen_by_state_and_come_worst_first_in_pages(
    api: Caller, watched: Any, owner: Any
) -> None:
    judge = Judging(watched)
    judge(
        *(found(f"redo.redo-log-undersized:{n}", severity=s) for n, s in enumerate(["notice", "critical", "warning"]))
    )
    dismissed = Recommendation.objects.get(severity="warning")
    services.dismiss(recommendation=dismissed, actor=owner, reason="known", until=None, now=START)

    def listed(**parameters: Any) -> list[str]:
        return [one["severity"] for one in api("listRecommendations", **parameters).json()["items"]]

    assert listed() == ["critical", "warning", "notice"]
    assert listed(state="open") == ["critical", "notice"]
    assert listed(state=["open", "dismissed"]) == ["critical", "warning", "notice"]
    assert listed(severity="notice") == ["notice"]
    assert api("listRecommendations", state="closed").status_code == 422
    first = api("listRecommendations", limit=2).json()
    second = api("listRecommendations", limit=2, cursor=first["next"]).json()
    assert [one["severity"] for one in first["items"] + second["items"]] == ["critical", "warning", "notice"]
    assert second["next"] is None


def test_a_series_comes_in_buckets_with_the_hole_named(api: Caller, watched: Any) -> None:
    now = int(time.time()) // 10 * 10
    for step in range(30):
        if 10 <= step < 20:
            continue
        at = now - 300 + 10 * step
        polled = {series.PRESSURE: 0.5, series.LSN: 1_000_000 + step * 5000, series.CHECKPOINT_AGE: 4096}
        store().append(watched.pk, at, Poll(at, float(at), 10_000 + 10 * step, polled, "id"))
    answer = api("getSeries", id=watched.pk, names="redo_pressure,redo_lsn,nothing", **{"from": "now-6m", "points": 50})
    assert answer.status_code == 200, answer.content
    told = answer.json()
    pressure, lsn, nothing = told["series"]
    assert (pressure["unit"], pressure["kind"], lsn["unit"], lsn["kind"]) == ("ratio", "gauge", "bytes/s", "rate")
    values = [point for point in pressure["points"] if point]
    assert {tuple(point[1:]) for point in values} == {(0.5, 0.5, 0.5)}
    assert None in pressure["points"], "the hole of 100 s has to break the line"
    rates = [point[3] for point in lsn["points"] if point]
    assert rates == pytest.approx([500.0] * len(rates))
    assert rates
    assert not any(nothing["points"])
    assert told["unknown"] == ["nothing"]
    assert told["to"] - told["from"] == 360_000
    assert len(pressure["points"]) <= 50


def test_a_counter_that_only_full_snapshots_read_is_a_series_too(api: Caller, watched: Any) -> None:
    now = int(time.time()) // 60 * 60
    for slot, snapshot in run_of_snapshots(20, start=now - 1200):
        store().append_counters(watched.pk, slot, snapshot)
    names = "Handler_made_up_1,metrics.adaptive_hash_searches,Threads_cached"
    told = api("getSeries", id=watched.pk, names=names, **{"from": "now-30m"}).json()
    assert told["step_seconds"] == 60
    assert told["unknown"] == []
    assert [(one["name"], one["kind"], one["unit"]) for one in told["series"]] == [
        ("Handler_made_up_1", "rate", "1/s"),
        ("metrics.adaptive_hash_searches", "rate", "1/s"),
        ("Threads_cached", "gauge", "count"),
    ]
    for one in told["series"]:
        assert len([point for point in one["points"] if point]) >= 19


@pytest.mark.parametrize(
    "parameters",
    [
        {"from": "yesterday"},
        {"from": "now", "to": "now-1h"},
        {"from": "0"},
        {"points": 1},
        {"points": 100_000},
        {"names": ","},
        {"names": ",".join(f"n{i}" for i in range(51))},
        {"from": "9" * 15},
    ],
)
def test_a_range_that_cannot_be_drawn_is_refused(api: Caller, watched: Any, parameters: dict[str, Any]) -> None:
    answer = api("getSeries", id=watched.pk, **{"names": "redo_pressure", **parameters})
    assert answer.status_code == 422, answer.content
    assert answer["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("start", ["now-1h", "1795262400", "1795262400000", "2026-11-21T12:00:00Z", "2026-11-21"])
def test_instants_are_read_in_every_way_that_people_write_them(api: Caller, watched: Any, start: str) -> None:
    answer = api("getSeries", id=watched.pk, names="redo_pressure", **{"from": start, "to": "2027-01-01"})
    assert answer.status_code == 200, answer.content


def test_rules_come_with_their_documentation(api: Caller) -> None:
    rules = {one["id"]: one for one in api("listRules").json()["items"]}
    undersized = rules["redo.redo-log-undersized"]
    assert set(undersized["documentation"]) == {"Why it matters", "How it is computed", "When to dismiss it"}
    assert undersized["thresholds"]


def test_recommendations_conform_to_the_advice_schema_apart_from_what_they_add(api: Caller, watched: Any) -> None:
    schema = json.loads((Path(__file__).parents[2] / "docs" / "advice.schema.json").read_text())
    Judging(watched)(found())
    (item,) = api("listRecommendations").json()["items"]
    jsonschema.validate(item, schema["properties"]["recommendations"]["items"])


def test_a_list_takes_the_same_number_of_queries_however_long_it_is(
    api: Caller, team: Any, django_assert_max_num_queries: Any
) -> None:
    for number in range(12):
        Judging(build_server(team, f"server {number}"))(found())
    api("listServers")  # stamps the token's last use, once a minute
    with django_assert_max_num_queries(3):
        assert len(api("listServers").json()["items"]) == 12
    with django_assert_max_num_queries(3):
        assert len(api("listRecommendations").json()["items"]) == 12
