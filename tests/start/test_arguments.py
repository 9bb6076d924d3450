"""What ./start says to arguments that make no sense, before it touches anything."""

import subprocess
from pathlib import Path

import pytest

from scripts.embedded.arguments import parse
from scripts.embedded.places import ROOT


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
