"""`manage.py upgrade_preview`: from a recording, from a real server, and proven by starting the other version."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.management import call_command

from advisor.engine.scene import server_named
from advisor.mysql.upgrade import REDACTED
from advisor.recommendations.upgrade_document import path_to
from collector import redaction
from tests.recorded.judging import FOLDER
from tests.servers import ServerDidNotStart, start_server

OLD = str(FOLDER / "mysql-5.7.22-small-redo")
NEWER = str(FOLDER / "mysql-8.0.33-small-redo")


def _told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    call_command("upgrade_preview", *arguments)
    return capsys.readouterr().out


def _json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(_told(capsys, *arguments, "--format", "json"))
    return told


def test_a_recording_is_enough(capsys: pytest.CaptureFixture[str]) -> None:
    told = _json(capsys, OLD, "--to", "mysql:9.7")
    assert told["path"] == ["8.0", "8.4", "9.7"]
    assert told["origins_known"] is False
    stopping = {one["variable"]: one["successor"] for one in told["changes"] if one["breaks_start"]}
    assert stopping["innodb_log_file_size"] == "innodb_redo_log_capacity"
    defaults = {one["variable"]: (one["old_default"], one["new_default"]) for one in told["changes"]}
    assert defaults["gtid_mode"] == ("OFF", "ON")
    assert defaults["character_set_server"] == ("latin1", "utf8mb4")
    assert len(told["expected_slower"]) == 3


def test_what_changes_from_8_0_to_8_4_is_all_there(capsys: pytest.CaptureFixture[str]) -> None:
    """The changed defaults that peers know of (MySQL 8.4 against 8.0), and the variables it removed."""
    told = _json(capsys, NEWER, "--to", "mysql:8.4")
    new = {one["variable"]: one["new_default"] for one in told["changes"] if one["kind"] == "default_changed"}
    assert new["innodb_io_capacity"] == "10000"
    assert new["innodb_log_buffer_size"] == str(64 << 20)
    assert new["innodb_adaptive_hash_index"] == "OFF"
    assert new["innodb_change_buffering"] == "none"
    assert new["innodb_doublewrite_pages"] == "128"
    assert new["innodb_use_fdatasync"] == "ON"
    assert new["innodb_flush_method"] == "O_DIRECT"
    assert all(not one["verified"] for one in told["changes"])


def test_without_a_version_the_next_long_term_series_is_meant(capsys: pytest.CaptureFixture[str]) -> None:
    assert _told(capsys, NEWER).startswith("MySQL 8.0.33 -> MySQL 8.4")
    assert _told(capsys, str(FOLDER / "mariadb-10.5-small-redo")).startswith("MariaDB 10.5.23 -> MariaDB 12.3")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ([NEWER, "--to", "8.4"], "no version to upgrade to"),
        ([NEWER, "--to", "mariadb:11.8"], "another flavor"),
        ([NEWER, "--to", "mysql:5.7"], "older"),
        ([str(FOLDER / "mysql-9.7-idle")], "newest long-term series"),
        (["no-such-server"], "No server called"),
    ],
)
@pytest.mark.django_db
def test_what_cannot_be_is_told_in_a_sentence(
    capsys: pytest.CaptureFixture[str], arguments: list[str], why: str
) -> None:
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        call_command("upgrade_preview", *arguments)
    assert ended.value.code == 2
    assert why in capsys.readouterr().err


def test_who_asks_for_it_gets_a_status_where_something_prevents_the_start(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        call_command("upgrade_preview", OLD, "--to", "mysql:9.7", "--fail-on-stop")
    assert ended.value.code == 1
    call_command("upgrade_preview", NEWER, "--to", "mysql:8.4", "--fail-on-stop")


def test_a_redacted_value_is_not_taken_for_one_that_was_set(capsys: pytest.CaptureFixture[str]) -> None:
    assert redaction.variable("some_password", "secret") == REDACTED
    assert REDACTED not in _told(capsys, OLD, "--to", "mysql:9.7")


def test_mysql_leaves_no_long_term_series_out_and_mariadb_may() -> None:
    assert path_to(server_named("mysql 5.7.22"), server_named("mysql 8.4.0")) == ["8.0", "8.4"]
    assert path_to(server_named("mariadb 10.5.23"), server_named("mariadb 11.8.6")) == ["11.8"]


#: Lines of an option file of MySQL 8.0: the first three are gone in 9.7, the others are not.
_LINES: dict[str, str | None] = {
    "expire_logs_days": "7",
    "innodb_log_file_size": "64M",
    "default_authentication_plugin": "mysql_native_password",
    "max_connections": "300",
    "innodb_flush_neighbors": "0",
}


@pytest.mark.matrix
def test_what_is_said_to_prevent_the_start_does_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    with start_server("mysql-8.0.33", options=_LINES) as server:
        told = _json(capsys, server.url, "--password-file", str(server.password_file), "--to", "mysql:9.7")
    stopping = {one["variable"] for one in told["changes"] if one["breaks_start"]} & set(_LINES)
    assert stopping == {"expire_logs_days", "innodb_log_file_size", "default_authentication_plugin"}
    for line in stopping:
        with pytest.raises(ServerDidNotStart), start_server("mysql-9.7", options={line: _LINES[line]}):
            pass
    with start_server("mysql-9.7", options={line: _LINES[line] for line in _LINES if line not in stopping}) as server:
        assert server.value("@@max_connections") == "300"
