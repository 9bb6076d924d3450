"""The demo server: a private MariaDB whose redo log is far too small for the load beside it."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.embedded.keys import keep_secret
from scripts.embedded.places import Places, make_private
from scripts.embedded.ports import next_free
from scripts.embedded.programs import Program

#: Where a distribution keeps the statements that make the server's own tables.
STATEMENT_FOLDERS = (Path("/usr/share/mysql"), Path("/usr/share/mariadb"), Path("/usr/local/share/mysql"))
#: In the order they must run; since MariaDB 10.5/11 some are called mariadb_*.
STATEMENT_FILES = (
    "system_tables.sql",
    "performance_tables.sql",
    "system_tables_data.sql",
    "fill_help_tables.sql",
    "sys_schema.sql",
)
FIRST_PORT = 13306


class DemoUnavailable(Exception):
    """The demo server cannot be had; the message is one sentence saying why."""


@dataclass(frozen=True, kw_only=True)
class DemoServer:
    """The prepared demo server: `port` is its loopback port, which stays the same from start to start if it can."""

    places: Places
    mariadbd: Path
    port: int

    @property
    def url(self) -> str:
        """Its address for the observing account."""
        return f"mysql://tidemark@127.0.0.1:{self.port}"

    @property
    def observe_password_file(self) -> Path:
        """Password of the account that Tidemark observes with."""
        return self.places.demo / "observe_password"

    @property
    def apply_password_file(self) -> Path:
        """Password of the account that approved changes are made with."""
        return self.places.demo / "apply_password"

    @property
    def load_password_file(self) -> Path:
        """Password of the load's account."""
        return self.places.demo / "load_password"

    @property
    def admin_option_file(self) -> Path:
        """Option file for a client of the person who tries Tidemark's advice on the demo server."""
        return self.places.demo / "admin.cnf"

    def program(self) -> Program:
        """The server under the supervisor."""
        return Program(
            name="demo",
            command=[str(self.mariadbd), f"--defaults-file={self.places.demo / 'server.cnf'}"],
            keeps_data=True,
        )


def prepare_demo_server(places: Places, mariadbd: Path) -> DemoServer:
    """Make its data folder, its option file and its accounts' statements; the server itself is not started.

    Raises DemoUnavailable.
    """
    make_private(places.demo)
    port_file = places.demo / "port"
    wanted = int(port_file.read_text()) if port_file.exists() else first_port(places)
    port = next_free("127.0.0.1", wanted)
    port_file.write_text(f"{port}\n")
    demo = DemoServer(places=places, mariadbd=mariadbd, port=port)
    places.demo_socket.unlink(missing_ok=True)  # Its appearance tells that the server is ready.
    write_privately(places.demo / "accounts.sql", "\n".join(account_statements(demo)) + "\n")
    if not (places.demo / "data" / "mysql").is_dir():
        initialise(demo)
    write_privately(places.demo / "server.cnf", option_file(demo))
    return demo


def first_port(places: Places) -> int:
    """Where the search for a port begins: apart for different data folders, so that two installations rarely meet."""
    return FIRST_PORT + sum(os.fsencode(places.data)) % 500


def write_privately(file: Path, text: str) -> None:
    """Replace a file's content; only we may read it."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as out:
        out.write(text)


def option_file(demo: DemoServer) -> str:
    """The server's own option file. The person trying advice may edit the copy in `server.local.cnf`, read last."""
    folder = demo.places.demo
    local = folder / "server.local.cnf"
    if not local.exists():
        write_privately(local, "# Option-file lines that Tidemark proposes for the demo server go here.\n[mariadbd]\n")
    lines = [
        "[mariadbd]",
        f"datadir = {folder / 'data'}",
        f"tmpdir = {folder / 'tmp'}",
        f"socket = {demo.places.demo_socket}",
        f"pid_file = {demo.places.run / 'demo.pid'}",
        f"init_file = {folder / 'accounts.sql'}",
        f"secure_file_priv = {folder / 'tmp'}",
        "bind_address = 127.0.0.1",
        f"port = {demo.port}",
        "skip_name_resolve = ON",
        "max_connections = 40",
        "performance_schema = ON",
        "innodb_buffer_pool_size = 128M",
        # The fault that the demo shows: the load beside it writes this much redo in about two seconds.
        "innodb_log_file_size = 8M",
        # At run time MariaDB refuses a log smaller than its buffer: with its 16 MiB a proposal could not be undone.
        "innodb_log_buffer_size = 4M",
        *(["user = root"] if os.geteuid() == 0 else []),
        f"!include {local}",
    ]
    return "\n".join(lines) + "\n"


