"""Rules about statements and the optimizer: which statements are spoken of, and how much is said."""

from __future__ import annotations

import pytest

from advisor.engine.evaluation import judge
from advisor.engine.facts.digests import Statements, made_row
from advisor.engine.facts.optimizer import CacheAdvice, OptimizerSwitches
from advisor.engine.outcome import Finding, Missing, NotApplicable, NotEvaluated, Outcome, Passed
from advisor.engine.rule import Rule
from advisor.engine.scene import inspected, scene
from advisor.engine.units import DAY, MINUTE
from advisor.mysql.inspection import Row
from advisor.mysql.proposal import Investigate
from advisor.rules import all_rules, rule_by_id

SCAN = "SELECT * FROM `orders` WHERE `note` = ?"
MYSQL = ("mysql 5.7.22", "mysql 8.0.12", "mysql 8.0.33", "mysql 9.7.4")
SERVERS = (*MYSQL, "mariadb 10.2.11", "mariadb 10.5.23", "mariadb 10.11.18", "mariadb 11.4.5", "mariadb 11.8.6")

BY_DIGEST = [
    rule
    for rule in all_rules()
    if rule.topic == "optimizer" and any(issubclass(kind, Statements) for kind in rule.needs.values())
]


def scans(text: str = SCAN, **figures: float) -> Row:
    """A statement that reads 10,000 rows for one."""
    columns = {"count": 3600.0, "total_seconds": 180.0, "rows_examined": 36e6, "rows_sent": 3600.0}
    return made_row(text, **{**columns, "no_index_used": 3600.0, **figures})


def said(*rows: Row, rule: str = "optimizer.statements-scan-tables", deliberate: bool = False) -> Outcome:
    seen = scene("mysql 8.0.33", inspection=inspected(digests=rows), deliberate=deliberate)
    return judge(seen, [rule_by_id(rule)], strict=True).outcome(rule)


def test_a_statement_that_nobody_ran_for_two_days_is_history() -> None:
    assert isinstance(said(scans()), Finding)
    assert isinstance(said(scans(idle_seconds=2 * DAY)), NotEvaluated)


def test_a_statement_first_seen_a_minute_ago_counts_only_for_who_chose_the_minute() -> None:
    young = scans(seen_seconds=MINUTE)
    assert isinstance(said(young), NotEvaluated)
    assert isinstance(said(young, deliberate=True), Finding)


@pytest.mark.parametrize(
    ("count", "seconds", "known"), [(99, 1.0, False), (100, 1.0, True), (9, 30.0, False), (10, 30.0, True)]
)
def test_a_deliberate_minute_needs_a_hundred_executions_or_ten_heavy_ones(
    count: float, seconds: float, known: bool
) -> None:
    row = scans(
        seen_seconds=MINUTE,
        count=count,
        no_index_used=count,
        total_seconds=seconds,
        rows_examined=10_000 * count,
        rows_sent=count,
    )
    assert isinstance(said(row, deliberate=True), Finding) is known


@pytest.mark.parametrize(
    "text",
    [
        "SHOW TABLES",
        "CALL report ( )",
        "SELECT * FROM `information_schema` . `TABLES` WHERE `TABLE_NAME` = ?",
        "SELECT * FROM `performance_schema` . `threads` WHERE `NAME` = ?",
        "ALTER TABLE `orders` ADD `x` INTEGER",
    ],
)
def test_what_is_asked_about_the_server_itself_is_no_statement_of_peoples(text: str) -> None:
    assert isinstance(said(scans(text)), NotEvaluated)


@pytest.mark.parametrize(
    "text", ["( SELECT * FROM a WHERE b = ? ) UNION ( SELECT * FROM c )", "WITH x AS (...) SELECT"]
)
def test_a_read_is_known_by_whatever_it_begins_with(text: str) -> None:
    assert isinstance(said(scans(text)), Finding)


