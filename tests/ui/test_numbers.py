"""Numbers never stand without their unit, in both languages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone, translation

from advisor.ui import messages, quantities
from advisor.ui.period import parse


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        (8_388_608, "bytes", "8 MiB"),
        (1536, "bytes", "1.5 KiB"),
        (0, "bytes", "0 B"),
        (5_242_880.5, "bytes/s", "5 MiB/s"),
        (1204.4, "1/s", "1,204 /s"),
        (0.712, "ratio", "71.2 %"),
        (0.00004, "ratio", "0 %"),
        (1.0, "ratio", "100 %"),
        (4320, "seconds", "1 h 12 min"),
        (0.42, "seconds", "0.42 s"),
        (61, "seconds", "1 min 1 s"),
        (660, "seconds", "11 min"),
        (183_600, "seconds", "2 d 3 h"),
        (3601, "seconds", "1 h"),
        (17, "pages/s", "17 pages/s"),
        (3, "count", "3"),
        ("ON", "text", "ON"),
        (True, "count", "True"),
        (None, "bytes", "–"),
    ],
)
def test_a_figure_in_words(value: object, unit: str, words: str) -> None:
    assert quantities.quantity(value, unit) == words


def test_durations_in_korean() -> None:
    with translation.override("ko"):
        assert quantities.duration(4320) == "1시간 12분"


@pytest.mark.parametrize("language", ["en", "ko"])
def test_both_languages_group_and_point_numbers_alike(language: str) -> None:
    """So that a figure read aloud over the telephone is the same figure; a third language would have to say its own."""
    with translation.override(language):
        assert quantities.number(1_234_567.0) == "1,234,567"
        assert quantities.number(41.26) == "41.3"
        assert quantities.percent(0.712) == "71.2 %"
        assert quantities.size(3_221_225_472) == "3 GiB"
        assert quantities.servers(12_000).replace("서버 ", "").startswith("12,000")


def test_ages_are_rounded_to_what_matters() -> None:
    now = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
    assert quantities.ago(now - timedelta(seconds=76), now) == "1 min 16 s ago"
    assert quantities.ago(now - timedelta(seconds=190), now) == "3 min ago"
    assert quantities.ago(now + timedelta(seconds=5), now) == "0 s ago"


def test_instants_are_in_the_readers_zone() -> None:
    with timezone.override("Asia/Seoul"):
        assert quantities.instant(datetime(2020, 5, 1, 18, 30, tzinfo=UTC)) == "2020-05-02 03:30"


def test_only_variables_counted_in_bytes_are_shown_as_bytes() -> None:
    assert quantities.setting("536870912", "innodb_redo_log_capacity") == "512 MiB"
    assert quantities.setting("2000", "innodb_io_capacity") == "2000"
    assert quantities.setting("ON", "innodb_buffer_pool_size") == "ON"


def test_a_stored_message_gets_its_figures() -> None:
    stored = {
        "text": "{a} of {b}",
        "values": {"a": {"value": 0.5, "unit": "ratio"}, "b": {"value": 1024, "unit": "bytes"}},
    }
    assert messages.text_of(stored) == "50 % of 1 KiB"
    assert (
        messages.text_of({"text": "{a} {never_sent}", "values": {"a": {"value": 1, "unit": "count"}}}) == "1 never_sent"
    )
    assert messages.text_of({"text": "an { open brace", "values": {}}) == "an { open brace"
    assert messages.text_of("plain") == "plain"
    assert messages.text_of(None) == ""


@pytest.mark.parametrize(
    ("parameters", "seconds", "name"),
    [
        ({}, 3600, "1h"),
        ({"range": "6h"}, 21_600, "6h"),
        ({"range": "nonsense"}, 3600, "1h"),
        ({"from": "now-24h", "to": "now"}, 86_400, "24h"),
        ({"from": "1795000000000", "to": "1795003600000"}, 3600, ""),
        ({"from": "1795003600000", "to": "1795000000000"}, 3600, "1h"),
        ({"from": "now-30s", "to": "now"}, 3600, "1h"),
        ({"from": "1;DROP", "to": "x"}, 3600, "1h"),
    ],
)
def test_the_range_in_an_address(parameters: dict[str, str], seconds: float, name: str) -> None:
    period = parse(parameters, 1_795_003_600.0)
    assert (round(period.seconds), period.name) == (seconds, name)


def test_a_range_leads_to_itself() -> None:
    from urllib.parse import parse_qsl

    period = parse({"from": "1795000000000", "to": "1795003600000"}, 1_796_000_000.0)
    assert parse(dict(parse_qsl(period.query)), 1_796_000_000.0) == period
