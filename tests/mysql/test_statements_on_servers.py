"""What is written for a server is what that server takes, reads back, and takes back: shown on the servers."""

from __future__ import annotations

import time

import pytest

from advisor.mysql import redo
from advisor.mysql.catalogue import CATALOGUE, ChangeClass, Kind, VariableFacts
from advisor.mysql.counters import FAST_METRIC_NAMES
from advisor.mysql.proposal import Change, SetConsumers, SetInstruments, SetMetricCounters, SetVariable
from advisor.mysql.redo import MIB
from advisor.mysql.statements import BadProposal, Rendered, render
from advisor.mysql.values import Value, same
from advisor.mysql.version import ServerVersion, identify
from tests.servers import RunningServer, start_server
from tests.servers.fixtures import each_server, server_params

target = each_server(options={"innodb_log_buffer_size": "2M", "performance_schema": "ON"})

#: Values that are allowed and not the default anywhere, in an order that a careless writer would send as it is.
WANTED: dict[str, Value] = {
    "innodb_io_capacity": 12_000,
    "innodb_io_capacity_max": 24_000,
    "innodb_max_dirty_pages_pct_lwm": 12.5,
    "innodb_max_dirty_pages_pct": 75.5,
    "innodb_adaptive_flushing": False,
    "innodb_adaptive_flushing_lwm": 20,
    "innodb_flushing_avg_loops": 20,
    "innodb_flush_sync": False,
    "innodb_flush_neighbors": 2,
    "innodb_flush_log_at_trx_commit": 2,
    "innodb_lru_scan_depth": 2_048,
    "innodb_buffer_pool_size": 200 * MIB,
    "innodb_log_buffer_size": 4 * MIB,
    "innodb_change_buffering": "inserts",
    "innodb_purge_threads": 3,
    "innodb_read_io_threads": 6,
    "innodb_flush_method": "O_DSYNC",
    "sync_binlog": 7,
    "max_connections": 222,
    "table_open_cache": 600,
    "thread_cache_size": 17,
    "tmp_table_size": 24 * MIB,
    "max_heap_table_size": 24 * MIB,
    "sort_buffer_size": 512 * 1024,
    "binlog_expire_logs_seconds": 604_800,
}


def version_of(server: RunningServer) -> ServerVersion:
    variables = variables_of(server)
    return identify(variables["version"], variables["version_comment"], variables=variables)


def variables_of(server: RunningServer) -> dict[str, str]:
    return {str(name): str(value) for name, value in server.sql("SHOW GLOBAL VARIABLES")}


def settings_of(server: RunningServer) -> dict[str, str]:
    """The global variables that hold settings: neither clocks and positions, nor the echo of the last counter
    switched.
    """
    volatile = ("gtid_", "timestamp", "innodb_monitor_", "rand_seed", "pseudo_", "insert_id", "last_insert_id")
    return {name: value for name, value in variables_of(server).items() if not name.startswith(volatile)}


def persisted_of(server: RunningServer) -> dict[str, str] | None:
    version = version_of(server)
    if version.is_mariadb or version.number < (8, 0, 0):
        return None
    rows = server.sql("SELECT VARIABLE_NAME, VARIABLE_VALUE FROM performance_schema.persisted_variables")
    return {str(name): str(value) for name, value in rows}


def counters_of(server: RunningServer) -> dict[str, bool]:
    column = "STATUS" if server.sql("SHOW COLUMNS FROM information_schema.INNODB_METRICS LIKE 'STATUS'") else "ENABLED"
    rows = server.sql(f"SELECT NAME, {column} FROM information_schema.INNODB_METRICS")
    return {str(name): state in ("enabled", "1") for name, state in rows}


def write(server: RunningServer, *changes: Change) -> Rendered:
    return render(
        changes,
        version_of(server),
        variables_of(server),
        status=server.status("Innodb_redo%"),
        persisted=persisted_of(server),
        enabled_metrics={name for name, on in counters_of(server).items() if on},
    )


def proposal_for(server: RunningServer) -> list[Change]:
    """All of the wanted values whose variables this server has, and its redo log at 256 MiB."""
    version, variables = version_of(server), variables_of(server)
    capacity = redo.variable_changes_for_capacity(version, variables, 256 * MIB)
    wanted = {**WANTED, **capacity}
    return [
        SetVariable(name, value)
        for name, value in wanted.items()
        if name in variables and CATALOGUE.find(name, version) is not None
    ]


