"""One walk through the product with marked secrets, and a look at everything it leaves: they stand nowhere.

A whole installation: web, worker, a real Redis (with MONITOR on), commands. What shows a secret once by its purpose
(the answers that make a token, a webhook, a login link) is left out of what is searched, and nothing else is.
"""

from __future__ import annotations

import base64
import http.cookiejar
import json
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import redis

from tests.hostile.fake import STATUS, VARIABLES, FakeServer, Peer
from tests.schedule.installation import ROOT, Installation, installation, until

#: Characters that JSON, URLs, HTML and repr each write in another way.
OBSERVE, APPLY, WRONG, SILENT, LATER, TYPED, BROKEN = (
    f'kAnarie-{name}+/="\\é&<9f' for name in ("observe", "apply", "wrong", "silent", "later", "typed", "broken")
)


def forms_of(secret: str) -> dict[str, bytes]:
    """How a text may stand somewhere: as it is, as bytes of it are written, and as formats of ours escape it."""
    raw = secret.encode()
    found = {
        "raw": raw,
        "utf-16": secret.encode("utf-16-le"),
        "hex": raw.hex().encode(),
        "HEX": raw.hex().upper().encode(),
        "url": urllib.parse.quote(secret, safe="").encode(),
        "form": urllib.parse.quote_plus(secret).encode(),
        "json": json.dumps(secret)[1:-1].encode(),
        "repr": repr(secret)[1:-1].encode(),
        "bytes": repr(raw)[2:-1].encode(),
        "html": secret.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;").encode(),
        # The part that no encoding of text alters: whatever else was done to the rest.
        "core": re.split(r"[^A-Za-z0-9_-]", secret)[0].encode(),
    }
    for shift in range(3):
        # Inside a longer text base64 begins at any of three places; the digits at both ends belong to the neighbours.
        whole = base64.b64encode(b"\0" * shift + raw)
        found[f"base64 {shift}"] = whole[(0, 2, 3)[shift] : -4]
        found[f"urlsafe {shift}"] = whole[(0, 2, 3)[shift] : -4].replace(b"+", b"-").replace(b"/", b"_")
    return found


def hits(secrets: dict[str, str], places: dict[str, bytes]) -> list[str]:
    """Which secret stands where, and in which form."""
    return [
        f"{name} as {form} in {place}"
        for name, secret in secrets.items()
        for form, sought in forms_of(secret).items()
        for place, content in places.items()
        if sought in content
    ]


@pytest.mark.parametrize("form", forms_of(OBSERVE))
def test_the_search_finds_each_form(form: str) -> None:
    sought = forms_of(OBSERVE)[form]
    assert len(sought) >= 15
    assert hits({"observe": OBSERVE}, {"a log": b"before " + sought + b" after"})


@pytest.mark.parametrize("before", ["", "x", "xy"])
def test_the_search_finds_what_is_encoded_with_its_surroundings(before: str) -> None:
    packed = base64.b64encode(f'{before}["{OBSERVE}"]'.encode())
    assert hits({"observe": OBSERVE}, {"a message": packed})
    assert not hits({"observe": OBSERVE}, {"a message": base64.b64encode(b'["something else altogether"]')})


class Browser:
    """Speaks HTTP as a browser or a program would, and keeps every answer."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.jar = http.cookiejar.CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar))
        self.kept: dict[str, bytes] = {}

    def __call__(
        self, path: str, form: Any = None, *, body: Any = None, token: str = "", keep: bool = True
    ) -> tuple[int, str]:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        data = None
        if form is not None:
            csrf = next((one.value for one in self.jar if one.name == "tidemark_csrf"), "") or ""
            data = urllib.parse.urlencode({**form, "csrfmiddlewaretoken": csrf}).encode()
        elif body is not None:
            data, headers["Content-Type"] = json.dumps(body).encode(), "application/json"
        request = urllib.request.Request(self.base + path, data, headers)  # noqa: S310 -- on loopback
        try:
            with self.opener.open(request, timeout=60) as answer:
                status, told, content = answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as refused:
            status, told, content = refused.code, refused.headers, refused.read()
        if keep:
            self.kept[f"answer {len(self.kept)} to {path}"] = str(told).encode() + content
        return status, content.decode()


@contextmanager
def monitored(made: Installation) -> Iterator[list[bytes]]:
    """Everything that is said to Redis meanwhile, and what it holds in the end."""
    said: list[bytes] = []
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(str(made.socket))
        line.sendall(b"MONITOR\r\n")

        def listen() -> None:
            while content := line.recv(65_536):
                said.append(content)

        listening = threading.Thread(target=listen, daemon=True)
        listening.start()
        try:
            yield said
            client = redis.Redis(unix_socket_path=str(made.socket))
            said.extend(client.dump(key) or b"" for key in client.scan_iter())
        finally:
            line.shutdown(socket.SHUT_RDWR)
            listening.join(10)


def command_lines() -> bytes:
    """The process list, with arguments."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(file.read_bytes())
        except OSError:
            continue
    return b"\n".join(found)


