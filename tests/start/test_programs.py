"""The supervisor's configuration, as the supervisor itself reads it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from supervisor.options import ServerOptions

from scripts.embedded.keys import create_keys
from scripts.embedded.places import Places, make_all
from scripts.embedded.programs import (
    STORE_STOP_SECONDS,
    WORK_STOP_SECONDS,
    Program,
    child_environment,
    product_programs,
    redis_settings,
    render_supervisor_settings,
)
from scripts.embedded.supervision import STOP_SECONDS


def read_by_supervisor(tmp_path: Path, places: Places, programs: list[Program]) -> Any:
    """The options as supervisord has them after reading our text."""
    file = tmp_path / "supervisor.conf"
    file.write_text(render_supervisor_settings(places, programs))
    options = ServerOptions()
    options.realize(["-c", str(file)])
    return options


@pytest.fixture
def places(tmp_path: Path) -> Places:
    """An installation in a folder whose name the supervisor would expand if it were not escaped."""
    found = Places(data=tmp_path / "50%(here)s data")
    make_all(found)
    return found


def test_the_supervisor_runs_what_we_mean(tmp_path: Path, places: Places) -> None:
    programs = product_programs(places, redis=Path("/usr/bin/redis-server"), host="127.0.0.1", port=21001)
    options = read_by_supervisor(tmp_path, places, programs)
    commands = {
        process.name: process.command for group in options.process_group_configs for process in group.process_configs
    }
    assert set(commands) == {"redis", "web", "collect", "judge", "apply", "beat"}
    assert "--bind 127.0.0.1:21001" in commands["web"]
    assert "50%(here)s data" in commands["redis"]
    assert options.nodaemon


def test_work_starts_after_the_stores_and_ends_before_them(tmp_path: Path, places: Places) -> None:
    programs = product_programs(places, redis=Path("/usr/bin/redis-server"), host="127.0.0.1", port=21001)
    groups = {group.name: group for group in read_by_supervisor(tmp_path, places, programs).process_group_configs}
    assert set(groups) == {"stores", "work"}
    assert groups["stores"].priority < groups["work"].priority
    for process in [*groups["stores"].process_configs, *groups["work"].process_configs]:
        assert process.autorestart
        assert process.stopasgroup
        assert process.killasgroup


def test_everything_ends_within_the_promised_time() -> None:
    assert WORK_STOP_SECONDS + STORE_STOP_SECONDS < STOP_SECONDS < 25


def test_an_ipv6_address_is_bound_in_brackets(places: Places) -> None:
    web = next(one for one in product_programs(places, redis=Path("r"), host="::1", port=8000) if one.name == "web")
    assert "[::1]:8000" in web.command


def test_redis_listens_on_its_socket_only_and_forgets_nothing(places: Places) -> None:
    settings = dict(line.split(" ", 1) for line in redis_settings(places).splitlines() if line)
    assert settings["port"] == "0"
    assert settings["unixsocketperm"] == "700"
    assert (settings["appendonly"], settings["appendfsync"]) == ("yes", "everysec")
    assert settings["maxmemory-policy"] == "noeviction"


def test_children_cannot_be_told_to_trust_any_certificate(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARIADB_TLS_DISABLE_PEER_VERIFICATION", "1")
    environment = child_environment(places, address="http://127.0.0.1:8000", hosts=["127.0.0.1"])
    assert "MARIADB_TLS_DISABLE_PEER_VERIFICATION" not in environment
    assert environment["TIDEMARK_DATA"] == str(places.data)


def test_what_a_person_set_in_the_environment_stands(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEMARK_BASE_URL", "https://tidemark.example")
    environment = child_environment(places, address="http://127.0.0.1:8000", hosts=["127.0.0.1"])
    assert environment["TIDEMARK_BASE_URL"] == "https://tidemark.example"


def test_no_secret_stands_in_the_configuration(tmp_path: Path, places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEMARK_SECRET_KEY", "a-very-secret-key")
    programs = product_programs(places, redis=Path("/usr/bin/redis-server"), host="127.0.0.1", port=21001)
    assert os.environ["TIDEMARK_SECRET_KEY"] not in render_supervisor_settings(places, programs)


def test_a_worker_does_not_load_the_pages_and_knows_every_task(places: Places) -> None:
    ask = (
        "import json, sys; from advisor.celery import app; app.loader.import_default_modules();"
        "print(json.dumps([sorted(app.tasks), [name for name in sys.modules if name.startswith('advisor.web.')]]))"
    )
    create_keys(places.keys)
    found = []
    for skipping in (True, False):
        environment = child_environment(places, address="http://127.0.0.1:8000", hosts=["127.0.0.1"])
        if not skipping:
            del environment["CELERY_SKIP_CHECKS"]
        ran = subprocess.run([sys.executable, "-c", ask], env=environment, capture_output=True, text=True, check=True)
        found.append(json.loads(ran.stdout.splitlines()[-1]))
    (tasks, pages), (all_tasks, all_pages) = found
    assert tasks == all_tasks
    assert len(pages) < len(all_pages)
