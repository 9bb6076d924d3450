"""A proposal is written for one very server, and its undo takes back exactly what it did."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from advisor.mysql.buffer_pool import resizable_to, rounded_pool_size
from advisor.mysql.proposal import (
    Change,
    Investigate,
    SchemaAdvice,
    SetConsumers,
    SetInstruments,
    SetMetricCounters,
    SetVariable,
    UpgradeAdvice,
)
from advisor.mysql.redo import MIB
from advisor.mysql.statements import BadProposal, Rendered, render
from advisor.mysql.version import ServerVersion, identify

MYSQL_5_7 = identify("5.7.22", "MySQL Community Server (GPL)")
MYSQL = identify("8.0.33", "MySQL Community Server - GPL")
MARIADB_10_5 = identify("10.5.23-MariaDB")
MARIADB = identify("10.11.18-MariaDB")
RDS = identify("8.0.35", "Source distribution", variables={"server_uuid": "x", "basedir": "/rdsdbbin/mysql"})


@dataclass(frozen=True)
class Known:
    """Facts about one variable, as the catalogue gives them."""

    name: str
    dynamic: bool = True
    kind: str = "integer"
    read_only: bool = False
    scope: str = "global"
    ignored_when: str | None = None
    replaced_by: str | None = None
    unit: str | None = None
    choices: tuple[str, ...] = ()
    minimum: int | float | None = None
    maximum: int | float | None = None
    step: int | None = None
    effect: str = "at_once"


class Catalogue:
    """Few variables, the same on every server but for what each test says."""

    def __init__(self, *known: Known) -> None:
        common = (
            Known("innodb_io_capacity", minimum=100),
            Known("innodb_io_capacity_max", minimum=100),
            Known("innodb_max_dirty_pages_pct", kind="real", minimum=0, maximum=99.999),
            Known("innodb_max_dirty_pages_pct_lwm", kind="real", minimum=0, maximum=99.999),
            Known("innodb_redo_log_capacity", unit="bytes", minimum=8 * MIB, maximum=128 << 30),
            Known("innodb_log_file_size", unit="bytes", minimum=MIB, step=4096),
            Known("innodb_buffer_pool_size", unit="bytes", minimum=5 * MIB),
            Known("innodb_adaptive_flushing", kind="boolean"),
            Known("innodb_flush_method", kind="enum", dynamic=False, effect="restart"),
            Known("innodb_change_buffering", kind="enum", choices=("none", "inserts", "all")),
            Known("innodb_flush_neighbors", kind="enum", choices=("0", "1", "2")),
            Known("log_output", kind="set", choices=("NONE", "FILE", "TABLE")),
            Known("innodb_version", kind="string", dynamic=False, read_only=True),
            Known("sort_buffer_size", unit="bytes", effect="new_connections"),
            Known("init_connect", kind="text"),
        )
        self._known = {one.name: one for one in (*common, *known)}

    def find(self, name: str, server: ServerVersion) -> Known | None:
        return self._known.get(name)


VARIABLES = {
    "innodb_io_capacity": "200",
    "innodb_io_capacity_max": "2000",
    "innodb_max_dirty_pages_pct": "90.000000",
    "innodb_max_dirty_pages_pct_lwm": "10.000000",
    "innodb_redo_log_capacity": "104857600",
    "innodb_log_file_size": str(96 * MIB),
    "innodb_log_buffer_size": str(16 * MIB),
    "innodb_buffer_pool_size": str(128 * MIB),
    "innodb_buffer_pool_chunk_size": str(128 * MIB),
    "innodb_buffer_pool_instances": "1",
    "innodb_adaptive_flushing": "ON",
    "innodb_flush_method": "fsync",
    "innodb_change_buffering": "all",
    "innodb_flush_neighbors": "1",
    "log_output": "FILE",
    "innodb_version": "8.0.33",
    "sort_buffer_size": "262144",
    "init_connect": "",
}


def write(
    *changes: Change,
    server: ServerVersion = MYSQL,
    variables: Mapping[str, str] | None = None,
    catalogue: Catalogue | None = None,
    status: Mapping[str, str] | None = None,
    persisted: Mapping[str, str] | None = None,
) -> Rendered:
    return render(
        changes,
        server,
        {**VARIABLES, **(variables or {})},
        status=status,
        persisted=persisted,
        catalogue=catalogue or Catalogue(),
    )


def test_mysql_8_persists_and_the_undo_forgets_what_was_not_persisted_before() -> None:
    written = write(SetVariable("innodb_redo_log_capacity", 1 << 30), persisted={})
    assert written.sql == ("SET PERSIST `innodb_redo_log_capacity` = 1073741824",)
    assert written.undo == (
        "SET GLOBAL `innodb_redo_log_capacity` = 104857600",
        "RESET PERSIST IF EXISTS `innodb_redo_log_capacity`",
    )
    assert written.option_file == ("innodb_redo_log_capacity = 1G",)
    assert written.undo_option_file == ("innodb_redo_log_capacity = 100M",)
    (change,) = written.changes
    assert (change.current, change.proposed, change.effect) == ("104857600", "1073741824", "at_once")
    assert not written.needs_restart


def test_what_was_persisted_before_is_persisted_again_by_the_undo() -> None:
    same = write(SetVariable("innodb_io_capacity", 1_000), persisted={"innodb_io_capacity": "200"})
    assert same.undo == ("SET PERSIST `innodb_io_capacity` = 200",)
    other = write(SetVariable("innodb_io_capacity", 1_000), persisted={"innodb_io_capacity": "400"})
    assert other.undo == ("SET PERSIST `innodb_io_capacity` = 400", "SET GLOBAL `innodb_io_capacity` = 200")


@pytest.mark.parametrize("server", [MYSQL_5_7, MARIADB_10_5, MARIADB])
def test_servers_without_persist_get_set_global_and_are_told_it_is_lost(server: ServerVersion) -> None:
    written = write(SetVariable("innodb_io_capacity", 1_000), server=server, persisted={})
    assert written.sql == ("SET GLOBAL `innodb_io_capacity` = 1000",)
    assert written.undo == ("SET GLOBAL `innodb_io_capacity` = 200",)
    assert any("lost at the next restart" in note for note in written.notes)


def test_nothing_is_persisted_where_the_undo_could_not_be_exact() -> None:
    unreadable = write(SetVariable("innodb_io_capacity", 1_000), persisted=None)
    not_loaded = write(
        SetVariable("innodb_io_capacity", 1_000), persisted={}, variables={"persisted_globals_load": "OFF"}
    )
    assert unreadable.sql == not_loaded.sql == ("SET GLOBAL `innodb_io_capacity` = 1000",)


def test_a_variable_that_needs_a_restart_gets_no_statement() -> None:
    written = write(SetVariable("innodb_flush_method", "O_DIRECT"), persisted={})
    assert written.sql == written.undo == ()
    assert written.option_file == ("innodb_flush_method = O_DIRECT",)
    assert written.undo_option_file == ("innodb_flush_method = fsync",)
    assert written.needs_restart
    assert written.effect == "restart"


def test_the_maximum_rises_first_and_falls_last() -> None:
    up = write(SetVariable("innodb_io_capacity", 4_000), SetVariable("innodb_io_capacity_max", 8_000))
    assert up.sql == ("SET GLOBAL `innodb_io_capacity_max` = 8000", "SET GLOBAL `innodb_io_capacity` = 4000")
    assert up.undo == ("SET GLOBAL `innodb_io_capacity` = 200", "SET GLOBAL `innodb_io_capacity_max` = 2000")
    high = {"innodb_io_capacity": "4000", "innodb_io_capacity_max": "8000"}
    down = write(SetVariable("innodb_io_capacity_max", 2_000), SetVariable("innodb_io_capacity", 200), variables=high)
    assert down.sql == ("SET GLOBAL `innodb_io_capacity` = 200", "SET GLOBAL `innodb_io_capacity_max` = 2000")
    assert down.undo == ("SET GLOBAL `innodb_io_capacity_max` = 8000", "SET GLOBAL `innodb_io_capacity` = 4000")


def test_the_other_one_of_a_pair_is_written_out_where_the_server_would_move_it() -> None:
    raised = write(SetVariable("innodb_io_capacity", 5_000), server=MARIADB)
    assert raised.sql == ("SET GLOBAL `innodb_io_capacity_max` = 10000", "SET GLOBAL `innodb_io_capacity` = 5000")
    assert {change.name for change in raised.changes} == {"innodb_io_capacity", "innodb_io_capacity_max"}
    lowered = write(SetVariable("innodb_max_dirty_pages_pct", 5))
    assert lowered.sql == (
        "SET GLOBAL `innodb_max_dirty_pages_pct_lwm` = 5",
        "SET GLOBAL `innodb_max_dirty_pages_pct` = 5",
    )
    assert lowered.undo == (
        "SET GLOBAL `innodb_max_dirty_pages_pct` = 90",
        "SET GLOBAL `innodb_max_dirty_pages_pct_lwm` = 10",
    )


def test_a_pair_that_contradicts_itself_is_refused() -> None:
    with pytest.raises(BadProposal, match="no server takes that"):
        write(SetVariable("innodb_io_capacity", 4_000), SetVariable("innodb_io_capacity_max", 2_000))
    with pytest.raises(BadProposal, match="raise innodb_max_dirty_pages_pct with it"):
        write(SetVariable("innodb_max_dirty_pages_pct_lwm", 95))


def test_the_redo_log_of_servers_that_cannot_resize_needs_a_restart() -> None:
    catalogue = Catalogue(Known("innodb_log_file_size", unit="bytes", dynamic=False, effect="restart"))
    written = write(SetVariable("innodb_log_file_size", 1 << 30), server=MARIADB_10_5, catalogue=catalogue)
    assert written.sql == ()
    assert written.option_file == ("innodb_log_file_size = 1G",)
    assert written.needs_restart


def test_what_mariadb_would_not_take_back_at_run_time_is_not_offered_as_sql() -> None:
    """MariaDB 10.11.19: error 1210, innodb_log_file_size must be at least innodb_log_buffer_size."""
    written = write(
        SetVariable("innodb_log_file_size", 1 << 30),
        server=MARIADB,
        variables={"innodb_log_file_size": str(8 * MIB)},
    )
    assert written.sql == written.undo == ()
    assert written.option_file == ("innodb_log_file_size = 1G",)
    assert written.undo_option_file == ("innodb_log_file_size = 8M",)
    assert written.needs_restart
    assert any("not set back" in note and "innodb_log_buffer_size" in note for note in written.notes)


def test_the_undo_restores_the_capacity_in_force_and_not_the_one_shown() -> None:
    """8.0.33 started with innodb_log_file_size = 512M shows 100 MiB and works with 1 GiB."""
    written = write(
        SetVariable("innodb_redo_log_capacity", 4 << 30), status={"Innodb_redo_log_capacity_resized": str(1 << 30)}
    )
    assert written.undo == ("SET GLOBAL `innodb_redo_log_capacity` = 1073741824",)
    assert written.undo_option_file == ("innodb_redo_log_capacity = 1G",)


def test_values_are_rounded_as_the_server_rounds_them() -> None:
    redo = write(SetVariable("innodb_redo_log_capacity", 123_456_789))
    assert redo.changes[0].proposed == str(118 * MIB)
    pool = write(SetVariable("innodb_buffer_pool_size", 200 * MIB))
    assert pool.sql == (f"SET GLOBAL `innodb_buffer_pool_size` = {256 * MIB}",)


def test_reals_and_booleans_are_told_as_select_global_prints_them() -> None:
    real = write(SetVariable("innodb_max_dirty_pages_pct", 75.5))
    assert real.sql == ("SET GLOBAL `innodb_max_dirty_pages_pct` = 75.5",)
    assert (real.changes[0].current, real.changes[0].proposed) == ("90.000000", "75.500000")
    boolean = write(SetVariable("innodb_adaptive_flushing", False))
    assert boolean.sql == ("SET GLOBAL `innodb_adaptive_flushing` = OFF",)
    assert boolean.undo == ("SET GLOBAL `innodb_adaptive_flushing` = ON",)
    assert (boolean.changes[0].current, boolean.changes[0].proposed) == ("1", "0")


def test_choices_are_spelled_as_the_server_spells_them() -> None:
    assert write(SetVariable("innodb_change_buffering", "INSERTS")).sql == (
        "SET GLOBAL `innodb_change_buffering` = 'inserts'",
    )
    assert write(SetVariable("innodb_flush_neighbors", 2)).sql == ("SET GLOBAL `innodb_flush_neighbors` = 2",)
    written = write(SetVariable("log_output", "table, file"))
    assert written.sql == ("SET GLOBAL `log_output` = 'FILE,TABLE'",)
    assert written.undo == ("SET GLOBAL `log_output` = 'FILE'",)
    assert written.option_file == ("log_output = FILE,TABLE",)


def test_a_variable_that_sessions_copy_says_so() -> None:
    assert write(SetVariable("sort_buffer_size", 524_288)).effect == "new_connections"


def test_a_value_that_is_there_already_is_no_change() -> None:
    written = write(SetVariable("innodb_io_capacity", 200), SetVariable("innodb_adaptive_flushing", "on"))
    assert written == Rendered()


@pytest.mark.parametrize(
    "change",
    [
        SetVariable("init_connect", "x"),
        SetVariable("general_log_file", "/tmp/x"),
        SetVariable("wsrep_provider", "x"),
        SetVariable("super_read_only", True),
        SetVariable("max_connections = 1, general_log", 1),
        SetVariable("INNODB_IO_CAPACITY", 400),
    ],
    ids=lambda change: change.name,
)
def test_variables_that_are_never_touched_are_refused_even_if_catalogued(change: SetVariable) -> None:
    with pytest.raises(BadProposal, match="never sets"):
        write(change, variables={change.name: "1"})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (SetVariable("innodb_no_such", 1), "has no system variable"),
        (SetVariable("innodb_io_capacity", 10), "beyond the smallest value"),
        (SetVariable("innodb_redo_log_capacity", 1 << 60), "beyond the largest value"),
        (SetVariable("innodb_io_capacity", "1.5G"), "take no fractions"),
        (SetVariable("innodb_adaptive_flushing", "maybe"), "write ON or OFF"),
        (SetVariable("innodb_flush_method", "O_DIRECT'; --"), "does not write into statements"),
        (
            SetVariable("innodb_change_buffering", "some"),
            "innodb_change_buffering: 'some' is none of none, inserts, all",
        ),
        (SetVariable("innodb_version", "9.0.0"), "only informs"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_what_the_server_would_not_take_is_refused_with_a_sentence(change: SetVariable, message: str) -> None:
    with pytest.raises(BadProposal, match=message):
        write(change)


def test_a_variable_this_very_server_lacks_is_refused() -> None:
    with pytest.raises(BadProposal, match=r"MySQL 8\.0\.33 has no system variable innodb_io_capacity\."):
        render([SetVariable("innodb_io_capacity", 400)], MYSQL, {}, catalogue=Catalogue())


def test_a_managed_server_gets_parameters_and_no_statements() -> None:
    written = write(SetVariable("innodb_io_capacity", 1_000), server=RDS, persisted={})
    assert written.sql == written.undo == written.option_file == written.undo_option_file == ()
    assert written.parameters == ("innodb_io_capacity = 1000",)
    assert written.undo_parameters == ("innodb_io_capacity = 200",)
    assert any("parameter group" in note for note in written.notes)


@pytest.mark.parametrize(
    "change", [SetVariable("innodb_io_capacity", 1_000), SetMetricCounters(enable=("log_lsn_current",))]
)
def test_a_managed_server_is_told_nothing_of_set_global_or_option_files(change: Change) -> None:
    written = render([change], RDS, VARIABLES, enabled_metrics=set(), catalogue=Catalogue())
    assert len(written.parameters) == 1
    assert "lost" not in "".join(written.notes)
    assert "option-file" not in "".join(written.notes)


def test_a_server_of_ones_own_has_no_parameter_group() -> None:
    assert write(SetVariable("innodb_io_capacity", 1_000)).parameters == ()


def test_counters_are_switched_by_name_and_only_those_that_are_off() -> None:
    written = render(
        [SetMetricCounters(enable=("log_lsn_current", "trx_rw_commits", "log_checkpoints"))],
        MYSQL,
        VARIABLES,
        enabled_metrics={"trx_rw_commits"},
        catalogue=Catalogue(),
    )
    assert written.sql == (
        "SET GLOBAL `innodb_monitor_enable` = 'log_lsn_current'",
        "SET GLOBAL `innodb_monitor_enable` = 'log_checkpoints'",
    )
    assert written.undo == (
        "SET GLOBAL `innodb_monitor_disable` = 'log_lsn_current'",
        "SET GLOBAL `innodb_monitor_disable` = 'log_checkpoints'",
    )
    assert written.option_file == ("innodb_monitor_enable = 'log_lsn_current,log_checkpoints'",)


def test_counters_are_never_switched_by_a_pattern() -> None:
    with pytest.raises(BadProposal, match="no name of an innodb_metrics counter"):
        write(SetMetricCounters(enable=("log%",)))


def test_instruments_return_to_what_each_of_them_was() -> None:
    present: dict[str, tuple[bool, bool | None]] = {
        "wait/io/file/sql/binlog": (False, False),
        "statement/sql/select": (True, True),
        "memory/innodb/buf_buf_pool": (False, None),
        "wait/lock/metadata/sql/mdl": (True, False),
    }
    written = render(
        [SetInstruments(tuple((name, True, True) for name in present))],
        MYSQL,
        VARIABLES,
        instruments=present,
        catalogue=Catalogue(),
    )
    update = "UPDATE performance_schema.setup_instruments SET "
    assert written.sql == (
        f"{update}ENABLED = 'YES', TIMED = 'YES' "
        "WHERE NAME IN ('wait/io/file/sql/binlog', 'wait/lock/metadata/sql/mdl')",
        f"{update}ENABLED = 'YES' WHERE NAME IN ('memory/innodb/buf_buf_pool')",
    )
    assert written.undo == (
        f"{update}ENABLED = 'NO', TIMED = 'NO' WHERE NAME IN ('wait/io/file/sql/binlog')",
        f"{update}ENABLED = 'NO' WHERE NAME IN ('memory/innodb/buf_buf_pool')",
        f"{update}ENABLED = 'YES', TIMED = 'NO' WHERE NAME IN ('wait/lock/metadata/sql/mdl')",
    )
    assert "performance-schema-instrument = 'wait/io/file/sql/binlog=ON'" in written.option_file


def test_consumers_return_to_what_each_of_them_was() -> None:
    written = render(
        [SetConsumers((("events_statements_history", True), ("global_instrumentation", True)))],
        MYSQL,
        VARIABLES,
        consumers={"events_statements_history": False, "global_instrumentation": True},
        catalogue=Catalogue(),
    )
    assert len(written.sql) == len(written.undo) == 1
    assert written.undo[0].endswith("SET ENABLED = 'NO' WHERE NAME = 'events_statements_history'")
    assert written.option_file == ("performance-schema-consumer-events-statements-history = ON",)


@pytest.mark.parametrize(
    "change",
    [
        SetInstruments((("wait/io/file/sql/binlog", True, True),)),
        SetConsumers((("events_waits_current", True),)),
    ],
    ids=["instruments", "consumers"],
)
def test_without_the_present_state_nothing_irreversible_is_written(change: Change) -> None:
    with pytest.raises(BadProposal, match="without having read"):
        write(change)


def test_advice_is_told_and_never_written_as_a_statement() -> None:
    written = write(
        SchemaAdvice("shop.orders", "Fewer partitions."), UpgradeAdvice("8.4", "Out of support."), Investigate("Look.")
    )
    assert written.sql == written.option_file == ()
    assert [change.kind for change in written.changes] == ["schema", "upgrade", "investigate"]


def test_every_statement_has_the_one_form_that_is_allowed() -> None:
    written = write(
        SetVariable("innodb_io_capacity", 4_000),
        SetVariable("innodb_max_dirty_pages_pct", 75.5),
        SetVariable("innodb_adaptive_flushing", False),
        SetVariable("innodb_redo_log_capacity", 1 << 30),
        SetMetricCounters(enable=("log_lsn_current",)),
        persisted={"innodb_io_capacity": "300"},
    )
    allowed = re.compile(
        r"SET (GLOBAL|PERSIST) `[a-z0-9_]+` = (\d+(\.\d+)?|'[A-Za-z0-9_,.:=/ -]*'|ON|OFF)"
        r"|RESET PERSIST IF EXISTS `[a-z0-9_]+`"
    )
    assert len(written.sql) == 6
    assert all(allowed.fullmatch(statement) for statement in (*written.sql, *written.undo))


def test_the_buffer_pool_is_rounded_as_each_generation_rounds_it() -> None:
    chunked = {"innodb_buffer_pool_chunk_size": str(128 * MIB), "innodb_buffer_pool_instances": "8"}
    assert rounded_pool_size(MYSQL, chunked, 1_200 * MIB) == 2_048 * MIB
    assert rounded_pool_size(MARIADB, {"innodb_buffer_pool_chunk_size": str(2 * MIB)}, 129 * MIB) == 130 * MIB
    newest = {"innodb_buffer_pool_chunk_size": "0", "innodb_buffer_pool_size_max": str(128 * MIB)}
    assert rounded_pool_size(MARIADB, newest, 100 * MIB + 1) == 101 * MIB
    assert resizable_to(newest, 128 * MIB)
    assert not resizable_to(newest, 129 * MIB)
    assert resizable_to(chunked, 1 << 40)


def test_a_pool_above_its_ceiling_needs_a_restart() -> None:
    """MariaDB 11.8.6 takes a SET above innodb_buffer_pool_size_max with a warning and changes nothing."""
    newest = {"innodb_buffer_pool_chunk_size": "0", "innodb_buffer_pool_size_max": str(128 * MIB)}
    written = write(
        SetVariable("innodb_buffer_pool_size", 512 * MIB), server=identify("11.8.6-MariaDB"), variables=newest
    )
    assert written.sql == ()
    assert written.option_file == ("innodb_buffer_pool_size = 512M",)
    assert written.needs_restart


def test_a_value_that_was_empty_is_restored_by_taking_the_line_out() -> None:
    """MySQL 5.7.22 shows an empty innodb_flush_method and refuses to start with one that is given as empty."""
    written = write(SetVariable("innodb_flush_method", "O_DIRECT"), variables={"innodb_flush_method": ""})
    assert written.undo_option_file == ("# innodb_flush_method was not set: remove its line",)


def test_a_variable_that_another_one_replaced_is_refused_with_its_name() -> None:
    known = Known("expire_logs_days", ignored_when="always", replaced_by="binlog_expire_logs_seconds")
    with pytest.raises(BadProposal, match=r"ignored always: set binlog_expire_logs_seconds\.$"):
        write(SetVariable("expire_logs_days", 7), variables={"expire_logs_days": "0"}, catalogue=Catalogue(known))


@pytest.mark.parametrize(
    ("name", "old", "new", "server"),
    [
        ("innodb_commit_concurrency", "0", 8, MYSQL),
        ("query_cache_type", "OFF", "ON", MARIADB),
        ("max_user_connections", "0", 8, MARIADB),
        ("innodb_doublewrite", "ON", "OFF", MYSQL),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_what_a_server_refuses_at_run_time_needs_a_restart(
    name: str, old: str, new: int | str, server: ServerVersion
) -> None:
    kind = "integer" if isinstance(new, int) else "enum"
    written = write(
        SetVariable(name, new), server=server, variables={name: old}, catalogue=Catalogue(Known(name, kind=kind))
    )
    assert written.sql == written.undo == ()
    assert written.needs_restart
    assert written.option_file == (f"{name} = {new}",)
    assert any(f"{name} needs a restart here" in note for note in written.notes)


def test_what_cannot_be_persisted_is_set_for_now_and_written_down() -> None:
    known = Known("innodb_undo_tablespaces")
    written = write(
        SetVariable("innodb_undo_tablespaces", 3),
        SetVariable("innodb_io_capacity", 400),
        variables={"innodb_undo_tablespaces": "2"},
        catalogue=Catalogue(known),
        persisted={},
    )
    assert written.sql == (
        "SET GLOBAL `innodb_undo_tablespaces` = 3",
        "SET PERSIST `innodb_io_capacity` = 400",
    )
    assert "SET GLOBAL `innodb_undo_tablespaces` = 2" in written.undo
    assert "RESET PERSIST IF EXISTS `innodb_undo_tablespaces`" not in written.undo
    assert any("lost at the next restart" in note for note in written.notes)


def test_flags_are_merged_into_the_ones_that_are_set() -> None:
    catalogue = Catalogue(Known("optimizer_switch", kind="set", choices=("mrr", "mrr_cost_based")))
    present = {"optimizer_switch": "mrr=on,mrr_cost_based=on"}
    written = write(SetVariable("optimizer_switch", "mrr_cost_based=off"), variables=present, catalogue=catalogue)
    assert written.sql == ("SET GLOBAL `optimizer_switch` = 'mrr=on,mrr_cost_based=off'",)
    assert written.undo == ("SET GLOBAL `optimizer_switch` = 'mrr=on,mrr_cost_based=on'",)
    with pytest.raises(BadProposal, match="has no flag bka"):
        write(SetVariable("optimizer_switch", "bka=on"), variables=present, catalogue=catalogue)


def test_a_query_cache_that_is_on_can_be_switched_off_and_on_again() -> None:
    catalogue = Catalogue(Known("query_cache_type", kind="enum", choices=("OFF", "ON", "DEMAND")))
    written = write(
        SetVariable("query_cache_type", "OFF"),
        server=MARIADB,
        variables={"query_cache_type": "ON"},
        catalogue=catalogue,
    )
    assert written.sql == ("SET GLOBAL `query_cache_type` = OFF",)
    assert written.undo == ("SET GLOBAL `query_cache_type` = ON",)
