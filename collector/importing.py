"""Adding many servers at once: what each line of a list would do, told before anything is written; then all or none.

Whether the person may add servers to the team is asked by the room that knows persons. Addresses are held to the same
deny list as a single server's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import IntegrityError, transaction
from django.db.models import Count
from django.utils import timezone
from django.utils.translation import gettext as _

from advisor.journal import services as journal
from advisor.teams.models import Team
from collector import servers, vault
from collector.importing_checks import Given, Resolved, given_of
from collector.importing_entries import BadList
from collector.importing_text import read
from collector.models import Credential, Server, ServerState, Shard
from collector.reports import ConnectionReport
from collector.secret import Secret
from collector.target import Target

__all__ = ["BadList", "Changed", "Defaults", "Line", "Plan", "Verdict", "plan", "write"]


class Verdict(StrEnum):
    """What an import does with a line."""

    ADD = "add"
    KNOWN = "known"
    ERROR = "error"


class Changed(Exception):
    """Between the dry run and the confirmation something else took a name: nothing was written."""


@dataclass(frozen=True)
class Defaults:
    """What counts for every line that says nothing else; ``tags`` are added to those of each line."""

    user: str = "tidemark"
    password: Secret = field(default_factory=lambda: Secret(""))
    tags: tuple[str, ...] = ()
    tls_mode: str = ""
    tls_ca: str = ""


@dataclass(frozen=True)
class Line:
    """One server of the list and what would come of it.

    ``problems`` are sentences (what is so, what to do); ``notes`` do not keep it from being added. ``values`` are
    checked, as a server stores them, and empty for an error. ``given`` is what was written, for the box, ``hidden`` the
    columns that are left out of it.
    """

    number: int
    verdict: Verdict
    name: str
    address: str
    given: dict[str, str] = field(repr=False)
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    values: dict[str, Any] = field(default_factory=dict, repr=False)
    password: Secret = field(default_factory=lambda: Secret(""), repr=False)
    known: Server | None = None
    report: ConnectionReport | None = None
    hidden: tuple[str, ...] = ()

    @property
    def target(self) -> Target:
        """Where to connect to. Only for a line that would be added."""
        names = ("user", "host", "port", "socket", "tls_mode", "tls_ca", "unrestricted")
        return Target(password=self.password, **{name: self.values[name] for name in names})


@dataclass(frozen=True)
class Plan:
    """Every line with its verdict, in the order of the list. ``remarks`` are about the list as a whole."""

    lines: tuple[Line, ...]
    remarks: tuple[str, ...] = ()

    def of(self, verdict: Verdict) -> list[Line]:
        return [line for line in self.lines if line.verdict is verdict]

    @property
    def good(self) -> list[Line]:
        return self.of(Verdict.ADD)

    @property
    def known(self) -> list[Line]:
        return self.of(Verdict.KNOWN)

    @property
    def bad(self) -> list[Line]:
        return self.of(Verdict.ERROR)


def plan(*, team: Team, text: str, defaults: Defaults, unrestricted: bool) -> Plan:
    """What importing the text into the team would do. Writes nothing. Raises BadList where it cannot be read at all."""
    found = read(text)
    given = [given_of(entry, user=defaults.user, tls_mode=defaults.tls_mode) for entry in found.entries]
    resolved = Resolved.ask(one.values["host"] for one in given if not one.problems and not one.values["socket"])
    lines = [_line(one, defaults, unrestricted, resolved) for one in given]
    return Plan(tuple(_against_others(lines, team)), found.remarks)


def write(*, team: Team, plan: Plan, actor: AbstractBaseUser | None = None) -> list[Server]:
    """Registers every line that would be added, in one transaction: all of them, or none.

    Raises Changed where a name was taken meanwhile, InvalidServer where passwords cannot be stored.
    """
    try:
        with transaction.atomic():
            return _write(team, plan.good, actor)
    except IntegrityError:
        raise Changed(_("Meanwhile a server of the same name was added. Nothing was written: check again.")) from None


# --- judging lines ----------------------------------------------------------------------------------------------------


def _line(given: Given, defaults: Defaults, unrestricted: bool, resolved: Resolved) -> Line:
    values = {
        **given.values,
        "tags": list(dict.fromkeys([*given.values["tags"], *defaults.tags])),
        "tls_ca": defaults.tls_ca,
        "unrestricted": unrestricted,
        **servers.default_intervals(),
    }
    problems = list(given.problems)
    checked: dict[str, Any] = {}
    if not problems:
        try:
            checked = servers.checked_values(values, resolved)
        except servers.InvalidServer as wrong:
            problems += wrong.errors.values()
    name = checked.get("name") or str(values["name"])
    line = Line(
        given.line,
        Verdict.ERROR,
        name,
        given.address,
        given.written,
        tuple(problems),
        given.notes,
        hidden=("password",) if given.password else (),
    )
    if problems:
        return line
    password = Secret(given.password) if given.password else defaults.password
    address = checked["socket"] or f"{checked['host']}:{checked['port']}"
    return replace(line, verdict=Verdict.ADD, address=address, values=checked, password=password)


def _against_others(lines: Sequence[Line], team: Team) -> list[Line]:
    """The lines held against the team's servers and against each other: names and addresses are unique."""
    present = list(Server.objects.filter(team=team))
    by_place = {_place(one.socket, one.host, one.port): one for one in present}
    by_name = {one.folded: one for one in present}
    seen_names: dict[str, int] = {}
    seen_places: dict[tuple[str, int], int] = {}
    judged = []
    for line in lines:
        if line.verdict is Verdict.ADD:
            place = _place(line.values["socket"], line.values["host"], line.values["port"])
            folded = line.values["folded"]
            problem, known = "", by_place.get(place)
            if place in seen_places:
                problem = _("Line %(line)s has the same address: leave one of them out.") % {"line": seen_places[place]}
            elif known is None and folded in seen_names:
                problem = _("Line %(line)s has the same name: choose another one.") % {"line": seen_names[folded]}
            elif known is None and folded in by_name:
                taken = by_name[folded]
                problem = _("The team has a server called %(name)s already, at %(address)s: choose another name.") % {
                    "name": taken.name,
                    "address": taken.address,
                }
            seen_places.setdefault(place, line.number)
            if problem:
                line = replace(line, verdict=Verdict.ERROR, problems=(problem,))
            elif known is not None:
                line = replace(line, verdict=Verdict.KNOWN, known=known)
            else:
                seen_names.setdefault(folded, line.number)
        judged.append(line)
    return judged


