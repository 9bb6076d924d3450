"""Real servers on loopback: started from a copied template, stopped by process id, removed without a trace."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import places
from .certificate import self_signed_certificate
from .places import Installation, ServerFlavor
from .template import copy_template, template_for

if TYPE_CHECKING:
    from MySQLdb.connections import Connection

Row = tuple[str | None, ...]

START_DEADLINE_SECONDS = 120.0
STOP_DEADLINE_SECONDS = 40.0

# Of accounts on servers that listen on loopback for the length of a test.
DEFAULT_PASSWORD = "tide-mark.7"

# Small enough for nine servers at once on a small machine; a test states what it needs otherwise.
_DEFAULT_OPTIONS: dict[str, str | None] = {
    "innodb_buffer_pool_size": "64M",
    "skip_name_resolve": None,
    "server_id": "1",
}


class ServerDidNotStart(RuntimeError):
    """The server ended or did not answer in time; the text ends with its error log."""


class ServerNotAvailable(LookupError):
    """No server of that name is on this machine, or none is promised to the run that wants it."""


class ServerGone(ServerNotAvailable, unittest.SkipTest):
    """A server that `unobtainable.toml` lists: whichever test wants it is skipped, whether or not it was marked."""


@dataclass(frozen=True)
class ClientUser:
    """An account on a running server, for the code under test."""

    user: str
    password: str
    url: str
    password_file: Path


class RunningServer:
    """One running server. Made by `start_server`; all its files are in one folder that goes with it."""

    def __init__(
        self, installation: Installation, folder: Path, options: Mapping[str, str | None], user: str, password: str
    ) -> None:
        self.installation = installation
        self.name: str = installation.name
        self.flavor: ServerFlavor = installation.flavor
        self.version: str = installation.version
        self.folder = folder
        self.datadir = folder / "data"
        self.socket = folder / "s"
        self.error_log = folder / "error.log"
        self.user = user
        self.password = password
        self.port = _free_port()
        self._options = {**_DEFAULT_OPTIONS, **_options_of_version(installation, options), **options}
        self._process: subprocess.Popen[bytes] | None = None
        for part in ("tmp", "files", "passwords"):
            (folder / part).mkdir()
        (folder / "passwords").chmod(0o700)
        self.password_file = self._write_password(user, password)

    def __repr__(self) -> str:
        return f"<{self.name} ({self.version}) on port {self.port}>"

    @property
    def url(self) -> str:
        """`mysql://user@127.0.0.1:port`, without the password."""
        return f"mysql://{self.user}@127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        """The server's process id. Raises RuntimeError when it is not running."""
        if self._process is None:
            raise RuntimeError(f"{self.name} is not running.")
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start it and wait until it answers. Raises ServerDidNotStart."""
        if self.running:
            return
        installation = self.installation
        command = [
            *installation.command,
            *installation.arguments,
            f"--datadir={self.datadir}",
            f"--socket={self.socket}",
            f"--port={self.port}",
            "--bind-address=127.0.0.1",
            f"--pid-file={self.folder / 'server.pid'}",
            f"--log-error={self.error_log}",
            f"--tmpdir={self.folder / 'tmp'}",
            f"--secure-file-priv={self.folder / 'files'}",
            f"--general-log-file={self.folder / 'general.log'}",
            f"--slow-query-log-file={self.folder / 'slow.log'}",
            *(_argument(name, value) for name, value in self._options.items()),
        ]
        with (self.folder / "output").open("ab") as output:
            self._process = subprocess.Popen(
                command,
                env=installation.environment,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                # An interrupt at the terminal is for the tests, which then stop their servers in order.
                start_new_session=True,
            )
        (self.folder / "pid").write_text(str(self._process.pid))
        deadline = time.monotonic() + START_DEADLINE_SECONDS
        while not self._answers():
            ended = self._process.poll()
            if ended is not None or time.monotonic() > deadline:
                what = f"ended with status {ended}" if ended is not None else "did not answer in time"
                self.kill()
                raise ServerDidNotStart(f"{self.name} {what}:\n{self._log_tail()}")
            time.sleep(0.05)

    def stop(self, deadline_seconds: float = STOP_DEADLINE_SECONDS) -> None:
        """Stop it with SIGTERM, and with SIGKILL after the deadline."""
        if self._process is None:
            return
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(deadline_seconds)
            except subprocess.TimeoutExpired:
                self._process.kill()
        self._process.wait()
        self._process = None

    def kill(self) -> None:
        """End it as a crash would: SIGKILL, by process id."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def restart(self, options: Mapping[str, str | None] | None = None) -> None:
        """Stop and start on the same port and data; `options` are added to those it was started with."""
        self.stop()
        self._options.update(_named(options or {}))
        self.start()

    def connect(self, *, user: str | None = None, password: str | None = None, **arguments: Any) -> Connection:
        """A driver connection through the socket: as the administrator, or as `user`."""
        # Imported here, so that this package can be imported where the driver is not installed yet (`fetch`).
        import MySQLdb

        return MySQLdb.connect(
            unix_socket=str(self.socket),
            user=user or "root",
            password=password or "",
            autocommit=True,
            connect_timeout=10,
            **{"charset": "utf8mb4", **arguments},
        )

    def sql(self, statement: str, *, user: str | None = None, password: str | None = None) -> list[Row]:
        """Run one statement on a connection of its own; each value comes as text, NULL as None."""
        # An empty conversion table makes the driver hand over the bytes that the server sent.
        connection = self.connect(user=user, password=password, conv={})
        try:
            cursor = connection.cursor()
            cursor.execute(statement)
            return [tuple(_text(value) for value in row) for row in cursor.fetchall()]
        finally:
            connection.close()

    def value(self, expression: str) -> str | None:
        """The value of one SQL expression, for example `@@GLOBAL.innodb_page_size`."""
        return self.sql(f"SELECT {expression}")[0][0]

    def status(self, pattern: str = "%") -> dict[str, str]:
        """Global status variables by name, as the server spells them."""
        return {str(name): str(value) for name, value in self.sql(f"SHOW GLOBAL STATUS LIKE '{pattern}'")}

    def client_user(self, name: str, grants: str = "", password: str = DEFAULT_PASSWORD) -> ClientUser:
        """Create an account for 127.0.0.1 and the socket.

        `grants` is "" for none, "ALL", or privileges separated by ";", each with or without its ON part
        ("PROCESS; SELECT ON performance_schema.*").
        """
        connection = self.connect()
        try:
            cursor = connection.cursor()
            for host in ("127.0.0.1", "localhost"):
                cursor.execute(f"CREATE USER '{name}'@'{host}' IDENTIFIED BY %s", (password,))
                for grant in filter(None, (part.strip() for part in grants.split(";"))):
                    if grant.upper() == "ALL":
                        cursor.execute(f"GRANT ALL PRIVILEGES ON *.* TO '{name}'@'{host}' WITH GRANT OPTION")
                    else:
                        target = grant if " ON " in grant.upper() else f"{grant} ON *.*"
                        cursor.execute(f"GRANT {target} TO '{name}'@'{host}'")
        finally:
            connection.close()
        return ClientUser(name, password, f"mysql://{name}@127.0.0.1:{self.port}", self._write_password(name, password))

    def general_log(self) -> str:
        """The general log's text so far: needs the option `general_log=ON`, then or by SET GLOBAL."""
        path = self.folder / "general.log"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def error_log_text(self) -> str:
        return self.error_log.read_text(encoding="utf-8", errors="replace") if self.error_log.exists() else ""

    def _answers(self) -> bool:
        import MySQLdb

        if not self.socket.exists():
            return False
        try:
            self.connect().close()
        except MySQLdb.OperationalError:
            return False
        return True

    def _write_password(self, user: str, password: str) -> Path:
        path = self.folder / "passwords" / user
        path.touch(0o600)
        path.write_text(password + "\n", encoding="utf-8")
        return path

    def _log_tail(self) -> str:
        output = self.folder / "output"
        return (output.read_text(errors="replace") if output.exists() else "") + self.error_log_text()[-4000:]


