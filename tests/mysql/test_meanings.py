"""What the names of status variables and innodb_metrics mean, on every server that was recorded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from advisor.mysql import counters, meanings, series
from advisor.mysql.counters import Kind
from advisor.mysql.meanings import Told, meaning
from collector.numbers import number

RECORDED = sorted((Path(__file__).parents[1] / "recorded").glob("*/last.json"))
KINDS = {
    Told.COUNTER: Kind.COUNTER, Told.GAUGE: Kind.GAUGE, Told.MARK: Kind.GAUGE, Told.POSITION: Kind.POSITION,
}  # fmt: skip


def _names(path: Path) -> list[str]:
    """Everything that this server counts, as the history spells it."""
    snapshot = json.loads(path.read_text(encoding="utf-8"))
    status = [name for name, text in snapshot["status"].items() if number(text) is not None]
    return [*status, *(f"{counters.METRICS_PREFIX}{name}" for name in snapshot["metrics"])]


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.parent.name)
def test_every_number_of_every_recorded_server_is_described_and_of_the_kind_it_is_stored_as(path: Path) -> None:
    names = _names(path)
    assert len(names) > 200
    assert [name for name in names if meaning(name) is None] == []
    wrong = [
        name
        for name in names
        if (told := meaning(name)) is not None and told.told is not Told.TEXT
        and KINDS[told.told] is not counters.kind(name)
    ]  # fmt: skip
    assert wrong == []


def test_what_is_told_as_a_text_is_not_charted_by_mistake() -> None:
    """Some texts are numbers on some server: they may be charted, but then as they are and not per second."""
    numeric = {name for path in RECORDED for name in _names(path)}
    texts = [name for name in numeric if (told := meaning(name)) is not None and told.told is Told.TEXT]
    assert [name for name in texts if counters.kind(name) is not Kind.GAUGE] == []


def test_every_series_of_the_polls_is_described() -> None:
    names = {*series.DERIVED, *counters.FAST_STATUS_NAMES, *counters.FAST_METRIC_NAMES}
    names |= {name for pair in series.FSYNCS.values() for name in pair}
    assert [name for name in sorted(names) if meaning(name) is None] == []


def test_a_family_is_described_by_its_word() -> None:
    assert str(meaning("Com_show_status")) == "Statements of the kind SHOW STATUS, whether they succeeded or not."
    assert str(meaning("Performance_schema_digest_lost")).endswith("room: digest.")


def test_a_whole_name_wins_over_its_family() -> None:
    assert "RANGE" not in str(meaning("Com_select"))
    assert str(meaning("Com_commit")).startswith("COMMIT statements")


def test_a_name_that_nobody_describes_is_not_guessed_at() -> None:
    assert meaning("Some_counter_of_the_next_release") is None
    assert meaning("metrics.some_counter_of_the_next_release") is None


def test_a_poll_spells_innodb_metrics_without_their_prefix() -> None:
    assert meaning("log_checkpoints") == meaning("metrics.log_checkpoints")


def test_sentences_are_sentences_with_at_most_one_hole() -> None:
    for sentence in meanings.sentences():
        assert sentence.endswith("."), sentence
        assert sentence.count("{") <= 1, sentence
