"""Records servers, and rewrites what is expected of recordings; see the package."""

from __future__ import annotations

import os
import sys


def main(arguments: list[str]) -> int:
    verb, names = (arguments[0], arguments[1:]) if arguments else ("", [])
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "advisor.settings")
    import django

    django.setup()
    # After the set-up, since stored snapshots are Django's models.
    from tests.recorded.judging import EXPECTED, expected, recordings

    if verb == "record":
        from tests.recorded.making import SCENARIOS, record

        for name in names or SCENARIOS:
            record(name)
    elif verb != "rewrite":
        print("say rewrite, or record and names of scenarios", file=sys.stderr)  # noqa: T201
        return 2
    for path in recordings():
        (path / EXPECTED).write_text(expected(path))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
