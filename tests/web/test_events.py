"""The page of a server's events: found by kind, time and words; annotations are written and taken back."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from advisor.journal.models import Event
from advisor.journal.services import record
from tests.conftest import build_server

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
MADE = {"changes": {"innodb_io_capacity": ["200", "400"], "innodb_log_file_size": ["1073741824", None]}, "count": 2}


@pytest.fixture
def alpha(watched: Any) -> Any:
    """A server of which nothing is told yet."""
    Event.objects.all().delete()
    return watched


def _happened(server: Any, kind: str, minutes: int = 0, actor: Any = None, **data: Any) -> Event:
    at = NOW + timedelta(minutes=minutes)
    return record(team_id=server.team_id, server_id=server.pk, kind=kind, at=at, actor=actor, data=data)


def _page(client: Client, server: Any, query: str = "") -> str:
    answer = client.get(reverse("server-events", args=[server.pk]) + query)
    assert answer.status_code == 200
    return str(answer.content.decode())


def _shown(html: str) -> list[int]:
    return [int(number) for number in re.findall(r'<tr id="event-(\d+)"', html)]


def test_each_kind_is_told_with_its_letter_who_and_from_what_to_what(
    sign_in: Callable[[Any], Client], viewer: Any, alpha: Any, owner: Any
) -> None:
    _happened(alpha, "server.restarted", 1, uptime_seconds=12)
    _happened(alpha, "server.variables_changed", 2, **MADE)
    _happened(
        alpha,
        "server.variable_changed",
        3,
        name="innodb_log_file_size",
        old="1073741824",
        new="2147483648",
        source="ours",
    )
    _happened(alpha, "server.version_changed", 4, old="8.0.35", new="8.0.36")
    _happened(alpha, "server.role_changed", 5, **{"from": "replica", "to": "source"})
    _happened(alpha, "annotation.created", 6, owner, text="deploy v481", tags=["deploy"])
    _happened(alpha, "server.paused", 7, owner)
    html = _page(sign_in(viewer), alpha)
    for words in (
        "The server was restarted, 12 s before it was seen",
        "2 system variables were changed: innodb_io_capacity, innodb_log_file_size",
        "innodb_log_file_size: 1 GiB → 2 GiB",
        "Version: 8.0.35 → 8.0.36",
        "Role: replica → source",
        "deploy v481",
        "Watching it was switched off",
        "past Tidemark",
        ">owner</td>",
    ):
        assert words in html, words
    assert re.findall(r'<b class="letter(?: filled)?" title="[^"]+">(.)</b>', html) == ["D", "F", "V", "C", "C", "R"]
    assert html.count("letter filled") == 1, "only what was changed past Tidemark is filled"


def test_events_are_found_by_group_and_by_words_in_names_values_and_people(
    sign_in: Callable[[Any], Client], viewer: Any, alpha: Any, owner: Any
) -> None:
    client = sign_in(viewer)
    restart = _happened(alpha, "server.restarted")
    change = _happened(alpha, "server.variables_changed", 1, **MADE)
    note = _happened(alpha, "annotation.created", 2, owner, text="import began", tags=["batch"])
    deploy = _happened(alpha, "annotation.created", 3, owner, text="v481", tags=["deploy"])
    advice = _happened(alpha, "recommendation.opened", 4, title="The redo log is too small")
    paused = _happened(alpha, "server.paused", 5, owner)
    for query, wanted in (
        ("", [paused, advice, deploy, note, change, restart]),
        ("?group=restart", [restart]),
        ("?group=change", [change]),
        ("?group=annotation", [note]),
        ("?group=deploy", [deploy]),
        ("?group=finding", [advice]),
        ("?group=watching", [paused]),
        ("?group=nonsense", [paused, advice, deploy, note, change, restart]),
        ("?q=IO_CAPACITY", [change]),
        ("?q=1+GiB", [change]),
        ("?q=batch", [note]),
        ("?q=owner", [paused, deploy, note]),
        ("?q=nothing+of+it", []),
        ("?group=deploy&q=import", []),
        ("?from=1795262400000&to=1795262520000", [change, restart]),
    ):
        assert _shown(_page(client, alpha, query)) == [event.pk for event in wanted], query


def test_pages_lead_to_all_events_once(sign_in: Callable[[Any], Client], viewer: Any, alpha: Any) -> None:
    made = [_happened(alpha, "server.restarted", minutes // 3).pk for minutes in range(120)]
    client, query, seen = sign_in(viewer), "?q=restarted", []
    while query:
        html = _page(client, alpha, query)
        seen += _shown(html)
        older = re.search(r'<a class="button" href="(\?[^"]*before=\d+)"', html)
        query = older[1].replace("&amp;", "&") if older else ""
    assert seen == list(reversed(made))


def test_a_permalink_shows_its_event_however_old_it_is(
    sign_in: Callable[[Any], Client], viewer: Any, alpha: Any
) -> None:
    made = [_happened(alpha, "server.restarted", minutes).pk for minutes in range(70)]
    html = _page(sign_in(viewer), alpha, f"?event={made[3]}")
    assert _shown(html) == [made[3], made[2], made[1], made[0]]
    assert f'<tr id="event-{made[3]}" class="chosen" aria-current="true">' in html
    assert "Newer events" in html


def test_events_of_another_server_are_not_shown(
    sign_in: Callable[[Any], Client], viewer: Any, alpha: Any, team: Any
) -> None:
    other = _happened(build_server(team, "beta"), "server.restarted", 5)
    Event.objects.exclude(pk=other.pk).delete()
    client = sign_in(viewer)
    assert _shown(_page(client, alpha)) == []
    assert _shown(_page(client, alpha, f"?event={other.pk}")) == []
    assert "Nothing has happened since the server was added" in _page(client, alpha)


def test_an_editor_writes_an_annotation_and_takes_it_back(
    sign_in: Callable[[Any], Client], team_mate: Any, owner: Any, viewer: Any, alpha: Any
) -> None:
    client = sign_in(team_mate)
    write = reverse("annotation-create", args=[alpha.pk])
    given = {"text": "deploy v481", "at": "2026-11-20T02:49", "tags": "Deploy, v481"}
    answer = client.post(write, given)
    event = Event.objects.get(kind="annotation.created")
    assert answer["Location"] == reverse("server-events", args=[alpha.pk]) + f"#event-{event.pk}"
    assert (event.actor, event.data["tags"], event.at.minute) == (team_mate, ["deploy", "v481"], 49)
    take_back = reverse("annotation-delete", args=[alpha.pk, event.pk])
    assert take_back in _page(client, alpha)
    assert take_back not in _page(sign_in(owner), alpha), "it is not theirs"
    assert sign_in(owner).post(take_back).status_code == 404
    assert sign_in(viewer).post(take_back).status_code == 403
    assert "Write down what happened" not in _page(sign_in(viewer), alpha)
    assert client.post(take_back).status_code == 302
    assert list(Event.objects.values_list("kind", flat=True)) == ["annotation.deleted"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"text": " "}, "This field is required"),
        ({"text": "x", "at": "2999-01-01T00:00"}, "more than a day ahead"),
        ({"text": "x", "at": "2026-11-20T02:49", "ended_at": "2026-11-20T02:48"}, "cannot end before it begins"),
        ({"text": "x", "tags": "y" * 41}, "At most 10 tags"),
    ],
)
def test_an_annotation_that_cannot_be_kept_comes_back_with_the_reason(
    sign_in: Callable[[Any], Client], team_mate: Any, alpha: Any, given: dict[str, str], words: str
) -> None:
    answer = sign_in(team_mate).post(reverse("annotation-create", args=[alpha.pk]), given)
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not Event.objects.exists()


def test_what_somebody_wrote_is_text_and_never_markup(
    sign_in: Callable[[Any], Client], viewer: Any, alpha: Any, owner: Any
) -> None:
    evil = "<img src=x onerror=alert(1)>"
    _happened(alpha, "annotation.created", 1, owner, text=evil, tags=[evil])
    _happened(alpha, "server.variable_changed", 2, name=evil, old=evil, new=evil)
    _happened(alpha, "server.variables_changed", 3, changes={evil: [evil, None], "b": [None, evil]}, count=2)
    _happened(alpha, evil, 4)
    html = _page(sign_in(viewer), alpha, "?q=%3Cimg&group=")
    assert "<img" not in html
    assert "&lt;img" in html


def test_a_recommendations_title_is_told_in_the_readers_language(
    sign_in: Callable[[Any], Client], viewer: Any, watched: Any
) -> None:
    from tests.recommendations.building import Judging, found

    Judging(watched)(found())
    opened = Event.objects.get(kind="recommendation.opened")
    opened.data |= {"title_words": {"text": "Redo and flushing are normal."}}
    opened.save()
    client, address = sign_in(viewer), reverse("server-events", args=[watched.pk])
    assert "Opened: Redo and flushing are normal." in client.get(address).content.decode()
    korean = client.get(address, headers={"Accept-Language": "ko"}).content.decode()
    assert "리두와 플러시는 정상입니다." in korean


def test_the_part_is_the_pages_part(sign_in: Callable[[Any], Client], viewer: Any, alpha: Any) -> None:
    _happened(alpha, "server.restarted")
    client, address = sign_in(viewer), reverse("server-events", args=[alpha.pk])
    part = client.get(address, headers={"HX-Request": "true"}).content.decode()
    assert part.strip().startswith("<section")
    assert part.strip() in client.get(address).content.decode()


def test_the_page_of_many_events_takes_few_queries(
    sign_in: Callable[[Any], Client], viewer: Any, alpha: Any, django_assert_max_num_queries: Any
) -> None:
    for minutes in range(60):
        _happened(alpha, "recommendation.opened", minutes, title="x", recommendation="abc")
    client = sign_in(viewer)
    with django_assert_max_num_queries(12):
        _page(client, alpha)
