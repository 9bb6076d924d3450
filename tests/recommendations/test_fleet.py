"""The fleet row: written after polls and judgements, stale when nothing is heard."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from advisor.engine.scene import scene
from advisor.engine.units import MIB
from advisor.recommendations import fleet
from advisor.recommendations.models import FleetRow
from advisor.recommendations.vitals import Condition
from advisor.ui.messages import text_of
from collector import servers
from collector.models import ServerState
from collector.store import store

BEGAN = 1_800_000_000


def poll(server: Any, pressure: list[float], *, seconds: int = 60, load: float = MIB, later: int = 0) -> datetime:
    """Stores polls of a made server; answers the instant of the last."""
    seen = scene("mysql 8.0.33", redo_per_second=load, pressure=pressure, seconds=seconds, counters={"Com_commit": 50})
    polls = [seen.intervals[0].previous, *(one.current for one in seen.intervals)]
    shift = BEGAN + later - polls[0].at
    for one in polls:
        moved = type(one)(
            at=one.at + shift,
            server_clock=one.server_clock + later,
            uptime_seconds=one.uptime_seconds + later,
            values=one.values,
            identity=one.identity,
        )
        store().append(server.pk, int(moved.at), moved)
    return datetime.fromtimestamp(polls[-1].at + shift, UTC)


def row(server: Any) -> FleetRow:
    return FleetRow.objects.get(server=server)


def test_a_server_has_a_row_from_the_moment_it_is_registered(watched: Any) -> None:
    assert (row(watched).state, row(watched).team_id) == ("new", watched.team_id)
    assert text_of(row(watched).headline) == "Waiting for the first samples"


def test_a_deleted_server_takes_its_row_with_it(watched: Any) -> None:
    servers.delete_server(server=watched)
    assert not FleetRow.objects.exists()


def test_a_poll_brings_pressure_rates_sparkline_and_headline(watched: Any) -> None:
    now = poll(watched, [0.31], seconds=120)
    fleet.refresh(server_id=watched.pk, now=now)
    found = row(watched)
    assert found.state == "calm"
    assert found.pressure == pytest.approx(0.31, rel=0.01)
    assert found.redo_bytes_per_second == pytest.approx(MIB, rel=0.01)
    assert found.newest_sample_at == now
    assert len(found.sparkline) == 48
    assert found.sparkline[0] is None
    assert "31 %" in text_of(found.headline)


def test_a_worse_condition_shows_at_once_and_a_milder_one_a_while_later(watched: Any) -> None:
    critical_at = poll(watched, [1.0])
    fleet.refresh(server_id=watched.pk, now=critical_at)
    assert (row(watched).state, row(watched).state_since) == ("critical", critical_at)
    calm_at = poll(watched, [0.3], later=70, seconds=10)
    fleet.refresh(server_id=watched.pk, now=calm_at)
    assert (row(watched).state, row(watched).state_since) == ("critical", critical_at), "held for a while"
    later = poll(watched, [0.3], later=140, seconds=120)
    fleet.refresh(server_id=watched.pk, now=later)
    assert row(watched).state == "calm"
    assert row(watched).sort_rank < 200


def test_nothing_heard_for_a_minute_is_stale_and_says_why(watched: Any) -> None:
    now = poll(watched, [0.3])
    fleet.refresh(server_id=watched.pk, now=now)
    assert fleet.mark_stale(now=now + timedelta(seconds=50)) == 0
    ServerState.objects.filter(server=watched).update(error="The password is wrong.")
    assert fleet.mark_stale(now=now + timedelta(seconds=70)) == 1
    assert row(watched).state == "stale"
    assert text_of(row(watched).headline).endswith("The password is wrong.")
    assert fleet.mark_stale(now=now + timedelta(seconds=80)) == 0, "unchanged rows are not written again"
    back = poll(watched, [0.3], later=200)
    fleet.refresh(server_id=watched.pk, now=back)
    assert row(watched).state == "calm"


def test_a_server_that_was_never_read_says_why(watched: Any) -> None:
    ServerState.objects.filter(server=watched).update(error="The machine answers, but nothing listens on that port.")
    fleet.after_failure(server_id=watched.pk)
    assert row(watched).state == "new"
    assert "nothing listens" in text_of(row(watched).headline)


def test_polls_in_quick_succession_write_the_row_once(watched: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    monkeypatch.setattr(fleet, "_written", {})
    monkeypatch.setattr(fleet, "refresh", lambda *, server_id, now: written.append(server_id))
    assert [fleet.after_poll(server_id=watched.pk) for _ in range(3)] == [True, False, False]
    assert written == [watched.pk]


@pytest.mark.parametrize("condition", list(Condition))
def test_every_condition_fits_its_column_and_has_a_rank(condition: Condition) -> None:
    assert len(condition.value) <= 8
    assert condition in fleet._RANKS
