"""A shard is held by one process at a time, and by nobody when that process is gone."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import pytest
from django.db import transaction

from collector import process, schedule
from collector.models import Server, ServerState, Shard
from collector.schedule import LEASE_SECONDS, LeaseLost

pytestmark = pytest.mark.django_db


@pytest.fixture
def shard() -> Shard:
    return Shard.objects.create(number=0)


def _elsewhere(shard: Shard, lease_until: float) -> None:
    Shard.objects.filter(pk=shard.pk).update(owner="other/boot/1/2/3", term=9, lease_until=lease_until)


def test_a_free_shard_is_claimed_once(shard: Shard) -> None:
    lease = schedule.claim(0)
    assert lease is not None
    assert schedule.claim(0) is None
    lease.release()
    again = schedule.claim(0)
    assert again is not None
    assert again.term == lease.term + 1


def test_of_two_that_claim_at_once_one_wins(shard: Shard, monkeypatch: pytest.MonkeyPatch) -> None:
    stale = Shard.objects.get(number=0)
    winner = schedule.claim(0)
    assert winner is not None
    # The loser looked before the winner wrote.
    monkeypatch.setattr(schedule, "_is_free", lambda *_: True)
    monkeypatch.setattr(Shard.objects, "filter", _first_answer(stale, Shard.objects.filter), raising=False)
    assert schedule.claim(0) is None


def _first_answer(stale: Shard, real: Any) -> Any:
    class Stale:
        def first(self) -> Shard:
            return stale

    answers = [Stale()]
    return lambda **names: answers.pop() if answers else real(**names)


def test_somebody_elses_lease_is_respected_until_it_runs_out(shard: Shard) -> None:
    _elsewhere(shard, time.time() + 5)
    assert schedule.claim(0) is None
    _elsewhere(shard, time.time() - 1)
    assert schedule.claim(0) is not None


def test_a_lease_from_a_clock_that_was_set_back_does_not_last_for_hours(shard: Shard) -> None:
    _elsewhere(shard, time.time() + 3600)
    assert schedule.claim(0) is not None


def test_a_holder_that_was_overtaken_can_neither_renew_nor_write(shard: Shard) -> None:
    lease = schedule.claim(0)
    assert lease is not None
    lease.renew()
    lease.check()
    _elsewhere(shard, time.time() + 5)
    with pytest.raises(LeaseLost):
        lease.renew()
    with pytest.raises(LeaseLost), transaction.atomic():
        lease.check()
    lease.release()
    assert Shard.objects.get(number=0).owner == "other/boot/1/2/3", "released what was not its own"


def test_a_lease_is_not_fresh_after_its_time_by_a_clock_that_nobody_sets(shard: Shard) -> None:
    lease = schedule.claim(0)
    assert lease is not None
    assert lease.is_fresh()
    lease.renewed -= LEASE_SECONDS + 0.1
    assert not lease.is_fresh()


def test_the_lease_of_a_process_that_is_gone_is_free_at_once(shard: Shard) -> None:
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    name = process._name_of(other.pid)
    assert not process.is_provably_dead(name)
    Shard.objects.filter(number=0).update(owner=name, lease_until=time.time() + LEASE_SECONDS)
    assert schedule.claim(0) is None
    assert schedule.shards_to_hand_out() == []
    other.kill()
    # Not even waited for: a zombie polls nothing.
    deadline = time.monotonic() + 5
    while not process.is_provably_dead(name) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert schedule.claim(0) is not None
    other.wait()


def test_another_process_with_the_same_id_is_another_process() -> None:
    place, _, start = process.own_name().rpartition("/")
    assert not process.is_provably_dead(process.own_name())
    assert process.is_provably_dead(f"{place}/{int(start) + 1}")
    assert not process.is_provably_dead("other-machine" + process.own_name())
    assert not process.is_provably_dead("")


def test_only_shards_with_servers_to_watch_are_handed_out(watched: Server) -> None:
    number = watched.shard_id
    Shard.objects.create(number=number + 50)
    assert schedule.shards_to_hand_out() == [number]
    Server.objects.update(enabled=False)
    assert schedule.shards_to_hand_out() == []


def test_names_of_gone_holders_are_cleared_and_living_ones_stay(shard: Shard) -> None:
    place = process.own_name().rpartition("/")[0]
    Shard.objects.filter(number=0).update(owner=f"{place}/1", lease_until=time.time() + 20)
    Shard.objects.create(number=1, owner=process.own_name(), lease_until=time.time() + 20)
    assert schedule.release_dead() == 1
    assert [shard.owner for shard in Shard.objects.order_by("number")] == ["", process.own_name()]
    schedule.release_all()
    assert Shard.objects.get(number=1).owner == ""


def test_a_try_at_once_makes_a_server_due_and_a_paused_one_stays_paused(watched: Server) -> None:
    ServerState.objects.filter(server=watched).update(fast_slot=int(time.time()) + 500, failures=4)
    assert schedule.try_now(server_id=watched.pk)
    state = ServerState.objects.get(server=watched)
    assert (state.fast_slot, state.failures) == (schedule.AT_ONCE, 4)
    Server.objects.update(enabled=False)
    assert not schedule.try_now(server_id=watched.pk)
    assert not schedule.try_now(server_id="nobody")


def test_the_summary_says_what_is_not_read(watched: Server) -> None:
    assert "read by no worker" in schedule.summary().sentence
    lease = schedule.claim(watched.shard_id)
    assert lease is not None
    now = int(time.time())
    ServerState.objects.filter(server=watched).update(fast_slot=now + 5)
    assert schedule.summary().sentence == "1 servers are watched by 1 worker processes, all on time."
    ServerState.objects.filter(server=watched).update(fast_slot=now - 100, failures=1)
    summary = schedule.summary()
    assert (summary.overdue, summary.failing) == (1, 1)
    assert 99 <= summary.latest_seconds <= 103
