"""Variables side by side: compared by meaning, the majority found, what a version lacks told apart."""

from __future__ import annotations

from advisor.mysql.own_variables import is_own
from advisor.mysql.version import identify
from advisor.web.comparing_variables import Compared, Row, Standing, odd_one, rows

MYSQL, OLD, MARIADB = "8.0.36", "5.7.44-log", "10.11.6-MariaDB"


def server(name: str, version: str = MYSQL, **variables: str) -> Compared:
    return Compared(name, name, identify(version, "" if "Maria" in version else "MySQL"), variables)


def row(name: str, *servers: Compared) -> Row:
    return next(one for one in rows(servers) if one.name == name)


def standings(found: Row) -> list[str]:
    return [cell.standing.value for cell in found.cells]


def test_spellings_of_one_value_do_not_differ() -> None:
    alike = row(
        "innodb_buffer_pool_size",
        server("a", innodb_buffer_pool_size="1G"),
        server("b", innodb_buffer_pool_size="1073741824"),
        server("c", innodb_buffer_pool_size="1024M"),
    )
    assert standings(alike) == ["same"] * 3
    switched = row("log_bin", server("a", log_bin="ON"), server("b", log_bin="1"))
    assert not switched.differs
    real = row(
        "innodb_max_dirty_pages_pct",
        server("a", innodb_max_dirty_pages_pct="90"),
        server("b", innodb_max_dirty_pages_pct="90.000000"),
    )
    assert not real.differs


def test_the_one_against_the_others_is_marked_and_says_what_it_has() -> None:
    found = row("sync_binlog", *(server(one, sync_binlog=value) for one, value in zip("abc", "101", strict=True)))
    assert standings(found) == ["same", "odd", "same"]
    assert (found.differs, found.tuned, found.dynamic, found.default) == (True, True, True, "1")


def test_without_a_majority_nobody_is_odd() -> None:
    found = row("sync_binlog", *(server(one, sync_binlog=value) for one, value in zip("abcd", "1100", strict=True)))
    assert standings(found) == ["other"] * 4
    assert standings(row("sync_binlog", server("a", sync_binlog="1"), server("b", sync_binlog="0"))) == ["other"] * 2


def test_what_a_version_lacks_is_no_difference_and_names_what_does_it_there() -> None:
    found = row(
        "innodb_log_file_size",
        server("a", MARIADB, innodb_log_file_size="50331648"),
        server("b", OLD, innodb_log_file_size="48M"),
        server("c", innodb_redo_log_capacity="8G"),
    )
    assert standings(found) == ["same", "same", "absent"]
    assert not found.differs
    assert found.missing
    assert found.cells[2].instead == "innodb_redo_log_capacity"


def test_a_server_that_was_never_read_is_held_against_nobody() -> None:
    found = row("sync_binlog", server("a", sync_binlog="1"), Compared("b", "b", None, {}))
    assert standings(found) == ["same", "unknown"]


def test_names_places_and_positions_are_a_servers_own() -> None:
    for name in (
        "hostname",
        "server_id",
        "server_uuid",
        "datadir",
        "pid_file",
        "socket",
        "report_host",
        "gtid_executed",
    ):
        assert is_own(name), name
    for name in ("slow_query_log_file", "log_bin_basename", "relay_log_index", "version_comment", "wsrep_node_name"):
        assert is_own(name), name
    for name in (
        "log_bin",
        "slow_query_log",
        "max_connections",
        "innodb_flush_method",
        "secure_file_priv",
        "time_zone",
    ):
        assert not is_own(name), name


def test_texts_differ_by_their_letters() -> None:
    found = row("init_connect", server("a", init_connect="SET x=1"), server("b", init_connect="set X=1"))
    assert found.differs


def test_of_long_lists_only_what_is_not_common_is_shown() -> None:
    common = ",".join(f"flag_{n}=on" for n in range(9))
    found = row(
        "optimizer_switch",
        server("a", optimizer_switch=f"{common},mrr=on"),
        server("b", optimizer_switch=f"{common},mrr=off"),
    )
    assert [cell.shown for cell in found.cells] == ["…,mrr=on", "…,mrr=off"]
    assert found.cells[0].exact == f"{common},mrr=on"


def test_the_odd_one_is_who_alone_differs_most_often() -> None:
    most = {"sync_binlog": "1", "innodb_io_capacity": "200", "max_connections": "151", "hostname": "x"}
    three = [
        server("a", **most),
        server("b", **{**most, "max_connections": "500", "hostname": "y"}),
        server("c", **{**most, "sync_binlog": "0", "innodb_io_capacity": "4000", "hostname": "z"}),
    ]
    found = odd_one(rows(three), 3)
    assert found is not None
    assert (found.index, found.count, found.of, found.next_count) == (2, 2, 3, 1)
    assert odd_one(rows(three[:2]), 2) is None
    tied = [three[0], three[1], server("c", **{**most, "sync_binlog": "0"})]
    assert odd_one(rows(tied), 3) is None
    assert odd_one(rows([three[0]] * 3), 3) is None


def test_standing_has_a_word_for_every_case() -> None:
    assert {one.value for one in Standing} == {"same", "odd", "other", "absent", "unknown"}
