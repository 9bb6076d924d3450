"""What lies around the steps: restarts that people make, statements they run, canaries, hours, expiry; and what a
server's own log says was sent.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import DatabaseError
from django.utils import timezone

from advisor.changes import applying, gate
from advisor.changes.applying import advancing, canary, guards, recognising
from advisor.changes.applying.canary import Window
from advisor.changes.applying.journal import DatabaseJournal
from advisor.changes.applying.lasting import Lasts, lasting
from advisor.changes.models import Application, ChangeRequest, State, Step
from advisor.mysql.snapshot import Origin
from collector import snapshots
from collector.collect import read_snapshot
from collector.connection import connect
from collector.models import Server, StoredSnapshot
from collector.servers import target_of
from tests.changes.servers_changed import Shop, has, shop
from tests.servers import DISTRIBUTION_SERVER, RunningServer, start_server

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def target() -> Iterator[RunningServer]:
    with start_server(DISTRIBUTION_SERVER, options={"log_output": "TABLE"}) as server:
        yield server


@pytest.fixture
def desk(target: RunningServer) -> Shop:
    made = shop()
    made.register(target)
    return made


def seen(row: Server) -> None:
    """The collector takes a full snapshot."""
    with connect(target_of(row)) as connection:
        found = read_snapshot(connection)
    StoredSnapshot.objects.create(
        server=row,
        slot=StoredSnapshot.objects.count() + 1,
        taken_at=timezone.now(),
        payload=snapshots.pack(found),
    )


def advance(seconds: float = 0) -> None:
    applying.advance(timezone.now() + timedelta(seconds=seconds))


# --- restarts -------------------------------------------------------------------------------------------------------


def test_a_change_that_needs_a_restart_waits_for_it_and_recognises_it_by_itself(
    desk: Shop, target: RunningServer
) -> None:
    before = target.value("@@GLOBAL.innodb_log_buffer_size")
    request = desk.apply(desk.approved({"alpha": {"innodb_log_buffer_size": "8M", "innodb_lru_scan_depth": "1500"}}))
    assert (request.state, request.why["kind"]) == (State.AWAITING_RESTART, "awaits-restart")
    assert has(target, {"innodb_lru_scan_depth": "1500"}), "what is dynamic counts already"
    advance()
    request.refresh_from_db()
    assert request.state == State.AWAITING_RESTART, "nobody restarted anything"
    application = Application.objects.get(request=request)
    # As if the server had run for a while: two starts within seconds of each other are taken for one.
    application.fingerprint["booted_at"] -= 60
    application.save(update_fields=["fingerprint"])
    # Without the option-file lines: the new values are not there, and it says so instead of believing it.
    target.restart()
    advance()
    request.refresh_from_db()
    assert request.state == State.AWAITING_RESTART
    application.refresh_from_db()
    assert application.said["kind"] == "restarted-without"
    assert request.plan is not None
    lines = request.plan.document["servers"][0]["option_file"]
    fragment = dict(line.replace(" ", "").split("=", 1) for line in lines)
    target.restart(fragment)
    advance()
    request.refresh_from_db()
    assert request.state == State.VERIFYING, request.why
    # And back: dynamic at once, the rest with the next restart.
    request = desk.roll_back(request)
    assert request.state == State.AWAITING_RESTART, request.why
    assert not has(target, {"innodb_lru_scan_depth": "1500"})
    assert request.plan is not None
    undo = dict(line.replace(" ", "").split("=", 1) for line in request.plan.document["servers"][0]["undo_option_file"])
    target.restart(undo)
    advance()
    request.refresh_from_db()
    assert request.state == State.ROLLED_BACK, request.why
    assert target.value("@@GLOBAL.innodb_log_buffer_size") == before


def test_what_runs_only_is_told_until_the_file_agrees() -> None:
    from tests.changes.building import live_of, snapshot_of

    facts = live_of("mariadb-10.11-small-redo")
    found = snapshot_of("mariadb-10.11-small-redo")
    value = facts.variables["innodb_io_capacity"]
    part = {"changes": [{"variable": "innodb_io_capacity", "proposed": value}]}
    from dataclasses import replace

    def as_of(kind: str, **variables: str) -> Lasts:
        origins = {**found.origins, "innodb_io_capacity": Origin(kind)}
        snapshot = replace(found, origins=origins, variables={**found.variables, **variables})
        return lasting(part, snapshot)["innodb_io_capacity"]

    assert as_of("runtime") is Lasts.RUNNING_ONLY
    assert as_of("option_file") is Lasts.FILE
    assert as_of("option_file", innodb_io_capacity="1") is Lasts.GONE
    assert lasting(part, None) == {"innodb_io_capacity": Lasts.UNKNOWN}


# --- by hand --------------------------------------------------------------------------------------------------------


def test_without_an_apply_account_nothing_is_sent_and_what_a_person_runs_is_recognised(target: RunningServer) -> None:
    desk = shop()
    row = desk.register(target, with_apply=False)
    request = desk.approved({"alpha": {"innodb_lru_scan_depth": "1501"}})
    with pytest.raises(gate.NotOpen) as shut:
        applying.begin(request=request, actor=desk.operator, now=timezone.now())
    assert shut.value.code == "no-apply-credential"
    seen(row)
    recognising.by_hand(timezone.now())
    request.refresh_from_db()
    assert request.state == State.APPROVED
    assert request.plan is not None
    old = target.value("@@GLOBAL.innodb_lru_scan_depth")
    for step in request.plan.document["servers"][0]["steps"]:
        target.sql(step["statement"])
    try:
        seen(row)
        recognising.by_hand(timezone.now())
        request.refresh_from_db()
        assert request.state == State.VERIFYING, request.why
        assert Application.objects.get(request=request).said["kind"] == "by-hand"
        assert not Step.objects.exists(), "nothing was sent by us"
    finally:
        target.sql(f"SET GLOBAL innodb_lru_scan_depth = {old}")


# --- one server, then the rest --------------------------------------------------------------------------------------


def test_the_first_server_goes_first_the_others_wait_and_follow(desk: Shop, target: RunningServer) -> None:
    """Two registrations of one server stand for two servers: what is looked at is the order."""
    desk.register(target, "beta")
    request = desk.approved(
        {"alpha": {"innodb_lru_scan_depth": "1502"}, "beta": {"max_connections": "190"}}, wait_seconds=600
    )
    request = desk.apply(request)
    first, second = Application.objects.filter(request=request).order_by("position")
    assert (first.state, second.state) == ("applied", "waiting")
    assert request.state == State.APPLYING
    applying.run(second.pk)
    second.refresh_from_db()
    assert second.state == "waiting", "a message that comes too early begins nothing"
    Application.objects.filter(pk=first.pk).update(ended_at=timezone.now() - timedelta(seconds=601))
    advance()
    request = desk.work(request)
    assert request.state == State.VERIFYING, request.why
    request = desk.roll_back(request)
    assert request.state == State.ROLLED_BACK, request.why
    assert not has(target, {"innodb_lru_scan_depth": "1502", "max_connections": "190"})


def test_a_first_server_that_does_badly_stops_the_others_and_is_taken_back_where_the_policy_says_so(
    desk: Shop, target: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.register(target, "beta")
    old = target.value("@@GLOBAL.innodb_lru_scan_depth"), target.value("@@GLOBAL.max_connections")
    request = desk.apply(
        desk.approved(
            {"alpha": {"innodb_lru_scan_depth": "1503"}, "beta": {"max_connections": "191"}},
            wait_seconds=600,
            policy={"roll_back_automatically": True},
        )
    )
    calm = Window(100, 0.0, 4, 1.0, 0.4, 0)
    windows = iter([calm, Window(20, 0.0, 4, 1.0, 0.4, 0)])
    monkeypatch.setattr(canary, "_window", lambda *_, **__: next(windows))
    advancing.watch_canaries(timezone.now())
    request.refresh_from_db()
    assert request.state == State.APPLYING, "it is being rolled back"
    request = desk.work(request)
    assert request.state == State.ROLLED_BACK, request.why
    there = Application.objects.filter(request=request, direction="apply").order_by("position")
    assert [one.state for one in there] == ["applied", "failed"]
    assert there[1].said["kind"] == "canary-transactions"
    assert (target.value("@@GLOBAL.innodb_lru_scan_depth"), target.value("@@GLOBAL.max_connections")) == old


@pytest.mark.parametrize(
    ("kind", "after"),
    [
        ("canary-transactions", Window(40, 0.0, 4, 1, 0.4, 0)),
        ("canary-errors", Window(100, 5.0, 4, 1, 0.4, 0)),
        ("canary-threads", Window(100, 0.0, 90, 1, 0.4, 0)),
        ("canary-latency", Window(100, 0.0, 4, 400, 0.4, 0)),
        ("canary-pressure", Window(100, 0.0, 4, 1, 0.99, 0)),
        ("canary-lag", Window(100, 0.0, 4, 1, 0.4, 300)),
        (None, Window(80, 0.1, 9, 3, 0.6, 5)),
        (None, Window(None, None, None, None, None, None)),
    ],
)
def test_each_guard_of_the_first_server_stops_at_its_own_harm_and_at_nothing_less(
    kind: str | None, after: Window
) -> None:
    stop = canary.judge(Window(100, 0.0, 4, 1, 0.4, 0), after)
    assert (stop or {}).get("kind") == kind


# --- hours and expiry -----------------------------------------------------------------------------------------------


def test_a_scheduled_change_begins_at_its_hour_in_the_name_of_who_scheduled_it(
    desk: Shop, target: RunningServer
) -> None:
    request = desk.approved({"alpha": {"innodb_lru_scan_depth": "1504"}})
    ChangeRequest.objects.filter(pk=request.pk).update(
        state=State.SCHEDULED, scheduled_at=timezone.now() + timedelta(seconds=60), scheduled_by=desk.operator
    )
    advance()
    request.refresh_from_db()
    assert request.state == State.SCHEDULED
    advance(61)
    request.refresh_from_db()
    assert request.state == State.APPLYING
    Application.objects.filter(request=request).update(due_at=timezone.now())
    request = desk.work(request)
    assert request.state == State.VERIFYING, request.why
    assert Application.objects.get(request=request).started_by_name == "operator"
    assert desk.roll_back(request).state == State.ROLLED_BACK


def test_an_emergency_change_that_nobody_approves_is_taken_back_by_itself(desk: Shop, target: RunningServer) -> None:
    request = desk.apply(desk.approved({"alpha": {"innodb_lru_scan_depth": "1505"}}))
    request.reviews.all().delete()
    ChangeRequest.objects.filter(pk=request.pk).update(
        emergency=True, expires_at=timezone.now() + timedelta(seconds=60)
    )
    advance()
    request.refresh_from_db()
    assert request.state == State.VERIFYING
    advance(61)
    Application.objects.filter(request=request, state="waiting").update(due_at=timezone.now())
    request = desk.work(request)
    assert request.state == State.ROLLED_BACK, request.why
    assert not has(target, {"innodb_lru_scan_depth": "1505"})


# --- faults of our own ----------------------------------------------------------------------------------------------


def test_a_fault_of_ours_in_the_middle_is_no_second_try_and_the_server_tells_what_it_did(
    desk: Shop, target: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The product database goes away right after the first statement was sent."""
    request = desk.approved({"alpha": {"innodb_lru_scan_depth": "1509", "max_connections": "192"}})
    application = desk.begun(request)
    with monkeypatch.context() as patched:

        def away(*_: object, **__: object) -> None:
            raise DatabaseError("database is locked")

        patched.setattr(DatabaseJournal, "finish", away)
        with pytest.raises(DatabaseError):
            applying.run(application.pk)
    applying.run(application.pk)
    assert Step.objects.filter(application=application).count() == 1
    for _ in range(100):
        if applying.recover():
            break
        time.sleep(0.05)
    request.refresh_from_db()
    assert (request.state, request.why["kind"]) == (State.NEEDS_ATTENTION, "recovered-partly")
    assert request.why["values"]["new"]["value"] == "innodb_lru_scan_depth = 1509"
    # A person sets it back by hand, and that is recognised.
    assert request.plan is not None
    for step in request.plan.document["servers"][0]["steps"]:
        for statement in step["undo"]:
            target.sql(statement)
    recognising.attention(timezone.now())
    request.refresh_from_db()
    assert request.state == State.NEEDS_ATTENTION, "no snapshot shows it yet"
    seen(desk.rows["alpha"])
    recognising.attention(timezone.now())
    request.refresh_from_db()
    assert request.state == State.ROLLED_BACK


