"""An inspection of real servers: every kind of row with the grants for it, and without them the GRANT to add."""

from __future__ import annotations

import re
import time
from contextlib import closing

import pytest

from advisor.mysql.grants import observe_grants, optional_grants
from advisor.mysql.inspection import ROWSETS, Inspection
from advisor.mysql.snapshot import ProbeState, RemedyKind, Snapshot
from collector.collect import read_snapshot
from collector.connection import connect
from collector.inspection import INSPECTION_SECONDS, read_inspection
from collector.secret import Secret
from collector.target import Target
from tests.servers import DISTRIBUTION_SERVER, RunningServer, start_server
from tests.servers.fixtures import each_server

running = each_server(options={"performance_schema": "ON", "general_log": "ON"})

PASSWORD = "obs-Erve.9"
#: What no server has: MariaDB no groups; MySQL 5.7 and MariaDB no errors by name.
NOT_HERE = {"group_members", "group_queue", "errors"}
SCHEMA = (
    "CREATE DATABASE shop",
    "CREATE DATABASE `od-d 한글`",
    "CREATE TABLE shop.keyless (a INT, b INT) ENGINE=InnoDB",
    "CREATE TABLE `od-d 한글`.`t$#p#x` (a INT) ENGINE=InnoDB",
    "CREATE TABLE shop.parts (id INT PRIMARY KEY, v INT, name VARCHAR(40), KEY one (v), KEY two (v, name(10))) "
    "ENGINE=InnoDB PARTITION BY HASH (id) PARTITIONS 150",
    "CREATE TABLE shop.old_style (id INT AUTO_INCREMENT PRIMARY KEY) ENGINE=MyISAM",
    "CREATE TABLE shop.by_unique (a INT NOT NULL, UNIQUE (a)) ENGINE=InnoDB",
    "CREATE TABLE shop.half_null (a INT NOT NULL, b INT, UNIQUE (a, b)) ENGINE=InnoDB",
    "CREATE TABLE shop.by_prefix (a VARCHAR(40) NOT NULL, UNIQUE (a(5))) ENGINE=InnoDB",
    "CREATE TABLE shop.nearly_full (id TINYINT UNSIGNED AUTO_INCREMENT PRIMARY KEY) ENGINE=InnoDB",
    "INSERT INTO shop.nearly_full VALUES (253)",
    "INSERT INTO shop.keyless VALUES (1, 'secret-literal' IS NULL), (3, 4)",
    "SELECT * FROM shop.parts WHERE v = 7",
    "SELECT * FROM shop.keyless WHERE b = 4",
    "CREATE USER ''@'localhost'",
    "CREATE USER 'nobody-asks'@'%'",
    f"CREATE USER 'ruler'@'10.0.0.%' IDENTIFIED BY '{PASSWORD}' REQUIRE SSL",
    "GRANT ALL PRIVILEGES ON *.* TO 'ruler'@'10.0.0.%' WITH GRANT OPTION",
    f"CREATE USER 'watched'@'%' IDENTIFIED BY '{PASSWORD}'",
)


KEYLESS = {("shop", "keyless"), ("shop", "half_null"), ("shop", "by_prefix"), ("od-d 한글", "t$#p#x")}


@pytest.fixture(scope="module")
def prepared(running: RunningServer) -> RunningServer:
    """A server with one of everything that rules look for."""
    for statement in SCHEMA:
        running.sql(statement)
    if not running.name.startswith("mysql-5.7"):
        running.sql("CREATE ROLE 'helpers'")
    if running.flavor == "mariadb" and not running.name.startswith("mariadb-10.2"):
        running.sql("CREATE SEQUENCE shop.numbers ENGINE=InnoDB")
        running.sql("CREATE USER 'by_socket'@'localhost' IDENTIFIED VIA unix_socket")
    return running


