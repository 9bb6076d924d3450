"""The plan of a change request: what is reviewed, approved and applied, to the letter.

Facts in, document out: no database, no clock. Statements come from ``advisor.mysql.statements`` alone; here they are
put into the order in which a machine works them off, one variable a step, each with its own way back.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from advisor.changes.live import LiveFacts
from advisor.mysql import change_class, statements, values
from advisor.mysql.catalogue import CATALOGUE, ChangeClass, VariableFacts
from advisor.mysql.proposal import SetVariable
from advisor.mysql.statements import BadProposal, Rendered, RenderedChange

SCHEMA = 1
SYMBOLS = {"at_once": "~", "new_connections": "→", "restart": "↻"}
_NAMED = re.compile(r"(?:SET (?:GLOBAL|PERSIST)|RESET PERSIST IF EXISTS) `([a-z0-9_]+)`")

Document = dict[str, Any]


@dataclass(frozen=True)
class Wanted:
    """One variable and the value it is wanted to have, as typed."""

    variable: str
    value: str
    recommendation: str = ""
    rule: str = ""
    rule_version: str = ""


@dataclass(frozen=True)
class Part:
    """What is wanted of one server, and the server as it was read for this plan."""

    server: str
    name: str
    address: str
    facts: LiveFacts
    wanted: tuple[Wanted, ...]


class BadPlan(ValueError):
    """No plan can be made of what is wanted. ``server`` and ``variable`` say where, the message why."""

    def __init__(self, server: str, variable: str, sentence: str) -> None:
        super().__init__(sentence)
        self.server = server
        self.variable = variable


def build(
    *,
    request: str,
    title: str,
    made_at: datetime,
    expires_at: datetime,
    parts: Sequence[Part],
    policy: Mapping[str, Any],
    first: str | None = None,
    wait_seconds: int = 0,
) -> Document:
    """The plan's document. ``parts`` come in the order in which servers are changed; ``first`` is moved to the front.

    Raises BadPlan where a variable is not known, is never changed from here, or does not take the value.
    """
    ordered = sorted(parts, key=lambda part: part.server != first)
    servers = [_server(part, position) for position, part in enumerate(ordered, 1)]
    return {
        "schema": SCHEMA,
        "request": request,
        "title": title,
        "made_at": made_at.isoformat(),
        "expires_at": expires_at.isoformat(),
        "first": first,
        "wait_seconds": wait_seconds,
        "policy": dict(policy),
        "summary": summary(servers),
        "servers": servers,
    }


def summary(servers: Sequence[Document]) -> dict[str, int]:
    """How much of it is done in place, how many servers need a restart, and so on."""
    changes = [change for server in servers for change in server["changes"]]
    return {
        "in_place": sum(change["effect"] != "restart" for change in changes),
        "restarts": sum(server["needs_restart"] for server in servers),
        "new_connections": sum(change["effect"] == "new_connections" for change in changes),
        "drift": sum(len(server["drift"]) for server in servers),
    }


def canonical_hash(document: Mapping[str, Any]) -> str:
    """SHA-256 (hexadecimal) over the document in its one canonical form: sorted keys, no spaces, ASCII."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def known(name: str, facts: LiveFacts) -> VariableFacts:
    """What the catalogue knows of a variable that may be changed from here. Raises BadProposal for all others."""
    if re.fullmatch(r"[a-z][a-z0-9_]{0,63}", name) is None:
        raise BadProposal(f"{name[:80]!r} is no name of a system variable.")
    found = CATALOGUE.find(name, facts.version)
    if found is None or name not in facts.variables:
        raise BadProposal(f"{facts.version} has no system variable {name} that is known here.")
    if found.change_class is ChangeClass.NEVER:
        raise BadProposal(f"{name} is never changed from here: {change_class.reason(found)}.")
    return found


def rendered(part: Part) -> Rendered:
    """The statements, option-file lines and ways back for one server. Raises BadPlan."""
    proposal = []
    for one in part.wanted:
        try:
            known(one.variable, part.facts)
            proposal.append(SetVariable(one.variable, one.value))
            # Alone first, so that what is wrong is told of the variable that it is wrong of.
            _render([SetVariable(one.variable, one.value)], part.facts, alone=True)
        except BadProposal as refused:
            raise BadPlan(part.server, one.variable, str(refused)) from None
    try:
        found = _render(proposal, part.facts)
        for change in found.changes:
            known(change.name, part.facts)  # Companions come along by themselves, and are held to the same rules.
    except BadProposal as refused:
        raise BadPlan(part.server, "", str(refused)) from None
    return found