# --- guards ---------------------------------------------------------------------------------------------------------


def test_beside_a_change_of_a_table_nothing_is_sent(desk: Shop, target: RunningServer) -> None:
    import threading

    request = desk.approved({"alpha": {"innodb_lru_scan_depth": "1506"}})
    target.sql("CREATE DATABASE IF NOT EXISTS d")
    target.sql("CREATE TABLE IF NOT EXISTS d.t (a INT)")
    holder, altering = target.connect(), target.connect()
    cursor = holder.cursor()
    cursor.execute("LOCK TABLES d.t READ")
    worker = threading.Thread(target=lambda: altering.cursor().execute("ALTER TABLE d.t ADD b INT"))
    worker.start()
    try:
        for _ in range(100):
            if target.sql("SELECT 1 FROM information_schema.PROCESSLIST WHERE INFO LIKE 'ALTER%'"):
                break
        request = desk.apply(request)
        assert (request.state, request.why["kind"]) == (State.FAILED, "guard-busy")
        assert request.why["values"]["statement"]["value"] == "ALTER TABLE"
        assert not Step.objects.exists()
    finally:
        cursor.execute("UNLOCK TABLES")
        worker.join(10)
        holder.close()
        altering.close()
        target.sql("DROP DATABASE d")


def test_on_a_loaded_server_nothing_is_sent(desk: Shop, target: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guards, "LIMITS", guards.Limits(threads_running_least=0))
    request = desk.apply(desk.approved({"alpha": {"innodb_lru_scan_depth": "1507"}}))
    assert (request.state, request.why["kind"]) == (State.FAILED, "guard-load")


