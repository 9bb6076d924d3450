"""An inspection of what is no server: rubbish costs the question that it answers, and never more than the time."""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Sequence

import pytest

from advisor.mysql.inspection import ROWSETS, Inspection
from advisor.mysql.snapshot import ProbeState, Snapshot
from collector import inspecting
from collector.collect import read_snapshot
from collector.connection import connect
from collector.errors import Hostile, TargetError
from collector.inspection import read_inspection
from collector.inspections.question import LONGEST_NAME, LONGEST_TEXT
from tests.hostile.fake import STATUS, VARIABLES, FakeServer, Peer, drip

Cells = Sequence[bytes | None]
ON: list[list[bytes | None]] = [
    *[row for row in VARIABLES if row[0] != b"performance_schema"],
    [b"performance_schema", b"ON"],
]
ALL: list[Cells] = [[b"GRANT ALL PRIVILEGES ON *.* TO 'tidemark'@'%'"]]
#: What each question of ours holds, and a good answer to it.
GOOD: tuple[tuple[str, list[Cells]], ...] = (
    ("SHOW GRANTS", ALL),
    ("INNODB_TRX", [[b"5", b"RUNNING", b"2", b"3", b"4"]]),
    ("information_schema.PROCESSLIST", [[b"Sleep", b"3", b"90"]]),
    (
        "global_priv",
        [[b"a", b"%", b"mysql_native_password", b"1", b"0", b"0", b"", b"0", b"0", b"0"]],
    ),
    ("ENGINE PERFORMANCE_SCHEMA", [[b"performance_schema", b"performance_schema.memory", b"1000"]]),
    ("COUNT(*) FROM performance_schema.events_statements", [[b"3"]]),
    (
        "events_statements_summary_by_digest",
        [[b"shop", b"d1", b"SELECT ?", *[b"1000000000000"] * 3, *[b"1"] * 14]],
    ),
    ("COUNT(*) FROM information_schema.INNODB", [[b"2"]]),
    ("GEN_CLUST_INDEX", [[b"shop/t", b"5", b"7"]]),
    ("SELECT NAME FROM information_schema.INNODB_SYS_TABLES", [[b"shop/p#P#p0"], [b"shop/p#P#p1"]]),
    ("SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES", [[b"shop", b"t"]]),
    ("information_schema.TABLES", [[b"shop", b"t", b"InnoDB", b"Dynamic", *[b"1"] * 4, b"c", b"7", b""]]),
    ("information_schema.COLUMNS", [[b"shop", b"t", b"id", b"int(11)"]]),
    (
        "information_schema.STATISTICS",
        [[b"shop", b"t", b"PRIMARY", b"1", b"id", None, b"A", b"0", b"1", b"BTREE", b""]],
    ),
    ("setup_instruments WHERE", [[b"1"]]),
    ("table_io_waits", [[b"shop", b"t", b"PRIMARY", b"12"]]),
)


_NAMES = "SELECT TABLE_SCHEMA, TABLE_NAME FROM"


def good(sql: str) -> list[Cells] | None:
    if "SHOW GLOBAL" in sql or "SET SESSION" in sql:
        return None
    return next((rows for text, rows in GOOD if text in sql), None)


def answer(peer: Peer, sql: str) -> None:
    rows = good(sql)
    if rows is None:
        peer.answer(sql, variables=ON, status=STATUS)
    else:
        peer.rows([b"c"] * len(rows[0]), rows)


def answering(text: str, rows: list[Cells]) -> FakeServer:
    """A good server, but for the statements that hold ``text``: these get these rows."""

    def script(peer: Peer) -> None:
        peer.login()
        while True:
            sql = peer.query()
            if text in sql:
                peer.rows([b"c"] * len(rows[0]), rows)
            else:
                answer(peer, sql)

    return FakeServer(script)


def look(server: FakeServer, *, seconds: float = 10) -> Inspection:
    with connect(server.target()) as connection:
        snapshot: Snapshot = read_snapshot(connection)
        return read_inspection(connection, snapshot, deadline_seconds=seconds)


def test_the_good_answers_are_read() -> None:
    with answering("nothing holds this", [[b"1"]]) as server:
        inspection = look(server)
    failed = [probe for probe in inspection.probes if probe.state is ProbeState.FAILED]
    assert failed == []
    assert inspection.rowsets["indexes"][0]["reads"] == "12"
    assert inspection.rowsets["auto_increments"][0]["maximum"] == "2147483647"
    assert inspection.rowsets["partitioned_tables"] == ({"schema": "shop", "name": "p", "partitions": "2"},)
    assert inspection.rowsets["digests"][0]["total_seconds"] == "1.000000"


