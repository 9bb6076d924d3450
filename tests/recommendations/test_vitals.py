"""How a server is at this minute, and the sentence that says so."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.engine.scene import scene
from advisor.engine.units import MIB
from advisor.recommendations import headline, vitals
from advisor.recommendations.vitals import Condition
from advisor.ui.messages import text_of

MYSQL, MARIADB = "mysql 8.0.33", "mariadb 10.11.18"


def read(name: str, pressure: list[float], *, load: float = MIB, counters: dict[str, float] | None = None) -> Any:
    seen = scene(name, redo_per_second=load, pressure=pressure, seconds=60, counters=counters)
    return vitals.read(seen.intervals)


@pytest.mark.parametrize(
    ("name", "pressure", "condition"),
    [
        (MYSQL, [0.2], Condition.CALM),
        (MYSQL, [0.85], Condition.CALM),
        (MYSQL, [0.88], Condition.WARNING),
        (MYSQL, [0.2, 0.2, 1.0, 0.2, 0.2, 0.2, 0.2], Condition.CRITICAL),
        (MARIADB, [0.88], Condition.CALM),
        (MARIADB, [0.95], Condition.WARNING),
        (MARIADB, [1.0], Condition.CRITICAL),
    ],
)
def test_the_condition_follows_the_points_of_the_very_server(
    name: str, pressure: list[float], condition: Condition
) -> None:
    assert read(name, pressure).condition is condition


def test_a_high_age_on_an_idle_server_is_calm() -> None:
    assert read(MARIADB, [1.0], load=100).condition is Condition.CALM


def test_writers_that_waited_are_critical_whatever_the_polls_saw_of_the_age() -> None:
    assert read(MYSQL, [0.5], counters={"log_on_file_space_waits": 0.5}).condition is Condition.CRITICAL


def test_a_log_that_fills_within_minutes_is_watched_once_half_of_it_is_used() -> None:
    rising = read(MYSQL, [0.50, 0.55, 0.60, 0.65, 0.70, 0.75, 0.80])
    assert rising.condition is Condition.WATCH
    assert rising.headroom_seconds == pytest.approx(0.2 / (0.05 / 10), rel=0.1)


def test_a_draining_log_has_no_headroom_to_speak_of() -> None:
    assert read(MYSQL, [0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5]).headroom_seconds is None


def test_nothing_is_told_of_nothing() -> None:
    assert vitals.read(()) is None


def test_a_calm_server_says_how_much_of_its_limit_is_used_and_names_the_limit() -> None:
    said = headline.sentence(Condition.CALM, vitals=read(MYSQL, [0.31]), since=None)
    assert text_of(said) == "Redo and flushing are normal: 31 % of the sync point"
    assert {fact["name"] for fact in said["facts"]} >= {
        "checkpoint age against its limit, now",
        "redo written per second",
    }
    maria = headline.sentence(Condition.CALM, vitals=read(MARIADB, [0.31]), since=None)
    assert text_of(maria) == "Redo and flushing are normal: 31 % of the maximum checkpoint age"


def test_waiting_writers_are_said_with_the_minute_it_began(settings: Any) -> None:
    settings.TIME_ZONE = "UTC"
    said = headline.sentence(Condition.CRITICAL, vitals=read(MYSQL, [1.0]), since=1_795_229_460.0)
    assert said["values"]["since"] == {"value": 1_795_229_460.0, "unit": "instant"}
    assert text_of(said).startswith("Writers wait for redo since ")
    assert "02:51" in text_of(said)


@pytest.mark.parametrize("condition", list(Condition))
@pytest.mark.parametrize("trouble", ["", "The password is wrong."])
def test_every_condition_has_a_sentence_without_holes(condition: Condition, trouble: str) -> None:
    for known in (None, read(MYSQL, [0.5, 0.6, 0.7]), read(MARIADB, [0.9], load=0)):
        said = headline.sentence(condition, vitals=known, since=None, newest_sample_at=None, trouble=trouble)
        text = text_of(said)
        assert text
        assert "{" not in text
        assert "None" not in text
        assert set(said) == {"text", "values", "facts"}


def test_a_saw_tooth_that_reached_the_limit_in_this_minute_leaves_no_headroom() -> None:
    assert read(MYSQL, [0.9, 1.0, 0.9, 0.905, 0.91]).headroom_seconds == 0


@pytest.mark.parametrize("held", [Condition.CRITICAL, Condition.WARNING])
def test_a_condition_that_is_only_held_is_told_of_as_past(held: Condition) -> None:
    said = text_of(headline.sentence(held, vitals=read(MYSQL, [0.4]), since=1_795_229_460.0))
    assert said.endswith("until a moment ago")


def test_above_the_async_point_no_headroom_stands_among_the_facts() -> None:
    said = headline.sentence(Condition.WARNING, vitals=read(MARIADB, [0.95, 0.96, 0.97]), since=None)
    assert read(MARIADB, [0.95, 0.96, 0.97]).condition is Condition.WARNING
    assert "headroom at this rate" not in [fact["name"] for fact in said["facts"]]
