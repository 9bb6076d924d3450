"""What an upgrade does to the settings of one server, told from the catalogue and tried on the servers."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from advisor.engine.scene import server_named
from advisor.mysql.catalogue import CATALOGUE
from advisor.mysql.snapshot import Origin
from advisor.mysql.upgrade import (
    BadTarget,
    UpgradeChange,
    UpgradeKind,
    _differing_flags,
    is_set,
    preview,
    target_version,
)
from advisor.mysql.version import Distribution, Flavor, ServerVersion, identify
from tests.servers import start_server
from tests.servers.fixtures import server_params
from tests.servers.running import ServerDidNotStart

FILE = Origin("option_file", "/etc/my.cnf")
_CHUNK = "innodb_buffer_pool_chunk_size"
REMOVED, RENAMED, _, IGNORED, DEPRECATED, _ = UpgradeKind


def mysql(number: str) -> ServerVersion:
    return identify(number, "MySQL Community Server - GPL")


def mariadb(number: str) -> ServerVersion:
    return identify(f"{number}-MariaDB")


def defaults_of(server: ServerVersion) -> dict[str, str]:
    found = ((name, CATALOGUE.find(name, server)) for name in CATALOGUE.names(server))
    return {name: facts.default or "" for name, facts in found if facts is not None}


def previewed(here: ServerVersion, target: str, **given: str) -> dict[str, UpgradeChange]:
    """The changes by variable, for a server with its defaults and these lines in an option file."""
    variables = {**defaults_of(here), **given}
    origins = {name: FILE if name in given else Origin("compiled") for name in variables}
    return {change.variable: change for change in preview(variables, origins, here, target_version(target)).changes}


# --- targets -----------------------------------------------------------------------------------------------------


def test_a_target_is_a_flavor_and_a_series_or_a_release() -> None:
    assert target_version("mysql:8.4").number[:2] == (8, 4)
    assert target_version("mysql 9.7").number == (9, 7, 4)
    assert target_version("MariaDB-11.8").number == (11, 8, 6)
    assert target_version("mariadb 12.3").flavor is Flavor.MARIADB
    assert target_version("mysql:8.0.40").number == (8, 0, 40)
    assert target_version("percona:8.4").distribution is Distribution.PERCONA
    assert str(target_version("mysql:26.7")) == "MySQL 26.7.0"


@pytest.mark.parametrize("text", ["", "8.4", "oracle 19.1", "mysql", "mysql 8", "mysql:8.4.x"])
def test_what_is_no_version_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(BadTarget, match=r"such as mysql:8\.4"):
        target_version(text)


def test_nobody_upgrades_to_another_flavor_or_back() -> None:
    with pytest.raises(BadTarget, match="another flavor"):
        preview({}, {}, mysql("8.0.33"), target_version("mariadb 11.8"))
    with pytest.raises(BadTarget, match="older"):
        preview({}, {}, mysql("9.7.4"), target_version("mysql 8.4"))
    assert preview({}, {}, mysql("8.0.45"), target_version("mysql 8.0")).changes == ()


# --- what is set -------------------------------------------------------------------------------------------------


def test_what_somebody_set_counts_whatever_its_value_and_what_the_server_chose_does_not() -> None:
    facts = CATALOGUE.find("max_connections", mysql("8.0.33"))
    assert is_set("max_connections", "151", facts, {"max_connections": FILE}) is True
    assert is_set("max_connections", "151", facts, {"max_connections": Origin("compiled")}) is False
    assert is_set("max_connections", "151", facts, {"max_connections": Origin("automatic")}) is False
    assert is_set("max_connections", "151", facts, {"max_connections": Origin("runtime")}) is False
    assert is_set("max_connections", "500", facts, {"max_connections": Origin("runtime")}) is True
    assert is_set("max_connections", "500", facts, {"max_connections": Origin("persisted")}) is True
    assert is_set("max_connections", "500", facts, {"sort_buffer_size": FILE}) is False


def test_without_origins_what_differs_from_a_plain_default_counts_as_set() -> None:
    here = mysql("5.7.44")
    variables = {**defaults_of(here), "query_cache_size": "33554432", "thread_cache_size": "100", "datadir": "x"}
    seen = preview(variables, {}, here, target_version("mysql 8.0"))
    assert seen.origins_known is False
    gone = seen.of_kind(UpgradeKind.REMOVED)
    assert [(change.variable, change.origin) for change in gone] == [("query_cache_size", None)]


# --- kinds of changes --------------------------------------------------------------------------------------------


def test_a_server_with_its_defaults_has_other_defaults_after_an_upgrade_and_nothing_removed() -> None:
    changes = previewed(mysql("8.0.33"), "mysql 8.4")
    assert {change.kind for change in changes.values()} == {UpgradeKind.DEFAULT_CHANGED}
    capacity = changes["innodb_io_capacity"]
    assert (capacity.old_default, capacity.new_default, capacity.verified) == ("200", "10000", False)
    assert (changes["innodb_adaptive_hash_index"].new_default, changes["innodb_change_buffering"].new_default) == (
        "OFF",
        "none",
    )
    assert changes["innodb_log_writer_threads"].new_default is None
    assert previewed(mysql("8.0.33"), "mysql 9.7")["gtid_mode"].verified is True


def test_what_is_set_keeps_its_value_and_is_not_told_of_a_new_default() -> None:
    assert "innodb_io_capacity" not in previewed(mysql("8.0.33"), "mysql 8.4", innodb_io_capacity="400")


@pytest.mark.parametrize(
    ("here", "target", "variable", "kind", "successor", "verified", "breaks"),
    [
        ("mysql 5.7.44", "mysql 8.0", "query_cache_size", REMOVED, None, True, True),
        ("mysql 5.7.44", "mysql 8.0", "sync_frm", REMOVED, None, True, True),
        ("mysql 5.7.44", "mysql 8.0", "innodb_file_format", REMOVED, None, True, True),
        ("mysql 5.7.44", "mysql 8.0", "tx_isolation", RENAMED, "transaction_isolation", True, True),
        ("mysql 5.7.44", "mysql 8.0", "log_warnings", REMOVED, "log_error_verbosity", True, True),
        ("mysql 8.0.33", "mysql 8.4", "expire_logs_days", REMOVED, "binlog_expire_logs_seconds", False, True),
        ("mysql 8.0.33", "mysql 8.4", "default_authentication_plugin", REMOVED, "authentication_policy", False, True),
        ("mysql 8.0.33", "mysql 8.4", "binlog_transaction_dependency_tracking", REMOVED, None, False, True),
        ("mysql 8.0.33", "mysql 8.4", "avoid_temporal_upgrade", REMOVED, None, False, True),
        ("mysql 8.0.33", "mysql 8.4", "master_info_repository", REMOVED, None, False, True),
        ("mysql 8.0.33", "mysql 8.4", "innodb_log_file_size", DEPRECATED, "innodb_redo_log_capacity", False, False),
        ("mysql 8.0.33", "mysql 8.4", "slave_net_timeout", DEPRECATED, "replica_net_timeout", False, False),
        ("mysql 8.0.33", "mysql 9.7", "innodb_log_file_size", REMOVED, "innodb_redo_log_capacity", True, True),
        ("mysql 8.0.33", "mysql 9.7", "replica_parallel_type", REMOVED, None, True, True),
        ("mysql 8.0.33", "mysql 9.7", "temptable_use_mmap", REMOVED, "temptable_max_mmap", True, True),
        ("mysql 5.7.44", "mysql 8.0", "innodb_undo_tablespaces", IGNORED, None, True, False),
        ("mariadb 10.5.23", "mariadb 10.6", "innodb_page_cleaners", REMOVED, None, False, False),
        ("mariadb 10.5.23", "mariadb 10.11", "innodb_page_cleaners", REMOVED, None, True, False),
        ("mariadb 10.5.23", "mariadb 10.11", "innodb_thread_concurrency", REMOVED, None, True, False),
        ("mariadb 10.5.23", "mariadb 10.11", "wsrep_replicate_myisam", REMOVED, "wsrep_mode", True, True),
        ("mariadb 10.11.19", "mariadb 11.8", "innodb_change_buffering", REMOVED, None, True, False),
        ("mariadb 10.11.19", "mariadb 11.8", "innodb_defragment", REMOVED, None, True, False),
        ("mariadb 10.11.19", "mariadb 11.8", "max_tmp_tables", REMOVED, None, True, True),
        ("mariadb 10.11.19", "mariadb 11.8", _CHUNK, IGNORED, "innodb_buffer_pool_size_max", True, False),
        ("mariadb 10.11.19", "mariadb 11.8", "tx_isolation", DEPRECATED, "transaction_isolation", True, False),
        ("mariadb 11.8.6", "mariadb 12.3", "big_tables", REMOVED, None, False, None),
        ("mariadb 11.8.6", "mariadb 12.3", "storage_engine", RENAMED, "default_storage_engine", False, None),
    ],
)  # fmt: skip
def test_what_is_set_is_removed_renamed_ignored_or_deprecated(
    here: str,
    target: str,
    variable: str,
    kind: UpgradeKind,
    successor: str | None,
    verified: bool,
    breaks: bool | None,
) -> None:
    present = server_named(here)
    change = previewed(present, target, **{variable: defaults_of(present)[variable]})[variable]
    assert (change.kind, change.successor, change.verified) == (kind, successor, verified)
    assert change.breaks_start is breaks
    assert change.origin == FILE


def test_a_renamed_variable_goes_on_under_the_other_name() -> None:
    change = previewed(mysql("5.7.44"), "mysql 8.0", tx_isolation="READ-COMMITTED")["tx_isolation"]
    assert (change.value, change.new_default) == ("READ-COMMITTED", "REPEATABLE-READ")
    assert CATALOGUE.find(str(change.successor), mysql("8.0.33")) is not None


def test_a_value_that_the_target_does_not_know_is_told_with_what_it_takes() -> None:
    mode = previewed(mysql("5.7.44"), "mysql 8.0", sql_mode="STRICT_TRANS_TABLES,NO_AUTO_CREATE_USER")["sql_mode"]
    assert (mode.kind, mode.breaks_start, mode.why) == (
        UpgradeKind.VALUE_REFUSED,
        True,
        "it knows no NO_AUTO_CREATE_USER",
    )
    method = previewed(mariadb("10.2.11"), "mariadb 11.8", innodb_flush_method="ALL_O_DIRECT")["innodb_flush_method"]
    assert "O_DIRECT" in method.why
    assert "sql_mode" not in previewed(mysql("5.7.44"), "mysql 8.0", sql_mode="STRICT_TRANS_TABLES")


def test_of_flags_only_those_are_told_that_both_know_and_set_otherwise() -> None:
    flags = "mrr=on,mrr_cost_based=on,gone=on"
    assert _differing_flags(flags, "mrr=on,mrr_cost_based=off,new=on") == ("mrr_cost_based=on", "mrr_cost_based=off")
    assert "optimizer_switch" not in previewed(mysql("8.0.12"), "mysql 8.0.33")


def test_variables_of_plugins_are_listed_as_not_judged() -> None:
    here = mysql("8.0.33")
    variables = {**defaults_of(here), "some_plugin_limit": "3", "other_plugin_limit": "4"}
    origins = {"some_plugin_limit": FILE, "other_plugin_limit": Origin("compiled")}
    assert preview(variables, origins, here, target_version("mysql 8.4")).unknown == ("some_plugin_limit",)


def test_what_prevents_a_start_comes_first() -> None:
    given = {"expire_logs_days": "7", "slave_net_timeout": "30", "innodb_undo_tablespaces": "2"}
    here = mysql("8.0.33")
    variables = {**defaults_of(here), **given}
    origins = {name: FILE if name in given else Origin("compiled") for name in variables}
    kinds = [change.kind for change in preview(variables, origins, here, target_version("mysql 8.4")).changes]
    assert kinds == sorted(kinds, key=list(UpgradeKind).index)
    assert kinds[0] is UpgradeKind.REMOVED


# --- against the servers -----------------------------------------------------------------------------------------

#: Each server with lines for it that an older one understood.
LINES = {
    "mysql-8.0.33": ("query_cache_size", "innodb_file_format", "tx_isolation"),
    "mysql-9.7": ("innodb_log_file_size", "expire_logs_days", "slave_net_timeout"),
    "mariadb-10.11": ("innodb_page_cleaners", "innodb_log_files_in_group", "wsrep_replicate_myisam", "tx_isolation"),
    "mariadb-11.8": ("innodb_defragment", "innodb_change_buffering", "max_tmp_tables", "tx_isolation"),
}
_VALUES = {"tx_isolation": "READ-COMMITTED", "innodb_file_format": "Barracuda", "innodb_change_buffering": "all"}
_BEFORE = {
    "mysql-8.0.33": mysql("5.7.22"),
    "mysql-9.7": mysql("8.0.33"),
    "mariadb-10.11": mariadb("10.5.23"),
    "mariadb-11.8": mariadb("10.11.19"),
}


def _option(names: Iterable[str]) -> dict[str, str | None]:
    # The variable that a session has is set by an option of another name on all servers.
    return {name: _VALUES.get(name, "1") for name in names}


@pytest.mark.parametrize("name", server_params(LINES))
def test_a_server_starts_with_a_former_line_exactly_where_that_was_foretold(name: str) -> None:
    target = target_version(name.replace("-", ":", 1))
    wrong = []
    for variable in LINES[name]:
        if variable == "tx_isolation" and CATALOGUE.find("tx_isolation", target) is not None:
            continue
        change = previewed(_BEFORE[name], f"{target.flavor.value} {target.number_text}", **{variable: "1"})[variable]
        try:
            with start_server(name, options=_option([variable])):
                started = True
        except ServerDidNotStart:
            started = False
        if started is change.breaks_start:
            wrong.append((variable, started, change.breaks_start))
    assert wrong == []
