"""`manage.py changes`: lists change requests, shows one, and exports its plan for other tools."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from advisor.changes import exports, gate, states, telling
from advisor.changes.models import ChangeRequest, State
from advisor.changes.said import english
from collector.models import Server

_SYMBOLS = "~ in place   → new connections only   ↻ restart   ⚠ durability   ≠ drift"


class Command(BaseCommand):
    help = "Lists change requests, shows one, exports its plan."

    def add_arguments(self, parser: ArgumentParser) -> None:
        commands = parser.add_subparsers(dest="command", required=True)
        listing = commands.add_parser("list", help="all requests, the newest first")
        listing.add_argument("--state", action="append", choices=list(State.values), default=[])
        listing.add_argument("--server", default="", help="NAME or TEAM/NAME")
        listing.add_argument("--team", default="")
        listing.add_argument("--format", choices=["text", "json"], default="text")
        show = commands.add_parser("show", help="one request with its plan and what is missing")
        show.add_argument("change", help="its id, its number, or TEAM/NUMBER")
        show.add_argument("--format", choices=["text", "json"], default="text")
        export = commands.add_parser("export", help="the plan for other tools, on stdout")
        export.add_argument("change", help="its id, its number, or TEAM/NUMBER")
        export.add_argument("--format", choices=exports.FORMATS, default="sql")
        export.add_argument("--server", default=None, help="only this one of the plan: its name or id")
        export.add_argument("--undo", action="store_true", help="the way back instead")

    def handle(self, *args: Any, **options: Any) -> None:
        {"list": self._list, "show": self._show, "export": self._export}[options["command"]](options)

    def _list(self, options: dict[str, Any]) -> None:
        rows = ChangeRequest.objects.select_related("team", "plan").order_by("-created_at", "-pk")
        if options["state"]:
            rows = rows.filter(state__in=options["state"])
        if options["team"]:
            rows = rows.filter(team__folded=options["team"].casefold())
        if options["server"]:
            team, _, name = options["server"].rpartition("/")
            servers = Server.objects.filter(folded=name.casefold())
            servers = servers.filter(team__folded=team.casefold()) if team else servers
            if not servers:
                self._refuse(f"There is no server called {options['server']!r}.")
            rows = rows.filter(wanted__server__in=servers).distinct()
        if options["format"] == "json":
            self.stdout.write(json.dumps({"items": [_short(row) for row in rows]}, indent=2, ensure_ascii=False))
            return
        for row in rows:
            self.stdout.write(
                f"{row.team.name}/{row.number}  {row.state:<17}  {row.title}  ({row.author_name}, {row.pk})"
            )

    def _show(self, options: dict[str, Any]) -> None:
        row = self._find(options["change"])
        plan = row.plan
        conditions = (
            gate.conditions(request=row, person=None, now=timezone.now()) if states.can(row, states.Step.EDIT) else []
        )
        if options["format"] == "json":
            document = {
                **_short(row),
                "reason": row.reason,
                "plan": plan.document if plan is not None else None,
                "conditions": [{"id": one.id, "met": one.met, "text": english(one.message)} for one in conditions],
            }
            self.stdout.write(json.dumps(document, indent=2, ensure_ascii=False))
            return
        self.stdout.write(f"{row.team.name}/{row.number}  {row.title}")
        self.stdout.write(f"{row.state}, by {row.author_name}" + (f": {english(row.why)}" if row.why else ""))
        if row.reason:
            self.stdout.write(f"\n{row.reason}")
        if plan is not None:
            self._plan(plan.document, plan.hash)
        for one in conditions:
            self.stdout.write(f"  {'✔' if one.met else '✘'} {english(one.message)}")

    def _plan(self, document: dict[str, Any], plan_hash: str) -> None:
        counts = document["summary"]
        self.stdout.write(f"\nplan {plan_hash}, until {document['expires_at']}")
        self.stdout.write(f"{counts['in_place']} to change in place, {counts['restarts']} restarts")
        for server in document["servers"]:
            self.stdout.write(f"\n{server['position']}. {server['name']} ({server['version']})")
            drifting = {one["variable"] for one in server["drift"]}
            for change in server["changes"]:
                marks = ("⚠" if change["durability"] else "") + ("≠" if change["variable"] in drifting else "")
                self.stdout.write(
                    f"  {change['symbol']} {change['variable']}: {change['current_words']} → "
                    f"{change['proposed_words']} {marks}".rstrip()
                )
            for step in server["steps"]:
                self.stdout.write(f"      {step['statement']};")
        self.stdout.write(f"\n{_SYMBOLS}")

    def _export(self, options: dict[str, Any]) -> None:
        row = self._find(options["change"])
        if row.plan is None:
            self._refuse("It has no plan yet: submit it first.", 3)
        assert row.plan is not None
        try:
            text = exports.export(
                row.plan.document,
                options["format"],
                plan_hash=row.plan.hash,
                server=options["server"],
                undo=options["undo"],
            )
        except exports.NotInPlan as missing:
            self._refuse(str(missing))
        self.stdout.write(text, ending="")

    def _find(self, name: str) -> ChangeRequest:
        team, _, number = name.rpartition("/")
        rows = ChangeRequest.objects.select_related("team", "plan", "author", "last_editor")
        found = list(rows.filter(pk=name))
        if not found and number.isascii() and number.isdigit():
            numbered = rows.filter(number=int(number[:9]))
            found = list(numbered.filter(team__folded=team.casefold()) if team else numbered)
        if len(found) > 1:
            self._refuse(f"Several teams have a change {number}: write TEAM/{number}.")
        if not found:
            self._refuse(f"There is no change request {name!r}.")
        return found[0]

    def _refuse(self, sentence: str, code: int = 2) -> None:
        self.stderr.write(sentence)
        sys.exit(code)


def _short(row: ChangeRequest) -> dict[str, Any]:
    return {
        "id": row.pk,
        "team": row.team.name,
        "number": row.number,
        "title": row.title,
        "state": row.state,
        "author": row.author_name,
        "servers": telling.servers_of(row),
        "plan_hash": row.plan.hash if row.plan is not None else None,
        "created_at": row.created_at.isoformat(),
    }
