"""Whatever is typed, sent or written into a row: only statements of our grammar come out, of variables that may be."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from advisor.changes import planning, services
from advisor.changes.applying import grammar
from advisor.changes.models import ChangeRequest, Plan, State, WantedChange
from advisor.changes.planning import BadPlan, Part, Wanted
from advisor.changes.policies import DEFAULT
from advisor.mysql.catalogue import CATALOGUE, ChangeClass

from ..api.calling import Caller
from . import hostile
from .building import MARIADB, MYSQL, NOW, Desk, live_of, request_for

#: The grammar as the security research has it, with a sign and a fraction for numbers, written out a second time.
SET = re.compile(r"SET (GLOBAL|PERSIST) `[a-z0-9_]+` = (-?[0-9]+(\.[0-9]+)?|'[A-Za-z0-9_,.:=/ -]*'|ON|OFF)")
RESET = re.compile(r"RESET PERSIST IF EXISTS `[a-z0-9_]+`")
LINE = re.compile(r"[a-z0-9_]+ = [A-Za-z0-9_,.:=/ -]*|# [a-z0-9_]+ was not set: remove its line")


def built(recorded: str, name: str, value: str) -> dict[str, Any] | None:
    """The plan's document for one variable, None where it is refused."""
    part = Part("s", "alpha", "127.0.0.1:1", live_of(recorded), (Wanted(name, value),))
    try:
        return planning.build(request="r", title="t", made_at=NOW, expires_at=NOW, parts=[part], policy=DEFAULT)
    except BadPlan:
        return None


def check(document: dict[str, Any], recorded: str) -> int:
    """Holds every text of a plan that a server may ever see against the grammar; how many statements there are."""
    version, count = live_of(recorded).version, 0
    for server in document["servers"]:
        for change in server["changes"]:
            facts = CATALOGUE.find(change["variable"], version)
            assert facts is not None
            assert facts.change_class is not ChangeClass.NEVER
        for step in server["steps"]:
            for statement in (step["statement"], *step["undo"]):
                assert SET.fullmatch(statement) or RESET.fullmatch(statement), statement
                grammar.check(statement, version)
                count += 1
        for line in (*server["option_file"], *server["undo_option_file"]):
            assert LINE.fullmatch(line), line
    json.dumps(document, allow_nan=False)
    return count


@pytest.mark.parametrize("recorded", [MYSQL, MARIADB])
def test_five_thousand_names_and_values_leave_only_our_grammar(recorded: str) -> None:
    refused = statements = 0
    for name, value in hostile.pairs():
        document = built(recorded, name, value)
        if document is None:
            refused += 1
        else:
            statements += check(document, recorded)
    # Some are only odd (8G with a blank, ON in another case) and become what they mean; nearly all are refused.
    assert refused > 4500
    assert statements > 5


@pytest.mark.parametrize("recorded", [MYSQL, MARIADB, "mysql-5.7.22-small-redo", "mysql-9.7-small-redo"])
def test_no_variable_of_class_never_gets_into_a_plan(recorded: str) -> None:
    facts = live_of(recorded)
    never = planned = 0
    for name in facts.variables:
        known = CATALOGUE.find(name, facts.version)
        if known is None or known.change_class is ChangeClass.NEVER:
            assert built(recorded, name, "1") is None
            assert built(recorded, name, facts.variables[name]) is None
            never += 1
        elif known.kind == "integer" and (document := built(recorded, name, str(known.maximum or 1000))):
            check(document, recorded)
            planned += 1
    assert never > 50
    assert planned > 50


def test_five_thousand_by_the_service_leave_no_hostile_name_in_a_draft(desk: Desk) -> None:
    harmless = re.compile(r"[a-z][a-z0-9_]{0,63}")
    pairs = list(hostile.pairs())
    for start in range(0, len(pairs), 200):
        chunk = pairs[start : start + 200]
        changes = [services.Change(desk.server, name, value) for name, value in chunk]
        with pytest.raises(services.BadRequest) as refused:
            services.create(team=desk.team, actor=desk.author, title="x", changes=changes, now=NOW)
        for number, (name, _) in enumerate(chunk):
            if harmless.fullmatch(name) is None or name in hostile.NEVER:
                assert f"changes.{number}" in refused.value.errors, name
    assert not WantedChange.objects.exists()


def test_five_thousand_by_the_api_are_no_fault_and_leave_nothing(desk: Desk, token_of: Callable[[Any], str]) -> None:
    caller = Caller(token_of(desk.author))
    pairs = list(hostile.pairs())
    for start in range(0, len(pairs), 200):
        changes = [
            {"server": desk.server.pk, "variable": name, "value": value} for name, value in pairs[start : start + 200]
        ]
        answer = caller("createChangeRequest", {"title": "x", "changes": changes})
        assert answer.status_code == 422, answer.content
        assert answer.json()["code"] in ("bad-change-request", "invalid")
    assert not ChangeRequest.objects.exists()


def test_an_edited_row_becomes_a_plan_of_our_grammar_or_none(desk: Desk) -> None:
    request = request_for(desk)
    plans = 0
    for name, value in list(hostile.pairs())[:150]:
        if "\0" in name + value:
            continue  # No database of ours stores it.
        WantedChange.objects.filter(request=request).update(variable=name[:64], value=value[:500])
        try:
            submitted = services.submit(request=request, actor=desk.author, now=NOW)
        except (services.NotReady, services.BadRequest):
            continue
        assert submitted.plan is not None
        plans += 1
        check(submitted.plan.document, MYSQL)
        ChangeRequest.objects.filter(pk=request.pk).update(state=State.DRAFT, version=request.version, plan=None)
        Plan.objects.all().delete()
        request.refresh_from_db()
    assert plans < 30
