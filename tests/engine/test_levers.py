"""Safe levers: only what this server takes while it runs, only while it helps, never durability."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.engine.lever import Levers, Situation, Trouble
from advisor.engine.levers import levers
from advisor.engine.scene import server_named
from advisor.engine.units import DAY, GIB, HOUR, MIB
from advisor.mysql.catalogue import CATALOGUE
from advisor.mysql.values import as_printed
from advisor.mysql.version import identify

SERVERS = ("mysql 9.7.4", "mysql 8.0.33", "mysql 5.7.22", "mariadb 10.11.18", "mariadb 11.4.5", "mariadb 10.5.23")


def _situation(server: str, variables: dict[str, str] | None = None, **values: Any) -> Situation:
    version = server_named(server)
    found = {
        name: as_printed(facts.default)
        for name in CATALOGUE.names(version)
        if (facts := CATALOGUE.find(name, version)) is not None and facts.default is not None
    }
    found |= {"innodb_page_size": "16384", "innodb_log_file_size": str(100 * MIB)}
    if "innodb_redo_log_capacity" in found:
        found["innodb_redo_log_capacity"] = str(100 * MIB)
    values = {"trouble": Trouble.WAITING, "pressure": 1.04, "dirty_percent": 40.0, **values}
    return Situation(version, {**found, **(variables or {})}, {}, **values)


def _statement(found: Levers, name: str) -> str:
    return next(lever.statements[0] for lever in found.offered if lever.name == name)


def _offered(found: Levers) -> list[str]:
    return [lever.name for lever in found.offered]


@pytest.mark.parametrize("server", SERVERS)
def test_no_lever_is_offered_where_nothing_waits_for_redo(server: str) -> None:
    assert levers(_situation(server, trouble=Trouble.NONE)) == Levers()


@pytest.mark.parametrize("server", SERVERS)
def test_every_lever_has_a_statement_an_undo_an_effect_a_price_and_an_end(server: str) -> None:
    offered = levers(_situation(server)).offered
    assert offered
    for lever in offered:
        assert all(line.startswith("SET GLOBAL ") for line in (*lever.statements, *lever.undo))
        assert lever.undo != lever.statements
        assert lever.effect.text
        assert lever.price.message.text
        assert lever.expires_seconds in (HOUR, DAY)
        assert not any(change.needs_restart for change in lever.changes)


@pytest.mark.parametrize("server", SERVERS)
def test_no_lever_touches_durability(server: str) -> None:
    weak = {"innodb_adaptive_flushing": "OFF", "innodb_adaptive_flushing_lwm": "60", "innodb_flush_sync": "OFF"}
    found = levers(_situation(server, weak, storage="ssd"))
    durable = ("flush_log", "sync_binlog", "doublewrite", "flush_method", "checksum")
    assert not [name for name in _offered(found) if any(word in name for word in durable)]


def test_the_redo_log_is_doubled_where_the_version_resizes_it_online() -> None:
    big = {"innodb_redo_log_capacity": str(8 * GIB)}
    assert _statement(levers(_situation("mysql 8.0.33", big)), "innodb_redo_log_capacity").endswith(str(16 * GIB))
    mariadb = levers(_situation("mariadb 10.11.18", {"innodb_log_file_size": str(GIB)}))
    assert _statement(mariadb, "innodb_log_file_size").endswith(str(2 * GIB))


@pytest.mark.parametrize("server", ["mysql 5.7.22", "mariadb 10.5.23"])
def test_a_log_that_needs_a_restart_is_named_with_the_reason(server: str) -> None:
    found = levers(_situation(server))
    assert "innodb_log_file_size" not in _offered(found)
    assert {one.name: one.why.text for one in found.withheld}["innodb_log_file_size"].endswith("by a restart only.")


def test_the_effect_of_a_larger_log_is_the_same_age_over_its_new_limit() -> None:
    found = levers(_situation("mysql 8.0.33", {"innodb_redo_log_capacity": str(8 * GIB)}, pressure=1.0))
    effect = next(one.effect for one in found.offered if one.name == "innodb_redo_log_capacity")
    assert effect.values["before"].value == 1.0
    assert effect.values["after"].value == pytest.approx(0.5, abs=0.01)


def test_the_log_grows_by_no_more_than_a_quarter_of_the_free_disk() -> None:
    big = {"innodb_redo_log_capacity": str(8 * GIB)}
    found = levers(_situation("mysql 8.0.33", big, free_disk_bytes=16 * GIB))
    assert _statement(found, "innodb_redo_log_capacity").endswith(str(12 * GIB))
    full = levers(_situation("mysql 8.0.33", big, free_disk_bytes=2 * GIB))
    assert "innodb_redo_log_capacity" not in _offered(full)
    assert "innodb_redo_log_capacity" in [one.name for one in full.withheld]


def test_flushing_that_does_not_use_what_it_has_is_not_given_more() -> None:
    idle = levers(_situation("mysql 8.0.33", flushed_pages_per_second=90.0))
    assert "innodb_io_capacity_max" not in _offered(idle)
    why = next(one.why for one in idle.withheld if one.name == "innodb_io_capacity_max")
    assert why.values["flushed"].value == 90
    busy = levers(_situation("mysql 8.0.33", flushed_pages_per_second=190.0))
    assert _statement(busy, "innodb_io_capacity_max").endswith("= 4000")


def test_io_capacity_alone_is_a_lever_only_where_a_round_grows_with_it() -> None:
    assert "innodb_io_capacity" not in _offered(levers(_situation("mysql 8.0.33")))
    assert _statement(levers(_situation("mariadb 10.11.18")), "innodb_io_capacity").endswith("= 400")


def test_a_rotating_disk_is_not_asked_for_more() -> None:
    assert "innodb_io_capacity_max" not in _offered(levers(_situation("mysql 8.0.33", storage="hdd")))


def test_the_low_water_mark_follows_what_is_dirty() -> None:
    name = "innodb_max_dirty_pages_pct_lwm"
    assert _statement(levers(_situation("mariadb 10.11.18", dirty_percent=30.0)), name).endswith("= 15")
    assert _statement(levers(_situation("mariadb 10.11.18", dirty_percent=80.0)), name).endswith("= 20")
    begun = levers(_situation("mariadb 10.11.18", {name: "10.000000"}, dirty_percent=30.0))
    assert name not in _offered(begun)


def test_switches_that_were_switched_off_are_levers() -> None:
    off = {"innodb_adaptive_flushing": "OFF", "innodb_flush_sync": "OFF", "innodb_adaptive_flushing_lwm": "60"}
    found = levers(_situation("mysql 8.0.33", off))
    assert _offered(found)[0] == "innodb_adaptive_flushing"
    assert {"innodb_flush_sync", "innodb_adaptive_flushing_lwm"} <= set(_offered(found))


def test_a_managed_server_is_given_names_and_values_of_its_parameter_group() -> None:
    at = _situation("mysql 8.0.33")
    managed = identify("8.0.33", "MySQL Community Server", variables={"basedir": "/rdsdbbin/mysql-8.0.33.R3/"})
    assert managed.distribution.managed
    found = levers(Situation(managed, at.variables, {}, Trouble.WAITING, 1.0, 40.0))
    lever = next(one for one in found.offered if one.name == "innodb_redo_log_capacity")
    assert lever.managed
    assert lever.statements == (f"innodb_redo_log_capacity = {256 * MIB}",)
    assert lever.undo == (f"innodb_redo_log_capacity = {100 * MIB}",)


def test_a_server_that_shows_nothing_is_offered_nothing_and_breaks_nothing() -> None:
    assert levers(Situation(server_named("mysql 8.0.33"), {}, {}, Trouble.WAITING)).offered == ()
