"""Initialised data directories, made once for each server version and copied for every start."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from .places import Installation, cache_folder

# Raised when what a template holds changes, so that templates made by older checkouts are not used.
FORMAT = 1

# What InnoDB fixes when it creates its files: each value needs a template of its own.
FIXED_AT_CREATION = ("innodb_page_size", "lower_case_table_names")

_SCRIPTS = (
    ("mysql_system_tables.sql", "mariadb_system_tables.sql"),
    ("mysql_performance_tables.sql", "mariadb_performance_tables.sql"),
    ("mysql_system_tables_data.sql", "mariadb_system_tables_data.sql"),
    ("mysql_sys_schema.sql", "mariadb_sys_schema.sql"),
)


class TemplateFailed(RuntimeError):
    """A data directory could not be initialised; the text ends with the server's own words."""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on `path` against other test processes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def fixed_options(options: Mapping[str, str | None]) -> dict[str, str]:
    """Those of `options` (names with underscores) that count when a data directory is created."""
    return {name: value for name in FIXED_AT_CREATION if (value := options.get(name)) is not None}


def template_for(installation: Installation, options: Mapping[str, str | None]) -> Path:
    """The folder of an initialised, cleanly stopped data directory for this server and these options.

    Its only account is root@localhost without a password. Raises TemplateFailed.
    """
    fixed = fixed_options(options)
    words = [installation.name, installation.version, str(FORMAT), *(f"{n}={v}" for n, v in sorted(fixed.items()))]
    templates = cache_folder() / "templates"
    target = templates / "_".join(words)
    with locked(templates / f"{installation.name}.lock"):
        if not target.is_dir():
            building = Path(tempfile.mkdtemp(prefix=f"building-{installation.name}-", dir=templates))
            try:
                _initialise(installation, building / "data", fixed)
                (building / "data").rename(target)
            finally:
                shutil.rmtree(building, ignore_errors=True)
    return target


def copy_template(template: Path, datadir: Path) -> None:
    """Copy a template. Redo files are mostly zeros: kept sparse, so that nine servers fit on a small disk."""
    subprocess.run(["cp", "-a", "--reflink=auto", "--sparse=always", str(template), str(datadir)], check=True)


def _initialise(installation: Installation, datadir: Path, fixed: Mapping[str, str]) -> None:
    options = [f"--{name}={value}" for name, value in fixed.items()]
    command = [*installation.command, *installation.arguments, f"--datadir={datadir}", *options]
    errors = datadir.with_suffix(".err")
    if installation.flavor == "mysql":
        command += ["--initialize-insecure", f"--log-error={errors}", "--innodb-buffer-pool-size=64M"]
        script = None
    else:
        datadir.mkdir()
        command += ["--bootstrap", f"--log-error={errors}", "--innodb-buffer-pool-size=64M"]
        script = _bootstrap_script(installation)
    run = subprocess.run(command, input=script, env=installation.environment, capture_output=True, timeout=300)
    said = errors.read_text(errors="replace") if errors.exists() else ""
    if run.returncode != 0:
        said += run.stderr.decode(errors="replace")
        raise TemplateFailed(f"{installation.name} could not initialise a data directory:\n{said[-3000:]}")
    # Copies with one server uuid would look like one server to everything that reads the uuid.
    (datadir / "auto.cnf").unlink(missing_ok=True)


def _bootstrap_script(installation: Installation) -> bytes:
    parts = [b"CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket=NULL;\n"]
    for names in _SCRIPTS:
        present = [path for name in names if (path := installation.share / name).exists()]
        parts += [path.read_bytes() + b"\n" for path in present[:1]]
    # The scripts of MariaDB 10.2 and 10.3 create anonymous accounts and root for the machine's name; from 10.4 on
    # the accounts are rows of another table and only root@localhost is created.
    if b"global_priv" not in parts[1]:
        parts.append(b"DELETE FROM user WHERE User <> 'root' OR Host <> 'localhost';\n")
    else:
        parts.append(b"DELETE FROM global_priv WHERE User = '' OR (User = 'root' AND Host <> 'localhost');\n")
    return b"".join(parts)