def test_behind_its_source_a_replica_waits(desk: Shop) -> None:
    assert guards._seconds({"seconds_behind_master": "400", "sql_delay": "300"}) == 100
    assert guards._seconds({"seconds_behind_source": None}) is None


# --- what was sent --------------------------------------------------------------------------------------------------

_HOSTILE = [
    "1; DROP TABLE mysql.user", "1 OR SLEEP(5)", "' OR '1'='1", "\\'; SET GLOBAL general_log_file='/tmp/x'; --",
    "(SELECT 1)", "@@GLOBAL.port", "0x41", "1e99", "NULL", "DEFAULT", "ＯＮ", "１００", "\x00", "\u202e1", "1`", "/**/",
    "LOAD_FILE('/etc/passwd')", "CONCAT('a','b')", "{{7*7}}", "<script>alert(1)</script>", "1\n;SHUTDOWN", "-1--",
]  # fmt: skip
_NAMES = [
    "innodb_io_capacity", "max_connections=1, general_log", "`max_connections`", "init_connect", "general_log_file",
    "INNODB_IO_CAPACITY", "innodb_io_capacity ", "innodb_io_capacity`; DROP", "ｉnnodb_io_capacity", "global.port",
    "@@GLOBAL.max_connections", "wsrep_notify_cmd", "plugin_dir", "read_only", "sql_mode", "secure_file_priv", "",
]  # fmt: skip
_OURS = re.compile(
    r"(/\* tidemark \*/ )?(SET (GLOBAL|PERSIST) `[a-z0-9_]+` = (-?\d+(\.\d+)?|'[A-Za-z0-9_,.:=/ -]*'|ON|OFF)"
    r"|RESET PERSIST IF EXISTS `[a-z0-9_]+`)"
)


