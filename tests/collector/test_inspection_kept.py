"""Where an inspection is made and kept besides: at the end of an observation, in advice, and in recordings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from advisor.engine.observation import HostFacts
from advisor.mysql.grants import has_privilege, observe_grants, observe_privileges, optional_grants, parse_grants
from advisor.mysql.inspection import Inspection
from advisor.mysql.version import identify
from advisor.recommendations.observing import observation
from collector import recording
from collector.inspections.auto_increments import maximum
from collector.inspections.dictionary import of_file, split
from collector.inspections.question import literal, seconds
from collector.observe import Observed, observe
from collector.target import from_url
from tests.servers import DISTRIBUTION_SERVER, RunningServer, start_server

SECRET_NAMES = ("mallory", "trainee-x7", "db-17.example.test", "10.9.8.%")


@pytest.fixture(scope="module")
def server() -> Any:
    with start_server(DISTRIBUTION_SERVER, options={"performance_schema": "ON"}) as running:
        for statement in (
            "CREATE DATABASE shop",
            "CREATE TABLE shop.keyless (a INT)",
            "CREATE USER 'mallory'@'db-17.example.test'",
            "CREATE USER 'mallory'@'10.9.8.%'",
            "CREATE USER 'trainee-x7'@'%'",
            "CREATE USER ''@'localhost'",
        ):
            running.sql(statement)
        yield running


@pytest.fixture(scope="module")
def seen(server: RunningServer) -> Observed:
    target = from_url(server.url, password_file=str(server.password_file), unrestricted=True)
    before = int(server.status("Connections")["Connections"])
    observed = observe(target, seconds=1, interval=1, inspect=True)
    # One of them is the looking itself.
    assert int(server.status("Connections")["Connections"]) - before == 2
    return observed


def test_an_observation_ends_with_the_inspection_on_the_same_connection(seen: Observed) -> None:
    assert seen.inspection is not None
    assert seen.inspection.identity == seen.last.identity.fingerprint
    assert seen.inspection.taken_at >= seen.polls[-1].at
    assert seen.inspection.taken_at >= seen.ended_at
    assert seen.connections == 1
    assert seen.cost.statements > 3 + 2 * 8 + 2 + 15
    assert observation(seen, HostFacts()).inspection is seen.inspection


def test_nothing_of_it_is_in_snapshots_and_polls(seen: Observed) -> None:
    kept = json.dumps([seen.first.as_dict(), seen.last.as_dict()]) + repr(seen.polls)
    assert "keyless" not in kept
    assert not any(name in kept for name in SECRET_NAMES)


def test_a_recording_keeps_the_inspection_without_names_of_accounts_and_hosts(seen: Observed, tmp_path: Path) -> None:
    recording.write(tmp_path, seen, what="an inspection", version="test")
    text = (tmp_path / "inspection.json").read_text(encoding="utf-8")
    assert not any(name in text for name in SECRET_NAMES), text
    read = recording.read(tmp_path).inspection
    assert read is not None
    assert seen.inspection is not None
    accounts = [(row["user"], row["host"]) for row in read.rowsets["accounts"]]
    # What rules look at stays: who is anonymous, who is one person with two hosts, and which hosts are patterns.
    assert ("", "localhost") in accounts
    (one,) = {user for user, host in accounts if host in {"recorded", "%.recorded"}}
    assert {host for user, host in accounts if user == one} == {"recorded", "%.recorded"}
    assert read.identity == recording.read(tmp_path).last.identity.fingerprint
    assert read.rowsets["keyless_tables"] == seen.inspection.rowsets["keyless_tables"]
    assert read.probes[0].milliseconds == seen.inspection.probes[0].milliseconds
    # The next recording of the same name does not inherit it.
    seen_without = Observed(seen.first, seen.last, seen.polls)
    recording.write(tmp_path, seen_without, what="none", version="test")
    assert recording.read(tmp_path).inspection is None


@pytest.mark.parametrize(("option", "inspected"), [([], True), (["--no-inspect"], False)])
def test_advice_inspects_unless_it_is_told_not_to(
    server: RunningServer, capsys: pytest.CaptureFixture[str], option: list[str], inspected: bool
) -> None:
    server.sql("SET GLOBAL general_log = ON")
    before = len(server.general_log())
    call_command(
        "advise",
        server.url,
        "--password-file", str(server.password_file), "--observe", "1", "--interval", "1", "--format", "json", *option,
    )  # fmt: skip
    server.sql("SET GLOBAL general_log = OFF")
    asked = server.general_log()[before:]
    assert ("information_schema.STATISTICS" in asked) is inspected
    document = json.loads(capsys.readouterr().out)
    missing = json.dumps([one for one in document["outcomes"] if one["outcome"] == "not_evaluated"])
    assert ("without --no-inspect" in missing) is not inspected


def test_a_file_of_a_newer_program_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="schema 99"):
        Inspection.from_dict({"schema": 99})


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("shop/orders", ("shop", "orders", False)),
        ("shop/orders#P#p0", ("shop", "orders", True)),
        ("shop/orders#p#p0#sp#s1", ("shop", "orders", True)),
        ("od@002dd/t@0024@0023p@0023x", ("od-d", "t$#p#x", False)),
        ("@d55c@ae00/t", ("한글", "t", False)),
        ("mysql/user", None),
        ("sys/sys_config", None),
        ("SYS_FOREIGN", None),
        ("shop/#sql-ib77", None),
        ("shop/FTS_0000000000000437_CONFIG", None),
        (None, None),
    ],
)
def test_names_of_the_dictionary_are_read(name: str | None, expected: tuple[str, str, bool] | None) -> None:
    assert split(name) == expected


def test_a_file_is_named_as_its_table() -> None:
    assert of_file("./shop/orders#p#p0.ibd") == "shop/orders#p#p0"
    assert of_file("/fast/disk/shop/orders.ibd") == "shop/orders"
    assert of_file(".\\shop\\orders.ibd") == "shop/orders"
    assert of_file("shop/orders#P#p0") == "shop/orders#P#p0"
    assert split(of_file("ibdata1")) is None
    assert of_file(None) == ""


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("tinyint(4)", 127),
        ("tinyint(3) unsigned", 255),
        ("smallint unsigned", 65_535),
        ("mediumint(9)", 8_388_607),
        ("int", 2_147_483_647),
        ("int(10) unsigned zerofill", 4_294_967_295),
        ("bigint(20)", 9_223_372_036_854_775_807),
        ("bigint unsigned", 18_446_744_073_709_551_615),
        ("double", None),
        ("", None),
    ],
)
def test_the_largest_value_of_a_type_is_known(column: str, expected: int | None) -> None:
    assert maximum(column) == (None if expected is None else str(expected))


def test_a_literal_is_closed_whatever_is_in_it() -> None:
    assert literal("a'b\\") == "'a''b\\\\'"
    assert seconds("1500000000000") == "1.500000"
    assert seconds(None) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8.0.36 MySQL", {"REFERENCES", "SELECT ON mysql.user", "SELECT ON mysql.global_grants"}),
        ("5.7.44-log MySQL", {"REFERENCES", "SELECT ON mysql.user"}),
        ("10.3.39-MariaDB", {"REFERENCES", "SELECT ON mysql.user"}),
        ("10.11.6-MariaDB", {"REFERENCES", "SELECT ON mysql.global_priv"}),
    ],
)
def test_the_optional_grants_are_a_list_of_their_own(text: str, expected: set[str]) -> None:
    version = identify(text)
    optional = optional_grants(version, "watch@10.0.0.%")
    assert {one.privilege for one in optional} == expected
    required = observe_grants(version, "watch@10.0.0.%")
    for one in optional:
        assert one.statement not in required
        assert one.statement.endswith(" TO 'watch'@'10.0.0.%'")
        held = parse_grants([one.statement])
        assert has_privilege(held, one.privilege)
        assert not any(has_privilege(held, wanted) for wanted in observe_privileges(version))


def test_a_grant_on_a_schema_holds_for_its_tables_and_not_the_other_way_round() -> None:
    schema = parse_grants(["GRANT SELECT ON `mysql`.* TO `w`@`%`"])
    table = parse_grants(["GRANT SELECT ON `mysql`.`user` TO `w`@`%`"])
    assert has_privilege(schema, "SELECT ON mysql.user")
    assert has_privilege(table, "SELECT ON mysql.user")
    assert not has_privilege(table, "SELECT ON mysql.*")
    assert not has_privilege(table, "SELECT ON mysql.global_grants")
