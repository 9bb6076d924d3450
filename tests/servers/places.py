"""Which servers the tests know, and where each of them lies on this machine.

Standard library only: `tests/servers/fetch` uses this module before any environment exists.
"""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

HERE = Path(__file__).resolve().parent
RECORD = HERE / "servers.toml"
UNOBTAINABLE = HERE / "unobtainable.toml"

ServerFlavor = Literal["mysql", "mariadb"]


def cache_folder() -> Path:
    """The folder that fetched servers and data directory templates are kept in."""
    stated = os.environ.get("TIDEMARK_TEST_SERVERS")
    return Path(stated).expanduser().resolve() if stated else HERE.parent.parent / "var" / "test-servers"


@functools.cache
def recorded() -> dict[str, dict[str, Any]]:
    """What `servers.toml` says of each server, by name, in the file's order (oldest first within a flavor)."""
    return tomllib.loads(RECORD.read_text(encoding="utf-8"))


@functools.cache
def unobtainable() -> dict[str, dict[str, Any]]:
    """Servers that can no longer be had, by name, each with a date and a reason."""
    return tomllib.loads(UNOBTAINABLE.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Installation:
    """One server program and the files it needs. Paths are absolute."""

    name: str
    flavor: ServerFlavor
    version: str
    program: Path
    share: Path
    loader: Path | None = None
    libraries: tuple[Path, ...] = ()
    plugins: Path | None = None

    @property
    def command(self) -> list[str]:
        """The words that run the program: a server unpacked from a newer system brings its own loader and libc."""
        if self.loader is None:
            return [str(self.program)]
        return [str(self.loader), "--library-path", ":".join(map(str, self.libraries)), str(self.program)]

    @property
    def environment(self) -> dict[str, str]:
        """The environment of the program. Nothing of ours leaks into it but what finding programs takes."""
        environment = {"PATH": os.environ.get("PATH", "/usr/sbin:/usr/bin:/sbin:/bin"), "LC_ALL": "C", "TZ": "UTC"}
        if self.loader is None and self.libraries:
            environment["LD_LIBRARY_PATH"] = ":".join(map(str, self.libraries))
        return environment

    @property
    def arguments(self) -> list[str]:
        """The arguments every run of the program begins with."""
        given = ["--no-defaults", f"--lc-messages-dir={self.share}", f"--character-sets-dir={self.share / 'charsets'}"]
        if self.plugins is not None:
            given.append(f"--plugin-dir={self.plugins}")
        if os.geteuid() == 0:
            given.append("--user=root")
        return given


def version_of(command: list[str], environment: dict[str, str] | None = None) -> str:
    """The version that a server program states of itself, as three numbers ("10.11.19").

    Raises OSError if it does not run, ValueError if its answer holds no version.
    """
    answer = subprocess.run(
        [*command, "--no-defaults", "--version"], env=environment, capture_output=True, text=True, timeout=60
    )
    match = re.search(r"Ver (\d+\.\d+\.\d+)", answer.stdout)
    if match is None:
        raise ValueError(f"{command[-1]} --version answered {answer.stdout!r} {answer.stderr.strip()[-500:]!r}.")
    return match.group(1)


@functools.cache
def distribution_installation() -> Installation | None:
    """The MariaDB server of this machine's own packages, or None if there is none."""
    program = shutil.which("mariadbd") or shutil.which("mariadbd", path="/usr/sbin:/usr/libexec:/usr/local/sbin")
    if program is None:
        return None
    shares = [Path("/usr/share/mysql"), Path("/usr/share/mariadb")]
    share = next((folder for folder in shares if (folder / "charsets").is_dir()), shares[0])
    version = version_of([program])
    return Installation(
        name=f"mariadb-{'.'.join(version.split('.')[:2])}",
        flavor="mariadb",
        version=version,
        program=Path(program).resolve(),
        share=share,
    )


def distribution_server() -> str:
    """The name under which the machine's own MariaDB server is known here."""
    installation = distribution_installation()
    return installation.name if installation is not None else "mariadb-10.11"


def ci_servers() -> tuple[str, ...]:
    """The three of different lineage that `./check --ci` fetches or finds."""
    return ("mysql-5.7.22", "mysql-9.7", distribution_server())


def outside_extent(name: str, extent: str) -> bool:
    """Whether the run that TIDEMARK_CHECK calls `extent` has no server of that name on a fresh machine."""
    promised = {"quick": (distribution_server(),), "ci": ci_servers()}.get(extent)
    return promised is not None and name not in promised


def fetched_installation(name: str) -> Installation | None:
    """The server of that name in the cache folder, or None if it was not fetched."""
    folder = cache_folder() / name
    try:
        facts = json.loads((folder / "installation.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return Installation(
        name=name,
        flavor=facts["flavor"],
        version=facts["version"],
        program=folder / facts["program"],
        share=folder / facts["share"],
        loader=folder / facts["loader"] if facts["loader"] else None,
        libraries=tuple(folder / part for part in facts["libraries"]),
        plugins=folder / facts["plugins"] if facts["plugins"] else None,
    )


def find(name: str) -> Installation | None:
    """The installation known as `name`: the machine's own server if it has that name, else the fetched one."""
    own = distribution_installation()
    return own if own is not None and own.name == name else fetched_installation(name)
