"""Making the environment: pip's settings reach uv, and a second start finds nothing to do."""

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
