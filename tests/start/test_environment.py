"""Making the environment: pip's settings reach uv, the right driver is built, a second start finds nothing to do."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.embedded import environment
from scripts.embedded.index_settings import parse_pip_settings, uv_environment
from scripts.embedded.places import ROOT

LISTED = """\
:env:.find-links='/wheels /more/wheels'
global.cert='/etc/pip/ca.pem'
global.extra-index-url='https://one.example/simple https://two.example/simple'
global.index-url='https://mirror.example/simple'
global.trusted-host='mirror.example'
install.cert='/etc/pip/install-ca.pem'
wheel.cert='/etc/pip/other.pem'
"""


def test_pip_settings_are_read_in_pips_own_order() -> None:
    read = parse_pip_settings(LISTED)
    assert read["cert"] == "/etc/pip/install-ca.pem"
    assert read["index-url"] == "https://mirror.example/simple"


def test_uv_is_told_what_pip_knows() -> None:
    assert uv_environment(parse_pip_settings(LISTED), {}) == {
        "UV_DEFAULT_INDEX": "https://mirror.example/simple",
        "UV_INDEX": "https://one.example/simple https://two.example/simple",
        "UV_FIND_LINKS": "/wheels,/more/wheels",
        "UV_INSECURE_HOST": "mirror.example",
        "SSL_CERT_FILE": "/etc/pip/install-ca.pem",
    }


def test_what_was_set_for_uv_itself_stands() -> None:
    set_already = {"UV_DEFAULT_INDEX": "https://uv.example", "SSL_CERT_FILE": "/ca.pem"}
    assert "UV_DEFAULT_INDEX" not in uv_environment(parse_pip_settings(LISTED), set_already)
    assert "SSL_CERT_FILE" not in uv_environment(parse_pip_settings(LISTED), set_already)


def test_without_settings_the_systems_certificates_are_used() -> None:
    assert uv_environment({}, {}) == {"UV_SYSTEM_CERTS": "1"}


def test_the_stamp_follows_the_requirements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("one==1\n")
    monkeypatch.setattr(environment, "ENVIRONMENT", tmp_path)
    monkeypatch.setattr(environment, "PYTHON", Path(sys.executable))
    assert not environment.is_current(requirements)
    environment.stamp(requirements).write_text(environment.fingerprint(requirements))
    assert environment.is_current(requirements)
    requirements.write_text("one==2\n")
    assert not environment.is_current(requirements)


def test_every_pin_carries_hashes() -> None:
    for file in (ROOT / "requirements.txt", ROOT / "requirements-dev.txt", environment.UV_REQUIREMENTS):
        pins = [line for line in file.read_text().splitlines() if line and not line.startswith((" ", "#"))]
        assert pins
        assert all(pin.endswith("\\") for pin in pins), file


def test_manage_says_what_to_do_where_nothing_is_set_up(tmp_path: Path) -> None:
    (tmp_path / "manage.py").write_bytes((ROOT / "manage.py").read_bytes())
    ran = subprocess.run(
        ["/usr/bin/env", "python3", str(tmp_path / "manage.py"), "check"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert "run ./start --setup" in ran.stderr


def test_manage_runs_itself_in_the_environment(tmp_path: Path) -> None:
    outside = [str(Path(sys.base_prefix) / "bin" / "python3"), "-I", str(ROOT / "manage.py"), "version"]
    ran = subprocess.run(outside, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout.strip()[:2]) == (0, "5."), ran.stderr


def program(folder: Path, name: str, script: str) -> None:
    """A stand-in for a program of the system."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def test_the_driver_of_this_environment_has_mariadbs_library_loaded() -> None:
    ask = "import MySQLdb._mysql; print(open('/proc/self/maps').read())"
    maps = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True).stdout
    assert "libmariadb.so.3" in maps
    assert "libmysqlclient" not in maps
    assert environment.client_library_version().startswith("3.")


def test_the_driver_is_told_to_link_mariadbs_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert environment.client_library_flags() == {}
    program(tmp_path / "bin", "mariadb_config", 'echo "of mariadb_config $1"')
    assert environment.client_library_flags()["MYSQLCLIENT_LDFLAGS"] == "of mariadb_config --libs"
    program(tmp_path / "bin", "pkg-config", '[ "$2" = libmariadb ] && echo "of pkg-config $1"')
    assert environment.client_library_flags() == {
        "MYSQLCLIENT_CFLAGS": "of pkg-config --cflags",
        "MYSQLCLIENT_LDFLAGS": "of pkg-config --libs",
    }


def test_a_driver_that_was_linked_otherwise_is_built_again_without_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = iter(["8.0.40", "3.3.8", "8.0.40", "8.0.40"])
    installed: list[dict[str, str]] = []
    monkeypatch.setattr(environment, "PYTHON", Path("/bin/true"))
    monkeypatch.setattr(environment, "client_library_version", lambda: next(versions))
    monkeypatch.setattr(environment, "install", lambda requirements, further: installed.append(further))
    environment.make_right_driver(environment.RUN_REQUIREMENTS)
    assert installed == [{"UV_NO_CACHE": "1", "PIP_NO_CACHE_DIR": "1"}]
    with pytest.raises(
        SystemExit, match=r"client library 8\.0\.40, not MariaDB Connector/C 3\.x: install .*libmariadb-dev"
    ):
        environment.make_right_driver(environment.RUN_REQUIREMENTS)


@pytest.mark.parametrize("mysql_is_there", [True, False])
def test_mysqls_own_headers_are_not_enough(tmp_path: Path, mysql_is_there: bool) -> None:
    """A copy without an environment, on a machine whose package manager refuses, as it does beside MySQL's headers."""
    shutil.copy(ROOT / "start", tmp_path / "start")
    shutil.copytree(ROOT / "scripts" / "embedded", tmp_path / "scripts" / "embedded")
    absent = "libmariadb-dev" if mysql_is_there else "libmariadb-dev libmysqlclient-dev"
    stand_ins = tmp_path / "bin"
    program(stand_ins, "mysql_config", "echo -lmysqlclient")
    program(stand_ins, "pkg-config", '[ "${2:-}" != libmariadb ]')
    program(
        stand_ins, "dpkg-query", f'for last; do :; done; case " {absent} " in *" $last "*) ;; *) echo installed ;; esac'
    )
    program(stand_ins, "apt-get", f'echo "$@" >>{tmp_path}/asked; case "$*" in *install*) exit 100 ;; esac')
    program(stand_ins, "id", "echo 0")
    ran = subprocess.run(
        [str(tmp_path / "start"), "--setup", "--no-demo"],
        env={**os.environ, "PATH": f"{stand_ins}:{os.environ['PATH']}"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2
    installing = (tmp_path / "asked").read_text().splitlines()[-1]
    assert installing.endswith(" libmariadb-dev")
    assert "--no-remove" in installing
    assert ("sudo apt-get remove libmysqlclient-dev" in ran.stderr) is mysql_is_there
