"""The programs of one installation and the supervisor configuration that runs them."""

import configparser
import io
import os
import pwd
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.embedded.places import ROOT, Places

#: Seconds that the programs that do the work get to end by themselves, all of them at the same time.
WORK_STOP_SECONDS = 10
#: Seconds for those that keep data, which end after the others.
STORE_STOP_SECONDS = 8


@dataclass(frozen=True, kw_only=True)
class Program:
    """A child of the supervisor. `keeps_data` programs start before the others and end after them."""

    name: str
    command: Sequence[str]
    keeps_data: bool = False
    stop_signal: str = "TERM"


def redis_settings(places: Places) -> str:
    """The private broker's configuration: reached through its socket only; its death loses nothing queued."""
    return "\n".join(
        [
            "port 0",
            f'unixsocket "{places.redis_socket}"',
            "unixsocketperm 700",
            f'dir "{places.redis}"',
            "daemonize no",
            "appendonly yes",
            "appendfsync everysec",
            'save ""',
            # Changing its title would overwrite its environment, by which a later start recognises it.
            "set-proc-title no",
            # An evicted queue entry would be a lost task; a full broker says so instead.
            "maxmemory 256mb",
            "maxmemory-policy noeviction",
            "",
        ]
    )


def product_programs(places: Places, *, redis: Path, host: str, port: int) -> list[Program]:
    """Redis, the pages, the three workers and beat."""
    environment = Path(sys.prefix) / "bin"
    celery = [str(environment / "celery"), "--quiet", "--app", "advisor.celery"]  # quiet: without the banner
    worker = [*celery, "worker", "--without-gossip", "--without-mingle", "--loglevel", "INFO"]
    bound = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return [
        Program(name="redis", command=[str(redis), str(places.redis / "redis.conf")], keeps_data=True),
        Program(
            name="web",
            command=[
                *(str(environment / "gunicorn"), "advisor.wsgi:application", "--bind", bound),
                *("--worker-class", "gthread", "--workers", "2", "--threads", "4", "--timeout", "60"),
                *("--max-requests", "5000", "--max-requests-jitter", "500", "--graceful-timeout", "6"),
                # Its control socket would be the same file for every installation of this person.
                "--no-control-socket",
            ],
        ),
        # Collecting is waiting for servers: threads. Judging is arithmetic, a little of it at a time.
        Program(
            name="collect",
            command=[
                *worker,
                "--pool",
                "threads",
                "--concurrency",
                "8",
                "--queues",
                "collect",
                "--hostname",
                "collect@%h",
            ],
        ),
        Program(
            name="judge",
            command=[*worker, "--pool", "threads", "--concurrency", "2", "--queues", "judge", "--hostname", "judge@%h"],
        ),
        # Applying sends statements to servers: a child of its own, which may be ended without hurting any other work.
        Program(
            name="apply",
            command=[
                *worker,
                *("--pool", "prefork", "--concurrency", "1", "--max-tasks-per-child", "50"),
                *("--queues", "apply", "--hostname", "apply@%h"),
            ],
        ),
        Program(
            name="beat",
            command=[*celery, "beat", "--loglevel", "INFO", "--schedule", str(places.beat_schedule), "--pidfile", ""],
        ),
    ]


def render_supervisor_settings(places: Places, programs: Sequence[Program]) -> str:
    """Text of the supervisor's configuration. Children inherit the supervisor's environment, so no secret stands here.

    The supervisor ends one group after the other and the members of a group together: hence two groups, so that the
    time to end is bounded by WORK_STOP_SECONDS + STORE_STOP_SECONDS however many programs there are.
    """
    settings = configparser.RawConfigParser()
    settings["unix_http_server"] = {"file": escape(places.run / "supervisor.sock"), "chmod": "0700"}
    settings["supervisord"] = {
        "nodaemon": "true",
        "silent": "true",
        "directory": escape(ROOT),
        "umask": "077",
        "pidfile": escape(places.run / "supervisor.pid"),
        "logfile": escape(places.logs / "supervisor.log"),
        "logfile_maxbytes": "2MB",
        "logfile_backups": "3",
        **own_user(),
    }
    settings["rpcinterface:supervisor"] = {
        "supervisor.rpcinterface_factory": "supervisor.rpcinterface:make_main_rpcinterface"
    }
    settings["supervisorctl"] = {"serverurl": escape(f"unix://{places.run / 'supervisor.sock'}")}
    for program in programs:
        settings[f"program:{program.name}"] = {
            "command": escape(shlex.join(program.command)),
            "directory": escape(ROOT),
            "autorestart": "true",
            "startsecs": "3",
            # It waits one second longer after each failure; a fault of some minutes must not need a person afterwards.
            "startretries": "1000",
            "stopsignal": program.stop_signal,
            "stopasgroup": "true",
            "killasgroup": "true",
            "stopwaitsecs": str(STORE_STOP_SECONDS if program.keeps_data else WORK_STOP_SECONDS),
            "redirect_stderr": "true",
            # The supervisor expands this value twice.
            "stdout_logfile": escape(escape(log_file(places, program))),
            "stdout_logfile_maxbytes": "5MB",
            "stdout_logfile_backups": "3",
        }
    for group, priority, keeps_data in (("stores", 1, True), ("work", 10, False)):
        members = [program.name for program in programs if program.keeps_data is keeps_data]
        if members:
            settings[f"group:{group}"] = {"programs": ",".join(members), "priority": str(priority)}
    text = io.StringIO()
    settings.write(text)
    return text.getvalue()


def escape(value: object) -> str:
    """The supervisor expands %(NAME)s in every value."""
    return str(value).replace("%", "%%")


def own_user() -> dict[str, str]:
    """Names the present user, without which a supervisor of root prints a warning; nothing for one without a name."""
    try:
        return {"user": pwd.getpwuid(os.geteuid()).pw_name}
    except KeyError:
        return {}


def log_file(places: Places, program: Program) -> Path:
    """The program's present log file; rotated ones end in .1, .2 and .3."""
    return places.logs / f"{program.name}.log"


def child_environment(places: Places, *, address: str, hosts: Sequence[str]) -> dict[str, str]:
    """The environment of all children: ours, with what this start decided and without what would weaken it."""
    environment = {
        **os.environ,
        "TIDEMARK_DATA": str(places.data),
        "TIDEMARK_BROKER_URL": f"redis+socket://{places.redis_socket}",
        # Marks our processes, so that a later start can recognise what a killed supervisor left behind.
        "TIDEMARK_EMBEDDED": str(places.data),
        "DJANGO_SETTINGS_MODULE": "advisor.settings",
        "PYTHONUNBUFFERED": "1",
        "PYTHONPATH": str(ROOT),
        # Django's checks import every page into each worker, which doubles the time that it takes to start, at the very
        # moment in which the pages want to answer. ./check runs them.
        "CELERY_SKIP_CHECKS": "1",
    }
    environment.setdefault("TIDEMARK_BASE_URL", address)
    environment.setdefault("TIDEMARK_ALLOWED_HOSTS", ",".join(hosts))
    # With this in the environment the database client would skip checking certificates.
    environment.pop("MARIADB_TLS_DISABLE_PEER_VERIFICATION", None)
    if os.geteuid() == 0:
        # Everything runs as the person who called ./start; if that is root, Celery need not refuse, nor warn at length.
        environment["C_FORCE_ROOT"] = "1"
        environment["PYTHONWARNINGS"] = "ignore:You're running the worker with superuser privileges"
    return environment
