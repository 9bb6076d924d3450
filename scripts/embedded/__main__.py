"""`./start` once there is an environment: prepare, start everything under a supervisor, show the way in, stay, end."""

import fcntl
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import IO, NoReturn

from scripts.embedded.arguments import Request, parse
from scripts.embedded.binaries import find_mariadbd, find_redis
from scripts.embedded.demo_server import DemoServer, DemoUnavailable, prepare_demo_server, write_privately
from scripts.embedded.keys import create_keys
from scripts.embedded.leftovers import end_leftovers
from scripts.embedded.logs import TerminalLog
from scripts.embedded.places import ROOT, PlaceError, Places, find_places, make_all, make_private
from scripts.embedded.ports import NoPort, next_free
from scripts.embedded.programs import (
    Program,
    child_environment,
    log_file,
    product_programs,
    redis_settings,
    render_supervisor_settings,
)
from scripts.embedded.registration import (
    NoPassword,
    ask_password,
    how_it_went,
    keep_password,
    read_password,
    run_add_server,
    server_name,
)
from scripts.embedded.supervision import Supervision

ALREADY_RUNNING = 3
USAGE = 2
#: The way in is printed when the programs have said nothing for so long, or this long after the pages answered.
QUIET_SECONDS, LONGEST_GREETING_SECONDS = 1.0, 4.0


def say(line: str) -> None:
    """One line for the person at the terminal; that the terminal is gone must end nothing."""
    try:
        print(line, flush=True)
    except OSError:
        # A closed pipe or a vanished terminal. Later lines, and the interpreter's last flush, go nowhere quietly.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def fail(sentence: str, code: int) -> NoReturn:
    """End with one sentence on standard error."""
    print(f"./start: {sentence}", file=sys.stderr, flush=True)
    sys.exit(code)