def available(name: str) -> bool:
    """Whether the server of that name is on this machine."""
    return places.find(name) is not None


@contextmanager
def start_server(
    name: str,
    *,
    options: Mapping[str, str | None] | None = None,
    user: str = "tidemark",
    password: str = DEFAULT_PASSWORD,
    grants: str = "ALL",
) -> Iterator[RunningServer]:
    """Start the server of that name on a free port, with one account for the code under test.

    `options` are option-file names and values (None for a bare option). `grants` as in `client_user`. The server and
    everything it wrote are gone when the block ends. Raises ServerGone, ServerNotAvailable and ServerDidNotStart.
    """
    gone = places.unobtainable().get(name)
    if gone is not None:
        raise ServerGone(f"{name} cannot be had since {gone['since']}: {gone['why']}")
    installation = places.find(name)
    if installation is None and name not in places.recorded():
        raise ServerNotAvailable(f"There is no server {name!r} here: known are {', '.join(places.recorded())}.")
    # A machine that happens to have all of them must not hide that a fresh one would have failed here.
    extent = os.environ.get("TIDEMARK_CHECK", "")
    if places.outside_extent(name, extent):
        raise ServerNotAvailable(f"./check --{extent} has no server {name!r}: mark the test by tests.servers.fixtures.")
    if installation is None:
        raise ServerNotAvailable(f"There is no server {name!r} here: run tests/servers/fetch.")
    wanted = _named(options or {})
    template = template_for(installation, wanted)
    _sweep()
    folder = Path(tempfile.mkdtemp(prefix="tm-", dir=_temporary_folder()))
    (folder / "owner").write_text(_process_mark(os.getpid()))
    server = None
    try:
        copy_template(template, folder / "data")
        server = RunningServer(installation, folder, wanted, user, password)
        _start_on_free_port(server)
        server.client_user(user, grants, password)
        yield server
    finally:
        if server is not None:
            # Its data are thrown away: there is nothing that an orderly stop of some seconds would save.
            server.kill()
        shutil.rmtree(folder, ignore_errors=True)