def test_counting_all_rows_of_a_table_is_no_missing_index_but_with_a_condition_it_is() -> None:
    assert isinstance(said(scans("SELECT COUNT ( * ) FROM `orders`")), Passed)
    assert isinstance(said(scans("SELECT COUNT ( * ) FROM `orders` WHERE `note` = ?")), Finding)


@pytest.mark.parametrize("rule", BY_DIGEST, ids=lambda rule: rule.id)
def test_a_server_full_of_such_statements_gets_few_words(rule: Rule) -> None:
    """The firing example's statements a hundred times over, with texts of a thousand characters."""
    [example, *_] = [one for one in rule.examples if one.outcome is Finding]
    seen = example.seen
    assert seen.inspection is not None
    rows = [
        {**row, "digest": f"{row['digest']}{number}", "text": f"{row['text']} AND x{number} = ?" + " OR a = ?" * 100}
        for row in seen.inspection.rowsets["digests"]
        for number in range(100)
    ]
    changed = type(seen)(
        **{name: getattr(seen, name) for name in ("snapshot", "intervals", "counted", "host", "deliberate", "today")},
        inspection=inspected(digests=rows),
    )
    outcome = judge(changed, [rule], strict=True).outcome(rule.id)
    if rule.id == "optimizer.one-statement-dominates":
        assert isinstance(outcome, Passed), "none of a hundred alike dominates"
        return
    assert isinstance(outcome, Finding)
    [item] = outcome.items
    assert len(item.proposal) <= 5
    assert len(item.evidence) <= 20
    assert all(len(str(value.value)) < 200 for value in item.message.values.values())
    assert all(len(one.name) < 250 for one in item.evidence)
    assert all(isinstance(one, Investigate) and len(one.advice) < 700 for one in item.proposal)


@pytest.mark.parametrize("server", SERVERS)
def test_no_flag_of_a_default_server_is_called_changed(server: str) -> None:
    assert OptimizerSwitches.read(scene(server)).changed == {}


@pytest.mark.parametrize("server", SERVERS)
def test_each_changed_flag_is_named_and_no_other(server: str) -> None:
    switch = scene(server).snapshot.variables["optimizer_switch"].replace("derived_merge=on", "derived_merge=off")
    switch = switch.replace("semijoin=on", "semijoin=off", 1)
    found = OptimizerSwitches.read(scene(server, {"optimizer_switch": switch})).changed
    assert found == {"derived_merge": "off", "semijoin": "off"}


def test_a_flag_that_no_default_names_is_left_alone() -> None:
    switch = scene("mysql 8.0.33").snapshot.variables["optimizer_switch"] + ",brand_new=on"
    assert OptimizerSwitches.read(scene("mysql 8.0.33", {"optimizer_switch": switch})).changed == {}


@pytest.mark.parametrize(
    ("server", "word"),
    [
        ("mysql 5.7.22", "gone in 8.3"),
        ("mysql 8.0.33", "deprecated here"),
        ("mysql 8.4.3", "no memcached plugin"),
        ("mysql 26.7.0", "no memcached plugin"),
        ("mariadb 10.11.18", "no memcached plugin"),
    ],
)
def test_a_plugin_is_offered_only_where_the_version_has_it(server: str, word: str) -> None:
    assert word in CacheAdvice.read(scene(server)).advice


def test_no_digest_at_all_is_waited_for() -> None:
    with pytest.raises(Missing):
        Statements.read(scene("mysql 8.0.33", inspection=inspected(digests=[])))


def test_a_server_that_counts_no_examined_rows_is_neither_praised_nor_blamed_for_them() -> None:
    """MariaDB 10.2.11 tells 0 for every statement, look-ups and scans alike."""
    rows = [scans(rows_examined=0), scans("SELECT word FROM tokens WHERE id = ?", rows_examined=0, count=9e6)]
    for rule in ("optimizer.statements-scan-tables", "optimizer.statements-examine-much"):
        assert isinstance(said(*rows, rule=rule), NotApplicable)
    assert isinstance(said(*rows, scans("SELECT 1 FROM a"), rule="optimizer.statements-examine-much"), Passed)