def claim_data_folder(places: Places) -> IO[str]:
    """Make this the only start on the data folder, for as long as the returned file is open; exits when it is not."""
    lock = (places.data / "start.lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        try:
            running = json.loads(places.state.read_text())
            where = f"at {running['address']} (process {running['pid']})"
        except (OSError, ValueError, KeyError):
            where = "and is just starting"
        fail(f"Tidemark already runs on {places.data} {where}; end it first, or use it.", ALREADY_RUNNING)
    return lock


def shown_host(host: str) -> str:
    """What to put into an address that a person of this machine opens."""
    if host in ("0.0.0.0", "::", "127.0.0.1", "localhost"):  # noqa: S104 - only compared
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def allowed_hosts(host: str) -> list[str]:
    """Names under which browsers may ask for the pages: all of this machine's own when it listens on all addresses."""
    names = ["127.0.0.1", "localhost", "[::1]"]
    if host in ("0.0.0.0", "::"):  # noqa: S104 - only compared
        names += [socket.gethostname(), socket.getfqdn()]
        try:
            found = socket.getaddrinfo(socket.gethostname(), None, type=socket.SOCK_STREAM)
        except OSError:
            found = []
        names += [f"[{entry[4][0]}]" if entry[0] == socket.AF_INET6 else str(entry[4][0]) for entry in found]
    else:
        names.append(shown_host(host))
    return list(dict.fromkeys(names))


def prepare(environment: dict[str, str], *arguments: str) -> dict[str, str | None]:
    """Run the part that needs Django; exits when it failed, having said why."""
    ran = subprocess.run(
        [sys.executable, "-m", "scripts.embedded.prepare", *arguments],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        # Ctrl-C reaches us, and we end it; otherwise it would show where it was interrupted.
        start_new_session=True,
    )
    if ran.returncode != 0:
        fail("the product could not be prepared; the lines above say why.", 1)
    links: dict[str, str | None] = json.loads(ran.stdout.strip().splitlines()[-1])
    return links


def prepare_demo(places: Places) -> DemoServer | None:
    """The demo server, prepared; None when it cannot be had, having said why."""
    mariadbd = find_mariadbd()
    try:
        if mariadbd is None:
            raise DemoUnavailable("there is no mariadbd on this machine.")
        return prepare_demo_server(places, mariadbd)
    except (DemoUnavailable, PlaceError, NoPort) as error:
        say(f"Starting without the demo server: {error}")
        return None


def demo_programs(demo: DemoServer) -> list[Program]:
    """The demo server and the load beside it."""
    load = [sys.executable, "-m", "scripts.embedded.demo_load"]
    return [
        demo.program(),
        Program(name="load", command=[*load, str(demo.places.demo_socket), str(demo.load_password_file)]),
    ]


def pages_answer(address: str) -> bool:
    """Whether the web process answers there, whatever it says."""
    try:
        # Never through a proxy: the pages are on this machine.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        opener.open(f"{address}/healthz", timeout=2).close()
    except urllib.error.HTTPError as error:
        return error.code < 500
    except (OSError, ValueError, http.client.HTTPException):
        # HTTPException: something else got the port meanwhile (a MySQL server greets first) and speaks no HTTP.
        return False
    return True


class Conductor:
    """One run of `./start` from the moment the supervisor starts until everything has ended."""

    def __init__(
        self,
        places: Places,
        *,
        address: str,
        environment: dict[str, str],
        programs: list[Program],
        links: dict[str, str | None],
        demo: DemoServer | None,
    ) -> None:
        self.places = places
        self.address = address
        self.environment = environment
        self.programs = programs
        self.links = links
        self.demo = demo
        self.stopping = False
        #: Run beside the log once the pages answer, since registering waits for servers.
        self.afterwards: list[Callable[[], None]] = []

    def stop(self, number: int, frame: FrameType | None) -> None:
        """Signal handler: remember to end."""
        self.stopping = True

    def run(self) -> int:
        """Run until a signal; returns the exit code."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self.stop)
        settings = self.places.run / "supervisor.conf"
        write_privately(settings, render_supervisor_settings(self.places, self.programs))
        log = TerminalLog({program.name: log_file(self.places, program) for program in self.programs})
        write_privately(self.places.state, json.dumps({"pid": os.getpid(), "address": self.address}))
        supervision = Supervision(self.places, settings, self.environment)

        began = said_at = time.monotonic()
        answered_at: float | None = None
        shown = warned = False

        def show_log() -> None:
            nonlocal said_at
            for line in log.new_lines():
                said_at = time.monotonic()
                say(line)

        code = 0
        while not self.stopping:
            show_log()
            now = time.monotonic()
            if not supervision.is_running():
                say(f"The supervisor was ended from outside; see {self.places.logs / 'supervisor.log'}.")
                code = 1
                break
            if answered_at is None and pages_answer(self.address):
                answered_at = now
            elif answered_at is None and not warned and now - began > 60:
                warned = True
                say(f"The pages do not answer yet; {self.places.logs / 'web.log'} may say why. Still trying.")
            # The programs greet while they start. The way in comes when they have finished, so that it is seen.
            if (
                answered_at is not None
                and not shown
                and (now - said_at > QUIET_SECONDS or now - answered_at > LONGEST_GREETING_SECONDS)
            ):
                shown = True
                self.show_way_in()
                threading.Thread(target=self.run_afterwards, daemon=True).start()
            time.sleep(0.2)
        say("Stopping")
        supervision.stop(show_log)
        self.places.state.unlink(missing_ok=True)
        say("Stopped")
        return code

    def show_way_in(self) -> None:
        """The address, with a login link as long as the first administrator has no other way in: the last lines, set
        off from the log.
        """
        first, second = self.links["first"], self.links["second"]
        say("")
        if self.demo:
            say(f"To change the demo server: mariadb --defaults-file={self.demo.admin_option_file}")
        say("Ctrl-C ends everything." + (" Each link signs in once, within 30 minutes:" if first or second else ""))
        say("")
        say(f"Log in: {first}" if first else f"Log in: {self.address}/")
        if second:
            say(f"As the second person, who approves and applies: {second}")
        say("")

    def run_afterwards(self) -> None:
        """Do what has to wait for the pages, one after the other."""
        for task in self.afterwards:
            if not self.stopping:
                task()


def register(url: str, password_file: Path, environment: dict[str, str]) -> None:
    """Register a server that was named on the command line, and say how that went. The file with its password goes."""
    name = server_name(url)
    added = run_add_server(environment, url, name=name, password_file=password_file)
    password_file.unlink(missing_ok=True)
    said = how_it_went(added)
    say(f'Server "{name}": {said}' if added.returncode == 0 else f'Server "{name}" could not be registered: {said}')


def password_files(request: Request, places: Places) -> list[Path]:
    """A file below the run folder for each server named: with what is typed in, or a copy of the one password file."""
    if not request.servers:
        return []
    if request.password_file is not None:
        password = read_password(request.password_file)
        return [keep_password(password, places.run) for _ in request.servers]
    return [ask_password(url, places.run) for url in request.servers]


def end_early(number: int, frame: FrameType | None) -> NoReturn:
    """Signal handler while nothing runs yet: leaving is enough, and a child that prepares is ended by it."""
    sys.exit(130 if number == signal.SIGINT else 143)


def start(request: Request) -> int:
    """Do what was asked; returns the exit code. Raises PlaceError, NoPort and NoPassword, each with its sentence."""
    places = find_places()
    make_all(places)
    create_keys(places.keys)
    if request.only_set_up:
        prepare(child_environment(places, address="http://127.0.0.1:8000", hosts=allowed_hosts(request.host)))
        say("Tidemark is set up. ./start starts it.")
        return 0
    with claim_data_folder(places):
        left = end_leftovers(places, patience_seconds=10)
        if left:
            say(f"Ended {left} processes that an earlier ./start had left behind.")
        redis = find_redis(places.run)
        if redis is None:
            fail("no redis-server or valkey-server was found; install the package redis-tools or valkey.", USAGE)
        files = password_files(request, places)
        port = next_free(request.host, request.port)
        if port != request.port:
            say(f"Port {request.port} is taken by another program; taking {port}.")
        address = f"http://{shown_host(request.host)}:{port}"
        if request.host not in ("127.0.0.1", "::1", "localhost"):
            say(f"Listening on {request.host}: what travels there is readable, unless a proxy with HTTPS is in front.")
        environment = child_environment(places, address=address, hosts=allowed_hosts(request.host))
        make_private(places.redis)
        write_privately(places.redis / "redis.conf", redis_settings(places))
        demo = prepare_demo(places) if request.demo else None
        programs = product_programs(places, redis=redis, host=request.host, port=port)
        demo_files = [demo.observe_password_file, demo.apply_password_file] if demo else []
        with_demo = ["--demo", str(demo.port), *map(str, demo_files)] if demo else []
        links = prepare(environment, "--link", *with_demo)
        conductor = Conductor(
            places,
            address=address,
            environment=environment,
            programs=[*programs, *(demo_programs(demo) if demo else [])],
            links=links,
            demo=demo,
        )
        for url, file in zip(request.servers, files, strict=True):
            conductor.afterwards.append(partial(register, url, file, environment))
        try:
            return conductor.run()
        finally:
            for file in files:
                file.unlink(missing_ok=True)


def main() -> None:
    """The program."""
    os.umask(0o077)  # The data folder is closed anyway; a file copied out of it stays closed too.
    signal.signal(signal.SIGTERM, end_early)
    signal.signal(signal.SIGINT, end_early)
    request = parse(sys.argv[1:])
    try:
        sys.exit(start(request))
    except PlaceError as error:
        fail(str(error), 1)
    except (NoPort, NoPassword) as error:
        fail(str(error), USAGE)


if __name__ == "__main__":
    main()
