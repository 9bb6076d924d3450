"""What stands behind the sentence: figures of the trouble against those of the hour before, poll by poll."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.recommendations import recently
from advisor.recommendations.models import FleetRow
from collector.store import store
from tests.web import demo


@pytest.fixture
def stalled(team: Any) -> Any:
    """A server with two hours of history that fell to a third of its work four minutes ago."""
    return demo.build(team, hours=2.2, courses=demo.COURSES[:1])[0]


def _newest(server: Any) -> float:
    at = FleetRow.objects.get(pk=server.pk).newest_sample_at
    assert at is not None
    return float(at.timestamp())


def test_the_minute_has_the_figures_of_the_fleet_row(stalled: Any) -> None:
    row, found = FleetRow.objects.get(pk=stalled.pk), recently.read(stalled.pk, _newest(stalled), None, 10)
    assert found.now["transactions"].value == pytest.approx(row.transactions_per_second, rel=1e-6)
    assert found.now["redo"].value == pytest.approx(row.redo_bytes_per_second, rel=1e-6)
    assert found.now["pressure"].value == pytest.approx(row.pressure)
    assert found.now["dirty"].value == pytest.approx(row.dirty_percent)


def test_transactions_are_compared_with_the_hour_before_the_trouble(stalled: Any) -> None:
    newest = _newest(stalled)
    found = recently.read(stalled.pk, newest, newest - 200, 10)
    assert found.change_ratio == pytest.approx(-0.64, abs=0.08)
    assert found.seconds == 200
    assert found.before["transactions"].ended_at <= found.now["transactions"].started_at
    assert found.before["transactions"].ended_at - found.before["transactions"].started_at == pytest.approx(3600)


def test_waits_are_counted_in_the_trouble_alone(stalled: Any) -> None:
    newest = _newest(stalled)
    found = recently.read(stalled.pk, newest, newest - 200, 10)
    waited = sum(
        float(one.delta("log_on_file_space_waits") or 0)
        for one in store().intervals(stalled.pk, newest - 200, newest + 1)
    )
    assert found.now["waits"].value == pytest.approx(waited)
    assert found.now["at_limit"].value == 1.0


def test_a_long_trouble_is_told_from_its_last_hour_and_against_the_hour_before_it_began(stalled: Any) -> None:
    newest = _newest(stalled)
    found = recently.read(stalled.pk, newest, newest - 4000, 10)
    assert found.seconds == 3600
    assert found.before["transactions"].ended_at == pytest.approx(newest - 4000, abs=10)


def test_a_figure_is_made_again_from_the_samples_it_names(stalled: Any) -> None:
    newest = _newest(stalled)
    found = recently.read(stalled.pk, newest, newest - 200, 10)
    for name in ("transactions", "redo", "highest", "dirty"):
        figure = found.now[name]
        points = [
            point[3]
            for point in store()
            .buckets(stalled.pk, [figure.series], figure.started_at, figure.ended_at, 2000)
            .points(figure.series)
            if point is not None
        ]
        again = {"mean": sum(points) / len(points), "greatest": max(points), "last": points[-1]}[figure.how]
        assert figure.value == pytest.approx(again), name


def test_nothing_is_told_where_nothing_was_stored(watched: Any) -> None:
    found = recently.read(watched.pk, 1_800_000_000.0, None, 10)
    assert (found.now, found.before, found.change_ratio) == ({}, {}, None)
