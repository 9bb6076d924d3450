"""What a killed supervisor left behind is found and ended; nobody else is."""

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from scripts.embedded.leftovers import end_leftovers, find_leftovers
from scripts.embedded.places import Places, make_all

Spawn = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def places(tmp_path: Path) -> Places:
    found = Places(data=tmp_path / "data")
    make_all(found)
    return found


@pytest.fixture
def spawn() -> Iterator[Spawn]:
    """Start a process that waits, with a mark in its environment; all of them are gone after the test."""
    started: list[subprocess.Popen[bytes]] = []

    def run(mark: str | None, script: str = "exec sleep 60") -> subprocess.Popen[bytes]:
        environment = {**os.environ, **({"TIDEMARK_EMBEDDED": mark} if mark else {})}
        process = subprocess.Popen(["sh", "-c", script], env=environment, start_new_session=True)
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.wait()


def wait_for(what: Callable[[], bool]) -> bool:
    until = time.monotonic() + 5
    while time.monotonic() < until:
        if what():
            return True
        time.sleep(0.05)
    return False


def test_our_processes_are_ended_and_others_are_not(places: Places, spawn: Spawn) -> None:
    ours = spawn(str(places.data))
    another_installation, stranger = spawn(f"{places.data}-2"), spawn(None)
    assert wait_for(lambda: find_leftovers(places) == [ours.pid])
    assert end_leftovers(places, patience_seconds=5) == 1
    assert ours.poll() is not None or ours.wait(timeout=1) is not None
    assert (another_installation.poll(), stranger.poll()) == (None, None)


def test_a_process_that_is_just_becoming_another_program_is_not_missed(places: Places, spawn: Spawn) -> None:
    script = places.data / "script"
    script.write_text('[ "$1" -gt 0 ] && exec sh "$0" $(($1 - 1))\nexec sleep 60\n')
    ours = spawn(str(places.data), f"exec sh '{script}' 1000")
    assert wait_for(lambda: find_leftovers(places) == [ours.pid])
    missed = 0
    while sleeps_not_yet(ours.pid):
        missed += find_leftovers(places) != [ours.pid]
    assert missed == 0


def sleeps_not_yet(pid: int) -> bool:
    return Path(f"/proc/{pid}/comm").read_text().strip() != "sleep"


def test_one_that_ignores_the_polite_request_is_ended_by_force(places: Places, spawn: Spawn) -> None:
    stubborn = spawn(str(places.data), "trap '' TERM; touch \"$TIDEMARK_EMBEDDED/ready\"; while :; do sleep 0.1; done")
    assert wait_for((places.data / "ready").exists)
    end_leftovers(places, patience_seconds=0.5)
    assert stubborn.wait(timeout=5) == -9


def test_a_pid_file_that_names_a_stranger_ends_nobody(places: Places, spawn: Spawn) -> None:
    stranger = spawn(None)
    (places.run / "supervisor.pid").write_text(f"{stranger.pid}\n")
    assert end_leftovers(places, patience_seconds=0.5) == 0
    assert stranger.poll() is None