def look(server: RunningServer, user: str, password: str = PASSWORD) -> tuple[Snapshot, Inspection]:
    account = Target(user=user, password=Secret(password), host="127.0.0.1", port=server.port, unrestricted=True)
    with connect(account) as connection:
        snapshot = read_snapshot(connection)
        before = connection.cost.statements
        began = time.monotonic()
        inspection = read_inspection(connection, snapshot)
        assert time.monotonic() - began < INSPECTION_SECONDS
        assert connection.cost.statements - before <= 45
        assert connection.is_open
    return snapshot, inspection


def observer(server: RunningServer, name: str, *, optional: bool) -> None:
    """Makes an account by the very statements that a person is shown."""
    snapshot, _ = look(server, server.user, server.password)
    version = snapshot.identity.version
    for statement in observe_grants(version, f"{name}@127.0.0.1"):
        server.sql(statement.replace("<password>", PASSWORD))
    for one in optional_grants(version, f"{name}@127.0.0.1") if optional else []:
        server.sql(one.statement)
        assert one.shows


def test_with_the_grants_that_are_shown_every_rowset_is_read(prepared: RunningServer) -> None:
    observer(prepared, "complete", optional=True)
    _, inspection = look(prepared, "complete")
    for probe in inspection.probes:
        if probe.name in NOT_HERE and probe.state is ProbeState.SKIPPED:
            assert probe.remedy is None
            assert probe.reason.startswith(("MariaDB has no", "This server does not"))
            continue
        assert probe.state is ProbeState.OK, probe
        assert probe.reason == "", probe
        assert len(inspection.rowsets[probe.name]) == probe.rows
    assert {probe.name for probe in inspection.probes} == set(ROWSETS)
    for name, rows in inspection.rowsets.items():
        assert all(tuple(row) == ROWSETS[name] for row in rows)
    assert Inspection.from_dict(inspection.as_dict()) == inspection


def test_the_accounts_are_told_apart_without_any_hash(prepared: RunningServer) -> None:
    snapshot, inspection = look(prepared, prepared.user, prepared.password)
    accounts = {(row["user"], row["host"]): row for row in inspection.rowsets["accounts"]}
    anonymous, open_to_all = accounts["", "localhost"], accounts["nobody-asks", "%"]
    assert (anonymous["has_password"], open_to_all["has_password"]) == ("0", "0")
    ruler, watched = accounts["ruler", "10.0.0.%"], accounts["watched", "%"]
    assert (ruler["has_password"], ruler["tls"], ruler["administrator"], ruler["everything"]) == ("1", "ANY", "1", "1")
    assert (watched["has_password"], watched["tls"]) == ("1", "")
    assert (watched["administrator"], watched["everything"]) == ("0", "0")
    assert all(row["locked"] == "0" for row in (anonymous, open_to_all, ruler, watched))
    assert all(row["is_role"] == "0" for row in (anonymous, open_to_all, ruler, watched))
    roles = [row for row in accounts.values() if row["is_role"] == "1"]
    assert [row["user"] for row in roles] == ([] if prepared.name.startswith("mysql-5.7") else ["helpers"])
    if ("by_socket", "localhost") in accounts:
        assert accounts["by_socket", "localhost"]["has_password"] is None
    assert not any(user.startswith("mysql.") for user, _ in accounts if user is not None)
    assert not re.search(r"\*[0-9A-F]{40}|\$A\$00", str(inspection.as_dict()))
    assert not hasattr(snapshot, "rowsets")