def _place(socket: str, host: str, port: int) -> tuple[str, int]:
    return (socket, 0) if socket else (host.rstrip(".").lower(), port)


# --- writing ----------------------------------------------------------------------------------------------------------


def _write(team: Team, lines: Sequence[Line], actor: AbstractBaseUser | None) -> list[Server]:
    made: list[Server] = []
    credentials: list[Credential] = []
    for line, shard in zip(lines, _shards(len(lines)), strict=True):
        server = Server(team=team, shard=shard, **line.values)
        server.save(force_insert=True)
        try:
            sealed, key_id = vault.seal(line.password, team_id=team.pk, server_id=server.pk, purpose="observe")
        except vault.VaultError as error:
            raise servers.InvalidServer({"password": str(error)}) from None
        credentials.append(Credential(server=server, purpose="observe", user=server.user, sealed=sealed, key_id=key_id))
        made.append(server)
    ServerState.objects.bulk_create([ServerState(server=one) for one in made], batch_size=500, ignore_conflicts=True)
    Credential.objects.bulk_create(credentials, batch_size=500)
    now = timezone.now()
    for server in made:
        data = {"name": server.name, "address": server.address, "imported": len(made)}
        journal.record(team_id=team.pk, kind="server.added", at=now, server_id=server.pk, actor=actor, data=data)
    return made


def _shards(count: int) -> list[Shard]:
    """A shard for each of so many new servers: the emptiest are filled first, new ones are made where all are full."""
    present = Shard.objects.select_for_update().annotate(count=Count("servers"))
    room = {one.number: servers.SERVERS_PER_SHARD - one.count for one in present}
    shards: dict[int, Shard] = {one.number: one for one in present}
    chosen: list[Shard] = []
    while len(chosen) < count:
        number = max(room, key=lambda one: (room[one], -one), default=-1)
        if number < 0 or room[number] <= 0:
            number = max(shards, default=-1) + 1
            shards[number] = Shard.objects.create(number=number)
            room[number] = servers.SERVERS_PER_SHARD
        taken = min(count - len(chosen), room[number])
        chosen += [shards[number]] * taken
        room[number] -= taken
    return chosen
