"""How a command that could not do its work ends: one sentence for people, a problem document for programs."""

from __future__ import annotations

import json
import sys
from typing import NoReturn

from django.core.management.base import BaseCommand


def end(command: BaseCommand, status: int, kind: str, sentence: str, next_step: str, *, as_json: bool) -> NoReturn:
    """Writes it and exits with ``status``. The document is one of RFC 9457 and goes where the answer would have gone;
    people read it on standard error.
    """
    if as_json:
        problem = {"type": f"urn:tidemark:problem:{kind}", "title": sentence, "detail": next_step, "kind": kind}
        command.stdout.write(json.dumps(problem, indent=2, ensure_ascii=False))
        command.stdout.flush()
    else:
        command.stderr.write(f"{sentence} {next_step}".strip())
    sys.exit(status)
