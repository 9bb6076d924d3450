"""A process of its own that applies, or recovers: started by a test, with the product database in a file.

python -m tests.changes.servers_child apply APPLICATION DIES_AFTER
python -m tests.changes.servers_child recover APPLICATION
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import Any


def apply(application_id: str, dies_after: int) -> None:
    """Applies, and is ended by the system after so many statements."""
    from advisor.changes import applying
    from advisor.changes.applying.session import LiveSession

    real, sent = LiveSession.execute, []

    def until_then(self: LiveSession, statement: str) -> Any:
        answer = real(self, statement)
        sent.append(statement)
        if len(sent) == dies_after:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    LiveSession.execute = until_then  # type: ignore[method-assign]
    applying.run(application_id)


def recover(application_id: str) -> dict[str, Any]:
    """Recovers, and answers what the database says afterwards."""
    from advisor.changes import applying
    from advisor.changes.models import Application

    until = time.monotonic() + 60
    while not applying.recover() and time.monotonic() < until:
        time.sleep(0.1)
    found = Application.objects.select_related("request").get(pk=application_id)
    return {
        "application": found.state,
        "request": found.request.state,
        "why": found.request.why,
        "steps": {one.variable: one.state for one in found.steps.all()},
    }


if __name__ == "__main__":
    import django

    django.setup()
    if sys.argv[1] == "apply":
        apply(sys.argv[2], int(sys.argv[3]))
    else:
        sys.stdout.write(json.dumps(recover(sys.argv[2])))
