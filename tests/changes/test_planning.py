"""The plan: the same facts give the same hash, and nothing of it can change without the hash changing."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from advisor.changes import planning
from advisor.changes.live import same_server
from advisor.changes.planning import BadPlan, Part, Wanted, canonical_hash
from advisor.changes.policies import DEFAULT
from advisor.mysql.snapshot import Origin

from .building import MARIADB, MYSQL, NOW, live_of

VALUES = {"innodb_redo_log_capacity": "1G", "innodb_io_capacity": "7000", "sync_binlog": "0", "sort_buffer_size": "1M"}


def build(recorded: str = MYSQL, wanted: dict[str, str] | None = None, **facts: Any) -> dict[str, Any]:
    live = replace(live_of(recorded), **facts)
    part = Part("s1", "alpha", "db1:3306", live, tuple(Wanted(*one) for one in (wanted or VALUES).items()))
    return planning.build(
        request="r1",
        title="More",
        made_at=NOW,
        expires_at=NOW + timedelta(days=1),
        parts=[part],
        policy=DEFAULT,
    )


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where every single value of a document stands, empty lists included."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not children or not value:
        yield path
    for key, child in children:
        yield from leaves(child, (*path, key))


def other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        return value + " "
    return "something" if value is None else [*value, "something"] if isinstance(value, list) else {"something": 1}


def test_the_same_facts_give_the_same_hash() -> None:
    assert canonical_hash(build()) == canonical_hash(build())


def test_the_hash_does_not_depend_on_the_order_of_keys() -> None:
    document = build()
    assert canonical_hash(dict(reversed(document.items()))) == canonical_hash(document)


def test_every_single_value_of_the_document_changes_the_hash() -> None:
    document = build()
    hashes = {canonical_hash(document)}
    places = list(leaves(document))
    for path in places:
        changed = copy.deepcopy(document)
        holder = changed
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = other(holder[path[-1]])
        hashes.add(canonical_hash(changed))
    assert len(places) > 100
    assert len(hashes) == len(places) + 1


def test_a_document_is_the_same_after_the_database_gave_it_back() -> None:
    import json

    document = build()
    assert canonical_hash(json.loads(json.dumps(document))) == canonical_hash(document)


def test_values_are_shown_in_both_forms_and_each_line_has_its_symbol() -> None:
    lines = {one["variable"]: one for one in build()["servers"][0]["changes"]}
    redo = lines["innodb_redo_log_capacity"]
    assert (redo["typed"], redo["proposed"], redo["proposed_words"], redo["symbol"]) == (
        "1G",
        "1073741824",
        "1 GiB",
        "~",
    )
    assert (lines["sort_buffer_size"]["symbol"], lines["sort_buffer_size"]["effect"]) == ("→", "new_connections")
    assert lines["sync_binlog"]["durability"]
    assert not redo["durability"]


def test_what_comes_along_by_itself_is_a_line_of_its_own() -> None:
    lines = {one["variable"]: one for one in build()["servers"][0]["changes"]}
    assert lines["innodb_io_capacity_max"]["typed"] is None
    steps = [one["variable"] for one in build()["servers"][0]["steps"]]
    assert steps.index("innodb_io_capacity_max") < steps.index("innodb_io_capacity")


def test_a_restart_only_variable_is_in_the_option_file_alone() -> None:
    document = build(wanted={"innodb_buffer_pool_instances": "4", "max_connections": "300"})
    (server,) = document["servers"]
    assert [one["variable"] for one in server["steps"]] == ["max_connections"]
    assert server["needs_restart"]
    assert {one["symbol"] for one in server["changes"]} == {"↻", "~"}
    assert document["summary"] == {"in_place": 1, "restarts": 1, "new_connections": 0, "drift": 0}


def test_without_set_persist_a_change_is_said_to_be_lost_at_a_restart() -> None:
    (server,) = build(MARIADB, {"innodb_io_capacity": "700"})["servers"]
    assert server["changes"][0]["persist"] == "global"
    assert server["steps"][0]["statement"] == "SET GLOBAL `innodb_io_capacity` = 700"
    assert any("lost at the next restart" in note for note in server["notes"])


def test_what_runs_and_what_is_kept_apart_is_drift() -> None:
    (server,) = build(wanted={"max_connections": "300"}, persisted={"max_connections": "777"})["servers"]
    assert server["drift"] == [
        {"variable": "max_connections", "running": "151", "file": "777", "path": "mysqld-auto.cnf"}
    ]
    origins = {"max_connections": Origin("runtime")}
    (server,) = build(wanted={"max_connections": "300"}, origins=origins)["servers"]
    assert server["drift"][0]["file"] is None


def test_the_first_server_comes_first_whatever_the_order() -> None:
    parts = [Part(name, name, name, live_of(), (Wanted("max_connections", "300"),)) for name in ("a", "b", "c")]
    document = planning.build(
        request="r", title="t", made_at=NOW, expires_at=NOW, parts=parts, policy=DEFAULT, first="c"
    )
    assert [(one["server"], one["position"]) for one in document["servers"]] == [("c", 1), ("a", 2), ("b", 3)]


@pytest.mark.parametrize(
    ("name", "value"),
    [("max_connections", "0"), ("max_connections", "lots"), ("innodb_io_capacity", "1.5G"), ("nothing", "1"),
     ("innodb_flush_log_at_trx_commit", "3"), ("version", "9"), ("port", "1"), ("innodb_flush_method", "x;y")],
)  # fmt: skip
def test_what_a_server_does_not_take_is_refused_with_the_variable(name: str, value: str) -> None:
    with pytest.raises(BadPlan) as refused:
        build(wanted={"sort_buffer_size": "1M", name: value})
    assert refused.value.variable == name


@pytest.mark.parametrize(
    ("part", "hard", "soft"),
    [
        ({}, [], []),
        ({"unique_id": "x"}, ["unique_id"], []),
        ({"hostname": "x"}, ["hostname"], []),
        ({"datadir": "/x"}, ["datadir"], []),
        ({"trust": "insecure"}, ["trust"], []),
        ({"server_id": "99"}, [], ["server_id"]),
        ({"booted_at": 5}, [], ["booted_at"]),
        ({"role": "unknown"}, [], []),
    ],
)
def test_another_server_is_told_from_the_same_one_that_changed(
    part: dict[str, Any], hard: list[str], soft: list[str]
) -> None:
    assert same_server(live_of(), replace(live_of(), **part)) == (hard, soft)


def test_without_a_unique_id_the_server_id_stands_in_for_it() -> None:
    old = replace(live_of(MARIADB), unique_id="")
    assert same_server(old, replace(old, server_id="99"))[0] == ["server_id"]
