"""The redo page: the table of sizes, what it rests on, and what stands in its place where nothing can be told."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.utils import translation

from advisor.engine.facts.digests import made_row
from advisor.engine.scene import inspected as rows_read
from advisor.mysql import redo
from advisor.mysql.digest import HourlyDigest
from advisor.mysql.version import identify
from advisor.recommendations import redo_sizing
from advisor.recommendations.models import Recommendation
from advisor.web import redo_hours, redo_words
from advisor.web.figure_links import RedoFigures
from advisor.whatif.sizing import CannotTell, Range, Verdict, Why
from collector import snapshots
from tests.web import redo_history
from tests.whatif.emulated import MIB


@pytest.fixture
def sized(team: Any) -> Any:
    """Two hours of a server whose log is as big as it has to be, judged by the real rules."""
    return redo_history.build(team, hours=2.2, capacity=128 * MIB, peak=4 * MIB, io_capacity=100)


@pytest.fixture
def page(sign_in: Callable[[Any], Client], owner: Any) -> Callable[..., str]:
    client = sign_in(owner)

    def get(server: Any, query: str = "") -> str:
        answer = client.get(f"/s/{server.pk}/redo{query}{'&' if query else '?'}whole=1")
        assert answer.status_code == 200
        return answer.content.decode()

    return get


FIGURES = RedoFigures("s", 0.0, 7 * 86_400.0)


def _text(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def _found(server: Any, hours: float) -> redo_sizing.Read:
    snapshot = snapshots.latest(server.pk)
    assert snapshot is not None
    return redo_sizing.read(server, snapshot, snapshot.taken_at - hours * 3600, snapshot.taken_at + 1)


def test_the_table_says_what_the_model_says_and_what_was_read(sized: Any, page: Callable[..., str]) -> None:
    html = page(sized, "?range=6h")
    sizing = _found(sized, 2.2).sizing
    assert sizing is not None
    text = _text(html)
    assert "from 2 h 12 min of 6 h" in text
    assert "128 MiB now, measured" in text
    for size in sizing.sizes[:3]:
        assert redo_words.between(size.p95, redo_words.rounded_percent).split(" ")[0] in text
    # The limits of a size are those of this version to the byte.
    for one in sizing.sizes:
        if not one.measured:
            version = identify("8.0.36", "MySQL Community Server - GPL")
            assert one.limits == redo.limits(version, capacity_bytes=one.capacity_bytes, page_size=16384)


def test_the_first_sentence_is_the_verdict(sized: Any, page: Callable[..., str]) -> None:
    assert "The redo log of 128 MiB is big enough, and the smallest that is" in page(sized, "?range=6h")
    sizing = _found(sized, 2.2).sizing
    assert sizing is not None
    verdicts = {128: Verdict.TOO_SMALL, 256: Verdict.UNSURE, 512: Verdict.SMALLEST}
    worse = [
        replace(one, verdict=verdicts.get(one.capacity_bytes // MIB, one.verdict), above_async=Range(0.1, 0.1))
        for one in sizing.sizes
        if one.capacity_bytes >= 128 * MIB
    ]
    said = redo_words.told(replace(sizing, sizes=tuple(worse)))
    assert said.state == "warning"
    assert said.sentence == "A redo log of 128 MiB is too small: 512 MiB is the smallest that holds the objective"
    said = redo_words.told(replace(sizing, sizes=tuple(worse[:2])))
    assert said.sentence == "A redo log of 128 MiB is too small; 256 MiB may be enough, but no size is sure to be"
    said = redo_words.told(replace(sizing, sizes=tuple(worse[:1]), by_design=True))
    assert said.state == "watch"
    assert said.address == "?goal=sync-99.9"


def test_another_objective_is_a_link_and_changes_the_verdict(sized: Any, page: Callable[..., str]) -> None:
    html = page(sized, "?range=6h&goal=sync-99")
    assert "writers do not wait 99 % of the time" in html
    assert "goal=async-99.9" in html


def test_a_chosen_size_comes_with_its_statements_its_undo_and_its_lines(sized: Any, page: Callable[..., str]) -> None:
    html = page(sized, f"?range=6h&size={512 * MIB}")
    assert f"SET GLOBAL `innodb_redo_log_capacity` = {512 * MIB};" in html
    assert "innodb_redo_log_capacity = 512M" in html
    assert f"SET GLOBAL `innodb_redo_log_capacity` = {128 * MIB};" in html


def test_a_size_that_is_not_in_the_table_is_not_taken_from_the_address(sized: Any, page: Callable[..., str]) -> None:
    assert "12345" not in page(sized, "?range=6h&size=12345").replace("size=12345", "")


def test_the_rules_proposal_stands_in_the_table_and_is_explained(sized: Any, page: Callable[..., str]) -> None:
    row = Recommendation.objects.create(
        server=sized, key="redo.redo-log-undersized", current="redo.redo-log-undersized-test",
        rule="redo.redo-log-undersized", severity="warning", confidence="low", opened_at=sized.created_at,
        last_seen_at=sized.created_at, document={
            "title": "t", "changes": [{"kind": "variable", "name": "innodb_redo_log_capacity", "current": "1",
                                       "proposed": str(3 * 1024 * MIB)}],
        },
    )  # fmt: skip
    Recommendation.objects.exclude(pk=row.pk).delete()
    text = _text(page(sized, "?range=6h"))
    assert "3 GiB recommended" in text
    assert "The open recommendation proposes 3 GiB" in text


def test_a_range_with_too_little_load_says_how_much_more_it_takes(team: Any, page: Callable[..., str]) -> None:
    young = redo_history.build(team, hours=0.5)
    text = _text(page(young, "?range=1h"))
    assert "I cannot tell how big the redo log should be" in text
    assert "the model needs 1 h, 30 min" in text


def test_a_server_without_a_snapshot_says_when_the_first_is_due(watched: Any, page: Callable[..., str]) -> None:
    assert "No full snapshot was taken yet" in page(watched)


def test_an_age_that_cannot_be_read_comes_with_the_grant_that_shows_it(team: Any, page: Callable[..., str]) -> None:
    blind = redo_history.build(
        team, hours=0.3, without=("Innodb_redo_log_current_lsn", "Innodb_redo_log_checkpoint_lsn")
    )
    html = page(blind)
    assert "The checkpoint age cannot be read" in html
    assert "GRANT PROCESS" in html


def test_the_page_answers_before_any_size_is_simulated_and_keeps_the_answer_for_the_newest_poll(
    sized: Any, owner: Any, sign_in: Callable[[Any], Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    simulate = redo_sizing.size

    def counted(*given: Any) -> Any:
        asked.append(given)
        return simulate(*given)

    monkeypatch.setattr(redo_sizing, "size", counted)
    client, address = sign_in(owner), f"/s/{sized.pk}/redo?range=6h"
    first = client.get(address).content.decode()
    assert not asked
    assert 'hx-trigger="load"' in first
    assert "whole=1" in first[first.index("<noscript>") : first.index("</noscript>")]
    assert first.count('class="awaited') >= 4
    # What was measured stands there at once, and leads to its samples.
    assert 'data-how="p95-of-histogram"' in first
    part = client.get(address, headers={"HX-Request": "true"}).content.decode()
    assert len(asked) == 1
    assert "now, measured" in part
    assert "<html" not in part
    assert part.count('data-label="Disk"') == first.count('class="awaited')
    assert "now, measured" in client.get(address).content.decode()
    assert "now, measured" in client.get(f"{address}&size={512 * MIB}").content.decode()
    assert len(asked) == 1
    client.get(f"{address}&goal=sync-99", headers={"HX-Request": "true"})
    assert len(asked) == 2


def test_a_refusal_that_takes_no_model_is_said_at_once_and_only_once(
    team: Any, owner: Any, sign_in: Callable[[Any], Client]
) -> None:
    young = redo_history.build(team, hours=0.5)
    text = _text(sign_in(owner).get(f"/s/{young.pk}/redo?range=1h").content.decode())
    assert text.count("I cannot tell how big") == 1


def test_aurora_has_nothing_to_size(sized: Any, page: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redo, "has_redo_log", lambda _version: False)
    assert "Amazon Aurora has no redo log to size" in page(sized)


def test_a_version_that_resizes_only_at_a_start_says_so(
    sized: Any, page: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redo, "resizable_online", lambda _version: False)
    assert "needs a restart" in page(sized, "?range=6h")


def test_a_long_range_is_replayed_by_its_hours(sized: Any, page: Callable[..., str]) -> None:
    found = _found(sized, 7 * 24)
    assert found.recorded.from_digests
    assert "I cannot tell" in page(sized, "?range=7d") or "replayed by its hours" in page(sized, "?range=7d")


def test_writers_are_named_where_an_inspection_knows_them(
    sized: Any, page: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile = "UPDATE `<script>alert(1)</script>` SET `n` = ?"
    rows = [made_row(hostile, rows_affected=75), made_row("DELETE FROM `b`", rows_affected=25)]
    inspected = rows_read(digests=rows)
    monkeypatch.setattr("advisor.web.redo_writers.inspecting.latest", lambda *_args, **_named: inspected)
    html = page(sized, "?range=6h")
    assert "75 %" in html
    assert "&lt;script&gt;" in html
    assert "<script>alert" not in html
    assert "Rows are not bytes" in html


def test_an_inspection_without_statements_says_what_is_missing(
    sized: Any, page: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    inspected = rows_read(digests=[made_row("UPDATE `a` SET `n` = ?", rows_affected=1, seen_seconds=5)])
    monkeypatch.setattr("advisor.web.redo_writers.inspecting.latest", lambda *_args, **_named: inspected)
    assert "Needs statements that were first seen 1 h ago" in page(sized, "?range=6h")


def test_without_an_inspection_it_can_be_asked_for(sized: Any, page: Callable[..., str]) -> None:
    html = page(sized, "?range=6h")
    assert "An inspection reads the server" in html
    assert f"/s/{sized.pk}/inspect" in html


def _digest(hour_at: int, *, cell: int = 10, waited: float = 0.0, written: int = MIB) -> HourlyDigest:
    histogram = [0.0] * 31
    histogram[cell] = 3600.0
    return HourlyDigest(hour_at, 3600.0, written, written, tuple(histogram), 0.0, waited, 0.0, 0.0, 128 * MIB)


def test_the_week_is_told_by_weekday_and_hour_of_the_readers_clock() -> None:
    monday = 1_704_067_200  # 2024-01-01 00:00 UTC, a Monday
    with translation.override("en"):
        rows = redo_hours.heatmap(
            [_digest(monday, cell=10), _digest(monday + 3600, waited=400.0)], ZoneInfo("Asia/Seoul"), FIGURES
        )
    assert rows[0].name == "Mon"
    assert rows[0].cells[9].p95 == pytest.approx(0.525)
    assert rows[0].cells[10].waits
    assert rows[0].cells[0].p95 is None
    assert redo_hours.worst(rows) == ("Mon", rows[0].cells[10])


def test_hours_in_which_writers_waited_join_into_episodes() -> None:
    waited = [_digest(3600 * hour, waited=60.0) for hour in (10, 11, 14)]
    found, count = redo_hours.episodes_of_digests([*waited, _digest(3600 * 20)], "s")
    assert count == 2
    assert [_text(one.seconds).strip() for one in found] == ["1 min", "2 min"]


def test_redo_written_an_hour_is_told_of_whole_hours_only() -> None:
    found = redo_hours.written([_digest(0, written=MIB), _digest(3600, written=3 * MIB)], FIGURES)
    assert found is not None
    assert (_text(found.p50).strip(), _text(found.most).strip(), found.hours) == ("1 MiB", "3 MiB", 2)


def test_bands_are_told_with_their_unit_once() -> None:
    assert redo_words.between(Range(0.31, 0.44), redo_words.rounded_percent) == "31 – 44 %"
    assert redo_words.between(Range(0.31, 0.312), redo_words.rounded_percent) == "31 %"
    assert redo_words.between(Range(20, 170), redo_words.recovery) == "20 s – 3 min"


@pytest.mark.parametrize("why", list(Why))
def test_every_reason_has_words(why: Why) -> None:
    with translation.override("en"):
        said = redo_words.refused(CannotTell(why, seen=1800, wanted=3600))
    assert said.state == "unknown"
    assert said.facts[0]


@pytest.mark.browser
def test_the_page_is_whole_on_a_phone_and_on_a_screen(sized: Any, visit: Callable[..., Any]) -> None:
    for width in (1366, 360):
        seen = visit(viewport={"width": width, "height": 900}, color_scheme="dark" if width == 360 else "light")
        opened = seen.open(f"/s/{sized.pk}/redo?range=6h")
        wide = opened.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0
        assert opened.locator("table.sizes tbody tr").count() >= 4
        seen.clean()
