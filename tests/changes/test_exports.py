"""Plans for other tools, parsed back: what they hold is the plan and nothing else."""

from __future__ import annotations

import configparser
import json
from io import StringIO
from typing import Any

import pytest
import yaml
from django.core.management import call_command

from advisor.changes import exports
from advisor.changes.applying import grammar
from advisor.changes.models import ChangeRequest, State

from .building import MARIADB, Desk, request_for

VALUES = {"innodb_io_capacity": "700", "innodb_max_dirty_pages_pct": "70.5", "max_connections": "300"}


@pytest.fixture
def planned(desk: Desk) -> ChangeRequest:
    return request_for(desk, VALUES, state=State.IN_REVIEW, title="'; DROP TABLE x; --")


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("changes", *arguments, stdout=out)
    return out.getvalue()


def statements_of(text: str) -> list[str]:
    return [line.rstrip(";") for line in text.splitlines() if not line.startswith("--")]


def test_sql_is_the_plans_statements_and_each_is_of_our_grammar(planned: ChangeRequest) -> None:
    assert planned.plan is not None
    text = run("export", str(planned.number), "--format", "sql")
    (server,) = planned.plan.document["servers"]
    assert statements_of(text) == [step["statement"] for step in server["steps"]]
    undo = statements_of(run("export", planned.pk, "--format", "sql", "--undo"))
    assert undo == [one for step in reversed(server["steps"]) for one in step["undo"]]
    for statement in (*statements_of(text), *undo):
        grammar.parse(statement)
    assert "DROP" not in text


def test_the_option_file_is_read_by_a_parser_of_option_files(planned: ChangeRequest) -> None:
    parser = configparser.ConfigParser(allow_no_value=True)
    parser.read_string(run("export", str(planned.number), "--format", "option_file"))
    assert parser.sections() == ["mysqld"]
    assert dict(parser["mysqld"]) == VALUES
    parser = configparser.ConfigParser(allow_no_value=True)
    parser.read_string(run("export", str(planned.number), "--format", "option_file", "--undo"))
    assert parser["mysqld"]["innodb_io_capacity"] == "200"


def test_the_playbook_holds_the_statements_and_the_options(planned: ChangeRequest) -> None:
    assert planned.plan is not None
    (play,) = yaml.safe_load(run("export", str(planned.number), "--format", "ansible"))
    assert play["hosts"] == "alpha"
    queries = [task["community.mysql.mysql_query"]["query"] for task in play["tasks"] if "community.mysql" in str(task)]
    assert queries == [step["statement"] for step in planned.plan.document["servers"][0]["steps"]]
    options = [task["community.general.ini_file"] for task in play["tasks"] if "community.general" in str(task)]
    assert {one["option"]: one["value"] for one in options} == VALUES


def test_json_is_the_document_with_its_hash(planned: ChangeRequest) -> None:
    assert planned.plan is not None
    document = json.loads(run("export", planned.pk, "--format", "json"))
    assert document.pop("hash") == planned.plan.hash
    assert document == planned.plan.document


def test_of_several_servers_one_is_exported_or_all_in_order(desk: Desk) -> None:
    other = desk.add_server("beta: {{ x }}", MARIADB)
    planned = request_for(desk, servers=[desk.server, other], state=State.IN_REVIEW, first_server=other)
    assert planned.plan is not None
    text = run("export", planned.pk)
    assert text.index(other.pk) < text.index(desk.server.pk)
    only = run("export", planned.pk, "--server", "beta: {{ x }}", "--format", "ansible")
    assert [play["hosts"] for play in yaml.safe_load(only)] == ["beta_____x___"]
    with pytest.raises(exports.NotInPlan):
        exports.export(planned.plan.document, "option_file", plan_hash=planned.plan.hash)


def test_the_list_and_one_request_are_shown(planned: ChangeRequest) -> None:
    assert f"Databases/{planned.number}  in_review" in run("list", "--state", "in_review", "--server", "alpha")
    assert json.loads(run("list", "--state", "kept", "--format", "json")) == {"items": []}
    shown = run("show", f"databases/{planned.number}")
    assert "~ innodb_io_capacity: 200 → 700" in shown
    assert "✘ Approvals that count: 0 of 1." in shown
    document: dict[str, Any] = json.loads(run("show", planned.pk, "--format", "json"))
    assert document["plan_hash"] == (planned.plan.hash if planned.plan else None)


@pytest.mark.parametrize("name", ["999", "nobody/1", "x", "1/1/1"])
def test_what_is_not_there_is_a_mistake_of_usage(planned: ChangeRequest, name: str) -> None:
    with pytest.raises(SystemExit) as ended:
        run("show", name)
    assert ended.value.code == 2