def run(server: RunningServer, statements: tuple[str, ...]) -> list[str]:
    """Runs the statements as a person would paste them; a resize of the buffer pool may still be under way. ->
    warnings.
    """
    warnings = []
    connection = server.connect()
    try:
        cursor = connection.cursor()
        for statement in statements:
            deadline = time.monotonic() + 30
            while True:
                try:
                    cursor.execute(statement)
                    break
                except Exception as error:
                    # 3166: a buffer pool resize is in progress. Everything else is a refusal.
                    if error.args[0] != 3166 or time.monotonic() > deadline:
                        raise AssertionError(f"{server.name} refused {statement}: {error}") from error
                    time.sleep(0.2)
            cursor.execute("SHOW WARNINGS")
            # 1287: the variable is deprecated; any other warning says that the server made something else of the value.
            warnings += [str(text) for level, code, text in cursor.fetchall() if level != "Note" and code != 1287]
    finally:
        connection.close()
    return warnings


def becomes(server: RunningServer, name: str, value: str, *, seconds: float = 20) -> bool:
    deadline = time.monotonic() + seconds
    while not same((seen := server.value(f"@@GLOBAL.{name}")) or "", value):
        if time.monotonic() > deadline:
            raise AssertionError(f"{server.name}: {name} is {seen}, not {value}")
        time.sleep(0.1)
    # 8.0.33 shows the new size while it still resizes, and may lose a size that is set in that moment.
    while name == "innodb_buffer_pool_size" and _resizing(server) and time.monotonic() < deadline:
        time.sleep(0.1)
    return True


def _resizing(server: RunningServer) -> bool:
    name = "Innodb_buffer_pool_resize_status"
    state = server.status(name).get(name, "")
    return state != "" and "omplete" not in state


def test_every_statement_is_taken_reads_back_as_proposed_and_is_taken_back(target: RunningServer) -> None:
    before, persisted = settings_of(target), persisted_of(target)
    written = write(target, *proposal_for(target))
    dynamic = [change for change in written.changes if not change.needs_restart]
    assert len(dynamic) >= 12, [change.name for change in dynamic]
    assert run(target, written.sql) == [], "a statement was taken with a warning: the server made something else of it"
    assert all(becomes(target, change.name, change.proposed) for change in dynamic)
    assert all((target.value(f"@@GLOBAL.{c.name}") or "") == c.current for c in written.changes if c.needs_restart)
    if persisted is not None:
        assert set(persisted_of(target) or {}) == {change.name for change in dynamic}
    run(target, written.undo)
    assert all(becomes(target, change.name, change.current) for change in dynamic)
    assert settings_of(target) == before
    assert persisted_of(target) == persisted


def test_what_was_persisted_before_is_what_is_persisted_after_the_undo(target: RunningServer) -> None:
    if persisted_of(target) is None:
        with pytest.raises(Exception, match=r"1193|1064|Unknown system variable|syntax"):
            target.sql("SET PERSIST innodb_io_capacity = 300")
        return
    old = str(target.value("@@GLOBAL.innodb_io_capacity"))
    target.sql("SET PERSIST innodb_io_capacity = 300")
    target.sql("SET GLOBAL innodb_io_capacity = 250")
    try:
        before, persisted = settings_of(target), persisted_of(target)
        written = write(target, SetVariable("innodb_io_capacity", 500), SetVariable("innodb_lru_scan_depth", 999))
        run(target, written.sql)
        assert (persisted_of(target) or {})["innodb_io_capacity"] == "500"
        run(target, written.undo)
        assert settings_of(target) == before
        assert persisted_of(target) == persisted == {"innodb_io_capacity": "300"}
    finally:
        target.sql(f"SET GLOBAL innodb_io_capacity = {old}")
        target.sql("RESET PERSIST")


def test_bounds_that_move_each_other_come_back_both(target: RunningServer) -> None:
    """innodb_io_capacity above its maximum, and a dirty limit below its low-water mark: the server would move the
    other.
    """
    before = settings_of(target)
    high = int(before["innodb_io_capacity_max"]) + 1_000
    for change in (SetVariable("innodb_io_capacity", high), SetVariable("innodb_io_capacity_max", 150)):
        written = write(target, change)
        assert {one.name for one in written.changes} == {"innodb_io_capacity", "innodb_io_capacity_max"}
        assert run(target, written.sql) == []
        assert all(becomes(target, one.name, one.proposed) for one in written.changes)
        run(target, written.undo)
        assert settings_of(target) == before