def test_dynamic_privileges_make_an_administrator(prepared: RunningServer) -> None:
    snapshot, _ = look(prepared, prepared.user, prepared.password)
    version = snapshot.identity.version
    if version.is_mariadb or version.number < (8, 0, 0):
        accounts = look(prepared, prepared.user, prepared.password)[1].rowsets["accounts"]
        assert {row["administrator"] for row in accounts} == {"0", "1"}
        return
    prepared.sql(f"CREATE USER 'setter'@'%' IDENTIFIED BY '{PASSWORD}'")
    prepared.sql("GRANT SYSTEM_VARIABLES_ADMIN ON *.* TO 'setter'@'%'")
    accounts = look(prepared, prepared.user, prepared.password)[1].rowsets["accounts"]
    assert [row["administrator"] for row in accounts if row["user"] == "setter"] == ["1"]
    prepared.sql(f"CREATE USER 'half'@'127.0.0.1' IDENTIFIED BY '{PASSWORD}'")
    prepared.sql("GRANT SELECT ON mysql.user TO 'half'@'127.0.0.1'")
    _, inspection = look(prepared, "half")
    told = {row["user"]: row["administrator"] for row in inspection.rowsets["accounts"]}
    # Not readable is not "no": who is no administrator by SUPER may still be one.
    assert (told["setter"], told["ruler"]) == (None, "1")
    report = inspection.probe("accounts")
    assert report is not None
    statement = re.search(r"GRANT .*$", report.reason.rstrip("."))
    assert statement is not None
    prepared.sql(statement[0])
    told = {row["user"]: row["administrator"] for row in look(prepared, "half")[1].rowsets["accounts"]}
    assert (told["setter"], told["watched"]) == ("1", "0")


def test_tables_keys_partitions_and_counters_are_told(prepared: RunningServer) -> None:
    _, inspection = look(prepared, prepared.user, prepared.password)
    tables = {(row["schema"], row["name"]): row for row in inspection.rowsets["tables"]}
    assert set(tables) == {
        *(("shop", name) for name in ("keyless", "parts", "old_style", "nearly_full")),
        *(("shop", name) for name in ("by_unique", "half_null", "by_prefix")),
        ("od-d 한글", "t$#p#x"),
    }
    assert tables["shop", "old_style"]["engine"] == "MyISAM"
    assert tables["shop", "parts"]["partitions"] == "150"
    assert tables["shop", "keyless"]["partitions"] == "0"
    assert int(tables["shop", "parts"]["data_bytes"] or 0) >= 150 * 16_384
    keyless = {(row["schema"], row["name"]) for row in inspection.rowsets["keyless_tables"]}
    assert keyless == KEYLESS
    assert [tuple(row.values()) for row in inspection.rowsets["partitioned_tables"]] == [("shop", "parts", "150")]
    counting = {row["table"]: row for row in inspection.rowsets["auto_increments"]}
    nearly, old = counting["nearly_full"], counting["old_style"]
    assert (nearly["column"], nearly["next_value"], nearly["maximum"]) == ("id", "254", "255")
    assert (old["next_value"], old["maximum"]) == ("1", "2147483647")


def test_indexes_are_told_with_their_columns_and_how_often_they_were_read(prepared: RunningServer) -> None:
    prepared.sql("INSERT INTO shop.parts (id, v) VALUES (1, 7), (2, 8), (3, 7)")
    for _ in range(3):
        prepared.sql("SELECT id FROM shop.parts FORCE INDEX (one) WHERE v = 7")
    _, inspection = look(prepared, prepared.user, prepared.password)
    indexes = {(row["table"], row["index"]): row for row in inspection.rowsets["indexes"]}
    assert set(indexes) == {
        ("parts", "PRIMARY"), ("parts", "one"), ("parts", "two"), ("old_style", "PRIMARY"), ("nearly_full", "PRIMARY"),
        ("by_unique", "a"), ("half_null", "a"), ("by_prefix", "a"),
    }  # fmt: skip
    one, two = indexes["parts", "one"], indexes["parts", "two"]
    assert (one["columns"], two["columns"]) == ("v", "v,name(10)")
    assert (one["is_unique"], indexes["parts", "PRIMARY"]["is_unique"]) == ("0", "1")
    assert (one["is_visible"], one["kind"]) == ("1", "BTREE")
    assert int(one["reads"] or 0) >= 6
    assert two["reads"] == "0"
    assert one["counted_seconds"] is not None


