"""The log on the terminal follows files that grow, are rotated, and hold what strangers wrote."""

from pathlib import Path

from scripts.embedded.logs import FollowedFile, TerminalLog


def test_only_complete_lines_are_shown_each_with_its_program(tmp_path: Path) -> None:
    web, worker = tmp_path / "web.log", tmp_path / "collect.log"
    web.write_text("from an earlier start\n")
    log = TerminalLog({"web": web, "collect": worker})
    with web.open("a") as out:
        out.write("ready\nhalf a li")
    worker.write_text("connected\n")
    assert list(log.new_lines()) == ["web     | ready", "collect | connected"]
    with web.open("a") as out:
        out.write("ne\n")
    assert list(log.new_lines()) == ["web     | half a line"]


def test_a_rotated_file_is_followed_from_its_beginning(tmp_path: Path) -> None:
    file = tmp_path / "web.log"
    followed = FollowedFile(file, from_end=True)
    file.write_text("one\n")
    assert followed.new_lines() == ["one"]
    file.rename(tmp_path / "web.log.1")
    assert followed.new_lines() == []
    file.write_text("two\n")
    assert followed.new_lines() == ["two"]


def test_what_is_in_a_log_cannot_steer_the_terminal(tmp_path: Path) -> None:
    file = tmp_path / "web.log"
    followed = FollowedFile(file, from_end=True)
    file.write_bytes(b"\x1b]0;owned\x07 \xff\n")
    assert followed.new_lines() == ["·]0;owned· \ufffd"]
