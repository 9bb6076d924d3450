"""The time range in an address: every way of naming one, what leads to it again, and what makes no sense."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import parse_qsl
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.ui.period import COMPARISONS, RANGES, Period, parse

NOW = 1_795_003_600.0


def _again(address: str, now: float = NOW) -> Period:
    return parse(dict(parse_qsl(address.lstrip("?"))), now)


@pytest.mark.parametrize("name", RANGES)
def test_every_preset_leads_to_itself_and_ends_now(name: str) -> None:
    period = _again(f"range={name}")
    assert (period.seconds, period.name, period.moves, period.ended) == (RANGES[name], name, True, NOW)
    assert _again(period.query) == period


def test_a_link_of_grafana_pastes_in() -> None:
    period = parse({"from": "now-3h", "to": "now"}, NOW)
    assert (period.seconds, period.moves, period.refused) == (3 * 3600, True, False)
    assert _again(period.query, NOW + 60).ended == NOW + 60
    past = parse({"from": "now-3h", "to": "now-1h"}, NOW)
    assert (past.seconds, past.moves) == (2 * 3600, False)
    assert parse({"from": "1795000000000", "to": "1795003600000"}, NOW).started == 1_795_000_000.0


def test_a_forms_times_are_of_the_readers_zone_unless_utc_is_asked_for() -> None:
    typed = {"from": "2026-11-18T10:00", "to": "2026-11-18T12:00"}
    seoul = parse(typed, NOW, zone=ZoneInfo("Asia/Seoul"))
    assert datetime.fromtimestamp(seoul.started, UTC).hour == 1
    assert (
        datetime.fromtimestamp(parse({**typed, "tz": "utc"}, NOW, zone=ZoneInfo("Asia/Seoul")).started, UTC).hour == 10
    )
    assert seoul.local(ZoneInfo("Asia/Seoul")) == ("2026-11-18T10:00", "2026-11-18T12:00")


def test_since_the_last_change_begins_with_it() -> None:
    period = parse({"range": "since-change"}, NOW, newest=lambda name: NOW - 900 if name == "since-change" else None)
    assert (period.started, period.moves, period.name) == (NOW - 900, True, "since-change")
    assert period.query == "range=since-change"
    just_now = parse({"range": "since-change"}, NOW, newest=lambda name: NOW - 1)
    assert just_now.seconds == 60


def test_a_range_since_something_that_never_happened_falls_back_and_says_so() -> None:
    period = parse({"range": "since-restart"}, NOW, newest=lambda name: None)
    assert (period.name, period.refused) == ("1h", True)


@pytest.mark.parametrize(
    "parameters",
    [
        {"range": "nonsense"},
        {"from": "1795003600000", "to": "1795000000000"},
        {"from": "now-30s", "to": "now"},
        {"from": "1;DROP", "to": "x"},
        {"from": "2026-13-40T10:00", "to": "2026-11-18T12:00"},
        {"from": "", "to": "now"},
        {"from": "now-500d", "to": "now"},
    ],
)
def test_what_makes_no_sense_falls_back_and_says_so(parameters: dict[str, str]) -> None:
    period = parse(parameters, NOW, "6h")
    assert (period.name, period.refused) == ("6h", True)


def test_an_empty_form_is_no_wish() -> None:
    assert not parse({"from": "", "to": ""}, NOW).refused
    assert not parse({}, NOW).refused


def test_shifting_moves_by_half_and_back_again() -> None:
    period = parse({"from": "1795000000000", "to": "1795003600000"}, NOW + 86_400)
    earlier = _again(period.earlier, NOW + 86_400)
    assert (period.started - earlier.started, earlier.seconds) == (1800, 3600)
    assert _again(earlier.later, NOW + 86_400) == period
    assert parse({}, NOW).later == ""


def test_zooming_out_doubles_about_the_middle_or_keeps_the_moving_end() -> None:
    period = parse({"from": "1795000000000", "to": "1795003600000"}, NOW + 86_400)
    wider = _again(period.wider, NOW + 86_400)
    assert wider.seconds == 7200
    assert wider.started + wider.ended == period.started + period.ended
    assert _again(parse({"range": "6h"}, NOW).wider).name == "12h"
    moving = _again(parse({"range": "1h"}, NOW).wider)
    assert (moving.seconds, moving.moves) == (7200, True)


def test_a_comparison_and_a_zone_stay_in_every_address() -> None:
    period = parse({"range": "1h", "cmp": "-7d", "tz": "utc"}, NOW)
    assert period.back_seconds == COMPARISONS["7d"]
    addresses = [period.earlier, period.wider, period.fixed, *period.since.values()]
    addresses += [choice.url for choice in period.choices]
    assert all("cmp=-7d" in one and "tz=utc" in one for one in addresses)
    assert "tz" not in dict(parse_qsl(period.other_zone.lstrip("?")))


def test_following_the_shown_comparison_again_ends_it() -> None:
    here = next(choice for choice in parse({"cmp": "-7d"}, NOW).comparisons if choice.here)
    assert _again(here.url).back_seconds == 0


def test_a_range_is_not_offered_to_be_compared_with_itself() -> None:
    assert [choice.name for choice in parse({"range": "7d"}, NOW).comparisons] == ["7d", "28d"]


@pytest.mark.parametrize("text", ["7d", "-0x7d", "-7y", "--7d", "-99999d"])
def test_a_comparison_that_makes_no_sense_is_none(text: str) -> None:
    assert parse({"cmp": text}, NOW).back_seconds == 0


@given(st.dictionaries(st.sampled_from(["range", "from", "to", "cmp", "tz"]), st.text(max_size=20)))
def test_no_address_breaks_a_page(parameters: dict[str, str]) -> None:
    period = parse(parameters, NOW, newest=lambda name: None)
    assert 60 <= period.seconds <= 400 * 86_400
    again = _again(period.query)
    assert (again.name, again.moves, again.back_seconds) == (period.name, period.moves, period.back_seconds)
