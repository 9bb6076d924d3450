"""The page of one server: the sentence with its facts, six figures, levers, states, and what watching costs."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from advisor.journal.models import Event
from advisor.journal.services import record
from advisor.recommendations.models import FleetRow, Judgement, Recommendation, State
from advisor.web import advice_card, banner
from collector.models import Server, ServerState
from tests.web import demo

Sign = Callable[[Any], Client]


def _page(client: Client, server: Any, query: str = "") -> str:
    answer = client.get(reverse("server", args=[server.pk]) + query)
    assert answer.status_code == 200
    return str(answer.content.decode())


def _text(html: str) -> str:
    """What a person reads, in one line."""
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def _part(html: str, start: str, end: str) -> str:
    return html[html.index(start) : html.index(end, html.index(start))]


def test_trouble_is_one_sentence_with_the_three_facts_that_made_it_true(sign_in: Sign, viewer: Any, busy: Any) -> None:
    html = _page(sign_in(viewer), busy)
    said = _text(_part(html, 'id="server-banner"', '<span class="right">'))
    assert re.search(
        r"Writers wait for redo since \d\d:\d\d \d+(\.\d)? % of the sync point · \d+ waits for redo in "
        r"1 min · transactions −\d\d %",
        said,
    ), said
    assert "<title>(critical) " in html


def test_calm_is_said_as_clearly(sign_in: Sign, viewer: Any, team: Any) -> None:
    calm = demo.build(team, hours=0.4, courses=demo.COURSES[2:3])[0]
    html = _page(sign_in(viewer), calm)
    said = _text(_part(html, 'id="server-banner"', '<span class="right">'))
    assert re.search(
        r"Redo and flushing are normal: \d+(\.\d)? % of the sync point redo .*/s · transactions .* /s", said
    )
    assert "Safe levers</a>" not in html


def test_the_evidence_holds_the_figures_and_what_happened_before(
    sign_in: Sign, viewer: Any, busy: Any, owner: Any
) -> None:
    now = timezone.now()
    record(
        team_id=busy.team_id, server_id=busy.pk, kind="annotation.created", at=now - timedelta(minutes=5), actor=owner,
        data={"text": "deploy v481", "tags": ["deploy"]},
    )  # fmt: skip
    evidence = _text(_part(_page(sign_in(viewer), busy), 'id="evidence"', "</details>"))
    for words in ("Highest pressure", "Waits for redo space", "Transactions", "Redo written", "D deploy v481"):
        assert words in evidence
    assert "against the hour before" in evidence


def test_six_figures_stand_in_the_strip_each_with_its_unit(sign_in: Sign, viewer: Any, busy: Any) -> None:
    strip = _text(_part(_page(sign_in(viewer), busy), 'id="server-strip"', "</dl>"))
    assert re.fullmatch(
        r'id="server-strip"> Redo pressure [\d.]+ % of sync point Headroom 0 s at this slope Transactions [\d.]+ '
        r"/s, −\d+ % Dirty pages [\d.]+ % of pool Redo written [\d.]+ MiB /s Health score \d+ of 100",
        strip,
    ), strip


def test_every_figure_leads_to_the_samples_that_make_it_again(sign_in: Sign, viewer: Any, busy: Any) -> None:
    client = sign_in(viewer)
    again: dict[str, Callable[[list[list[float]]], float]] = {
        "last": lambda points: points[-1][3],
        "greatest": lambda points: max(point[2] for point in points),
        "mean": lambda points: sum(point[3] for point in points) / len(points),
    }
    figures = re.findall(
        r'class="figure" data-figure="(\w+)" data-how="(\w+)" data-value="([^"]+)" href="([^"]+)"', _page(client, busy)
    )
    assert len(figures) >= 10
    row = FleetRow.objects.get(pk=busy.pk)
    assert ("redo_pressure", "last", f"{row.pressure:.9g}") in [one[:3] for one in figures]
    assert ("transactions", "mean", f"{row.transactions_per_second:.9g}") in [one[:3] for one in figures]
    for name, how, value, href in figures:
        address = href.replace("&amp;", "&")
        assert client.get(address).status_code == 200
        answer = client.get(address.replace("/counters?", "/counters.json?")).json()
        points = [point for point in answer["series"][0]["points"] if point]
        assert again[how](points) == pytest.approx(float(value), rel=1e-6), (name, how)


def test_the_score_shows_its_arithmetic_and_leaves_out_what_was_dismissed(
    sign_in: Sign, viewer: Any, busy: Any, advice: Any
) -> None:
    before = _score(busy)
    Recommendation.objects.filter(pk=advice.pk).update(state=State.DISMISSED)
    after = _score(busy)
    assert before.value is not None
    assert after.value is not None
    dropped = next(one for one in before.deductions if one.key == advice.key)
    assert sum(one.amount for one in before.deductions) - sum(one.amount for one in after.deductions) == dropped.amount
    html = _page(sign_in(viewer), busy)
    assert f"Health score {after.value}: how it is made" in html
    arithmetic = _part(html, 'id="score"', "</details>")
    assert all(one.rule in arithmetic for one in after.deductions)
    assert dropped.rule not in arithmetic


def test_the_score_is_compared_with_that_of_a_day_ago(busy: Any) -> None:
    now = timezone.now()
    Server.objects.filter(pk=busy.pk).update(created_at=now - timedelta(days=3))
    busy.refresh_from_db()
    Recommendation.objects.update(opened_at=now - timedelta(days=2))
    assert _change(busy) == 0
    newest = Recommendation.objects.filter(severity="notice").first()
    assert newest is not None
    Recommendation.objects.filter(pk=newest.pk).update(opened_at=now - timedelta(hours=1))
    assert _change(busy) == -2
    Recommendation.objects.filter(pk=newest.pk).update(
        opened_at=now - timedelta(days=2), state=State.RESOLVED, resolved_at=now - timedelta(hours=1), current=None
    )
    assert _change(busy) == 2


def _read(server: Any) -> advice_card.Advice:
    return advice_card.read(server, Judgement.objects.get(server=server), timezone.now(), 0)


def _score(server: Any) -> Any:
    return _read(server).score


def _change(server: Any) -> int | None:
    return _read(server).change


def test_what_keeps_rules_from_being_judged_is_a_sentence_with_its_next_step(
    sign_in: Sign, team_mate: Any, viewer: Any, busy: Any
) -> None:
    grant = {"kind": "grant", "what": "innodb_metrics", "remedy": "GRANT PROCESS ON *.* TO 'tidemark'@'%'"}
    memory = {"kind": "host_fact", "what": "memory of the host", "remedy": "State it on the server's page"}
    wait = {"kind": "window", "what": "a day", "remedy": "Needs a day; so far an hour."}
    Judgement.objects.filter(server=busy).update(
        outcomes=[
            {"rule": "redo.a", "outcome": "not_evaluated", "missing": [grant]},
            {"rule": "redo.b", "outcome": "not_evaluated", "missing": [grant, memory]},
            {"rule": "redo.c", "outcome": "not_evaluated", "missing": [wait]},
            {"rule": "redo.d", "outcome": "passed", "evidence": []},
        ]
    )
    html = _page(sign_in(team_mate), busy)
    assert '3 not evaluated: <a href="#not-evaluated">grant PROCESS</a>' in html
    steps = _part(html, 'id="not-evaluated"', "</details>")
    assert "2 rules need the privilege PROCESS, to read: innodb_metrics" in steps
    assert "GRANT PROCESS ON *.* TO &#x27;tidemark&#x27;@&#x27;%&#x27;" in steps
    assert "1 rule needs to know what no server tells: memory of the host" in steps
    assert reverse("server-settings", args=[busy.pk]) in steps
    assert "1 rule waits for more polls" in steps
    assert "An editor states it" in _page(sign_in(viewer), busy)


def test_what_was_acknowledged_or_put_aside_is_folded(sign_in: Sign, viewer: Any, busy: Any, advice: Any) -> None:
    client = sign_in(viewer)
    Recommendation.objects.filter(pk=advice.pk).update(state=State.ACKNOWLEDGED)
    html = _page(client, busy)
    assert "1 acknowledged" in html
    Recommendation.objects.filter(pk=advice.pk).update(state=State.DISMISSED, dismissed_reason="import week")
    html = _page(client, busy)
    assert re.search(r"<summary[^>]*>1 dismissed</summary>", html)
    assert "import week" in html
    assert "1 acknowledged" not in html


def test_the_levers_of_the_dialog_are_those_of_the_page_for_browsers_without_scripts(
    sign_in: Sign, viewer: Any, busy: Any
) -> None:
    client = sign_in(viewer)
    html = _page(client, busy)
    address = reverse("server-levers", args=[busy.pk])
    assert f'<a class="button primary" href="{address}" data-open="server-levers">Safe levers</a>' in html
    alone = client.get(address).content.decode()
    for words in (
        "innodb_redo_log_capacity",
        "SET GLOBAL `innodb_redo_log_capacity` = 1073741824;",
        "SET GLOBAL `innodb_redo_log_capacity` = 536870912;",
        "Expected effect",
        "for 1 d: put it back at",
        "Price",
    ):
        assert words in alone
        assert words in html


def test_where_redo_is_not_the_trouble_no_lever_is_offered_and_it_says_so(
    sign_in: Sign, viewer: Any, team: Any
) -> None:
    calm = demo.build(team, hours=0.2, courses=demo.COURSES[2:3])[0]
    alone = sign_in(viewer).get(reverse("server-levers", args=[calm.pk])).content.decode()
    assert "Redo and flushing are normal." in alone
    assert "SET GLOBAL" not in alone


def test_nothing_is_offered_for_a_server_of_which_nothing_is_known_now(
    sign_in: Sign, viewer: Any, watched: Any, team: Any
) -> None:
    stale = demo.build(team, hours=0.2, courses=demo.COURSES[4:5])[0]
    for server in (watched, stale):
        alone = sign_in(viewer).get(reverse("server-levers", args=[server.pk])).content.decode()
        assert "Nothing is known of this server at this moment" in alone
        assert "SET GLOBAL" not in alone


def test_a_new_server_says_what_happens_next_and_when(sign_in: Sign, viewer: Any, watched: Any) -> None:
    text = _text(_page(sign_in(viewer), watched))
    assert "Waiting for the first samples" in text
    assert "The first poll comes within 10 s" in text
    assert "The first full snapshot comes within 1 min" in text


def test_a_stale_server_says_whose_move_it_is_and_where_the_last_samples_are(
    sign_in: Sign, team_mate: Any, team: Any
) -> None:
    stale = demo.build(team, hours=0.2, courses=demo.COURSES[4:5])[0]
    retry = timezone.now() + timedelta(minutes=4)
    ServerState.objects.filter(server=stale).update(retry_at=retry.timestamp())
    html = _page(sign_in(team_mate), stale)
    notes = _text(_part(html, 'id="server-notes"', '<dl class="strip"'))
    assert "Your move" in notes
    assert f"The next try is at {timezone.localtime(retry):%H:%M:%S}" in notes
    assert 'data-condition="stale"' in html
    query = re.search(r'href="(\?from=\d+&(?:amp;)?to=\d+)">The last hour that was read', html)
    assert query is not None
    assert re.search(r'<path class="line', _page(sign_in(team_mate), stale, query[1].replace("&amp;", "&")))


def test_a_try_is_offered_to_those_who_may_ask_for_it(sign_in: Sign, team_mate: Any, viewer: Any, team: Any) -> None:
    stale = demo.build(team, hours=0.2, courses=demo.COURSES[4:5])[0]
    address = f'action="{reverse("server-try", args=[stale.pk])}"'
    assert address in _page(sign_in(team_mate), stale)
    assert address not in _page(sign_in(viewer), stale)


def test_trouble_that_passes_by_itself_asks_nobody(sign_in: Sign, viewer: Any, busy: Any) -> None:
    ServerState.objects.filter(server=busy).update(
        error="db.test does not answer.", error_kind="unreachable", error_since=timezone.now() - timedelta(minutes=1)
    )
    notes = _text(_part(_page(sign_in(viewer), busy), 'id="server-notes"', '<dl class="strip"'))
    assert "It cannot be read since" in notes
    assert "db.test does not answer." in notes
    assert "it is tried again by itself" in notes


def test_what_the_account_may_not_read_is_named_with_the_exact_statement(sign_in: Sign, viewer: Any, team: Any) -> None:
    partial = demo.build(team, hours=0.2, courses=demo.COURSES[3:4])[0]
    html = _page(sign_in(viewer), partial)
    note = _part(html, "note partial", "</details>")
    assert "1 source of facts cannot be read" in note
    assert "GRANT PROCESS ON *.* TO &#x27;tidemark&#x27;@&#x27;%&#x27;" in note


def test_what_watching_costs_is_told_as_it_was_measured(sign_in: Sign, viewer: Any, busy: Any) -> None:
    assert "told after the first poll" in _page(sign_in(viewer), busy)
    ServerState.objects.filter(server=busy).update(
        cost={
            "poll": {"statements": 1, "rows": 62, "bytes": 2048, "sent_bytes": 1024, "milliseconds": 0.5},
            "snapshot": {"statements": 9, "rows": 1402, "bytes": 61_440, "sent_bytes": 3072, "milliseconds": 9.0},
        }
    )
    cost = _text(_part(_page(sign_in(viewer), busy), 'id="server-cost"', "</p>"))
    assert "Watching it costs 1 connection, 0.25 statements/s, 1.2 KiB/s received, 154 B/s sent" in cost
    assert "at most 0.2 ms of each second of one thread" in cost


def test_events_stand_in_the_lane_folded_and_each_leads_to_its_place(
    sign_in: Sign, viewer: Any, busy: Any, owner: Any
) -> None:
    Event.objects.all().delete()
    now = timezone.now()
    for minutes in (20.0, 19.95, 19.9):
        made = record(
            team_id=busy.team_id, server_id=busy.pk, kind="server.variable_changed",
            at=now - timedelta(minutes=minutes), data={"name": "a", "old": "1", "new": "2"},
        )  # fmt: skip
    record(
        team_id=busy.team_id, server_id=busy.pk, kind="annotation.created", at=now - timedelta(minutes=10), actor=owner,
        data={"text": "<b>deploy</b>", "tags": ["deploy"]},
    )  # fmt: skip
    record(team_id=busy.team_id, server_id=busy.pk, kind="server.paused", at=now - timedelta(minutes=5))
    lane = _part(_page(sign_in(viewer), busy, "?range=1h"), '<svg class="lane"', "</svg>")
    assert re.findall(r"<text[^>]*>([^<]+)</text>", lane) == ["C×3", "D"]
    assert f'href="{reverse("server-events", args=[busy.pk])}?event={made.pk}#event-{made.pk}"' in lane
    assert lane.count('class="filled"') == 1
    assert "<b>deploy" not in lane


def test_the_page_takes_few_queries_and_an_unchanged_part_fewer(
    sign_in: Sign, viewer: Any, busy: Any, django_assert_max_num_queries: Any
) -> None:
    client, address = sign_in(viewer), reverse("server", args=[busy.pk])
    part = client.get(address, headers={"HX-Request": "true"})
    # Three of them are the rail's: what waits for the reader, what is unread, whether there is an audit to see.
    with django_assert_max_num_queries(31):
        client.get(address)
    with django_assert_max_num_queries(10):
        again = client.get(address, headers={"HX-Request": "true", "If-None-Match": part["ETag"]})
    assert again.status_code == 304


@pytest.mark.parametrize(
    ("ratio", "words"), [(None, ""), (-0.64, "−64 %"), (0.071, "+7 %"), (0.001, "±0 %"), (12.0, "+1,200 %")]
)
def test_a_change_is_told_with_its_sign(ratio: float | None, words: str) -> None:
    assert banner.change_words(ratio) == words


def test_addresses_of_pages_that_are_not_there_are_empty() -> None:
    from advisor.web import addresses

    assert addresses.of("no-such-page", "x") == ""
    assert addresses.with_query("", at=1) == ""