def test_statements_are_told_without_literals_and_without_ours(prepared: RunningServer) -> None:
    look(prepared, prepared.user, prepared.password)
    _, inspection = look(prepared, prepared.user, prepared.password)
    digests = [row for row in inspection.rowsets["digests"] if row["digest"] is not None]
    texts = " ".join(row["text"] or "" for row in digests)
    assert "secret-literal" not in texts
    assert not re.search(r"information_schema|performance_schema|global_priv|SESSION", texts)
    (scan,) = [row for row in digests if re.search(r"FROM `shop` ?\. ?`keyless` WHERE", row["text"] or "")]
    assert (scan["count"], scan["rows_sent"], scan["no_index_used"]) == ("1", "1", "1")
    assert 0 < float(scan["total_seconds"] or 0) < 60
    assert 0 <= int(scan["idle_seconds"] or 0) <= int(scan["seen_seconds"] or 0) + 1 < 600
    (table,) = inspection.rowsets["digest_table"]
    assert 0 < int(table["rows"] or 0) <= int(table["size"] or 0)
    assert int(inspection.rowsets["performance_schema_memory"][0]["bytes"] or 0) > 1 << 20


def test_an_idle_transaction_is_told_with_what_it_holds(prepared: RunningServer) -> None:
    with closing(prepared.connect()) as connection:
        cursor = connection.cursor()
        cursor.execute("BEGIN")
        cursor.execute("INSERT INTO shop.keyless VALUES (9, 9), (10, 10)")
        time.sleep(2.1)
        _, inspection = look(prepared, prepared.user, prepared.password)
        connection.rollback()
    (transaction,) = inspection.rowsets["transactions"]
    assert transaction["state"] == "RUNNING"
    assert transaction["rows_modified"] == "2"
    assert 1 <= int(transaction["age_seconds"] or 0) < 60
    assert 1 <= int(transaction["idle_seconds"] or 0) < 60
    sleeping = {row["command"]: row for row in inspection.rowsets["sessions"]}["Sleep"]
    assert sleeping["count"] == "1"
    assert int(sleeping["longest_seconds"] or 0) >= 1


def test_without_any_grant_nothing_is_fine_and_the_remedies_open_everything(prepared: RunningServer) -> None:
    prepared.sql(f"CREATE USER 'bare'@'127.0.0.1' IDENTIFIED BY '{PASSWORD}'")
    _, inspection = look(prepared, "bare")
    for probe in inspection.probes:
        if probe.name in NOT_HERE and probe.state is ProbeState.SKIPPED and probe.remedy is None:
            continue
        if probe.name == "partitioned_tables" and prepared.name.startswith("mysql-8.0"):
            # MySQL 8.0 shows the names of all tablespaces to everybody.
            assert (probe.state, probe.rows) == (ProbeState.OK, 1)
            continue
        assert probe.state is ProbeState.FAILED, probe
        assert probe.remedy is not None, probe
        assert probe.remedy.kind is RemedyKind.GRANT, probe
        assert probe.name not in inspection.rowsets
    remedies = {probe.remedy.text for probe in inspection.probes if probe.remedy is not None}
    assert len(remedies) == 4, remedies
    for statement in remedies:
        assert not re.search(r"SUPER|ALL|SELECT ON \*|WITH GRANT", statement)
        prepared.sql(statement)
    _, inspection = look(prepared, "bare")
    assert {probe.state for probe in inspection.probes if probe.name not in NOT_HERE} == {ProbeState.OK}
    assert len(inspection.rowsets["tables"]) == 8
    # It still reads no row of anybody's.
    with pytest.raises(Exception, match="denied"):
        prepared.sql("SELECT * FROM shop.keyless", user="bare", password=PASSWORD)


def test_with_the_observing_grants_alone_innodb_tells_keys_and_partitions_and_the_rest_is_refused(
    prepared: RunningServer,
) -> None:
    observer(prepared, "plain", optional=False)
    _, inspection = look(prepared, "plain")
    states = {probe.name: probe.state for probe in inspection.probes if probe.name not in NOT_HERE}
    refused = {name for name, state in states.items() if state is not ProbeState.OK}
    assert refused == {"accounts", "tables", "auto_increments", "indexes"}
    # Told by InnoDB's dictionary here; where the account sees all tables MySQL 8 tells it by their keys.
    assert {(row["schema"], row["name"]) for row in inspection.rowsets["keyless_tables"]} == KEYLESS
    assert len(inspection.rowsets["partitioned_tables"]) == 1


