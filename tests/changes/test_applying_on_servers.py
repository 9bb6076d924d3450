"""Applying on real servers: what was approved is what they have, and afterwards what they had before."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from advisor.changes.models import Application, State, Step
from tests.changes.servers_changed import Shop, globals_of, grants_for, has, persisted_of, shop
from tests.servers import RunningServer
from tests.servers.fixtures import each_server

pytestmark = pytest.mark.django_db(transaction=True)

target = each_server(options={"innodb_log_buffer_size": "2M", "performance_schema": "ON"})

#: Six dynamic variables that every version has, off their defaults.
SIX = {
    "innodb_io_capacity": "700",
    "innodb_lru_scan_depth": "777",
    "innodb_flush_neighbors": "2",
    "max_connections": "123",
    "table_open_cache": "456",
    "thread_cache_size": "17",
}


@pytest.fixture
def desk(target: RunningServer, settings: object) -> Iterator[Shop]:
    """A team that changes the target; what a test left changed is told, not hidden."""
    made = shop()
    made.register(target)
    before = globals_of(target, [*SIX, "innodb_io_capacity_max"]), persisted_of(target)
    yield made
    assert (globals_of(target, [*SIX, "innodb_io_capacity_max"]), persisted_of(target)) == before


def test_six_variables_are_applied_read_back_and_rolled_back_exactly(desk: Shop, target: RunningServer) -> None:
    before, kept = globals_of(target, list(SIX)), persisted_of(target)
    request = desk.apply(desk.approved({"alpha": SIX}))
    assert request.state == State.VERIFYING, request.why
    assert has(target, SIX)
    rows = list(Step.objects.filter(application__request=request))
    assert len(rows) >= len(SIX)
    assert all(row.state == Step.State.DONE and row.window_milliseconds is not None for row in rows)
    assert sorted(row.window_milliseconds or 0 for row in rows)[-1] < 1_000
    if kept is not None:
        assert set(SIX) <= set(persisted_of(target) or {})
    request = desk.roll_back(request)
    assert request.state == State.ROLLED_BACK, request.why
    assert (globals_of(target, list(SIX)), persisted_of(target)) == (before, kept)


def test_the_fourth_of_six_fails_on_the_server_and_nothing_of_the_others_remains(
    desk: Shop, target: RunningServer
) -> None:
    """Somebody takes away, after the approval, what makes the fourth possible: the server itself refuses it."""
    before, kept = globals_of(target, list(SIX)), persisted_of(target)
    request = desk.approved({"alpha": SIX})
    assert request.plan is not None
    document = request.plan.document
    fourth = document["servers"][0]["steps"][3]
    # A value that no server takes, as if the catalogue had been wrong about this version's bounds.
    fourth["statement"] = fourth["statement"].rsplit("=", 1)[0] + "= '-,-'"
    request = desk.apply(desk.with_plan(request, document, request.plan.made_at))
    assert request.state == State.FAILED, request.why
    assert (request.why["kind"], request.why["after"]["kind"]) == ("refused", "undone")
    assert (globals_of(target, list(SIX)), persisted_of(target)) == (before, kept)
    states = list(Step.objects.filter(application__request=request, undoes=None).values_list("state", flat=True))
    assert states == ["undone", "undone", "undone", "refused"]


#: Values between two that servers take: some are rounded without a word, others are errors in strict mode.
CLAMPED = {"join_buffer_size": "300001", "table_open_cache": "99999999", "innodb_buffer_pool_size": "68000001"}


@pytest.mark.parametrize("name", list(CLAMPED))
def test_a_value_that_the_server_does_not_take_as_it_is_is_told_and_taken_back(
    desk: Shop, target: RunningServer, name: str
) -> None:
    """As if the catalogue had been wrong about bounds and steps: the reading back tells, not the catalogue."""
    request = desk.approved({"alpha": {"max_connections": "130"}})
    assert request.plan is not None
    document, old = request.plan.document, str(target.value(f"@@GLOBAL.{name}"))
    document["servers"][0]["steps"] = [
        {
            "variable": name,
            "statement": f"SET GLOBAL `{name}` = {CLAMPED[name]}",
            "old": old,
            "new": CLAMPED[name],
            "undo": [f"SET GLOBAL `{name}` = {old}"],
        }
    ]
    request = desk.apply(desk.with_plan(request, document, request.plan.made_at))
    assert request.state == State.FAILED, request.why
    assert request.why["kind"] in ("different", "refused")
    if request.why["kind"] == "different":
        assert request.why["values"]["found"]["value"] not in (old, CLAMPED[name])
    assert str(target.value(f"@@GLOBAL.{name}")) == old


def test_the_redo_log_is_resized_and_resized_back(desk: Shop, target: RunningServer) -> None:
    name = next(
        (one for one in ("innodb_redo_log_capacity",) if target.sql(f"SHOW GLOBAL VARIABLES LIKE '{one}'")),
        "innodb_log_file_size",
    )
    before, kept = target.value(f"@@GLOBAL.{name}"), persisted_of(target)
    request = desk.apply(desk.approved({"alpha": {name: "256M"}}))
    application = Application.objects.get(request=request)
    if application.state == Application.State.AWAITING_RESTART:
        # 5.7, and MariaDB before 10.9: the log has another size from the next start on.
        assert request.state == State.AWAITING_RESTART
        assert target.value(f"@@GLOBAL.{name}") == before
        assert desk.roll_back(request).state == State.ROLLED_BACK
        return
    assert request.state == State.VERIFYING, request.why
    assert target.value(f"@@GLOBAL.{name}") == str(256 << 20)
    request = desk.roll_back(request)
    assert request.state == State.ROLLED_BACK, request.why
    assert (target.value(f"@@GLOBAL.{name}"), persisted_of(target)) == (before, kept)


def test_what_was_persisted_before_is_persisted_again_and_not_what_ran(desk: Shop, target: RunningServer) -> None:
    if persisted_of(target) is None:
        with pytest.raises(Exception, match=r"1193|1064|Unknown system variable|syntax"):
            target.sql("SET PERSIST max_connections = 210")
        return
    ran = target.value("@@GLOBAL.max_connections")
    target.sql("SET PERSIST max_connections = 210")
    target.sql(f"SET GLOBAL max_connections = {ran}")
    try:
        request = desk.apply(desk.approved({"alpha": {"max_connections": "220"}}))
        assert request.state == State.VERIFYING, request.why
        assert (persisted_of(target) or {})["max_connections"] == "220"
        request = desk.roll_back(request)
        assert request.state == State.ROLLED_BACK, request.why
        assert (persisted_of(target) or {})["max_connections"] == "210"
        assert target.value("@@GLOBAL.max_connections") == ran
    finally:
        target.sql("RESET PERSIST IF EXISTS max_connections")


def test_an_account_that_could_persist_and_not_take_it_back_gets_no_statement_sent(
    desk: Shop, target: RunningServer
) -> None:
    if persisted_of(target) is None:
        assert "PERSIST_RO_VARIABLES_ADMIN" not in grants_for(target)
        return
    request = desk.approved({"alpha": {"innodb_lru_scan_depth": "1500"}})
    target.sql("REVOKE PERSIST_RO_VARIABLES_ADMIN ON *.* FROM 'applier'@'127.0.0.1'")
    try:
        request = desk.apply(request)
        assert (request.state, request.why["kind"]) == (State.FAILED, "no-way-back")
        assert "GRANT PERSIST_RO_VARIABLES_ADMIN ON *.* TO 'applier'@'127.0.0.1'" in str(request.why)
        assert not Step.objects.exists()
    finally:
        target.sql("GRANT PERSIST_RO_VARIABLES_ADMIN ON *.* TO 'applier'@'127.0.0.1'")


def test_two_hundred_races_with_somebody_elses_hand_overwrite_nothing_silently(
    desk: Shop, target: RunningServer
) -> None:
    """Between approval and apply somebody sets the value: each time it is refused, and what they set stays."""
    old = str(target.value("@@GLOBAL.innodb_lru_scan_depth"))
    request = desk.approved({"alpha": {"innodb_lru_scan_depth": "1500"}})
    assert request.plan is not None
    part = request.plan.document["servers"][0]
    from advisor.changes.applying.machine import Machine
    from advisor.changes.applying.machine import Step as Planned
    from advisor.changes.applying.session import open_session
    from tests.changes.applying_fakes import Kept

    steps = [Planned.of(one) for one in part["steps"]]
    connection, persists = target.connect(), persisted_of(target) is not None
    session = open_session(desk.rows["alpha"], part["fingerprint"])
    refused = applied = 0
    windows: list[float] = []
    # The identity is read with some dozen statements: once is enough for two hundred races.
    session.differences = lambda: []  # type: ignore[method-assign]
    try:
        cursor = connection.cursor()
        for race in range(200):
            kept, calls = Kept(), 0
            at = race % 5  # before the first look, between looks, right before the last, after the SET, never

            def tick(at: int = at, race: int = race) -> None:
                nonlocal calls
                calls += 1
                if calls == at + 1 and at < 3:
                    cursor.execute(f"SET GLOBAL innodb_lru_scan_depth = {2_000 + race}")

            kept.ticks = tick
            if at == 0:
                cursor.execute(f"SET GLOBAL innodb_lru_scan_depth = {2_000 + race}")
            end = Machine(session, kept).apply(steps)
            live = str(target.value("@@GLOBAL.innodb_lru_scan_depth"))
            if at < 3:
                assert end.state == "failed", (race, end)
                assert end.said["kind"] == "moved"
                assert live == str(2_000 + race), "what the other hand set stays"
                refused += 1
            else:
                assert end.state == "applied", (race, end)
                assert live == "1500"
                windows += [window for window in kept.windows if window is not None]
                applied += 1
            cursor.execute(f"SET GLOBAL innodb_lru_scan_depth = {old}")
            if persists:
                cursor.execute("RESET PERSIST IF EXISTS innodb_lru_scan_depth")
    finally:
        session.close()
        connection.close()
    assert (refused, applied) == (120, 80)
    assert len(windows) == 80, "the time between the last look and the answer was measured each time"


def test_another_server_behind_the_address_gets_no_statement(desk: Shop, target: RunningServer) -> None:
    """The plan is of a server with another datadir and id: what a swapped address looks like."""
    before = globals_of(target, list(SIX))
    request = desk.approved({"alpha": {"innodb_io_capacity": "700"}})
    assert request.plan is not None
    document = request.plan.document
    document["servers"][0]["fingerprint"].update(unique_id="another", datadir="/elsewhere/")
    request = desk.apply(desk.with_plan(request, document, request.plan.made_at))
    assert (request.state, request.why["kind"]) == (State.FAILED, "another-server")
    assert globals_of(target, list(SIX)) == before
    assert not Step.objects.exists()


def test_a_plan_whose_row_was_edited_sends_nothing(desk: Shop, target: RunningServer) -> None:
    before = globals_of(target, list(SIX))
    request = desk.approved({"alpha": {"innodb_io_capacity": "700"}})
    assert request.plan is not None
    application = desk.begun(request)
    document = request.plan.document
    document["servers"][0]["steps"][0]["statement"] = "SET GLOBAL `innodb_io_capacity` = 900"
    type(request.plan).objects.filter(pk=request.plan.pk).update(document=document)
    request = desk.work(request)
    application.refresh_from_db()
    assert (application.state, application.said["kind"]) == ("failed", "not-ours")
    assert globals_of(target, list(SIX)) == before


def test_nothing_is_applied_twice(desk: Shop, target: RunningServer) -> None:
    from advisor.changes import applying

    request = desk.approved({"alpha": {"innodb_lru_scan_depth": "1500"}})
    application = desk.begun(request)
    for _ in range(3):
        applying.run(application.pk)
    assert Step.objects.filter(application=application).count() == 1
    request.refresh_from_db()
    assert desk.roll_back(request).state == State.ROLLED_BACK
