"""The settings of any moment are known from a first full set and the changes after it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from advisor.teams.models import Team
from collector import settings_history, snapshots
from collector.models import Server, SettingsBase, SettingsChange, Shard, StoredSnapshot
from collector.settings_history import Change, differences
from tests.store.snapshots import run_of_snapshots

pytestmark = pytest.mark.django_db

RECORDINGS = Path(__file__).resolve().parent.parent / "recorded"


@pytest.fixture
def server() -> Server:
    team, _ = Team.objects.get_or_create(name="settings team", defaults={"folded": "settings team"})
    shard, _ = Shard.objects.get_or_create(number=7)
    return Server.objects.create(team=team, name="s", folded="s", host="127.0.0.1", user="u", shard=shard)


def _record(server: Server, slot: int, before: dict[str, str] | None, after: dict[str, str]) -> dict[str, object]:
    ((_, snapshot),) = run_of_snapshots(1, start=slot, variables=after)
    previous = None if before is None else run_of_snapshots(1, start=slot - 60, variables=before)[0][1]
    found = settings_history.record(server_id=server.id, slot=slot, snapshot=snapshot, previous=previous)
    return dict(found)


def test_the_settings_of_each_moment_and_the_changes_between_two(server: Server) -> None:
    sets = [
        {"innodb_io_capacity": "200", "sync_binlog": "1", "gone": "x"},
        {"innodb_io_capacity": "400", "sync_binlog": "1", "gone": "x"},
        {"innodb_io_capacity": "400", "sync_binlog": "1", "gone": "x"},
        {"innodb_io_capacity": "400", "sync_binlog": "0", "born": "y"},
    ]
    for index, after in enumerate(sets):
        _record(server, 1000 + 60 * index, sets[index - 1] if index else None, after)
    assert settings_history.variables_at(server.id, 999) is None
    for index, known in enumerate(sets):
        assert settings_history.variables_at(server.id, 1000 + 60 * index) == known
        assert settings_history.variables_at(server.id, 1059 + 60 * index) == known
    assert settings_history.changes(server.id, 0, 2000) == [
        Change(1060.0, "innodb_io_capacity", "200", "400"),
        Change(1180.0, "born", None, "y"),
        Change(1180.0, "gone", "x", None),
        Change(1180.0, "sync_binlog", "1", "0"),
    ]
    assert [one.name for one in settings_history.changes(server.id, 1060, 1180)] == ["innodb_io_capacity"]
    assert SettingsChange.objects.count() == 2, "a row was written where nothing changed"


def test_two_spellings_of_one_value_and_what_moves_by_itself_are_no_change() -> None:
    before = {
        "innodb_redo_log_capacity": "1G",
        "autocommit": "ON",
        "innodb_max_dirty_pages_pct": "90",
        "gtid_executed": "u:1-5",
        "gtid_binlog_pos": "0-1-5",
        "innodb_buffer_pool_load_now": "OFF",
        "timestamp": "1.5",
        "gtid_mode": "OFF",
        "wsrep_slave_threads": "1",
    }
    after = {
        "innodb_redo_log_capacity": "1073741824",
        "autocommit": "1",
        "innodb_max_dirty_pages_pct": "90.000000",
        "gtid_executed": "u:1-9",
        "gtid_binlog_pos": "0-1-9",
        "innodb_buffer_pool_load_now": "ON",
        "timestamp": "2.5",
        "gtid_mode": "ON",
        "wsrep_slave_threads": "8",
    }
    assert differences(before, after) == {"gtid_mode": ("OFF", "ON"), "wsrep_slave_threads": ("1", "8")}


def test_nothing_changes_by_itself_on_the_recorded_servers() -> None:
    recorded = sorted(RECORDINGS.glob("*/first.json"))
    assert len(recorded) > 10
    for first in recorded:
        before, after = (
            json.loads(path.read_text(encoding="utf-8"))["variables"] for path in (first, first.with_name("last.json"))
        )
        assert differences(before, after) == {}, first.parent.name


def test_a_snapshot_that_cannot_be_read_hides_no_change(server: Server) -> None:
    _record(server, 1000, None, {"innodb_io_capacity": "200"})
    assert _record(server, 1060, None, {"innodb_io_capacity": "400"}) == {"innodb_io_capacity": ("200", "400")}
    assert settings_history.variables_at(server.id, 1060) == {"innodb_io_capacity": "400"}


def test_before_the_history_a_kept_snapshot_tells_the_settings(server: Server) -> None:
    ((slot, old),) = run_of_snapshots(1, start=900, variables={"innodb_io_capacity": "100", "timestamp": "1"})
    StoredSnapshot.objects.create(
        server=server, slot=slot, taken_at=datetime.fromtimestamp(slot, UTC), payload=snapshots.pack(old)
    )
    _record(server, 1000, {"innodb_io_capacity": "100"}, {"innodb_io_capacity": "200"})
    assert settings_history.variables_at(server.id, 950) == {"innodb_io_capacity": "100"}
    assert settings_history.variables_at(server.id, 899) is None
    StoredSnapshot.objects.update(payload=b"damaged")
    assert settings_history.variables_at(server.id, 950) is None


def test_old_changes_become_part_of_the_base_and_go_with_their_server(server: Server) -> None:
    for index in range(5):
        _record(server, 1000 + 60 * index, {"v": str(index - 1)} if index else None, {"v": str(index)})
    assert settings_history.delete_older_than(1000 + 60 * 3) == 2
    assert [one.new for one in settings_history.changes(server.id, 0, 9999)] == ["3", "4"]
    assert [settings_history.variables_at(server.id, 1000 + 60 * index) for index in (2, 3, 4)] == [
        {"v": "2"},
        {"v": "3"},
        {"v": "4"},
    ]
    assert settings_history.delete_older_than(1000 + 60 * 3) == 0
    server.delete()
    assert not SettingsBase.objects.exists()
    assert not SettingsChange.objects.exists()


def test_six_hundred_settings_and_a_year_of_changes_are_some_kilobytes(server: Server) -> None:
    recorded = json.loads((RECORDINGS / "mysql-9.7-idle/last.json").read_text(encoding="utf-8"))["variables"]
    _record(server, 1000, None, recorded)
    assert len(recorded) > 600
    assert len(SettingsBase.objects.get().payload) < 12_000