def test_a_grant_on_one_schema_does_not_pass_for_all(prepared: RunningServer) -> None:
    prepared.sql(f"CREATE USER 'local_reader'@'127.0.0.1' IDENTIFIED BY '{PASSWORD}'")
    prepared.sql("GRANT SELECT ON shop.* TO 'local_reader'@'127.0.0.1'")
    _, inspection = look(prepared, "local_reader")
    for name in ("tables", "indexes", "auto_increments"):
        report = inspection.probe(name)
        assert report is not None
        assert (report.state, report.rows) == (ProbeState.FAILED, 0)


def test_statements_only_read_and_each_is_bounded_by_the_server(prepared: RunningServer) -> None:
    look(prepared, prepared.user, prepared.password)
    log = prepared.general_log()
    ours = [line.split("/* tidemark */ ", 1)[1] for line in log.splitlines() if "/* tidemark */ " in line]
    inspecting = [line for line in ours if re.search(r"MAX_EXECUTION_TIME|max_statement_time=[\d.]+ FOR", line)]
    assert len(inspecting) >= 14
    allowed = r"(SET STATEMENT max_statement_time=[\d.]+ FOR )?SELECT |SHOW |SET SESSION "
    assert all(re.match(allowed, line) for line in ours), [line for line in ours if not re.match(allowed, line)]
    assert not any(re.search(r"SAMPLE_TEXT|trx_query|\bINFO\b", line) for line in inspecting)
    # Hashes are compared with the empty text, and not selected.
    for line in inspecting:
        for position in re.finditer(r"authentication_string|\bPassword\b", line):
            assert re.match(r"[^,]*(, '')?\)* (<>|=) ''", line[position.start() :]), line


def test_where_performance_schema_is_off_that_is_said_and_tables_are_still_read() -> None:
    with start_server(DISTRIBUTION_SERVER, options={"performance_schema": "OFF"}) as server:
        server.sql("CREATE DATABASE shop")
        server.sql("CREATE TABLE shop.t (id INT PRIMARY KEY)")
        _, inspection = look(server, server.user, server.password)
        digests = inspection.probe("digests")
        assert digests is not None
        assert digests.state is ProbeState.SKIPPED
        assert digests.remedy is not None
        assert digests.remedy.kind is RemedyKind.ENABLE
        (index,) = inspection.rowsets["indexes"]
        assert (index["reads"], index["counted_seconds"]) == (None, None)
        memory = inspection.probe("performance_schema_memory")
        assert memory is not None
        assert (memory.state, memory.remedy) == (ProbeState.SKIPPED, None)
        server.sql("SET GLOBAL innodb_stats_on_metadata = ON")
        _, inspection = look(server, server.user, server.password)
        for name in ("tables", "indexes", "auto_increments"):
            report = inspection.probe(name)
            assert report is not None
            assert report.remedy is not None
            server.sql(report.remedy.text)
        _, inspection = look(server, server.user, server.password)
        assert len(inspection.rowsets["tables"]) == 1


def test_consumers_that_are_off_are_not_taken_for_a_server_without_statements() -> None:
    with start_server(DISTRIBUTION_SERVER, options={"performance_schema": "ON"}) as server:
        server.sql("UPDATE performance_schema.setup_consumers SET ENABLED = 'NO' WHERE NAME = 'statements_digest'")
        report = look(server, server.user, server.password)[1].probe("digests")
        assert report is not None
        assert report.remedy is not None
        server.sql(report.remedy.text)
        report = look(server, server.user, server.password)[1].probe("digests")
        assert report is not None
        assert report.state is ProbeState.OK
