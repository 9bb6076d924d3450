"""Answers of another shape than was asked for: each is an error of ours with a sentence, or a report of its probe."""

from __future__ import annotations

import random
import tempfile

import pytest

from advisor.mysql.snapshot import ProbeState
from collector import snapshots
from collector.collect import read_poll, read_snapshot
from collector.connection import connect
from collector.errors import NotAServer, OutOfResources, TargetError
from collector.plan import FastPlan
from collector.reports import check_connection
from collector.store.columns import pack_poll
from tests.hostile.fake import STATUS, VARIABLES, FakeServer, Peer

WITH_PERFORMANCE_SCHEMA: list[list[bytes | None]] = [
    *[row for row in VARIABLES if row[0] != b"performance_schema"],
    [b"performance_schema", b"ON"],
]


def answering(text: str, rows: list[list[bytes | None]], **answers: object) -> FakeServer:
    """A good server, but for the statement that holds ``text``: it gets these rows."""

    def script(peer: Peer) -> None:
        peer.login()
        while True:
            sql = peer.query()
            if text in sql:
                peer.rows([b"c"] * len(rows[0]), rows)
            else:
                peer.answer(sql, **{"variables": WITH_PERFORMANCE_SCHEMA, "status": STATUS, **answers})  # type: ignore[arg-type]

    return FakeServer(script)


@pytest.mark.parametrize(
    ("probe", "text", "rows"),
    [
        ("innodb_metrics", "INNODB_METRICS", [[b"1", b"2", b"3"]]),
        ("innodb_metrics", "INNODB_METRICS", [[b"1", b"2", b"3", "²".encode()]]),
        ("variable_origins", "SYSTEM_VARIABLES", [[b"1", b"2"]]),
        ("performance_schema", "performance_schema.setup_", [[b"a", b"abc", b"1", b"2"]]),
        ("performance_schema", "performance_schema.setup_", [[b"a", b"inf", b"1", b"2"]]),
    ],
)
def test_a_probe_that_cannot_read_its_answer_says_so_and_the_others_go_on(
    probe: str, text: str, rows: list[list[bytes | None]]
) -> None:
    with answering(text, rows) as server, connect(server.target()) as connection:
        snapshot = read_snapshot(connection)
        report = snapshot.probe(probe)
        assert report is not None
        assert report.state is ProbeState.FAILED
        assert report.reason.startswith("The answer cannot be read")
        assert snapshot.probe("replication") is not None
        assert check_connection(server.target()).reachable


@pytest.mark.parametrize("clock", [b"nan", b"inf", b"-inf", b"-1", b"1e300", b"", b"now"])
def test_a_server_without_a_clock_that_could_be_one_is_refused(clock: bytes) -> None:
    row: list[bytes | None] = [b"t@l", clock, b"fake", b"3306", b"10.11.6-MariaDB"]
    with answering("CURRENT_USER()", [row]) as server:
        with pytest.raises(NotAServer):
            connect(server.target())
        assert check_connection(server.target()).failure is not None


@pytest.mark.parametrize("uptime", [b"18446744073709551615", b"9223372036854775808", b"-1", b"1e18"])
def test_an_uptime_that_cannot_be_is_refused_in_a_sentence(uptime: bytes) -> None:
    status: list[list[bytes | None]] = [[b"Uptime", uptime], [b"Questions", b"5"]]
    with answering("none", [[b""]], status=status) as server, connect(server.target()) as connection:
        with pytest.raises(NotAServer) as caught:
            read_snapshot(connection)
        assert "cannot be" in caught.value.sentence


def test_trouble_of_our_own_machine_is_told_as_such(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setattr(tempfile, "tempdir", f"{tmp_path}/not/there")
    with answering("none", [[b""]]) as server:
        with pytest.raises(OutOfResources) as caught:
            connect(server.target())
        assert check_connection(server.target()).failure is not None
    assert "no such file" in caught.value.sentence


CELLS = (None, b"", b"0", b"1", b"-1", b"nan", b"inf", b"abc", b"\xff\xfe", b"9" * 40, b"1e308", b"'", b"\0", b"ON")


def test_whatever_is_answered_to_whichever_statement_only_our_own_errors_come_of_it() -> None:
    random_ = random.Random(5)
    outcomes: dict[str, int] = {}

    def script(peer: Peer) -> None:
        peer.login()
        while True:
            sql = peer.query()
            kind = random_.random()
            if kind < 0.7:
                peer.answer(sql, variables=odd(WITH_PERFORMANCE_SCHEMA), status=odd(STATUS))
            elif kind < 0.95:
                width = random_.randint(1, 6)
                rows = [[random_.choice(CELLS) for _ in range(width)] for _ in range(random_.randint(0, 3))]
                peer.rows([random_.choice([b"Variable_name", b"c", b"\xff", b""]) for _ in range(width)], rows)
            elif kind < 0.98:
                peer.ok()
            else:
                peer.error(random_.choice([1064, 1142, 1317, 2013]), b"\xff no")

    def odd(rows: list[list[bytes | None]]) -> list[list[bytes | None]]:
        return [
            [name, random_.choice(CELLS) if name != b"version" and random_.random() < 0.1 else value]
            for name, value in rows
        ]

    with FakeServer(script) as server:
        for _ in range(120):
            try:
                with connect(server.target(), deadline_seconds=5) as connection:
                    snapshot = read_snapshot(connection)
                    snapshots.unpack(snapshots.pack(snapshot))
                    for _ in range(3):
                        pack_poll(read_poll(connection, FastPlan.of(snapshot)))
                outcome = "read"
            except TargetError as error:
                outcome = error.kind
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
    # The script is odd enough to matter, and not so odd that nothing comes through.
    assert outcomes["read"] >= 5, outcomes
    assert len(outcomes) >= 3, outcomes
