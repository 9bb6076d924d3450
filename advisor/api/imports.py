"""Adding many servers by one call: a dry run tells every line, the real one writes all of them or none."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.http import HttpRequest
from ninja import Query, Router, Schema, Status
from pydantic import ConfigDict, Field, SecretStr

from advisor.api.operation import answers
from advisor.api.problems import Problem
from advisor.api.tokens import caller
from advisor.teams import access
from advisor.teams.roles import Action
from collector import importing
from collector.importing import Defaults, Line, Verdict
from collector.importing_entries import MOST_BYTES, BadList
from collector.models import Server
from collector.secret import Secret
from collector.servers import InvalidServer

router = Router()

Tag = Annotated[str, Field(min_length=1, max_length=50)]


class ImportIn(Schema):
    """A list of servers, and what counts for the lines that say nothing else."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(
        max_length=MOST_BYTES,
        description="CSV with a line of column names, YAML, or one mysql:// address a line; 2,000 servers at most",
    )
    team: str | None = Field(None, description="id or name; may be left out by members of one team")
    user: Annotated[str, Field(min_length=1, max_length=80)] = "tidemark"
    password: SecretStr | None = Field(None, description="stored encrypted and never given back")
    tags: Annotated[list[Tag], Field(max_length=20)] = []
    tls: Literal["verify-identity", "verify-ca", "opportunistic", "insecure"] | None = None
    tls_ca: Annotated[str, Field(max_length=200_000)] = ""
    skip_errors: bool = Field(False, description="add the good lines where others are wrong; otherwise none is added")


class ImportLineOut(Schema):
    """One server of the list: what would be, or was, done with it."""

    line: int
    verdict: Literal["add", "known", "error"]
    name: str
    address: str
    problems: list[str] = Field(description="what is so and what to do, in sentences; empty unless it is an error")
    notes: list[str]
    server: str | None = Field(description="id of the server that is known, or was added")


class ImportOut(Schema):
    """The whole list. ``added`` is 0 after a dry run."""

    dry_run: bool
    to_add: int
    known: int
    errors: int
    added: int
    remarks: list[str]
    lines: list[ImportLineOut]


@router.post(
    "/server-imports",
    operation_id="importServers",
    response=answers(201, ImportOut, 403, 404, 409) | {200: ImportOut},
    tags=["servers"],
)
def import_servers(
    request: HttpRequest,
    body: ImportIn,
    dry_run: Annotated[bool, Query(description="tell what every line would do, and write nothing")] = False,
) -> Status[Any]:
    """Starts watching many servers: all lines of the list in one transaction, or none. Servers that are watched at the
    same address already are left as they are, so that the same list may be sent again.
    """
    team, _ = access.team_for(caller(request), Action.ADD_SERVER, body.team or "")
    password = Secret(body.password.get_secret_value() if body.password else "")
    try:
        plan = importing.plan(
            team=team,
            text=body.text,
            defaults=Defaults(body.user, password, tuple(body.tags), body.tls or "", body.tls_ca),
            unrestricted=access.may_name_any_address(caller(request)),
        )
        if dry_run:
            return Status(200, _document(plan, True, {}))
        if plan.bad and not body.skip_errors:
            errors = [{"where": f"line {line.number}", "what": " ".join(line.problems)} for line in plan.bad]
            raise Problem(422, "bad-lines", "Some lines cannot be added; nothing was written.", errors=errors)
        made = importing.write(team=team, plan=plan, actor=caller(request))
    except BadList as bad:
        raise Problem(422, "bad-list", str(bad)) from None
    except InvalidServer as wrong:
        raise Problem(422, "invalid", str(wrong)) from None
    except importing.Changed as changed:
        raise Problem(409, "changed", str(changed)) from None
    by_line = {line.number: server for line, server in zip(plan.good, made, strict=True)}
    return Status(201, _document(plan, False, by_line))


def _document(plan: importing.Plan, dry_run: bool, made: dict[int, Server]) -> dict[str, Any]:
    return {
        "dry_run": dry_run,
        "to_add": len(plan.good),
        "known": len(plan.known),
        "errors": len(plan.bad),
        "added": len(made),
        "remarks": list(plan.remarks),
        "lines": [_line(line, made.get(line.number)) for line in plan.lines],
    }


def _line(line: Line, made: Server | None) -> dict[str, Any]:
    server = line.known or made
    return {
        "line": line.number,
        "verdict": line.verdict.value,
        "name": line.name,
        "address": line.address,
        "problems": list(line.problems) if line.verdict is Verdict.ERROR else [],
        "notes": list(line.notes),
        "server": server.pk if server is not None else None,
    }