def good(peer: Peer) -> None:
    peer.serve(variables=VARIABLES, status=STATUS)


def refusing(peer: Peer) -> None:
    peer.greet()
    peer.read()
    peer.error(1045, b"Access denied for user 'tidemark'@'localhost' (using password: YES)", b"28000")


def silent(peer: Peer) -> None:
    time.sleep(60)


def web(made: Installation) -> str:
    """Serves the pages; their address."""
    made.environment.update(TIDEMARK_LOG_LEVEL="DEBUG", TIDEMARK_FAST_INTERVAL_SECONDS="5")
    command(made, "collectstatic", "--noinput")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    gunicorn = [sys.executable, "-m", "gunicorn", "-w", "1", "--threads", "4"]
    made.start("web", [*gunicorn, "-b", f"127.0.0.1:{port}", "advisor.wsgi"])
    base = f"http://127.0.0.1:{port}"

    def answers() -> bool:
        try:
            with urllib.request.urlopen(f"{base}/healthz", timeout=5):  # noqa: S310 -- on loopback
                return True
        except OSError:
            return False

    until("the pages answer", answers, 60)
    return base


def command(made: Installation, *arguments: str, during: Callable[[], None] = lambda: None) -> str:
    """What a command prints, errors included. It is one of the places, unless it shows a secret by its purpose."""
    running = subprocess.Popen(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT, env=made.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    while running.poll() is None:
        during()
        time.sleep(0.2)
    return running.communicate(timeout=120)[0]


DELIVER = """
from datetime import datetime, UTC
from django.db import transaction
from advisor.changes import webhooks
from advisor.changes.models import ChangeRequest
from advisor.teams.models import Team
now = datetime.now(UTC)
change = ChangeRequest.objects.create(team=Team.objects.get(), number=1, title="t", author_name="a", state="approved",
                                      created_at=now, changed_at=now)
with transaction.atomic():
    webhooks.announce(change_request=change, event="change.approved", at=now)
import advisor.celery
from advisor.changes.webhooks_tasks import deliver_due
deliver_due.apply_async(queue="judge")
"""


@pytest.mark.ci
def test_secrets_stand_nowhere_after_success_refusal_silence_and_faults(tmp_path: Path) -> None:
    def password_file(name: str, secret: str) -> str:
        file = tmp_path / name
        file.write_text(f"{secret}\n", encoding="utf-8")
        return str(file)

    with ExitStack() as stack:
        made = stack.enter_context(installation())
        up, no, mute = (stack.enter_context(FakeServer(script)) for script in (good, refusing, silent))
        made.start_redis()
        said = stack.enter_context(monitored(made))
        base = web(made)
        worker = ["worker", "--without-gossip", "--without-mingle", "--loglevel", "DEBUG", "--pool", "threads"]
        made.start("worker", made.celery(*worker, "--concurrency", "4", "--queues", "collect,judge", "-n", "w@test"))
        made.start_beat()
        lines: list[bytes] = []
        places: dict[str, bytes] = {}

        # A person, by a link, and a program, by a token: both are shown once, here.
        link = re.search(r"/login/([A-Za-z0-9_-]{16,})", command(made, "create_user", "kasia", "--admin"))
        token = command(made, "create_token", "kasia").split()[-1]
        assert link is not None
        browser, program = Browser(base), Browser(base)
        status, _ = browser(f"/login/{link[1]}")
        assert status == 200
        # A page knows its own address; this one is worth nothing any more.
        assert browser(f"/login/{link[1]}", keep=False)[0] == 410

        # Servers: one that answers, one that refuses, one that says nothing; by command, page and API.
        places["add_server"] = command(
            made, "add_server", f"mysql://tidemark@127.0.0.1:{up.port}", "--name", "up", "--no-test",
            "--password-file", password_file("o", OBSERVE), "--apply-user", "changer",
            "--apply-password-file", password_file("a", APPLY), during=lambda: lines.append(command_lines()),
        ).encode()  # fmt: skip
        for name, server, secret in (("no", no, WRONG), ("mute", mute, SILENT)):
            body = {"name": name, "url": f"mysql://tidemark@127.0.0.1:{server.port}", "password": secret}
            assert program("/api/v1/servers", body=body, token=token)[0] == 201
        asked = {"name": "later", "host": "127.0.0.1", "port": up.port, "user": "tidemark", "password": LATER}
        asked |= {"tls_mode": "insecure", "fast_interval_seconds": 10, "full_interval_seconds": 60}
        browser("/servers/add")
        browser("/servers/add/check", form=asked)
        browser("/servers/add", form=asked)
        ids = {one["name"]: one["id"] for one in json.loads(program("/api/v1/servers", token=token)[1])["items"]}
        assert {"up", "no", "mute"} <= set(ids)

        # Mistakes: bodies that cannot be used, a wrong token, a password typed where it is refused.
        assert program("/api/v1/servers", body={"name": 7, "password": WRONG}, token=token)[0] == 422
        assert program("/api/v1/servers", body={"name": "x", "socket": "", "password": WRONG}, token=token)[0] == 422
        assert program("/api/v1/servers", token=f"{token}x")[0] == 401
        stranger = Browser(base)
        stranger("/login")
        stranger("/login", form={"login": "kasia", "username": "kasia", "password": TYPED})
        # A password in the field for names comes back to whoever typed it, and to nobody else.
        stranger("/login", form={"login": TYPED, "username": TYPED, "password": TYPED}, keep=False)

        # A webhook, whose secret is on the answer that makes it, and a delivery that is signed with it.
        team = json.loads(program(f"/api/v1/servers/{ids['up']}", token=token)[1])["team"]
        team_id = team["id"] if isinstance(team, dict) else made.rows("SELECT id FROM teams_team")[0][0]
        browser(f"/teams/{team_id}/webhooks")
        hook = {"name": "chat", "url": f"http://127.0.0.1:{up.port}/"}
        shown = re.search(r"tmwh_[A-Za-z0-9_-]{43}", browser(f"/teams/{team_id}/webhooks", form=hook, keep=False)[1])
        assert shown is not None
        places["announcing"] = made.python(DELIVER).encode()

        # Work: polls, time-outs, refusals, an inspection, each through the broker.
        program(f"/api/v1/servers/{ids['up']}/inspection", body={}, token=token)
        until("one is polled", lambda: made.state(ids["up"])["fast_slot"], 60)
        until("one is refused", lambda: made.state(ids["no"])["error_kind"], 60)
        until("one says nothing", lambda: made.state(ids["mute"])["error_kind"], 60)
        until("a delivery was tried", lambda: made.rows("SELECT 1 FROM changes_delivery WHERE attempts > 0"), 60)
        lines.append(command_lines())

        # Every kind of page and answer afterwards.
        pages = ["/", "/fleet.json", "/system", "/audit", "/audit.jsonl", "/account", "/account/tokens", "/changes"]
        pages += [f"/teams/{team_id}", f"/teams/{team_id}/webhooks"]
        for name in ids:
            pages += [f"/s/{ids[name]}{part}" for part in ("", "/settings", "/events", "/snapshot", "/diff")]
        for path in pages:
            assert browser(path)[0] == 200, f"{path}\n{made.children[1].text()[-3000:]}"
        for path in ("servers", "events", "audit", "recommendations", "openapi.json", f"servers/{ids['up']}"):
            assert program(f"/api/v1/{path}", token=token)[0] == 200, path

        # A fault of ours in the middle of it, with its trace in the log.
        made.python(
            "from django.db import connection as c\nc.cursor().execute('ALTER TABLE collector_shard RENAME TO x')"
        )
        body = {"name": "broken", "url": f"mysql://tidemark@127.0.0.1:{up.port}", "password": BROKEN}
        assert program("/api/v1/servers", body=body, token=token)[0] == 500
        assert browser("/servers/add", form={**asked, "name": "broken", "password": BROKEN})[0] == 500
        places["add_server, broken"] = command(
            made, "add_server", "mysql://tidemark@127.0.0.1:1", "--name", "broken", "--no-test",
            "--password-file", password_file("b", BROKEN),
        ).encode()  # fmt: skip

        for one in (browser, program, stranger):
            places |= {f"{id(one)} {name}": content for name, content in one.kept.items()}
        places["the process list"] = b"\n".join(lines)
        for child in made.children:
            places[f"the log {child.output.name}"] = child.output.read_bytes()
        for file in made.data.rglob("*"):
            if file.is_file() and "static" not in file.relative_to(made.data).parts and file.parent.name != "keys":
                places[f"the file {file.relative_to(made.data)}"] = file.read_bytes()

    places["Redis"] = b"".join(said)  # what was said may be cut anywhere, so nothing stands between the pieces
    secrets = {
        "observe": OBSERVE, "apply": APPLY, "wrong": WRONG, "silent": SILENT, "later": LATER, "typed": TYPED,
        "broken": BROKEN, "token": token, "webhook": shown.group(), "link": link[1],
    }  # fmt: skip
    # What surely stands there was found, so that the places were really looked at.
    everything = {"database": "the file tidemark.sqlite3", "web": "the log web.log", "broker": "Redis"}
    assert b"kasia" in places[everything["database"]] + places.get("the file tidemark.sqlite3-wal", b"")
    assert b"Traceback" in places[everything["web"]]
    assert b"collector.watch" in places[everything["broker"]]
    assert b"add_server" in places["the process list"]
    found = hits(secrets, places)
    assert not found, "\n".join(found)