@pytest.mark.parametrize(
    ("rowset", "text", "row"),
    [
        ("accounts", "global_priv", [b"a", b"%"]),
        ("transactions", "INNODB_TRX", [b"1"] * 6),
        ("sessions", "information_schema.PROCESSLIST", [b"1"]),
        ("digests", "ORDER BY SUM_TIMER_WAIT", [b"s", b"d", b"text", b"1", b"much"] + [b"1"] * 15),
        ("digests", "ORDER BY SUM_TIMER_WAIT", [b"s", b"d"]),
        ("keyless_tables", "GEN_CLUST_INDEX", [b"shop/t"]),
        ("partitioned_tables", "INNODB_SYS_TABLES WHERE NAME LIKE", [None]),
        ("tables", "information_schema.TABLES WHERE TABLE_SCHEMA = ", [b"shop"]),
        ("auto_increments", "information_schema.COLUMNS", [b"shop"]),
        ("indexes", "information_schema.STATISTICS", [b"shop", b"t", b"i", b"first"] + [b"1"] * 7),
    ],
)
def test_an_answer_of_another_shape_costs_its_own_question_only(rowset: str, text: str, row: Cells) -> None:
    with answering(text, [row]) as server:
        inspection = look(server)
    report = inspection.probe(rowset)
    assert report is not None
    if row == [None]:
        # A name that is none is nobody's table.
        assert (report.state, inspection.rowsets[rowset]) == (ProbeState.OK, ())
        return
    assert report.state is ProbeState.FAILED
    assert report.reason.startswith("The answer cannot be read")
    assert rowset not in inspection.rowsets
    fine = [probe.name for probe in inspection.probes if probe.state is ProbeState.OK]
    assert len(fine) >= len(ROWSETS) - 6, fine


def test_long_values_are_cut_bad_bytes_replaced_and_what_is_no_number_is_none() -> None:
    row: Cells = [b"s" * 5000, b"d", b"\xff" * 9000, b"nan", b"1", b"1", b"inf", b"-1", b"9" * 40, *[b"1e9"] * 11]
    with answering("ORDER BY SUM_TIMER_WAIT", [row]) as server:
        inspection = look(server)
    digest = inspection.rowsets["digests"][0]
    assert digest["schema"] == "s" * LONGEST_NAME
    assert digest["text"] == "\ufffd" * LONGEST_TEXT
    assert (digest["count"], digest["rows_examined"], digest["rows_affected"]) == (None, None, None)
    assert digest["rows_sent"] == "-1"
    report = inspection.probe("digests")
    assert report is not None
    assert "cut" in report.reason
    assert Inspection.from_dict(json.loads(json.dumps(inspection.as_dict()))) == inspection


def test_a_flag_that_is_neither_yes_nor_no_is_not_known() -> None:
    row: Cells = [b"a", b"%", b"", b"*HASH", b"2", None, b"", b"yes", b"", b"1"]
    with answering("global_priv", [row]) as server:
        (account,) = look(server).rowsets["accounts"]
    assert account["has_password"] is None
    assert (account["locked"], account["is_role"], account["administrator"], account["everything"]) == (
        None, None, None, "1",
    )  # fmt: skip


def test_a_huge_dictionary_is_left_alone() -> None:
    asked: list[str] = []

    def script(peer: Peer) -> None:
        peer.login()
        while True:
            sql = peer.query()
            asked.append(sql)
            if "COUNT(*) FROM information_schema.INNODB" in sql:
                peer.rows([b"c"], [[b"20001"]])
            else:
                answer(peer, sql)

    with FakeServer(script) as server:
        inspection = look(server)
    for name in ("keyless_tables", "partitioned_tables", "tables", "auto_increments", "indexes"):
        report = inspection.probe(name)
        assert report is not None
        assert report.state is ProbeState.FAILED
        assert report.remedy is None
        assert "20,001 tables" in report.reason
    assert not any(re.search(r"information_schema\.(TABLES|COLUMNS|STATISTICS|PARTITIONS)", sql) for sql in asked)
    assert sum("INNODB_SYS" in sql for sql in asked) == 1


def test_many_tables_are_read_up_to_a_bound_which_is_told() -> None:
    names: list[Cells] = [[f"s{number % 150:03}".encode(), f"t{number}".encode()] for number in range(15_000)]
    asked: list[str] = []

    def script(peer: Peer) -> None:
        peer.login()
        while True:
            sql = peer.query()
            asked.append(sql)
            if _NAMES in sql:
                peer.rows([b"c", b"d"], names)
            else:
                answer(peer, sql)

    with FakeServer(script) as server:
        inspection = look(server)
    report = inspection.probe("tables")
    assert report is not None
    assert report.state is ProbeState.OK
    assert report.reason == "Of 15,000 tables the first 5,000 were read."
    assert sum("information_schema.TABLES WHERE TABLE_SCHEMA = " in sql for sql in asked) == 50
    assert len(asked) < 160


def test_what_cannot_be_read_in_time_is_told_and_what_was_read_is_kept() -> None:
    names: list[Cells] = [[b"shop", f"t{number}".encode()] for number in range(600)]
    pieces: list[str] = []

    def script(peer: Peer) -> None:
        peer.login()
        while True:
            sql = peer.query()
            if _NAMES in sql:
                peer.rows([b"c", b"d"], names)
            elif "information_schema.TABLES WHERE TABLE_SCHEMA = " in sql:
                pieces.append(sql)
                if len(pieces) == 2:
                    peer.error(1969, b"Query execution was interrupted (max_statement_time exceeded)")
                    continue
                asked = re.findall(r"'(t\d+)'", sql)
                peer.rows(
                    [b"c"] * 11,
                    [[b"shop", name.encode(), b"InnoDB", b"", *[b"1"] * 4, b"", None, b""] for name in asked],
                )
            else:
                answer(peer, sql)

    with FakeServer(script) as server:
        inspection = look(server)
    report = inspection.probe("tables")
    assert report is not None
    assert (report.state, report.rows, len(pieces)) == (ProbeState.OK, 250, 2)
    assert report.reason.startswith("Of 600 tables the first 250 were read. The server ended the statement")
    assert len({row["name"] for row in inspection.rowsets["tables"]}) == 250


