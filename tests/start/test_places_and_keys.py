"""Folders, sockets and keys: short enough, ours alone, made once."""

import base64
import os
import stat
from pathlib import Path

import pytest

from scripts.embedded.keys import create_keys, keep_secret
from scripts.embedded.places import PlaceError, Places, defaults_for_commands, find_places, make_all, make_private


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_sockets_fit_into_their_address_in_a_deep_checkout(tmp_path: Path) -> None:
    deep = Places(data=tmp_path / ("a-folder-with-a-long-name/" * 8) / "var")
    assert len(os.fsencode(deep.data / "run" / "redis.sock")) > 107
    for socket in (deep.redis_socket, deep.demo_socket, deep.run / "supervisor.sock.4194304"):
        assert len(os.fsencode(socket)) <= 107


def test_sockets_stay_beside_the_data_where_they_fit() -> None:
    assert Places(data=Path("/srv/tidemark/var")).run == Path("/srv/tidemark/var/run")


def test_two_deep_data_folders_have_different_sockets(tmp_path: Path) -> None:
    deep = tmp_path / ("x" * 120)
    assert Places(data=deep / "one").run != Places(data=deep / "two").run


def test_every_folder_is_closed_to_others_whatever_the_umask(tmp_path: Path) -> None:
    places = Places(data=tmp_path / "data")
    before = os.umask(0)
    try:
        make_all(places)
    finally:
        os.umask(before)
    assert {mode(folder) for folder in (places.data, places.keys, places.logs, places.run)} == {0o700}


def test_an_open_folder_of_ours_is_closed(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    make_private(tmp_path)
    assert mode(tmp_path) == 0o700


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "squatted"
    folder.mkdir(mode=0o700)
    owner = folder.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.raises(PlaceError, match="belongs to another user"):
        make_private(folder)


def test_a_link_in_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "run").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PlaceError, match="something else"):
        make_private(tmp_path / "run")


def test_keys_are_made_once_for_us_alone(tmp_path: Path) -> None:
    create_keys(tmp_path)
    secret, credentials = tmp_path / "secret_key", tmp_path / "credential_keys"
    first = (secret.read_text(), credentials.read_text())
    assert (mode(secret), mode(credentials)) == (0o600, 0o600)
    assert len(secret.read_text().strip()) >= 50
    assert [len(base64.urlsafe_b64decode(line)) for line in credentials.read_text().split()] == [32]
    create_keys(tmp_path)
    assert (secret.read_text(), credentials.read_text()) == first
    assert sorted(file.name for file in tmp_path.iterdir()) == ["audit_key", "credential_keys", "secret_key"]


@pytest.mark.parametrize("open_mode", [0o640, 0o604, 0o660])
def test_a_key_that_others_can_read_is_refused(tmp_path: Path, open_mode: int) -> None:
    create_keys(tmp_path)
    (tmp_path / "secret_key").chmod(open_mode)
    with pytest.raises(PlaceError, match="can be read by other users"):
        create_keys(tmp_path)


def test_an_empty_key_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret_key").touch(mode=0o600)
    with pytest.raises(PlaceError, match="is empty"):
        keep_secret(tmp_path / "secret_key", "new")


def test_commands_reach_the_broker_of_their_data_folder(tmp_path: Path) -> None:
    places = find_places({"TIDEMARK_DATA": str(tmp_path)})
    assert defaults_for_commands(places) == {"TIDEMARK_BROKER_URL": f"redis+socket://{places.redis_socket}"}
    places.state.write_text('{"pid": 1, "address": "http://127.0.0.1:8123"}')
    assert defaults_for_commands(places)["TIDEMARK_BASE_URL"] == "http://127.0.0.1:8123"