def account_statements(demo: DemoServer) -> list[str]:
    """Statements that the server runs at each start, one a line, as an init file wants them.

    The observing account has the least that every probe can do with, the applying one what setting variables takes; the
    load may touch its own schema only.
    """
    places = demo.places
    observe = keep_secret(demo.observe_password_file, fresh_password())
    apply = keep_secret(demo.apply_password_file, fresh_password())
    load = keep_secret(demo.load_password_file, fresh_password())
    admin = keep_secret(places.demo / "admin_password", fresh_password())
    write_privately(
        demo.admin_option_file,
        f"[client]\nprotocol = tcp\nhost = 127.0.0.1\nport = {demo.port}\nuser = admin\npassword = {admin}\n",
    )
    statements = ["CREATE DATABASE IF NOT EXISTS shop;"]
    for user, host, password, grants in (
        (
            "tidemark",
            "127.0.0.1",
            observe,
            ["PROCESS, BINLOG MONITOR, SLAVE MONITOR ON *.*", "SELECT ON `performance_schema`.*"],
        ),
        (
            "tidemark_apply",
            "127.0.0.1",
            apply,
            [
                "SUPER, CONNECTION ADMIN, BINLOG ADMIN, PROCESS, BINLOG MONITOR, SLAVE MONITOR ON *.*",
                "SELECT ON `performance_schema`.*",
            ],
        ),
        ("load", "localhost", load, ["ALL PRIVILEGES ON `shop`.*"]),
        ("admin", "127.0.0.1", admin, ["ALL PRIVILEGES ON *.*"]),
    ):
        account = f"'{user}'@'{host}'"
        statements += [
            f"CREATE USER IF NOT EXISTS {account} IDENTIFIED BY '{password}';",
            f"ALTER USER {account} IDENTIFIED BY '{password}';",
            *(f"GRANT {grant} TO {account};" for grant in grants),
        ]
    # Whoever plays with the demo makes accounts on it, too.
    statements.append("GRANT ALL PRIVILEGES ON *.* TO 'admin'@'127.0.0.1' WITH GRANT OPTION;")
    return statements


def fresh_password() -> str:
    """A password that needs no quoting anywhere."""
    return os.urandom(24).hex()


def statement_files() -> list[Path]:
    """The distribution's files that make the system tables. Raises DemoUnavailable when they are not here."""
    for folder in STATEMENT_FOLDERS:
        found = [
            next(
                (
                    folder / f"{prefix}_{name}"
                    for prefix in ("mariadb", "mysql")
                    if (folder / f"{prefix}_{name}").exists()
                ),
                folder / name,
            )
            for name in STATEMENT_FILES
        ]
        if all(file.exists() for file in found[:3]):
            return [file for file in found if file.exists()]
    raise DemoUnavailable("MariaDB's statements for its system tables (package mariadb-server-core) are not here.")


def initialise(demo: DemoServer) -> None:
    """Make the data folder by feeding the distribution's statements to the server's bootstrap mode.

    mariadb-install-db would do it, but stops without a program of the server package, which starts a service.
    """
    folder = demo.places.demo
    for name in ("data", "fresh", "tmp"):
        shutil.rmtree(folder / name, ignore_errors=True)
    fresh = folder / "fresh"
    (fresh / "mysql").mkdir(parents=True, mode=0o700)
    (folder / "tmp").mkdir(mode=0o700)
    statements = b"USE mysql;\n" + b"\n".join(file.read_bytes() for file in statement_files())
    # The accounts that the system tables come with have no password: ours, made at each start, shall be the only ones.
    statements += b"\nDELETE FROM mysql.global_priv WHERE User IN ('root', '');\nDELETE FROM mysql.proxies_priv;\n"
    made = run_bootstrap(demo, fresh, statements)
    if made.returncode != 0:
        shutil.rmtree(fresh)
        last = made.stdout.decode(errors="replace").strip().splitlines()[-1:] or ["it said nothing"]
        raise DemoUnavailable(f"{demo.mariadbd} could not make its data folder: {last[0]}")
    # Under its final name only when it is whole, so that a start that was cut off begins anew.
    fresh.rename(folder / "data")


def run_bootstrap(demo: DemoServer, datadir: Path, statements: bytes) -> subprocess.CompletedProcess[bytes]:
    """Run the server's bootstrap mode, with the redo size of the demo; what was cut off is thrown away."""
    command: Sequence[str] = [
        str(demo.mariadbd),
        "--no-defaults",
        "--bootstrap",
        f"--datadir={datadir}",
        f"--tmpdir={demo.places.demo / 'tmp'}",
        "--innodb-log-file-size=8M",
        "--innodb-flush-log-at-trx-commit=0",
        "--sync-frm=0",
        "--skip-log-bin",
        "--max-allowed-packet=16M",
        *(["--user=root"] if os.geteuid() == 0 else []),
    ]
    return subprocess.run(command, input=statements, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