def test_five_thousand_hostile_names_and_values_in_an_edited_plan_reach_the_server_as_nothing(
    desk: Shop, target: RunningServer
) -> None:
    """Somebody who may write our database edits the plan, its hash and its approval: the grammar stands behind it."""
    chance = random.Random(11)
    request = desk.approved({"alpha": {"innodb_io_capacity": "700"}})
    assert request.plan is not None
    good = request.plan.document["servers"][0]
    from advisor.changes.applying.running import _not_ours

    passed = []
    for _ in range(5_000):
        name, value = chance.choice(_NAMES), chance.choice(_HOSTILE)
        quoted = chance.choice([value, f"'{value}'", f'"{value}"'])
        text = chance.choice(["SET GLOBAL `{}` = {}", "SET PERSIST `{}` = {}", "SET GLOBAL {} = {}", "{}{}"])
        statement = text.format(name, quoted)
        step = {**good["steps"][0], "variable": name, "statement": statement, "undo": [statement]}
        if _not_ours({**good, "steps": [step]}) is None:
            passed.append(step)
    assert all(_OURS.fullmatch(step["statement"]) for step in passed)
    assert all(step["variable"] == "innodb_io_capacity" for step in passed), passed
    target.sql("SET GLOBAL general_log = ON")
    target.sql("TRUNCATE TABLE mysql.general_log")
    try:
        sent = 0
        for number in range(25):
            step = {**good["steps"][0], "variable": chance.choice(_NAMES[1:])}
            step["statement"] = f"SET GLOBAL `{step['variable']}` = {chance.choice(_HOSTILE)}"
            document = {**request.plan.document, "title": str(number), "servers": [{**good, "steps": [step]}]}
            edited = desk.with_plan(request, document, timezone.now())
            ChangeRequest.objects.filter(pk=edited.pk).update(state=State.APPROVED)
            edited.refresh_from_db()
            edited = desk.apply(edited)
            assert (edited.state, edited.why["kind"]) == (State.FAILED, "not-ours")
            sent += Step.objects.count()
        assert sent == 0
        # And one that is good, so that an empty log does not prove more than it should.
        ChangeRequest.objects.filter(pk=request.pk).update(state=State.WITHDRAWN)
        fine = desk.apply(desk.approved({"alpha": {"innodb_lru_scan_depth": "1508"}}))
        desk.roll_back(fine)
    finally:
        target.sql("SET GLOBAL general_log = OFF")
    rows = target.sql(
        "SELECT argument FROM mysql.general_log WHERE user_host LIKE 'applier%' AND command_type = 'Query'"
    )
    texts = [(row[0] or "").removeprefix("/* tidemark */ ") for row in rows]
    changing = [text for text in texts if not re.match(r"(SELECT|SHOW|SET SESSION) ", text)]
    assert len(changing) == 2, changing
    assert all(_OURS.fullmatch(text) for text in changing)
    assert not any(";" in text for text in texts if not text.startswith("SHOW"))
