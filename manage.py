#!/usr/bin/env python3
"""Django's command line, which runs itself in the checkout's own environment so that nobody has to activate anything.

Only the standard library may be imported before the interpreter has been exchanged.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
ENVIRONMENT = ROOT / ".venv"


def run_in_environment() -> None:
    """Replace this process by the same command under `.venv/bin/python`, unless it already runs there.

    Exits with 2 when there is no environment yet.
    """
    if Path(sys.prefix).resolve() == ENVIRONMENT.resolve():
        return
    python = ENVIRONMENT / "bin" / "python"
    if not os.access(python, os.X_OK):
        print("Tidemark is not set up in this folder yet: run ./start --setup", file=sys.stderr)
        sys.exit(2)
    os.execv(python, [str(python), str(ROOT / "manage.py"), *sys.argv[1:]])  # noqa: S606 - no shell is wanted here


def main() -> None:
    """Run the command that the arguments name."""
    run_in_environment()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "advisor.settings")
    from scripts.embedded.places import defaults_for_commands, find_places

    for name, value in defaults_for_commands(find_places()).items():
        os.environ.setdefault(name, value)
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
