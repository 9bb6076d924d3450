"""What has to happen inside Django before the pages can be shown: tables, static files, the first people.

Run as a program by the conductor: `python -m scripts.embedded.prepare [--link]
[--demo PORT OBSERVE_PASSWORD_FILE APPLY_PASSWORD_FILE]`. The last line of its standard output is a JSON object:
{"first": login link or null, "second": login link or null}; there is a second person where there is a demo server.
"""

import argparse
import contextlib
import hashlib
import json
import os
import sys
import traceback
from collections.abc import Iterable
from pathlib import Path

from scripts.embedded.places import ROOT, find_places

FIRST_ADMINISTRATOR = "admin"
#: Named by role, as the first: what one proposes the other approves and applies.
SECOND_PERSON = "approver"


def static_fingerprint(root: Path) -> str:
    """Changes with the project's static files and with the packages that bring more of them."""
    content = hashlib.sha256((root / "requirements.txt").read_bytes())
    folders = [root / "static", *sorted((root / "advisor").glob("*/static")), *sorted(root.glob("collector/static"))]
    for file in sorted(file for folder in folders for file in folder.rglob("*") if file.is_file()):
        status = file.stat()
        content.update(f"{file.relative_to(root)} {status.st_size} {status.st_mtime_ns}\n".encode())
    # Which files are taken out of the packages is decided there.
    content.update((root / "advisor" / "settings.py").read_bytes())
    return content.hexdigest()


def collect_static_files(data: Path) -> None:
    """Run collectstatic, unless nothing changed since it was last completed: compressing takes many seconds."""
    from django.core.management import call_command

    stamp = data / "static-fingerprint"
    present = static_fingerprint(ROOT)
    if stamp.exists() and stamp.read_text() == present:
        return
    print("Collecting static files", file=sys.stderr, flush=True)
    call_command("collectstatic", interactive=False, verbosity=0)
    stamp.write_text(present)


def login_link(name: str, *, roles: Iterable[str], administrator: bool) -> str | None:
    """A fresh login link for this person, who is created if need be; None once they have another way in."""
    from django.contrib.auth.models import User
    from django.utils import timezone

    from advisor.teams import services
    from advisor.teams.links import login_address
    from advisor.teams.roles import Role

    person = User.objects.filter(username__iexact=name).first()
    if person is None:
        person = services.create_user(
            name=name,
            team=services.ensure_team(),
            roles=[Role(role) for role in roles],
            administrator=administrator,
        )
    if not person.is_active or not services.needs_login_link(user=person):
        return None
    return login_address(services.create_login_link(user=person, now=timezone.now()))


def register_demo_server(port: int, password_file: Path, apply_password_file: Path) -> None:
    """Register the demo server as "demo", once: who removed it keeps it removed.

    It is registered before it runs, so that it stands on the first page that anybody sees. When a stranger has taken
    the port it had, the registered one follows it.
    """
    from advisor.teams import services
    from collector import servers
    from collector.models import Server

    password = password_file.read_text().strip()
    registered = password_file.with_name("registered")
    if not registered.exists():
        team = services.ensure_team()
        if not Server.objects.filter(team=team, folded="demo").exists():
            servers.add_server(
                team=team,
                name="demo",
                host="127.0.0.1",
                port=port,
                user="tidemark",
                password=password,
                tags=["demo"],
                unrestricted=True,
            )
        registered.touch()
    for server in Server.objects.filter(folded="demo", host="127.0.0.1", user="tidemark"):
        if "demo" not in server.tags:
            continue
        if server.port != port:
            # An account for applying belongs to the old place and goes with it.
            servers.update_server(server=server, port=port, password=password)
        if not server.credentials.filter(purpose="apply").exists():
            apply_password = apply_password_file.read_text().strip()
            servers.set_credential(server=server, purpose="apply", user="tidemark_apply", password=apply_password)


def prepare(*, link: bool, demo: tuple[int, Path, Path] | None) -> dict[str, str | None]:
    """Everything, in order; returns the login links. Django must be loadable."""
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", interactive=False, verbosity=0)
    collect_static_files(find_places().data)
    if demo:
        register_demo_server(*demo)
    return {
        "first": login_link(FIRST_ADMINISTRATOR, roles=[], administrator=True) if link else None,
        # Whoever approves must not be the author, so the second person may approve and apply.
        "second": login_link(SECOND_PERSON, roles=["approver", "operator"], administrator=False) if demo else None,
    }


def main(arguments: list[str]) -> int:
    """Prepare everything; 1 with one sentence on standard error when that is not possible."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "advisor.settings")
    from advisor.environment import SettingError

    parser = argparse.ArgumentParser()
    parser.add_argument("--link", action="store_true")
    parser.add_argument("--demo", nargs=3, metavar=("PORT", "OBSERVE_PASSWORD_FILE", "APPLY_PASSWORD_FILE"))
    asked = parser.parse_args(arguments)
    demo = (int(asked.demo[0]), Path(asked.demo[1]), Path(asked.demo[2])) if asked.demo else None
    try:
        # Standard output belongs to the answer, as the links on it must reach the terminal only.
        with contextlib.redirect_stdout(sys.stderr):
            links = prepare(link=asked.link, demo=demo)
    except SettingError as error:
        print(f"./start: {error}", file=sys.stderr)
        return 1
    except Exception as error:  # whatever it is, a person gets a sentence, and the details lie in a file
        details = find_places().logs / "prepare.log"
        details.write_text(traceback.format_exc())
        print(f"./start: {type(error).__name__}: {error}. Details are in {details}.", file=sys.stderr)
        return 1
    print(json.dumps(links))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