def test_counters_are_switched_one_by_one_and_exactly_those_come_back(target: RunningServer) -> None:
    before = counters_of(target)
    known = tuple(name for name in FAST_METRIC_NAMES if name in before)
    assert len(known) >= 8
    written = write(target, SetMetricCounters(enable=known))
    assert [change.name for change in written.changes] == [name for name in known if not before[name]]
    run(target, written.sql)
    after = counters_of(target)
    assert {name for name in after if after[name] != before[name]} == {change.name for change in written.changes}
    run(target, written.undo)
    assert counters_of(target) == before


def test_instruments_and_consumers_come_back_one_by_one(target: RunningServer) -> None:
    instruments = "SELECT NAME, ENABLED, TIMED FROM performance_schema.setup_instruments ORDER BY 1"
    consumers = "SELECT NAME, ENABLED FROM performance_schema.setup_consumers ORDER BY 1"
    before = target.sql(instruments), target.sql(consumers)
    # 5.7 prints NO for what cannot be timed, later versions NULL.
    untimed = ("memory/", "error")
    present = {
        str(name): (enabled == "YES", None if timed is None or str(name).startswith(untimed) else timed == "YES")
        for name, enabled, timed in before[0]
    }
    chosen = [name for name in present if name.startswith(("wait/io/file/innodb/", "stage/innodb/", "memory/innodb/"))]
    assert len(chosen) > 10
    written = render(
        [
            SetInstruments(tuple((name, True, True) for name in chosen)),
            SetConsumers(tuple((str(name), True) for name, _ in before[1])),
        ],
        version_of(target),
        variables_of(target),
        instruments=present,
        consumers={str(name): enabled == "YES" for name, enabled in before[1]},
    )
    run(target, written.sql)
    assert all(row[1] == "YES" for row in target.sql(instruments) if row[0] in chosen)
    assert all(row[1] == "YES" for row in target.sql(consumers))
    run(target, written.undo)
    assert (target.sql(instruments), target.sql(consumers)) == before


@pytest.mark.parametrize("name", server_params())
def test_the_option_file_makes_the_server_start_with_what_was_proposed(name: str) -> None:
    with start_server(name, options={"innodb_log_buffer_size": "2M"}) as server:
        counters = tuple(one for one in FAST_METRIC_NAMES if one in counters_of(server))
        written = write(server, *proposal_for(server), SetMetricCounters(enable=counters))
        restart = [change for change in written.changes if change.needs_restart]
        assert restart, "every server has variables that need a restart"
        server.restart(_options(written.option_file))
        proposed = {change.name: change.proposed for change in written.changes if change.kind == "variable"}
        assert {one: server.value(f"@@GLOBAL.{one}") for one in proposed} == proposed
        on = counters_of(server)
        assert all(on[counter] for counter in counters)
    with start_server(name, options={"innodb_log_buffer_size": "2M", **_options(written.undo_option_file)}) as server:
        current = {change.name: change.current for change in written.changes if change.kind == "variable"}
        assert {one: server.value(f"@@GLOBAL.{one}") or "" for one in current} == current


def _options(lines: tuple[str, ...]) -> dict[str, str]:
    """The lines as options, read as an option file's reader does: name, equals sign, value without its quotes."""
    parts = [line.split("=", 1) for line in lines if not line.startswith("#")]
    return {name.strip(): value.strip().strip("'") for name, value in parts}


@pytest.mark.parametrize("name", server_params(["mariadb-10.11", "mariadb-11.4.5", "mariadb-11.8"]))
def test_mariadb_would_not_take_back_what_is_not_offered_as_sql(name: str) -> None:
    with start_server(name, options={"innodb_log_file_size": "8M", "innodb_log_buffer_size": "16M"}) as server:
        written = write(server, SetVariable("innodb_log_file_size", 64 * MIB))
        assert written.sql == written.undo == ()
        assert written.needs_restart
        server.sql(f"SET GLOBAL innodb_log_file_size = {64 * MIB}")
        with pytest.raises(Exception, match="innodb_log_buffer_size"):
            server.sql(f"SET GLOBAL innodb_log_file_size = {8 * MIB}")
        server.restart(_options(written.option_file))
        assert server.value("@@GLOBAL.innodb_log_file_size") == str(64 * MIB)
        server.restart(_options(written.undo_option_file))
        assert server.value("@@GLOBAL.innodb_log_file_size") == str(8 * MIB)


