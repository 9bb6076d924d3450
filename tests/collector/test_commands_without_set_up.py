"""Commands before Tidemark is set up, without a key, or onto what cannot be written: one sentence, exit status 2."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from collector.models import Server
from collector.servers import InvalidServer, add_server
from tests.collector.test_commands import manage
from tests.hostile.fake import STATUS, VARIABLES, FakeServer, Peer


@pytest.mark.parametrize(
    "arguments",
    [
        ("add_server", "mysql://u@127.0.0.1:1", "--name", "a"),
        ("create_token", "anna"),
        ("create_user", "anna"),
        ("login_link", "anna"),
        ("rotate_credentials",),
    ],
)
def test_before_set_up_a_command_says_to_set_up(arguments: tuple[str, ...], tmp_path: Path) -> None:
    for url in (f"sqlite:///{tmp_path}/none.sqlite3", "mysql://u@127.0.0.1:1/none"):
        ended = manage(*arguments, data=tmp_path, database_url="" if url.startswith("sqlite") else url)
        assert ended.returncode == 2, ended.stderr
        assert "Traceback" not in ended.stderr
        assert "./start --setup" in ended.stderr, ended.stderr


def test_without_a_key_a_server_is_refused_in_a_sentence_and_not_stored(team: Any, settings: Any) -> None:
    settings.CREDENTIAL_KEYS = []
    with pytest.raises(CommandError) as caught:
        call_command("add_server", "mysql://u@127.0.0.1:1", "--name", "a", "--no-test")
    assert caught.value.returncode == 2
    assert "no credential key" in str(caught.value)
    with pytest.raises(InvalidServer) as refused:
        add_server(team=team, name="a", host="10.0.0.5", user="u", password="p")
    assert "credential key" in refused.value.errors["password"]
    assert not Server.objects.exists()


def test_a_recording_that_cannot_be_written_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    def good(peer: Peer) -> None:
        peer.serve("never asked", variables=VARIABLES, status=STATUS)

    (tmp_path / "file").write_text("")
    with FakeServer(good) as server:
        for path in (tmp_path / "file", tmp_path / "file" / "below"):
            with pytest.raises(CommandError) as caught:
                call_command("record_snapshot", f"mysql://u@127.0.0.1:{server.port}", str(path), "--observe", "0")
            assert caught.value.returncode == 2
            assert str(tmp_path / "file") in str(caught.value)
        assert server.peers == []


def test_new_servers_are_read_as_often_as_the_settings_say(team: Any, settings: Any) -> None:
    settings.FAST_INTERVAL_SECONDS, settings.FULL_INTERVAL_SECONDS = 20, 120
    made = add_server(team=team, name="a", host="10.0.0.5", user="u", password="p")
    assert (made.fast_interval_seconds, made.full_interval_seconds) == (20, 120)
    given = add_server(team=team, name="b", host="10.0.0.5", user="u", password="p", fast_interval_seconds=5)
    assert (given.fast_interval_seconds, given.full_interval_seconds) == (5, 120)
