"""Registering servers with the running product, by its own command."""

import getpass
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from scripts.embedded.places import ROOT

#: The exit status of `add_server` for a server that it could not read, and therefore did not register.
NOT_READABLE = 3


class NoPassword(Exception):
    """There is nobody to ask for a password; the message is one sentence."""


def ask_password(url: str, folder: Path) -> Path:
    """Ask for a server's password on the terminal; returns a file below `folder` that holds it and is ours alone.

    A file, since arguments can be read by every user of the machine. Raises NoPassword without a terminal.
    """
    if not sys.stdin.isatty():
        raise NoPassword(f"there is no terminal to ask for the password of {url} at: name a file with --password-file.")
    return keep_password(getpass.getpass(f"Password for {url}: "), folder)


def read_password(file: Path) -> str:
    """The first line of a password file, which may be a pipe: `<(command)` can be read once, and by us only.

    Raises NoPassword.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise NoPassword(f"the password file {file} cannot be read: {reason}.") from None
    if not lines or not lines[0]:
        raise NoPassword(f"the password file {file} is empty: its first line is the password.")
    return lines[0]


def keep_password(password: str, folder: Path) -> Path:
    """A new file below `folder` that holds the password and is ours alone."""
    file = folder / f"password.{os.getpid()}.{os.urandom(4).hex()}"
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as out:
        out.write(password + "\n")
    return file


def server_name(url: str) -> str:
    """The name under which a server is registered that was only given by its address."""
    parts = urlsplit(url)
    host = parts.hostname or "server"
    return host if parts.port in (None, 3306) else f"{host}:{parts.port}"


def how_it_went(added: subprocess.CompletedProcess[str]) -> str:
    """The sentence of `add_server` that says how registering went; the statements that would help follow it there.

    A server that could not be read is registered all the same, and a refusal is a single sentence.
    """
    lines = [line.strip() for line in (added.stdout + "\n" + added.stderr).splitlines() if line.strip()]
    for beginning in ("It cannot be read yet: ", "It answers: "):
        for line in lines:
            if line.startswith(beginning):
                return line
    return lines[-1] if lines else f"exit {added.returncode}"


def run_add_server(
    environment: Mapping[str, str], url: str, *, name: str, password_file: Path
) -> subprocess.CompletedProcess[str]:
    """Run `manage.py add_server`; what it says is in the result's `stdout` and `stderr`.

    A server that cannot be read now is registered all the same: whoever starts Tidemark may start the server after it.
    """
    tried = _add_server(environment, url, name, password_file)
    if tried.returncode != NOT_READABLE:
        return tried
    added = _add_server(environment, url, name, password_file, "--no-test")
    return subprocess.CompletedProcess(added.args, added.returncode, added.stdout, tried.stderr + added.stderr)


def _add_server(
    environment: Mapping[str, str], url: str, name: str, password_file: Path, *options: str
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "manage.py"), "add_server", url, "--name", name]
    command += ["--password-file", str(password_file), *options]
    return subprocess.run(
        command,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,  # Ctrl-C is for the conductor, which ends what is left.
    )
