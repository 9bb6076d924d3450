"""`manage.py add_server`: registers, says at once what is wrong, and does nothing twice."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from collector.models import Credential, Server
from collector.servers import target_of
from tests.servers import DISTRIBUTION_SERVER, RunningServer, start_server


@pytest.fixture(scope="module")
def running() -> Iterator[RunningServer]:
    with start_server(DISTRIBUTION_SERVER) as server:
        yield server


@pytest.fixture
def password_file(tmp_path: Path, running: RunningServer) -> str:
    file = tmp_path / "password"
    file.write_text(running.password + "\n")
    return str(file)


def run(*arguments: str) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("add_server", *arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


@pytest.mark.django_db
def test_a_server_that_answers_is_registered_and_named_with_its_version(
    running: RunningServer, password_file: str
) -> None:
    out, _ = run(
        *(f"mysql://{running.user}@127.0.0.1:{running.port}", "--name", "z", "--password-file", password_file),
        *("--tag", "prod", "--tag", "orders", "--host-memory", "8G", "--host-cpus", "4", "--storage", "ssd"),
        *("--apply-user", "changer", "--apply-password-file", password_file),
    )
    server = Server.objects.get()
    assert "z at 127.0.0.1" in out
    assert f"It answers: MariaDB {running.version}" in out
    assert (server.tags, server.team.name, server.unrestricted) == (["prod", "orders"], "Default", True)
    assert server.host_facts["memory_bytes"] == {"value": 8 << 30, "origin": "stated"}
    assert server.host_facts["cpus"]["value"] == 4
    assert set(Credential.objects.values_list("purpose", "user")) == {
        ("observe", running.user),
        ("apply", "changer"),
    }
    assert target_of(server).password.reveal() == running.password
    assert running.password not in out


@pytest.mark.django_db
def test_one_that_cannot_be_reached_is_not_registered_and_the_exit_status_says_so() -> None:
    err = io.StringIO()
    with pytest.raises(CommandError, match=r"away was not registered.*--no-test") as refused:
        call_command("add_server", "mysql://u@127.0.0.1:1", "--name", "away", stdout=io.StringIO(), stderr=err)
    assert refused.value.returncode == 3
    assert "cannot be read" in err.getvalue()
    assert "Check the port" in err.getvalue()
    assert Server.objects.count() == 0


@pytest.mark.django_db
def test_a_wrong_password_is_not_registered_and_shows_the_account_it_needs(
    running: RunningServer, tmp_path: Path
) -> None:
    wrong = tmp_path / "wrong"
    wrong.write_text("wrong\n")
    err = io.StringIO()
    url = f"mysql://{running.user}@127.0.0.1:{running.port}"
    options = ("--name", "z", "--password-file", str(wrong))
    with pytest.raises(CommandError) as refused:
        call_command("add_server", url, *options, stdout=io.StringIO(), stderr=err)
    assert refused.value.returncode == 3
    assert "CREATE USER" in err.getvalue()
    assert Server.objects.count() == 0


@pytest.mark.django_db
def test_one_that_may_come_up_later_is_registered_untested_where_that_is_meant() -> None:
    out, err = run("mysql://u@127.0.0.1:1", "--name", "away", "--no-test")
    assert "is watched from now on" in out
    assert err == ""
    assert Server.objects.count() == 1


@pytest.mark.django_db
def test_registering_the_same_again_changes_nothing_and_says_so() -> None:
    run("mysql://u@127.0.0.1:1", "--name", "away", "--no-test")
    out, err = run("mysql://u@127.0.0.1:1", "--name", "AWAY")
    assert "watched already" in out
    assert err == ""
    assert Server.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["mysql://u@127.0.0.1:2", "--name", "away"], "has a server called away already"),
        (["mysql://u:p@127.0.0.1:2", "--name", "b"], "holds a password"),
        (["postgres://u@127.0.0.1", "--name", "b"], "begins with mysql://"),
        (["mysql://u@127.0.0.1", "--name", "a/b"], "no / in it"),
        (["mysql://127.0.0.1", "--name", "b"], "user"),
        (["mysql://u@127.0.0.1", "--name", "b", "--password-file", "/nowhere"], "cannot be read"),
        (["mysql://u@127.0.0.1", "--name", "b", "--apply-user", "x"], "go together"),
        (["mysql://u@127.0.0.1", "--name", "b", "--tls-ca", "/nowhere"], "cannot be read"),
        (["mysql://u@127.0.0.1", "--name", "b", "--host-cpus", "-1"], "whole number"),
    ],
)
def test_what_cannot_be_registered_is_refused_in_one_sentence_with_exit_2(arguments: list[str], said: str) -> None:
    run("mysql://u@127.0.0.1:1", "--name", "away", "--no-test")
    with pytest.raises(CommandError, match=said) as refused:
        run(*arguments)
    assert refused.value.returncode == 2
    assert "\n" not in str(refused.value)
    assert Server.objects.count() == 1


@pytest.mark.django_db
def test_with_several_teams_the_team_has_to_be_named(team: Any, other_team: Any) -> None:
    with pytest.raises(CommandError, match="several teams"):
        run("mysql://u@127.0.0.1:1", "--name", "b")
    with pytest.raises(CommandError, match=r"no team called 'othres'\. Known: Databases, Others"):
        run("mysql://u@127.0.0.1:1", "--name", "b", "--team", "othres")
    run("mysql://u@127.0.0.1:1", "--name", "b", "--team", "others", "--no-test")
    assert Server.objects.get().team == other_team


@pytest.mark.parametrize(("text", "size"), [("8G", 8 << 30), ("512M", 512 << 20), ("1.5GiB", 3 << 29), ("4096", 4096)])
def test_sizes_are_read_as_people_write_them(text: str, size: int) -> None:
    from collector.management.commands import add_server

    assert add_server.size(text) == size