def _render(proposal: Sequence[SetVariable], facts: LiveFacts, *, alone: bool = False) -> Rendered:
    try:
        return statements.render(
            proposal,
            facts.version,
            facts.variables,
            facts.origins,
            status=facts.status,
            persisted=facts.persisted,
        )
    except BadProposal as refused:
        # A pair that only fits together is judged together.
        if alone and " is above " in str(refused):
            return Rendered()
        raise


def _server(part: Part, position: int) -> Document:
    found = rendered(part)
    typed = {one.variable: one for one in part.wanted}
    forward = {_variable_of(statement): statement for statement in found.sql}
    undo: dict[str, list[str]] = {}
    for statement in found.undo:
        undo.setdefault(_variable_of(statement), []).append(statement)
    by_name = {change.name: change for change in found.changes}
    steps = [
        {
            "variable": name,
            "statement": statement,
            "old": by_name[name].current,
            "new": by_name[name].proposed,
            "undo": undo[name],
        }
        for name, statement in forward.items()
    ]
    return {
        "server": part.server,
        "name": part.name,
        "address": part.address,
        "version": part.facts.version.text,
        "flavor": part.facts.version.flavor.value,
        "fingerprint": part.facts.fingerprint(),
        "position": position,
        "changes": [_change(change, typed.get(change.name), part.facts, forward) for change in found.changes],
        "steps": steps,
        "option_file": list(found.option_file),
        "undo_option_file": list(found.undo_option_file),
        "parameters": list(found.parameters),
        "undo_parameters": list(found.undo_parameters),
        "needs_restart": found.needs_restart,
        "notes": list(found.notes),
        "drift": _drift([change.name for change in found.changes], part.facts),
    }


def _variable_of(statement: str) -> str:
    match = _NAMED.match(statement)
    if match is None:
        raise BadProposal(f"{statement[:80]!r} is no statement of a plan.")
    return match[1]


def _change(
    change: RenderedChange, typed: Wanted | None, facts: LiveFacts, forward: Mapping[str, str]
) -> dict[str, Any]:
    """One line of the plan's diff. ``typed`` is None for what comes along by itself, since servers demand it."""
    of = known(change.name, facts)
    origin = facts.origins.get(change.name)
    statement = forward.get(change.name, "")
    return {
        "variable": change.name,
        "class": of.change_class.value,
        "why_class": change_class.reason(of),
        "current": change.current,
        "current_words": in_words(change.current, of),
        "proposed": change.proposed,
        "proposed_words": in_words(change.proposed, of),
        "typed": typed.value if typed is not None else None,
        "effect": change.effect,
        "symbol": SYMBOLS[change.effect],
        "durability": change_class.reason(of) == change_class.DURABILITY,
        "persist": "persist" if statement.startswith("SET PERSIST") else "global" if statement else "file",
        "origin": {"kind": origin.kind, "path": origin.path} if origin is not None else None,
        "rule": typed.rule if typed is not None else "",
        "rule_version": typed.rule_version if typed is not None else "",
        "recommendation": (typed.recommendation or None) if typed is not None else None,
    }


def in_words(printed: str, facts: VariableFacts) -> str:
    """A value as people write it, exactly: ``8 GiB`` of 8589934592, ``ON`` of 1; what has no other form stays."""
    try:
        if facts.kind == "boolean":
            return "ON" if values.parse_boolean(printed) else "OFF"
        if facts.unit == "bytes" and int(printed) >= 1024:
            return values.exact_size(int(printed))
    except (values.BadValue, ValueError):
        return printed
    return printed


def _drift(names: Sequence[str], facts: LiveFacts) -> list[dict[str, str | None]]:
    """Where what runs is not what a restart would give. ``file`` is None where only that it differs is known."""
    found: list[dict[str, str | None]] = []
    for name in names:
        running = facts.variables[name]
        kept = (facts.persisted or {}).get(name)
        origin = facts.origins.get(name)
        if kept is not None:
            if not values.same(kept, running):
                found.append({"variable": name, "running": running, "file": kept, "path": "mysqld-auto.cnf"})
        elif origin is not None and origin.kind == "runtime":
            found.append({"variable": name, "running": running, "file": None, "path": origin.path})
    return found