@pytest.mark.parametrize("name", server_params(["mysql-8.0.33"]))
def test_the_undo_restores_the_capacity_that_was_in_force(name: str) -> None:
    with start_server(name, options={"innodb_log_file_size": "64M", "innodb_log_files_in_group": "2"}) as server:
        assert server.value("@@GLOBAL.innodb_redo_log_capacity") == str(100 * MIB)
        written = write(server, SetVariable("innodb_redo_log_capacity", 512 * MIB))
        run(server, written.sql)
        assert server.status("Innodb_redo_log_capacity_resized") == {"Innodb_redo_log_capacity_resized": str(512 * MIB)}
        run(server, written.undo)
        deadline = time.monotonic() + 20
        while server.status("Innodb_redo_log_capacity_resized") != {"Innodb_redo_log_capacity_resized": str(128 * MIB)}:
            assert time.monotonic() < deadline
            time.sleep(0.2)


#: What takes a value and at once shows another, by its nature.
TRIGGERS = {"innodb_buffer_pool_dump_now", "innodb_buffer_pool_load_now", "innodb_buffer_pool_load_abort"}


def another_value(facts: VariableFacts, present: str) -> Value | None:
    """A value near the present one that the catalogue says this server takes; None where it names none."""
    if facts.kind is Kind.BOOLEAN:
        return present.upper() not in {"ON", "1"}
    if facts.kind is Kind.ENUM:
        return next((choice for choice in facts.choices if choice.lower() != present.lower()), None)
    if facts.name == "optimizer_switch":
        return "index_merge=off"
    if facts.kind in (Kind.SET, Kind.STRING):
        return None
    step = facts.step or 1
    number = float(present) if facts.kind is Kind.REAL else int(present)
    up, down = number + step, number - step
    if facts.maximum is None or up <= facts.maximum:
        return up
    return down if facts.minimum is None or down >= facts.minimum else None


@pytest.mark.parametrize("name", server_params())
def test_no_statement_for_any_catalogued_variable_is_refused(name: str) -> None:
    """Each dynamic variable whose change the catalogue calls safe is set to another value, read back, and set back."""
    with start_server(name, options={"innodb_log_buffer_size": "2M"}) as server:
        version, variables, wrong, tried = version_of(server), variables_of(server), [], 0
        before = settings_of(server)
        for variable in CATALOGUE.names(version):
            facts = CATALOGUE.find(variable, version)
            if facts is None or variable not in variables or variable in TRIGGERS:
                continue
            if facts.change_class is not ChangeClass.TUNE or facts.deprecated:
                # The others do what a test cannot take back: they lock out, end connections, or need more than one.
                # What is deprecated is taken with a warning that says so.
                continue
            value = another_value(facts, variables[variable])
            try:
                written = write(server, SetVariable(variable, value)) if value is not None else Rendered()
            except BadProposal as refusal:
                if not any(known in str(refusal) for known in ("never sets", "only informs", "to any use")):
                    wrong.append(str(refusal))
                continue
            if not written.sql:
                continue
            tried += 1
            try:
                made_other = run(server, written.sql)
                change = next(one for one in written.changes if one.name == variable)
                becomes(server, variable, change.proposed, seconds=3)
                wrong += [f"{variable}: {warning}" for warning in made_other]
            except AssertionError as refusal:
                wrong.append(str(refusal))
            try:
                run(server, written.undo)
            except AssertionError as refusal:
                wrong.append(f"undo: {refusal}")
        time.sleep(1)
        after = settings_of(server)
        wrong += [f"{one} is left at {after[one]}, was {was}" for one, was in before.items() if after[one] != was]
        assert not wrong, "\n".join(wrong)
        assert tried >= 50


@pytest.mark.parametrize("name", server_params(["mysql-5.7.22", "mariadb-10.2.11", "mariadb-10.11", "mariadb-11.8"]))
def test_what_the_server_started_with_decides_what_it_takes_back(name: str) -> None:
    options = {"query_cache_type": "ON", "query_cache_size": "1M", "max_user_connections": "7"}
    with start_server(name, options=options) as server:
        before = settings_of(server)
        written = write(server, SetVariable("query_cache_type", "OFF"), SetVariable("max_user_connections", 9))
        assert len(written.sql) == 2
        run(server, written.sql)
        run(server, written.undo)
        assert settings_of(server) == before
