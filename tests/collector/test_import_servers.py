"""`manage.py import_servers`: all of a list or none, told line by line."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from collector.models import Server
from collector.servers import target_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "servers.csv"


def run(*arguments: str) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("import_servers", *arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_a_dry_run_tells_every_line_and_writes_nothing(file: Path, watched: Any) -> None:
    file.write_text("name,host,port\na,10.0.0.1,\nz,127.0.0.1,1\n")
    out, err = run(str(file), "--dry-run")
    assert "line 2: will add  a  10.0.0.1:3306" in out
    assert "line 3: known already  z  127.0.0.1:1  (as alpha)" in out
    assert "1 to add, 1 known already, 0 wrong; nothing was written" in out
    assert err == ""
    assert Server.objects.count() == 1


def test_a_list_is_registered_with_what_counts_for_all(file: Path, team: Any, tmp_path: Path) -> None:
    (tmp_path / "password").write_text("secret\n")
    file.write_text("- host: 127.0.0.1\n  port: 1\n- mysql://other@10.0.0.2\n")
    out, _ = run(str(file), "--password-file", str(tmp_path / "password"), "--tag", "prod", "--user", "app")
    assert "2 servers are watched from now on (team Databases)" in out
    assert "secret" not in out
    assert sorted(Server.objects.values_list("user", flat=True)) == ["app", "other"]
    assert {(tuple(one.tags), target_of(one).password.reveal()) for one in Server.objects.all()} == {
        (("prod",), "secret")
    }


def test_one_wrong_line_keeps_all_from_being_written_unless_wrong_ones_may_be_left_out(file: Path, team: Any) -> None:
    file.write_text("name,host\na,10.0.0.1\nb/c,10.0.0.2\n")
    for dry in (["--dry-run"], []):
        with pytest.raises(CommandError, match="1 wrong: nothing was written") as refused:
            run(str(file), *dry)
        assert refused.value.returncode == 2
    assert Server.objects.count() == 0
    out, err = run(str(file), "--skip-errors")
    assert "1 servers are watched" in out
    assert "line 3: ERROR" in err
    assert Server.objects.get().name == "a"


def test_trying_says_what_does_not_answer(file: Path, team: Any) -> None:
    file.write_text("host,port\n127.0.0.1,1\n")
    out, _ = run(str(file), "--test", "--dry-run")
    assert "cannot be read: " in out


@pytest.mark.parametrize(
    ("content", "said"), [(b"\xff\xfeh", "not UTF-8"), (b"x" * 1_000_001, "1 MB"), (b"", "nothing")]
)
def test_what_cannot_be_read_is_refused_in_one_sentence(file: Path, team: Any, content: bytes, said: str) -> None:
    file.write_bytes(content)
    with pytest.raises(CommandError, match=said) as refused:
        run(str(file))
    assert refused.value.returncode == 2


def test_a_file_that_is_not_there_is_said(team: Any) -> None:
    with pytest.raises(CommandError, match="/nowhere") as refused:
        run("/nowhere")
    assert refused.value.returncode == 2
