"""Looking at a server for a while, and keeping what was seen."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import pytest

from advisor.mysql.rates import Gap, GapReason, Interval, intervals
from collector import recording
from collector.errors import BadTarget, Refused
from collector.observe import instants, observe
from collector.target import Target, from_url
from tests.servers import DISTRIBUTION_SERVER, RunningServer, start_server


def target(server: RunningServer) -> Target:
    return from_url(server.url, password_file=str(server.password_file), unrestricted=True)


@pytest.mark.parametrize(
    ("seconds", "interval", "expected"),
    [
        (60, 5, [float(second) for second in range(0, 61, 5)]),
        (4, 5, [0, 4]),
        (2, 5, [0, 2]),
        (12, 5, [0, 5, 12]),
        (13, 5, [0, 5, 10, 13]),
        (0, 5, []),
    ],
)
def test_polls_come_every_interval_and_at_the_very_end(seconds: float, interval: float, expected: list[float]) -> None:
    assert instants(seconds, interval) == expected


def test_one_connection_is_opened_and_everything_is_counted() -> None:
    told: list[float] = []
    with start_server(DISTRIBUTION_SERVER) as server:
        before = int(server.status("Connections")["Connections"])
        seen = observe(target(server), seconds=3, interval=1, progress=lambda passed, of, poll: told.append(passed))
        after = int(server.status("Connections")["Connections"])
        # One of them is the looking itself.
        assert after - before == 2
        assert "tidemark" not in " ".join(str(row) for row in server.sql("SHOW PROCESSLIST"))
    assert seen.connections == 1
    assert len(seen.polls) == 4
    assert len(told) == 4
    assert seen.remarks == []
    # Three to prepare the session, two snapshots, one for each poll.
    assert seen.cost.statements == 3 + 2 * 7 + 4
    between = intervals(seen.polls)
    assert all(isinstance(one, Interval) and 0.5 < one.seconds < 3 for one in between)


def test_a_restart_is_survived_and_told() -> None:
    with start_server(DISTRIBUTION_SERVER) as server:

        def restart() -> None:
            time.sleep(1.5)
            server.restart()

        restarting = threading.Thread(target=restart)
        restarting.start()
        seen = observe(target(server), seconds=8, interval=1)
        restarting.join()
    assert seen.connections == 2
    assert any("was lost" in remark for remark in seen.remarks)
    kinds = [one.reason if isinstance(one, Gap) else "interval" for one in intervals(seen.polls)]
    assert kinds.count(GapReason.RESTART) == 1
    assert "interval" in kinds
    assert seen.last.uptime_seconds < 8


def test_a_server_that_stays_away_leaves_what_was_seen_before() -> None:
    with start_server(DISTRIBUTION_SERVER) as server:
        killing = threading.Timer(1.5, server.kill)
        killing.start()
        seen = observe(target(server), seconds=4, interval=1)
        killing.join()
        assert seen.last is seen.first
        assert len(seen.polls) >= 2
        assert any("did not come back" in remark for remark in seen.remarks)
        with pytest.raises(Refused):
            observe(target(server), seconds=1, interval=1)


def test_an_interrupt_ends_the_observation_with_what_there_is() -> None:
    def interrupt(passed: float, of: float, poll: object) -> None:
        if passed > 1.5:
            raise KeyboardInterrupt

    with start_server(DISTRIBUTION_SERVER) as server:
        seen = observe(target(server), seconds=60, interval=1, progress=interrupt)
    assert 2 <= len(seen.polls) <= 4
    assert seen.last is not seen.first
    assert any("interrupted" in remark for remark in seen.remarks)


def test_a_recording_is_read_back_without_names_and_secrets(tmp_path: Path) -> None:
    with start_server(DISTRIBUTION_SERVER) as server:
        server.sql("SET GLOBAL init_connect = 'SELECT \"canary\"'")
        seen = observe(target(server), seconds=1, interval=1)
        folder = str(server.folder)
    path = tmp_path / "mariadb-idle"
    recording.write(path, seen, what="idle", version="1")
    text = "".join(one.read_text() for one in sorted(path.iterdir()))
    assert "canary" not in text
    assert folder not in text
    assert server.password not in text
    assert "tidemark@" not in text
    assert json.loads((path / "manifest.json").read_text())["polls"] == 2
    back = recording.read(path)
    assert [poll.values for poll in back.polls] == [poll.values for poll in seen.polls]
    assert back.last.variables["innodb_log_file_size"] == seen.last.variables["innodb_log_file_size"]
    assert back.last.derived == seen.last.derived
    assert back.last.identity.hostname == "recorded"
    assert back.polls[0].identity == back.last.identity.fingerprint


def test_what_is_no_recording_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadTarget):
        recording.read(tmp_path)
    (tmp_path / "manifest.json").write_text('{"format": 99}')
    with pytest.raises(BadTarget) as caught:
        recording.read(tmp_path)
    assert "format 99" in str(caught.value)