def _options_of_version(installation: Installation, options: Mapping[str, str | None]) -> dict[str, str | None]:
    number = tuple(int(part) for part in installation.version.split("."))
    if installation.flavor == "mysql":
        # X protocol would open one more port, and a socket in a folder of the system.
        return {"mysqlx": "OFF"} if number >= (8, 0, 11) else {}
    if number < (11, 4, 0) or any("ssl" in name for name in options):
        return {}
    # MariaDB 11.4 and later make themselves a key at every start, which takes a bundled TLS library up to ten seconds.
    certificate, key = self_signed_certificate()
    return {"ssl_cert": str(certificate), "ssl_key": str(key)}


def _start_on_free_port(server: RunningServer) -> None:
    # Between finding a free port and the server's bind another process may take it.
    for attempt in range(3):
        try:
            return server.start()
        except ServerDidNotStart as failure:
            if attempt == 2 or "Address already in use" not in str(failure):
                raise
            server.port = _free_port()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _named(options: Mapping[str, str | None]) -> dict[str, str | None]:
    return {name.lstrip("-").replace("-", "_"): value for name, value in options.items()}


def _argument(name: str, value: str | None) -> str:
    words = name.replace("_", "-")
    return f"--{words}" if value is None else f"--{words}={value}"


def _text(value: Any) -> str | None:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else None if value is None else str(value)


def _temporary_folder() -> str:
    # The path of a unix socket holds 107 bytes, and a tester's own temporary folder may be deep.
    folder = tempfile.gettempdir()
    return folder if len(folder) <= 40 else "/tmp"


def _process_mark(pid: int) -> str:
    """The process id with its start time, which tells it from a later process of the same id; "" if it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] == "Z" else f"{pid} {fields[19]}"


def _sweep() -> None:
    """End and remove the servers of test processes that were killed before they could do it themselves."""
    for folder in Path(_temporary_folder()).glob("tm-*"):
        if not _orphaned(folder):
            continue
        try:
            pid = int((folder / "pid").read_text())
            # The id may by now belong to anybody: only a process that names this very folder is ended.
            if f"--datadir={folder / 'data'}".encode() in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                os.kill(pid, signal.SIGKILL)
        except (OSError, ValueError):
            pass
        shutil.rmtree(folder, ignore_errors=True)


def _orphaned(folder: Path) -> bool:
    try:
        owner = (folder / "owner").read_text()
        return folder.stat().st_uid == os.getuid() and owner != "" and _process_mark(int(owner.split()[0])) != owner
    except (OSError, ValueError):
        return False
