"""What the catalogue answers for one server, and that each server does with odd values what was foretold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import pytest

from advisor.mysql.catalogue import CATALOGUE, ChangeClass, Kind, UnknownVariable, Value, VariableFacts
from advisor.mysql.catalogue_answers import ServerAnswers
from advisor.mysql.change_class import reason
from advisor.mysql.snapshot import Origin
from advisor.mysql.statements import _FORBIDDEN
from advisor.mysql.values import as_printed, same
from advisor.mysql.version import ServerVersion, identify
from tests.servers import RunningServer
from tests.servers.fixtures import each_server

target = each_server()

MIB = 1 << 20
GIB = 1 << 30


def mysql(number: str, comment: str = "MySQL Community Server - GPL") -> ServerVersion:
    return identify(number, comment)


def mariadb(number: str) -> ServerVersion:
    return identify(f"{number}-MariaDB")


# --- against the servers -----------------------------------------------------------------------------------------

#: What a server allocates at once, waits for, or hands to its next connection: not tried far from where it is.
COSTLY = re.compile(
    r"innodb_(buffer_pool_.*|log_.*|redo_log_capacity|undo_.*|ddl_.*|thread_.*|purge_threads|.*_io_threads|monitor_.*)"
    r"|innodb_(encryption_threads|max_purge_lag_wait|max_undo_log_size)|key_.*|aria_.*|query_.*|.*alloc.*|max_connections"
    r"|.*_cache|.*cache_size|table_.*|thread_.*|host_.*|performance_schema.*|max_digest.*|metadata_.*|mhnsw_.*"
    r"|optimizer_trace.*|.*_mem_size|schema_.*|stored_.*|net_buffer_length|max_binlog_size|temptable_.*|binlog_space_limit"
)
#: What a value of these becomes depends on more than the server shows, or is an action.
NOT_FORETOLD = re.compile(
    r"innodb_(buffer_pool_size_auto_min|log_archive|lru_flush_size|monitor_.*|log_file_size|purge_threads)"
    r"|max_user_connections|query_cache_type|thread_pool_.*|performance_schema.*|key_(cache_.*|buffer_size)|innodb_log_writer_threads"
    r"|innodb_(commit_concurrency|thread_concurrency|buffer_pool_size|doublewrite|defragment|log_file_buffering)"
    r"|optimizer_trace.*|query_cache_(size|min_res_unit)|innodb_(log_checksums|log_compressed_pages|status_output.*)"
)


def candidates(server: ServerVersion) -> Iterator[VariableFacts]:
    kinds = {Kind.INTEGER, Kind.REAL, Kind.BOOLEAN, Kind.ENUM}
    for name in CATALOGUE.names(server):
        facts = CATALOGUE.find(name, server)
        assert facts is not None
        ignored = (facts.ignored_when or "").startswith("always")
        if facts.dynamic and facts.scope != "session" and facts.kind in kinds and not ignored:
            if facts.change_class is ChangeClass.TUNE and not NOT_FORETOLD.fullmatch(name):
                yield facts


def odd_values(facts: VariableFacts, present: str) -> Sequence[Value]:
    if facts.kind is Kind.BOOLEAN:
        return ["on", 0, "OFF", 1]
    if facts.kind is Kind.ENUM:
        return [*range(len(facts.choices)), *(choice.lower() for choice in facts.choices), "no-such-word"]
    low, high = facts.minimum, facts.maximum
    assert low is not None, facts.name
    assert high is not None, facts.name
    if facts.kind is Kind.REAL:
        return [value for value in (low, 1.25, 33.5, high) if low <= value <= high] + [high * 2]
    if COSTLY.fullmatch(facts.name):
        there = int(present)
        return [value for value in (there + 1, there + 4097, there - 1, int(low)) if low <= value <= high]
    odd = [value for value in (7, 12_345, 1_234_567, 123_456_789) if low < value < high]
    below = [int(low) - 1] if low > 0 else []
    above = [int(high) + 1] if high < 2**63 else []
    return [int(low), *below, *odd, int(high), *above]


def test_each_server_keeps_of_odd_values_what_was_foretold(target: RunningServer) -> None:
    driver = pytest.importorskip("MySQLdb")
    wrong: list[tuple[str, Value, Value | None, str]] = []
    variables_tried = values_tried = 0
    shown = {str(name): str(value) for name, value in target.sql("SHOW GLOBAL VARIABLES")}
    version = identify(shown["version"], shown["version_comment"], variables=shown)
    connection = target.connect(conv={})
    try:
        cursor = connection.cursor()

        def value_of(name: str) -> str:
            cursor.execute(f"SELECT @@GLOBAL.{name}")
            return text(cursor.fetchone()[0])

        for facts in candidates(version):
            name = facts.name
            if name not in shown:
                continue
            before = value_of(name)
            variables_tried += 1
            for value in odd_values(facts, before):
                cursor.execute("SHOW GLOBAL VARIABLES")
                now = {text(key): text(shown_value) for key, shown_value in cursor.fetchall()}
                foretold = ServerAnswers(version, now).becomes(name, value)
                values_tried += 1
                try:
                    cursor.execute(f"SET GLOBAL {name} = {literal(value)}")
                except driver.Error as refusal:
                    if foretold.value is not None:
                        wrong.append((name, value, foretold.value, str(refusal)))
                    continue
                kept = value_of(name)
                if foretold.value is None or not same(as_printed(foretold.value, real=facts.kind is Kind.REAL), kept):
                    wrong.append((name, value, foretold.value, kept))
            cursor.execute(f"SET GLOBAL {name} = {before if is_number(before) else literal(before)}")
    finally:
        connection.close()
    assert wrong == [], "\n".join(map(str, wrong))
    assert variables_tried >= 40
    assert values_tried >= 200


def text(value: bytes | str | None) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def literal(value: Value) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value)


def is_number(text: str) -> bool:
    return re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text) is not None


# --- for one server, without one ---------------------------------------------------------------------------------


def answers(server: ServerVersion, **variables: object) -> ServerAnswers:
    defaults = {
        name: facts.default
        for name in CATALOGUE.names(server)
        if (facts := CATALOGUE.find(name, server)) is not None and facts.default is not None
    }
    return ServerAnswers(server, {**defaults, **{name: str(value) for name, value in variables.items()}})


def test_a_variable_that_the_catalogue_does_not_know_is_judged_by_what_the_server_shows() -> None:
    server = answers(mysql("8.0.33"), some_plugin_limit=17, some_plugin_enabled="ON")
    presence = server.presence("some_plugin_limit")
    assert (presence.exists, presence.known) == (True, False)
    assert "not in the catalogue" in presence.note
    assert server.facts("some_plugin_limit").kind is Kind.INTEGER
    assert server.facts("some_plugin_enabled").kind is Kind.BOOLEAN
    assert server.facts("some_plugin_limit").verified is False
    assert server.changeable("some_plugin_limit").change_class is ChangeClass.CONFIRM
    assert server.becomes("some_plugin_limit", "2K").value == 2048
    assert server.becomes("some_plugin_enabled", "maybe").value is None
    with pytest.raises(UnknownVariable, match="has no system variable no_such_variable"):
        server.facts("no_such_variable")


def test_a_server_newer_than_any_that_was_asked_is_answered_with_a_doubt() -> None:
    server = answers(mysql("26.7.1"))
    presence = server.presence("innodb_io_capacity")
    assert (presence.exists, presence.known) == (True, True)
    assert "26.7" in presence.note
    assert answers(mysql("9.7.4")).presence("innodb_io_capacity").note == ""


def test_a_variable_that_should_be_there_and_is_not_shown_is_said_to_be_missing() -> None:
    server = ServerAnswers(mysql("8.0.33"), {"innodb_io_capacity": "200"})
    assert server.presence("innodb_io_capacity").exists is True
    missing = server.presence("innodb_io_capacity_max")
    assert (missing.exists, missing.known) == (False, True)
    assert server.presence("innodb_log_writer_thread").exists is False


@pytest.mark.parametrize(
    ("server", "name", "now", "effect"),
    [
        (mysql("8.0.33"), "innodb_redo_log_capacity", True, "at_once"),
        (mysql("5.7.44"), "innodb_log_file_size", False, "restart"),
        (mariadb("10.11.19"), "innodb_log_file_size", True, "at_once"),
        (mysql("8.0.33"), "sort_buffer_size", True, "new_connections"),
        (mysql("8.0.33"), "version", False, None),
        (mysql("8.0.33"), "sql_log_bin", False, None),
        (mariadb("10.5.23"), "innodb_thread_concurrency", False, None),
        (mariadb("11.8.6"), "innodb_lru_flush_size", False, None),
    ],
)
def test_a_change_counts_at_once_for_new_connections_after_a_restart_or_never(
    server: ServerVersion, name: str, now: bool, effect: str | None
) -> None:
    told = answers(server).changeable(name)
    assert (told.now, told.effect) == (now, effect)
    assert told.why


def test_what_becomes_of_a_value_depends_on_flavor_and_neighbours() -> None:
    old = answers(mysql("8.0.33"))
    assert old.becomes("innodb_io_capacity", 5000).value == 2000
    assert old.becomes("innodb_io_capacity", 5000).adjusted is True
    assert old.becomes("innodb_io_capacity_max", 100).value == 200
    assert old.becomes("innodb_io_capacity", 1500) == type(old.becomes("innodb_io_capacity", 1500))(1500, False)
    other = answers(mariadb("10.11.19")).becomes("innodb_io_capacity", 5000)
    assert (other.value, other.adjusted, dict(other.moves)) == (5000, False, {"innodb_io_capacity_max": 10000})
    lowered = answers(mariadb("10.11.19")).becomes("innodb_io_capacity_max", 150)
    assert (lowered.value, dict(lowered.moves)) == (150, {"innodb_io_capacity": 150})
    assert old.becomes("innodb_buffer_pool_size", 200 * MIB).value == 256 * MIB
    assert old.becomes("innodb_buffer_pool_size", 128 * MIB + 1).value == 128 * MIB
    assert answers(mysql("8.0.12")).becomes("innodb_buffer_pool_size", 128 * MIB + 1).value == 256 * MIB
    assert answers(mariadb("10.5.23")).becomes("innodb_buffer_pool_size", 128 * MIB + 1).value == 256 * MIB
    assert answers(mariadb("11.8.6")).becomes("innodb_buffer_pool_size", 100 * MIB + 1).value == 100 * MIB
    assert old.becomes("innodb_redo_log_capacity", 123_456_789).value == 122_683_392
    assert old.becomes("innodb_max_dirty_pages_pct_lwm", 95.0).value == 90.0
    assert answers(mysql("5.7.44")).becomes("innodb_log_write_ahead_size", 3000).value == 4096
    refused = old.becomes("binlog_format", "SOMETIMES")
    assert refused.value is None
    assert "MIXED" in refused.why


def test_what_else_must_change_is_named_only_where_it_must() -> None:
    def named(server: ServerVersion, name: str, value: Value, **variables: object) -> list[tuple[str, Value, str]]:
        return [(one.name, one.value, one.bound) for one in answers(server, **variables).goes_with(name, value)]

    new = mysql("8.0.33")
    assert named(new, "innodb_io_capacity_max", 100, innodb_io_capacity=200) == []
    assert named(mariadb("10.11.19"), "innodb_io_capacity", 4000) == [("innodb_io_capacity_max", 4000, "least")]
    assert named(new, "innodb_io_capacity", 1000) == []
    assert named(new, "tmp_table_size", 64 * MIB) == [("max_heap_table_size", 64 * MIB, "least")]
    assert named(new, "max_heap_table_size", 64 * MIB) == [("tmp_table_size", 64 * MIB, "least")]
    assert named(mariadb("10.11.19"), "innodb_log_file_size", 8 * MIB) == [("innodb_log_buffer_size", 8 * MIB, "most")]
    assert named(mariadb("11.8.6"), "innodb_buffer_pool_size", GIB) == [("innodb_buffer_pool_size_max", GIB, "least")]
    assert named(new, "innodb_buffer_pool_chunk_size", 100 * MIB, innodb_buffer_pool_size=GIB) == [
        ("innodb_buffer_pool_size", 1100 * MIB, "equal")
    ]
    assert named(new, "max_connections", 5000, open_files_limit=5000) == [("open_files_limit", 13100, "least")]
    assert named(mysql("5.7.44"), "query_cache_size", 0, query_cache_type="ON") == [
        ("query_cache_type", "OFF", "equal")
    ]


def test_a_change_is_kept_by_the_server_itself_where_it_can_and_by_the_option_file_elsewhere() -> None:
    new = answers(mysql("8.0.33"))
    assert new.persistence("innodb_io_capacity").how == "set_persist"
    assert new.persistence("innodb_io_capacity").undo == "RESET PERSIST IF EXISTS innodb_io_capacity"
    assert new.persistence("innodb_page_size").how == "option_file"
    assert new.persistence("innodb_doublewrite").how == "option_file"
    assert new.persistence("version").how == "none"
    assert answers(mysql("5.7.44")).persistence("innodb_io_capacity").how == "option_file"
    assert answers(mariadb("11.8.6")).persistence("innodb_io_capacity").how == "option_file"
    cloud = ServerAnswers(
        identify("8.0.35", "Source distribution", variables={"aurora_version": "3.07.0", "server_uuid": "x"}), {}
    )
    assert cloud.server.distribution.managed
    assert cloud.persistence("innodb_io_capacity").how == "parameter_group"
    before = ServerAnswers(mysql("8.0.33"), {}, persisted={"innodb_io_capacity": "400"})
    assert "what was persisted before" in before.persistence("innodb_io_capacity").undo
    off = answers(mysql("8.0.33"), persisted_globals_load="OFF")
    assert off.persistence("innodb_io_capacity").how == "option_file"


def test_the_origin_of_a_value_is_told_with_its_file() -> None:
    origins = {"max_connections": Origin("option_file", "/etc/my.cnf"), "sort_buffer_size": Origin("runtime")}
    server = ServerAnswers(mysql("8.0.33"), {"max_connections": "500"}, origins)
    assert server.origin_in_words("max_connections") == "an option file sets it (/etc/my.cnf)"
    assert "lost at the next restart" in server.origin_in_words("sort_buffer_size")
    old = answers(mysql("5.7.44"), max_connections=500)
    assert "does not tell who set it" in old.origin_in_words("max_connections")
    assert old.origin_in_words("sort_buffer_size") == "it has its default"
    assert "does not tell" in old.origin_in_words("datadir")


# --- how a variable may be changed -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "change_class"),
    [
        ("innodb_redo_log_capacity", ChangeClass.TUNE),
        ("innodb_io_capacity", ChangeClass.TUNE),
        ("innodb_buffer_pool_size", ChangeClass.TUNE),
        ("max_connections", ChangeClass.TUNE),
        ("long_query_time", ChangeClass.TUNE),
        ("innodb_flush_log_at_trx_commit", ChangeClass.CONFIRM),
        ("sync_binlog", ChangeClass.CONFIRM),
        ("sql_mode", ChangeClass.CONFIRM),
        ("server_id", ChangeClass.CONFIRM),
        ("log_bin", ChangeClass.CONFIRM),
        ("require_secure_transport", ChangeClass.CONFIRM),
        ("replica_parallel_workers", ChangeClass.CONFIRM),
        ("datadir", ChangeClass.NEVER),
        ("port", ChangeClass.NEVER),
        ("socket", ChangeClass.NEVER),
        ("init_file", ChangeClass.NEVER),
        ("gtid_purged", ChangeClass.NEVER),
        ("plugin_dir", ChangeClass.NEVER),
        ("secure_file_priv", ChangeClass.NEVER),
        ("innodb_page_size", ChangeClass.NEVER),
        ("version", ChangeClass.NEVER),
    ],
)
def test_a_variable_has_the_class_of_what_its_change_can_do(name: str, change_class: ChangeClass) -> None:
    facts = CATALOGUE.find(name, mysql("8.0.33"))
    assert facts is not None
    assert facts.change_class is change_class
    assert reason(facts)


def test_nothing_that_statements_refuse_to_write_is_called_safe() -> None:
    servers = [mysql(n) for n in ("5.7.22", "8.0.33", "9.7.4")] + [
        mariadb(n) for n in ("10.2.11", "10.11.19", "11.8.6")
    ]
    refused = safe = 0
    for server in servers:
        for name in CATALOGUE.names(server):
            facts = CATALOGUE.find(name, server)
            assert facts is not None
            safe += facts.change_class is ChangeClass.TUNE
            if _FORBIDDEN.fullmatch(name):
                refused += 1
                assert facts.change_class is not ChangeClass.TUNE, name
    assert refused > 300
    assert safe > 900
