"""What somebody set by hand and what was ours, told apart; from the one a change request can be made."""

from __future__ import annotations

import html
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from advisor.changes import foreign
from advisor.changes.models import Application, State
from advisor.journal.models import Event
from advisor.mysql.snapshot import Snapshot
from advisor.teams.roles import Role
from advisor.ui import events as words
from collector import results, schedule
from collector.collect import read_snapshot
from collector.connection import Connection, connect
from collector.models import Server, ServerState
from collector.servers import target_of
from tests.changes.building import NOW, Desk, request_for
from tests.changes.test_verifying import applied
from tests.conftest import build_server
from tests.servers import DISTRIBUTION_SERVER, RunningServer
from tests.servers.fixtures import each_server

from .building import MYSQL, snapshot_of

SLOT = 1_700_000_030


def seen(capture: Any, server: Server, snapshot: Snapshot, previous: Snapshot | None, slot: int = SLOT) -> Event | None:
    """One full snapshot stored as the holder of the server's shard stores it; the newest event of changed settings."""
    lease = schedule.claim(server.shard_id)
    assert lease is not None
    ServerState.objects.filter(server=server).update(full_slot=slot)
    with capture(execute=True):
        results.record_snapshot(
            lease=lease, server=server, due=slot, slot=slot, snapshot=snapshot, previous=previous,
            now=float(slot) + 0.5, cost={},
        )  # fmt: skip
    lease.release()
    return Event.objects.filter(server_id=server.pk, kind__in=foreign.KINDS).order_by("-at", "-pk").first()


def changed(capture: Any, server: Server, **variables: str) -> Event:
    """What a recorded server's journal says after these were set, one snapshot to the next."""
    was = snapshot_of(MYSQL)
    now = Snapshot.from_dict({**was.as_dict(), "variables": {**was.variables, **variables}})
    assert seen(capture, server, was, None, SLOT - 60) is None
    event = seen(capture, server, now, was)
    assert event is not None
    return event


def test_what_nobody_sent_from_here_is_foreign(desk: Desk, django_capture_on_commit_callbacks: Any) -> None:
    event = changed(django_capture_on_commit_callbacks, desk.server, innodb_io_capacity="1234")
    assert event.data["source"] == "foreign"
    assert words.is_foreign(event.kind, event.data)
    assert [one.new for one in foreign.moved_of(event)] == ["1234"]


def test_what_a_statement_of_ours_set_is_ours_and_names_its_change(
    desk: Desk, django_capture_on_commit_callbacks: Any
) -> None:
    application = applied(desk, "innodb_io_capacity")
    application.steps.update(wanted="1234", found="1234")
    event = changed(
        django_capture_on_commit_callbacks, desk.server, innodb_io_capacity="1234", innodb_io_capacity_max="2468"
    )
    assert (event.data["source"], event.data["change"]) == ("ours", application.request_id)
    assert not words.is_foreign(event.kind, event.data)
    assert foreign.moved_of(event) == []
    assert foreign.adopt_address(event) == ""


def test_what_was_taken_back_is_ours_too(desk: Desk, django_capture_on_commit_callbacks: Any) -> None:
    application = applied(desk, "innodb_io_capacity")
    application.steps.update(old="777", wanted="1234", state="undone")
    event = changed(django_capture_on_commit_callbacks, desk.server, innodb_io_capacity="777")
    assert event.data["source"] == "ours"


def test_another_value_than_the_one_that_was_sent_is_foreign(
    desk: Desk, django_capture_on_commit_callbacks: Any
) -> None:
    application = applied(desk, "innodb_io_capacity")
    application.steps.update(old="777", wanted="1234", found="1234", state="done")
    event = changed(django_capture_on_commit_callbacks, desk.server, innodb_io_capacity="777")
    assert event.data["source"] == "foreign"


def test_a_statement_sent_to_another_server_makes_nothing_ours(
    desk: Desk, django_capture_on_commit_callbacks: Any
) -> None:
    application = applied(desk, "innodb_io_capacity")
    application.steps.update(wanted="1234", found="1234")
    Application.objects.update(server=desk.add_server("beta"))
    event = changed(django_capture_on_commit_callbacks, desk.server, innodb_io_capacity="1234")
    assert event.data["source"] == "foreign"


