"""Inspections of watched servers: asked for once, made by one worker, kept, judged, and told where they fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone
from kombu.exceptions import OperationalError

from advisor.engine.scene import inspected
from advisor.journal.models import Event
from advisor.recommendations import judging, tasks
from advisor.teams.roles import Role
from collector import inspecting, snapshots
from collector import tasks as collecting
from collector.errors import TooManyConnections
from collector.inspecting import State
from collector.models import InspectionRequest, StoredInspection, StoredSnapshot
from collector.signals import inspection_stored
from tests.conftest import build_server
from tests.servers import DISTRIBUTION_SERVER, RunningServer, start_server


@pytest.fixture(scope="module")
def running() -> Iterator[RunningServer]:
    with start_server(DISTRIBUTION_SERVER) as server:
        server.sql("CREATE DATABASE shop")
        server.sql("CREATE TABLE shop.keyless (a INT)")
        yield server


@pytest.fixture
def live(team: Any, running: RunningServer) -> Any:
    """A registered server that answers."""
    return build_server(team, "live", port=running.port, user=running.user, password=running.password)


def refuse(*_: Any, **__: Any) -> Any:
    raise TooManyConnections("db takes no further connection from us.")


def test_a_request_is_made_once_stored_and_judged(
    live: Any, owner: Any, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    told: list[dict[str, Any]] = []
    judged: list[dict[str, Any]] = []
    monkeypatch.setattr(collecting.inspect, "apply_async", lambda **options: told.append(options))
    monkeypatch.setattr(tasks.judge, "apply_async", lambda **options: judged.append(options["kwargs"]))
    assert inspecting.standing(live.pk).state is State.NONE
    with django_capture_on_commit_callbacks(execute=True):
        assert inspecting.request_inspection(server=live, actor=owner).state is State.WAITING
        inspecting.request_inspection(server=live, actor=owner)
    assert [(one["kwargs"], one["queue"]) for one in told] == [({"server_id": live.pk}, "collect")]
    assert Event.objects.get(kind="server.inspection_requested").actor == owner
    assert inspecting.inspect_server(server_id=live.pk)
    assert not inspecting.inspect_server(server_id=live.pk)
    standing = inspecting.standing(live.pk)
    assert (standing.state, standing.error, standing.under_way) == (State.DONE, "", False)
    assert standing.cost is not None
    assert 10 <= standing.cost["statements"] <= 45
    assert standing.cost["milliseconds"] > 0
    assert judged == [{"server_id": live.pk, "early": False}]
    stored = StoredInspection.objects.get()
    inspection = inspecting.unpack(bytes(stored.payload))
    assert [tuple(row.values()) for row in inspection.rowsets["keyless_tables"]] == [("shop", "keyless")]
    # Nothing of it went into what is polled and collected.
    assert not StoredSnapshot.objects.exists()


def store(server: Any, *, days_ago: float = 0.0, identity: str = "example", name: str = "t") -> StoredInspection:
    row = inspected(keyless_tables=[{"schema": "shop", "name": name}])
    return StoredInspection.objects.create(
        server=server,
        taken_at=timezone.now() - timedelta(days=days_ago),
        identity=identity,
        payload=inspecting.pack(row),
    )


def test_the_newest_of_the_same_server_is_judged_for_eight_days(watched: Any) -> None:
    import time

    from tests.recommendations.test_judging import record

    slot = record(watched, at=time.time() - 5)
    found = snapshots.latest_with_slot(watched.pk)
    assert found is not None
    snapshot = found[1]

    def names() -> list[str | None] | None:
        inspection = judging.observe(watched, snapshot, slot).inspection
        return None if inspection is None else [row["name"] for row in inspection.rowsets["keyless_tables"]]

    assert names() is None
    identity = snapshot.identity.fingerprint
    store(watched, days_ago=8.1, identity=identity, name="too old")
    store(watched, identity="somebody else", name="another server's")
    assert names() is None
    store(watched, days_ago=7.9, identity=identity, name="older")
    assert names() == ["older"]
    newest = store(watched, days_ago=1, identity=identity, name="newest")
    assert names() == ["newest"]
    StoredInspection.objects.filter(pk=newest.pk).update(payload=b"damaged", taken_at=timezone.now())
    # A damaged one takes itself away, not the judgement.
    assert names() is None


def test_five_are_kept(live: Any) -> None:
    for days in range(8, 0, -1):
        store(live, days_ago=days)
    InspectionRequest.objects.create(server=live, requested_at=timezone.now())
    assert inspecting.inspect_server(server_id=live.pk)
    ages = [(timezone.now() - row.taken_at).days for row in StoredInspection.objects.order_by("-taken_at")]
    assert ages == [0, 1, 2, 3, 4]


def test_what_fails_says_why_and_can_be_asked_for_again(watched: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[str] = []
    inspection_stored.connect(lambda server_id, **_: heard.append(server_id), weak=False, dispatch_uid="test")
    try:
        inspecting.request_inspection(server=watched)
        assert not inspecting.inspect_server(server_id=watched.pk, dial=refuse)
        standing = inspecting.standing(watched.pk)
        assert standing.state is State.FAILED
        assert standing.error.startswith("db takes no further connection from us.")
        # Nothing listens at this one's address.
        assert inspecting.request_inspection(server=watched).state is State.WAITING
        assert not inspecting.inspect_server(server_id=watched.pk)
        assert "refuses the connection" in inspecting.standing(watched.pk).error

        def stumble(*_: Any, **__: Any) -> Any:
            raise ZeroDivisionError("secret detail")

        inspecting.request_inspection(server=watched)
        assert not inspecting.inspect_server(server_id=watched.pk, dial=stumble)
        assert "secret detail" not in inspecting.standing(watched.pk).error
        assert inspecting.standing(watched.pk).state is State.FAILED
    finally:
        inspection_stored.disconnect(dispatch_uid="test")
    assert (heard, StoredInspection.objects.count()) == ([], 0)


def test_without_a_broker_the_request_fails_at_once(
    watched: Any, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    def away(**_: Any) -> Any:
        raise OperationalError("no broker")

    monkeypatch.setattr(collecting.inspect, "apply_async", away)
    with django_capture_on_commit_callbacks(execute=True):
        inspecting.request_inspection(server=watched)
    assert inspecting.standing(watched.pk).state is State.FAILED
    assert "broker" in inspecting.standing(watched.pk).error


@pytest.mark.parametrize(
    ("field", "seconds"),
    [("requested_at", inspecting.WAITING_SECONDS), ("started_at", inspecting.RUNNING_SECONDS)],
)
def test_a_request_that_a_killed_worker_left_does_not_wait_for_ever(watched: Any, field: str, seconds: int) -> None:
    inspecting.request_inspection(server=watched)
    now = timezone.now()
    InspectionRequest.objects.update(**{field: now - timedelta(seconds=seconds - 5)})
    assert inspecting.standing(watched.pk).under_way
    InspectionRequest.objects.update(**{field: now - timedelta(seconds=seconds + 5)})
    assert inspecting.standing(watched.pk).state is State.FAILED
    assert inspecting.request_inspection(server=watched).state is State.WAITING


def test_the_page_offers_it_to_who_may_and_tells_how_it_goes(
    watched: Any, team: Any, person: Callable[..., Any], client: Any
) -> None:
    client.force_login(person("operator", team, Role.OPERATOR))
    address = reverse("server", args=[watched.pk])
    page = client.get(address).content.decode()
    assert "not inspected yet" in page
    assert "Inspect now" in page
    part = client.post(reverse("server-inspect", args=[watched.pk]), headers={"HX-Request": "true"}).content.decode()
    assert part.startswith("\n<section") or part.lstrip().startswith("<section")
    assert "being inspected now" in part
    assert "every 2s" in part
    assert "Inspect now" not in part
    inspecting.inspect_server(server_id=watched.pk, dial=refuse)
    part = client.get(reverse("server-inspection", args=[watched.pk]), headers={"HX-Request": "true"}).content.decode()
    assert "takes no further connection" in part
    assert "every 2s" not in part
    store(watched)
    client.force_login(person("looker", team, Role.VIEWER))
    page = client.get(address).content.decode()
    assert "inspected" in page
    assert "Inspect now" not in page


def test_the_settings_page_shows_the_optional_grants_of_the_servers_version(
    watched: Any, team: Any, person: Callable[..., Any], client: Any
) -> None:
    import time

    from tests.recommendations.test_judging import record

    client.force_login(person("ed", team, Role.EDITOR))
    address = reverse("server-settings", args=[watched.pk])
    assert "GRANT REFERENCES" not in client.get(address).content.decode()
    record(watched, at=time.time() - 5)
    page = client.get(address).content.decode()
    assert "GRANT REFERENCES ON *.* TO" in page
    assert "GRANT SELECT ON mysql.global_priv TO" in page
    assert "never a password" in page
    korean = client.get(address, headers={"Accept-Language": "ko"}).content.decode()
    assert "행은 하나도 보여 주지 않습니다" in korean


def test_the_api_answers_with_how_it_goes(watched: Any, team_mate: Any, token_of: Callable[[Any], str]) -> None:
    from tests.api.calling import Caller

    answer = Caller(token_of(team_mate))("requestInspection", id=watched.pk)
    assert answer.status_code == 202
    assert answer.json()["state"] == "waiting"
    assert answer.json()["taken_at"] is None
    again = Caller(token_of(team_mate))("requestInspection", id=watched.pk).json()
    assert again["requested_at"] == answer.json()["requested_at"]
