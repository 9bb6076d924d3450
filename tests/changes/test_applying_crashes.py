"""A process that dies, a link that breaks and a server that restarts while a plan is applied to a real server.

The end is all, none, or "needs attention" with the exact truth, whichever it was; and nothing is ever sent twice.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from advisor.changes import applying
from advisor.changes.applying import running, session
from advisor.changes.applying.journal import DatabaseJournal
from advisor.changes.applying.machine import LinkLost
from advisor.changes.applying.session import LiveSession
from advisor.changes.models import Application, ApplyLease, ChangeRequest, State, Step
from tests.changes.applying_fakes import DiesAt, Killed
from tests.changes.servers_changed import Shop, globals_of, has, shop
from tests.servers import DISTRIBUTION_SERVER, RunningServer, start_server

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.ci]

SIX = {
    "innodb_lru_scan_depth": "777",
    "max_connections": "123",
    "table_open_cache": "456",
    "thread_cache_size": "17",
    "innodb_flush_neighbors": "2",
    "long_query_time": "7",
}
NAMES = list(SIX)


@pytest.fixture(scope="module")
def target() -> Iterator[RunningServer]:
    with start_server(DISTRIBUTION_SERVER) as server:
        yield server


@pytest.fixture
def desk(target: RunningServer) -> Shop:
    made = shop()
    made.register(target)
    return made


def put_back(target: RunningServer, values: dict[str, str]) -> None:
    for name, value in values.items():
        target.sql(f"SET GLOBAL {name} = {value}")


def calls(monkeypatch: pytest.MonkeyPatch, tick: Callable[[], None]) -> None:
    """Calls ``tick`` before and after each statement that is sent, and before and after each row that is written."""

    def around(kind: type, name: str) -> None:
        real = getattr(kind, name)

        def wrapped(self: Any, *args: Any, **named: Any) -> Any:
            tick()
            answer = real(self, *args, **named)
            tick()
            return answer

        monkeypatch.setattr(kind, name, wrapped)

    around(LiveSession, "execute")
    around(DatabaseJournal, "write")
    around(DatabaseJournal, "finish")


def as_if_dead(application: Application) -> None:
    """The process that held the lease is gone: its name is one that no process has."""
    ApplyLease.objects.filter(application=application).update(until=timezone.now() - timedelta(seconds=1))


def truth(request: ChangeRequest, target: RunningServer, before: dict[str, str]) -> str:
    """all, none or partly, held against what the request says of itself."""
    live = globals_of(target, NAMES)
    changed = [name for name in NAMES if live[name] != before[name]]
    if request.state == State.VERIFYING:
        assert has(target, SIX)
        return "all"
    if request.state == State.FAILED:
        assert changed == []
        return "none"
    assert request.state == State.NEEDS_ATTENTION, (request.state, request.why)
    said = request.why["values"]
    assert {one.split(" = ")[0] for one in said["new"]["value"].split(", ")} == set(changed)
    assert {one.split(" = ")[0] for one in said["old"]["value"].split(", ")} == set(NAMES) - set(changed)
    for one in Step.objects.filter(application__request=request, undoes=None):
        assert (one.state == Step.State.DONE) is (one.variable in changed), (one, one.state)
    return "partly"


@pytest.mark.parametrize("what", [Killed, LinkLost])
def test_killed_or_cut_off_between_any_two_steps_the_end_is_all_none_or_the_exact_truth(
    desk: Shop, target: RunningServer, monkeypatch: pytest.MonkeyPatch, what: type[BaseException]
) -> None:
    before = globals_of(target, NAMES)
    ends = []
    # Of 36 places, before and after every statement and every row.
    for number in range(1 if what is Killed else 2, 38, 3 if what is Killed else 6):
        put_back(target, before)
        request = desk.approved({"alpha": SIX})
        application = desk.begun(request)
        with monkeypatch.context() as patched:
            calls(patched, DiesAt(number, what))
            if what is Killed and number <= 36:
                with pytest.raises(Killed):
                    applying.run(application.pk)
            else:
                applying.run(application.pk)
        sent = Step.objects.filter(application=application).count()
        as_if_dead(application)
        for _ in range(20):
            applying.recover()
            application.refresh_from_db()
            if application.state != Application.State.RUNNING:
                break
            time.sleep(0.05)
        request.refresh_from_db()
        ends.append(truth(request, target, before))
        assert Step.objects.filter(application=application).count() == sent, "recovering sends nothing"
        applying.run(application.pk)
        assert Step.objects.filter(application=application).count() == sent, "and a late message neither"
        if ends[-1] == "partly":
            request = desk.roll_back(request)
            assert request.state == State.ROLLED_BACK, request.why
            assert globals_of(target, NAMES) == before
        ChangeRequest.objects.filter(pk=request.pk).update(state=State.WITHDRAWN)
    assert {"none", "partly", "all"} >= set(ends)
    assert len(ends) >= (12 if what is Killed else 6)
    assert ends[0] == "none"
    assert ends[-1] == "all" or what is LinkLost
    put_back(target, before)


@pytest.mark.parametrize("restarted", [False, True])
def test_a_process_that_the_system_ends_in_the_middle_is_told_of_by_another_one(
    desk: Shop, target: RunningServer, tmp_path: Path, settings: Any, restarted: bool
) -> None:
    """A real SIGKILL after the third statement; in the second case the server is restarted, too."""
    before = globals_of(target, NAMES)
    application = desk.begun(desk.approved({"alpha": SIX}))
    with closing(sqlite3.connect(tmp_path / "tidemark.sqlite3")) as file:
        connection.ensure_connection()
        connection.connection.backup(file)
    environment = {
        **os.environ,
        "TIDEMARK_DATA": str(tmp_path),
        "TIDEMARK_CREDENTIAL_KEYS": settings.CREDENTIAL_KEYS[0],
        "TIDEMARK_AUDIT_KEYS": settings.AUDIT_KEYS[0],
        "TIDEMARK_DATABASE_URL": "",
        "DJANGO_SETTINGS_MODULE": "advisor.settings",
    }
    command = [sys.executable, "-m", "tests.changes.servers_child"]
    died = subprocess.run(
        [*command, "apply", application.pk, "3"], env=environment, cwd=settings.BASE_DIR, capture_output=True
    )
    assert died.returncode == -signal.SIGKILL, died.stderr.decode()[-2000:]
    assert has(target, dict(list(SIX.items())[:3]))
    if restarted:
        target.restart()
    told = subprocess.run(
        [*command, "recover", application.pk], env=environment, cwd=settings.BASE_DIR, capture_output=True, check=True
    )
    found = json.loads(told.stdout)
    changed = [name for name, value in globals_of(target, NAMES).items() if value != before[name]]
    if restarted:
        assert changed == []
        assert (found["request"], found["why"]["kind"]) == ("failed", "recovered-nothing")
        assert set(found["steps"].values()) <= {"undone", "refused"}
    else:
        assert changed == NAMES[:3]
        assert (found["request"], found["why"]["kind"]) == ("needs_attention", "recovered-partly")
        assert found["steps"] == dict.fromkeys(NAMES[:3], "done")
        put_back(target, before)


def test_a_process_that_works_is_not_taken_over(desk: Shop, target: RunningServer) -> None:
    request = desk.approved({"alpha": SIX})
    application = desk.begun(request)
    claimed = running._claim(application.pk, timezone.now())
    assert claimed is not None
    assert running._claim(application.pk, timezone.now()) is None
    assert applying.recover() == 0
    application.refresh_from_db()
    assert application.state == Application.State.RUNNING
    claimed[1].release()
    assert applying.recover() == 1
    request.refresh_from_db()
    assert (request.state, request.why["kind"]) == (State.FAILED, "recovered-nothing")


def test_who_lost_the_lease_sends_no_more(desk: Shop, target: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    before = globals_of(target, NAMES)
    request = desk.approved({"alpha": SIX})
    application = desk.begun(request)
    real, sent = LiveSession.execute, []

    def slowly(self: LiveSession, statement: str) -> Any:
        sent.append(statement)
        if len(sent) == 2:
            ApplyLease.objects.filter(application=application).update(holder="another process")
        return real(self, statement)

    with monkeypatch.context() as patched:
        patched.setattr(LiveSession, "execute", slowly)
        applying.run(application.pk)
    assert len(sent) == 2, "the third one needed the lease"
    as_if_dead(application)
    applying.recover()
    request.refresh_from_db()
    assert truth(request, target, before) == "partly"
    put_back(target, before)


def test_the_policy_takes_back_what_a_crash_left_half_done(
    desk: Shop, target: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = globals_of(target, NAMES)
    request = desk.approved({"alpha": SIX}, policy={"roll_back_automatically": True})
    application = desk.begun(request)
    with monkeypatch.context() as patched:
        calls(patched, DiesAt(20, Killed))
        with pytest.raises(Killed):
            applying.run(application.pk)
    as_if_dead(application)
    for _ in range(20):
        if applying.recover():
            break
        time.sleep(0.05)
    request.refresh_from_db()
    assert request.state == State.APPLYING
    request = desk.work(request)
    assert request.state == State.ROLLED_BACK, request.why
    assert globals_of(target, NAMES) == before


def test_two_servers_swapped_behind_one_address_thirty_times_get_no_wrong_statement(
    desk: Shop, target: RunningServer
) -> None:
    """What answers at the address is another server each second time: its statements are never sent to the other."""
    with start_server(DISTRIBUTION_SERVER) as other:
        other.client_user("watcher", "ALL")
        other.client_user("applier", "ALL")
        row = desk.rows["alpha"]
        request = desk.approved({"alpha": {"max_connections": "123"}})
        assert request.plan is not None
        part = request.plan.document["servers"][0]
        depth = other.value("@@GLOBAL.max_connections")
        refused = 0
        for number in range(30):
            wrong = number % 2 == 1
            type(row).objects.filter(pk=row.pk).update(port=other.port if wrong else target.port)
            row.refresh_from_db()
            with closing(session.open_session(row, part["fingerprint"])) as opened:
                differences = opened.differences()
                assert bool(differences) is wrong, differences
                refused += bool(differences)
        assert refused == 15
        type(row).objects.filter(pk=row.pk).update(port=other.port)
        request = desk.apply(request)
        assert (request.state, request.why["kind"]) == (State.FAILED, "another-server")
        assert other.value("@@GLOBAL.max_connections") == depth