def test_what_was_approved_and_run_by_hand_is_told_as_that_change(
    desk: Desk, django_capture_on_commit_callbacks: Any
) -> None:
    made = request_for(desk, {"innodb_io_capacity": "1234"}, state=State.APPROVED, now=NOW)
    event = changed(django_capture_on_commit_callbacks, desk.server, innodb_io_capacity="1234")
    assert (event.data["source"], event.data["number"]) == ("ours", made.number)


def test_of_a_mixed_event_only_the_foreign_part_is_adopted_or_reverted(
    desk: Desk, django_capture_on_commit_callbacks: Any
) -> None:
    application = applied(desk, "innodb_io_capacity")
    application.steps.update(wanted="1234", found="1234")
    event = changed(
        django_capture_on_commit_callbacks, desk.server, innodb_io_capacity="1234", innodb_lru_scan_depth="333"
    )
    assert event.data["source"] == "foreign"
    assert list(event.data["ours"]) == ["innodb_io_capacity"]
    old = snapshot_of(MYSQL).variables["innodb_lru_scan_depth"]
    for address, value in ((foreign.adopt_address(event), "333"), (foreign.revert_address(event), old)):
        asked = parse_qs(urlsplit(address).query)
        assert (asked["server"], asked["variable"], asked["value"]) == (
            [desk.server.pk], ["innodb_lru_scan_depth"], [value],
        )  # fmt: skip
        assert f"innodb_lru_scan_depth: {old} → 333" in asked["reason"][0]


def test_the_events_of_a_server_offer_both_ways_to_whoever_may_propose(
    desk: Desk, django_capture_on_commit_callbacks: Any
) -> None:
    event = changed(django_capture_on_commit_callbacks, desk.server, innodb_io_capacity="1234")
    event.data["who"] = {"innodb_io_capacity": {"at": 1_700_000_020.0, "by": "app@10.0.0.3"}}
    event.save()

    def page(person: Any) -> str:
        client = Client()
        client.force_login(person)
        return html.unescape(client.get(f"/s/{desk.server.pk}/events").content.decode())

    offered = page(desk.author)
    assert "app@10.0.0.3" in offered
    assert foreign.adopt_address(event) in offered
    assert foreign.revert_address(event) in offered
    assert "/changes/new?" not in page(desk.person("watcher", Role.VIEWER))
    client = Client()
    client.force_login(desk.author)
    draft = client.get(foreign.revert_address(event)).content.decode()
    assert "Set past Tidemark" in draft
    assert "app@10.0.0.3" in draft


# --- on real servers -------------------------------------------------------------------------------------------------

target = each_server([DISTRIBUTION_SERVER, "mysql-9.7"])


@pytest.fixture
def watched(team: Any, target: RunningServer) -> Iterator[tuple[Server, Connection]]:
    server = build_server(team, "live", port=target.port, user=target.user, password=target.password)
    with connect(target_of(server)) as connection:
        yield server, connection


def test_a_set_by_hand_is_seen_in_the_next_full_snapshot_with_whatever_the_server_tells(
    watched: tuple[Server, Connection], target: RunningServer, django_capture_on_commit_callbacks: Any
) -> None:
    server, connection = watched
    target.sql("SET GLOBAL innodb_io_capacity = 310")
    slot = int(time.time())
    first = read_snapshot(connection)
    assert seen(django_capture_on_commit_callbacks, server, first, None, slot) is None
    target.sql("SET GLOBAL innodb_io_capacity = 450")
    by_hand = time.time()
    second = read_snapshot(connection)
    event = seen(django_capture_on_commit_callbacks, server, second, first, slot + 1)
    assert event is not None
    (moved,) = foreign.moved_of(event)
    assert (moved.name, moved.old, moved.new) == ("innodb_io_capacity", "310", "450")
    told = event.data.get("who", {}).get("innodb_io_capacity")
    if target.version.startswith("9."):
        assert told["by"].startswith("root@")
        assert abs(told["at"] - by_hand) < 60
        assert foreign.who(event)[0].startswith("root@")
        assert "root@" in foreign.reason(event)
    else:
        assert told is None, "MariaDB tells nobody who set a variable"
    # What is set back by hand, as the link proposes it, is the old value.
    assert parse_qs(urlsplit(foreign.revert_address(event)).query)["value"] == ["310"]