def test_names_of_schemas_cannot_leave_their_literal() -> None:
    name = "x' OR SLEEP(9) -- \\"
    asked: list[str] = []

    def script(peer: Peer) -> None:
        peer.login()
        while True:
            sql = peer.query()
            asked.append(sql)
            if _NAMES in sql:
                peer.rows([b"c", b"d"], [[name.encode(), name.encode()]])
            else:
                answer(peer, sql)

    with FakeServer(script) as server:
        look(server)
    held = [sql for sql in asked if "SLEEP" in sql]
    assert len(held) == 2
    quoted = "'x'' OR SLEEP(9) -- \\\\'"
    assert all(f"TABLE_SCHEMA = {quoted} AND TABLE_NAME IN ({quoted})" in sql for sql in held)


@pytest.mark.parametrize("text", ["INNODB_TRX", "information_schema.TABLES WHERE"])
def test_a_server_that_drips_is_cut_when_the_time_is_over(text: str) -> None:
    def script(peer: Peer) -> None:
        peer.login()
        while True:
            sql = peer.query()
            if text in sql:
                peer.head([b"c"] * 5)
                drip(peer, (60_000).to_bytes(3, "little") + bytes([peer.sequence]) + b"x" * 400)
            else:
                answer(peer, sql)

    with FakeServer(script) as server:
        began = time.monotonic()
        inspection = look(server, seconds=2)
        # It would drip for 40 s.
        assert time.monotonic() - began < 20
    reports = {probe.name: probe for probe in inspection.probes}
    assert set(reports) == set(ROWSETS)
    assert "did not answer" in reports["transactions" if text == "INNODB_TRX" else "tables"].reason
    assert reports["indexes"].reason.startswith("Not asked")


def test_a_flood_of_rows_is_cut_and_the_rest_reported() -> None:
    def script(peer: Peer) -> None:
        peer.login()
        while True:
            sql = peer.query()
            if "global_priv" in sql:
                peer.flood()
            else:
                answer(peer, sql)

    with FakeServer(script) as server:
        inspection = look(server)
    report = inspection.probe("accounts")
    assert report is not None
    assert "more than" in report.reason
    assert [probe.name for probe in inspection.probes if probe.state is ProbeState.OK] == ["transactions", "sessions"]


def test_who_asks_for_a_file_is_believed_nothing() -> None:
    def script(peer: Peer) -> None:
        peer.login()
        while True:
            sql = peer.query()
            if "information_schema.STATISTICS" in sql:
                peer.ask_for_file()
                peer.read()
                peer.ok()
            else:
                answer(peer, sql)

    with FakeServer(script) as server:
        with pytest.raises(Hostile):
            look(server)
        assert b"root:" not in server.received


CELLS = (None, b"", b"0", b"1", b"-1", b"nan", b"abc", b"\xff\xfe", b"9" * 40, b"'", b"\0", b"shop/t#P#", b"a/" * 99)


def test_whatever_is_answered_only_our_own_errors_come_of_it() -> None:
    chance = random.Random(11)
    outcomes: dict[str, int] = {}

    def script(peer: Peer) -> None:
        peer.login()
        ready = False
        while True:
            sql = peer.query()
            ready = ready or "time_zone" in sql
            kind = chance.random()
            if not ready or kind < 0.5:
                answer(peer, sql)
            elif kind < 0.9:
                width = chance.choice([1, 2, 3, 5, 10, 11, 20])
                rows = [[chance.choice(CELLS) for _ in range(width)] for _ in range(chance.randint(0, 3))]
                peer.rows([chance.choice([b"c", b"\xff", b""]) for _ in range(width)], rows)
            elif kind < 0.94:
                peer.ok()
            else:
                peer.error(chance.choice([1064, 1142, 1317, 2013, 1969]), b"\xff no")

    with FakeServer(script) as server:
        for _ in range(24):
            try:
                inspection = look(server, seconds=5)
            except TargetError as error:
                outcomes[error.kind] = outcomes.get(error.kind, 0) + 1
                continue
            assert inspecting.unpack(inspecting.pack(inspection)) == inspection
            assert {probe.name for probe in inspection.probes} == set(ROWSETS)
            for probe in inspection.probes:
                assert (probe.name in inspection.rowsets) is (probe.state is ProbeState.OK)
                outcomes[probe.state.value] = outcomes.get(probe.state.value, 0) + 1
    assert outcomes["ok"] >= 40, outcomes
    assert outcomes["failed"] >= 40, outcomes
