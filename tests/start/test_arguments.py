"""What ./start says to arguments that make no sense, before it touches anything."""

import os
import subprocess
from pathlib import Path

import pytest

from scripts.embedded.arguments import parse
from scripts.embedded.places import ROOT
from scripts.embedded.registration import NoPassword, how_it_went, keep_password, read_password


def call(*arguments: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """`./start` in a process of its own."""
    return subprocess.run(
        [str(ROOT / "start"), *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--bogus"], "unknown option --bogus"),
        (["--port"], "--port wants a value"),
        (["--port", "eighty"], 'wants a number from 1 to 65535, not "eighty"'),
        (["--port=0"], "from 1 to 65535"),
        (["--port", "65536"], "from 1 to 65535"),
        (["--port", "99999999999999999999"], "from 1 to 65535"),
        (["--host="], "--host wants an address"),
        (["db.example.test:3306"], "neither an option nor a server's URL"),
    ],
)
def test_a_usage_error_is_one_sentence_and_exit_2(arguments: list[str], told: str) -> None:
    ran = call(*arguments)
    assert ran.returncode == 2
    assert told in ran.stderr
    assert ran.stderr.count("\n") == 1
    assert ran.stdout == ""


def test_help_is_printed_without_installing_anything() -> None:
    ran = call("--help")
    assert ran.returncode == 0
    assert "--password-file" in ran.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["mysql://root:secret@db:3306"], "leave the password out"),
        (["mysql://db:3306"], "looks like mysql://user@host:3306"),
        (["mysql://u@db:port"], "looks like mysql://user@host:3306"),
        (["--password-file=/etc/hostname"], "none is"),
        (["--password-file=/nowhere/at/all", "mysql://u@db"], "there is no password file /nowhere/at/all"),
        (["--password-file=/etc", "mysql://u@db"], "the password file /etc is a folder"),
        (["--port", "0"], "from 1 to 65535"),
        (["--no-dem"], "unrecognized arguments"),
    ],
)
def test_values_are_checked_before_anything_starts(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(arguments)
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert told in said
    assert said.count("\n") == 1


def test_a_password_in_a_url_is_never_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(["mysql://root:hunter2@db:3306"])
    assert "hunter2" not in capsys.readouterr().err


def test_everything_asked_for_is_read() -> None:
    request = parse(["--port=9000", "--no-demo", "--password-file=/etc/hostname", "mysql://a@b:3307", "mysql://c@d"])
    assert (request.port, request.host, request.demo, request.only_set_up) == (9000, "127.0.0.1", False, False)
    assert request.servers == ("mysql://a@b:3307", "mysql://c@d")


def test_a_password_may_come_through_a_pipe() -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as out:
        out.write("from-a-command\n")
    request = parse([f"--password-file=/dev/fd/{reading}", "mysql://a@b", "mysql://c@d"])
    assert request.password_file is not None
    assert read_password(request.password_file) == "from-a-command"
    with pytest.raises(NoPassword, match="is empty: its first line is the password"):
        read_password(request.password_file)
    os.close(reading)


def test_a_kept_password_is_ours_alone(tmp_path: Path) -> None:
    file = keep_password("secret", tmp_path)
    assert file.read_text() == "secret\n"
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("out", "error", "told"),
    [
        (
            "db is watched from now on.\n",
            "It cannot be read yet: Nobody listens. Start it.\nStatements:\n  GRANT PROCESS ON *.* TO x;\n",
            "It cannot be read yet: Nobody listens. Start it.",
        ),
        (
            "db is watched from now on.\nIt answers: 10.11.6, without TLS.\n",
            "Missing: the status of replication. GRANT it.\n",
            "It answers: 10.11.6, without TLS.",
        ),
        (
            "db at db:3306 is watched already: nothing changed.\n",
            "",
            "db at db:3306 is watched already: nothing changed.",
        ),
        ("", "Warning\nChoose another name.\n", "Choose another name."),
        ("", "", "exit 4"),
    ],
)
def test_of_what_registering_says_the_line_that_tells_how_it_went_is_shown(out: str, error: str, told: str) -> None:
    assert how_it_went(subprocess.CompletedProcess([], 4, out, error)) == told
