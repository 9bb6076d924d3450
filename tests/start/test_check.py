"""./check looks for a browser that runs, and says what to do where there is none."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from scripts.embedded.places import ROOT

#: What the script itself calls; nothing else of this machine, least of all its browser, is on the path.
TOOLS = "sh env dirname id sed grep timeout mktemp rm tr cut cat python3".split()
#: What Ubuntu's package is.
SNAP_STUB = "echo 'This command requires the chromium snap to be installed.' >&2; exit 1"


def check(folder: Path, browsers: dict[str, str], **extra: str) -> subprocess.CompletedProcess[str]:
    """A copy of ./check on a machine with these browsers, every package installed and the environment made."""
    (folder / "bin").mkdir()
    for tool in TOOLS:
        (folder / "bin" / tool).symlink_to(shutil.which(tool) or tool)
    stand_ins = {"dpkg-query": "echo installed", "apt-get": "exit 1", "apt-cache": "exit 1"} | browsers
    for name, script in stand_ins.items():
        (folder / "bin" / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / "bin" / name).chmod(0o755)
    for file in ("check", "tests/servers/system-packages.txt"):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, folder / file)
    (folder / "scripts" / "embedded").mkdir(parents=True)
    (folder / "scripts" / "embedded" / "environment.py").touch()
    # The first thing that needs the environment tells which browser was taken.
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / ".venv" / "bin" / "python").write_text('#!/bin/sh\necho "taken: $TIDEMARK_BROWSER"; exit 9\n')
    (folder / ".venv" / "bin" / "python").chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TIDEMARK_")}
    return subprocess.run(
        [str(folder / "check")],
        env={**environment, "PATH": str(folder / "bin"), "HOME": str(folder), **extra},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_where_no_browser_runs_it_is_said_what_to_do(tmp_path: Path) -> None:
    ran = check(tmp_path, {"chromium-browser": SNAP_STUB})
    assert ran.returncode == 2
    assert "no browser runs here" in ran.stderr
    assert "-m playwright install --with-deps chromium" in ran.stderr


@pytest.mark.parametrize("name", ["google-chrome", "chromium"])
def test_the_browser_that_runs_is_taken_rather_than_a_link_to_a_snap(tmp_path: Path, name: str) -> None:
    ran = check(tmp_path, {"chromium-browser": SNAP_STUB, name: "echo '<html></html>'"})
    assert f"taken: {tmp_path}/bin/{name}" in ran.stdout, ran.stderr


def test_a_browser_that_playwright_brought_is_found(tmp_path: Path) -> None:
    brought = tmp_path / ".cache" / "ms-playwright" / "chromium-1200" / "chrome-linux" / "chrome"
    brought.parent.mkdir(parents=True)
    brought.write_text("#!/bin/sh\necho '<html></html>'\n")
    brought.chmod(0o755)
    assert f"taken: {brought}" in check(tmp_path, {"chromium-browser": SNAP_STUB}).stdout


def test_the_browser_named_comes_first(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_text("#!/bin/sh\necho '<html></html>'\n")
    mine.chmod(0o755)
    ran = check(tmp_path, {"chromium": "echo '<html></html>'"}, TIDEMARK_BROWSER=str(mine))
    assert f"taken: {mine}" in ran.stdout, ran.stderr
