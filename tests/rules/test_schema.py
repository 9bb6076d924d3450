"""Rules about tables and indexes: what counts as redundant, how much is said, and what is never taken for fine."""

from __future__ import annotations

import pytest

from advisor.engine.evaluation import judge
from advisor.engine.outcome import Finding, NotEvaluated, Outcome, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import inspected, scene
from advisor.engine.units import DAY, GIB
from advisor.mysql.inspection import Inspection, Row
from advisor.mysql.proposal import Investigate, SchemaAdvice
from advisor.mysql.snapshot import ProbeResult, ProbeState, Remedy, RemedyKind
from advisor.rules import all_rules, rule_by_id

#: No schema has more than a server can have: what is said of it has to stay short all the same.
MANY = 2_000

SCHEMA_RULES = [rule for rule in all_rules() if rule.topic == "schema"]


def said(rule: str, inspection: Inspection | None, server: str = "mysql 8.0.33", role: str = "standalone") -> Outcome:
    """What the rule says of a server of which this was read."""
    seen = scene(server, role=role, inspection=inspection, deliberate=True)
    return judge(seen, [rule_by_id(rule)], strict=True).outcome(rule)


def index(name: str, columns: str, *, unique: bool = False, visible: bool = True, **more: str | None) -> Row:
    return {
        "schema": "shop",
        "table": "orders",
        "index": name,
        "columns": columns,
        "is_unique": "1" if unique else "0",
        "is_visible": "1" if visible else "0",
        "kind": "BTREE",
        **more,
    }


def dropped(*indexes: Row) -> set[str]:
    """The indexes that are called redundant."""
    outcome = said("schema.indexes-redundant", inspected(indexes=indexes))
    if isinstance(outcome, Passed):
        return set()
    assert isinstance(outcome, Finding)
    [item] = outcome.items
    return {one.name.split(": ")[1].split(" (")[0] for one in item.evidence[1:]}


@pytest.mark.parametrize(
    ("indexes", "redundant"),
    [
        ([index("a", "x"), index("b", "x,y")], {"a"}),
        ([index("a", "x,y"), index("b", "x,y,z"), index("c", "x")], {"a", "c"}),
        ([index("a", "x"), index("b", "x")], {"b"}),
        ([index("a", "x", unique=True), index("b", "x")], {"b"}),
        ([index("a", "x"), index("b", "x", unique=True)], {"a"}),
        ([index("a", "x", unique=True), index("b", "x", unique=True)], {"b"}),
        ([index("a", "x", unique=True), index("b", "x,y")], set()),
        ([index("PRIMARY", "id", unique=True), index("a", "id")], {"a"}),
        ([index("PRIMARY", "id", unique=True), index("a", "id", unique=True)], {"a"}),
        ([index("PRIMARY", "id,day", unique=True), index("a", "id")], {"a"}),
        ([index("PRIMARY", "id", unique=True), index("a", "id,day")], set()),
        ([index("a", "x(10)"), index("b", "x,y")], set()),
        ([index("a", "x DESC"), index("b", "x,y")], set()),
        ([index("a", "x"), index("b", "x,y", visible=False)], set()),
        ([index("a", "x", visible=False), index("b", "x")], {"a"}),
        ([index("a", "(concat(x,y))"), index("b", "(concat(x,y)),z")], set()),
        ([index("a", "x", kind="FULLTEXT"), index("b", "x,y", kind="FULLTEXT")], set()),
    ],
)
def test_an_index_is_redundant_only_where_another_one_does_all_of_its_work(
    indexes: list[Row], redundant: set[str]
) -> None:
    assert dropped(*indexes) == redundant


def test_two_equal_indexes_never_both_go() -> None:
    same = [index(name, "x,y") for name in ("a", "b", "c")]
    assert len(dropped(*same)) == 2


def test_an_index_that_another_covers_is_not_called_unused_as_well() -> None:
    counted = {"reads": "0", "counted_seconds": str(9 * DAY)}
    rows = [{**index("a", "x"), **counted}, {**index("b", "x,y"), **counted}]
    outcome = said("schema.indexes-unused", inspected(indexes=rows))
    assert isinstance(outcome, Finding)
    [item] = outcome.items
    assert [one.advice.split()[3] for one in item.proposal if isinstance(one, SchemaAdvice)] == ["b"]


def test_six_days_of_counting_are_waited_for_and_no_counting_at_all_is_told_how_to_begin() -> None:
    young = inspected(indexes=[index("a", "x", reads="0", counted_seconds=str(6 * DAY))])
    outcome = said("schema.indexes-unused", young)
    assert isinstance(outcome, NotEvaluated)
    assert outcome.missing[0].kind is RemedyKind.WINDOW
    outcome = said("schema.indexes-unused", inspected(indexes=[index("a", "x")]))
    assert isinstance(outcome, NotEvaluated)
    assert "performance_schema = ON" in outcome.missing[0].text


def crowded() -> Inspection:
    """A server on which every table has every fault, thousands of times over."""
    names = [f"t{number}" for number in range(MANY)]
    return inspected(
        tables=[
            {
                "schema": f"s{position % 300}",
                "name": name,
                "engine": ("MyISAM", "MEMORY", "BLACKHOLE", "InnoDB")[position % 4],
                "row_format": "Compact",
                "rows": "90000",
                "data_bytes": str(2 * GIB),
                "index_bytes": str(9 * GIB),
                "free_bytes": str(9 * GIB + position),
                "collation": ("utf8mb3_general_ci", "utf8mb3_unicode_ci")[position // 300 % 2],
                "partitions": "0",
            }
            for position, name in enumerate(names)
        ],
        keyless_tables=[{"schema": "shop", "name": name} for name in names],
        partitioned_tables=[{"schema": "shop", "name": name, "partitions": "90"} for name in names],
        auto_increments=[
            {"schema": "s", "table": name, "column": "id", "type": "int", "next_value": "99", "maximum": "100"}
            for name in names
        ],
        indexes=[
            {
                **index(f"i{number}", f"c{number}", visible=False, reads="0", counted_seconds=str(9 * DAY)),
                "table": name,
                "is_visible": "1" if number else "0",
            }
            for name in names[:100]
            for number in range(20)
        ]
        + [{**index(f"j{number}", "c1,c2"), "table": name} for name in names[:100] for number in range(3)],
        digests=[
            {
                "schema": "shop",
                "digest": name,
                "text": f"SELECT * FROM {name} WHERE a = ?",
                "count": "90000",
                "total_seconds": "900",
                "seen_seconds": "4000",
                "idle_seconds": "1",
                "rows_examined": "90000",
            }
            for name in names[:200]
        ],
    )


@pytest.mark.parametrize("rule", SCHEMA_RULES, ids=lambda rule: rule.id)
def test_a_server_full_of_faults_gets_few_words(rule: Rule) -> None:
    outcome = said(rule.id, crowded(), role="source")
    assert isinstance(outcome, Finding), outcome
    assert len(outcome.items) <= 5
    for item in outcome.items:
        assert len(item.proposal) <= 10
        assert len(item.evidence) <= 25


@pytest.mark.parametrize("rule", SCHEMA_RULES, ids=lambda rule: rule.id)
def test_tables_that_cannot_be_seen_for_want_of_a_grant_are_never_fine(rule: Rule) -> None:
    refused = Remedy(RemedyKind.GRANT, "tables", "GRANT REFERENCES ON *.* TO 'observer'@'%'")
    names = ("tables", "keyless_tables", "partitioned_tables", "auto_increments", "indexes", "digests")
    inspection = Inspection(
        taken_at=0.0,
        identity="example",
        probes=tuple(ProbeResult(name, ProbeState.FAILED, reason="refused", remedy=refused) for name in names),
    )
    outcome = said(rule.id, inspection)
    assert isinstance(outcome, NotEvaluated)
    assert refused in outcome.missing


@pytest.mark.parametrize("rule", SCHEMA_RULES, ids=lambda rule: rule.id)
def test_nothing_is_said_of_tables_that_nobody_asked_to_inspect(rule: Rule) -> None:
    assert isinstance(said(rule.id, None), NotEvaluated)


def test_a_table_whose_key_is_missing_is_worse_where_rows_are_replicated() -> None:
    rows = inspected(keyless_tables=[{"schema": "shop", "name": "log"}])
    severities = {}
    for role in ("standalone", "source", "replica"):
        outcome = said("schema.tables-without-primary-key", rows, role=role)
        assert isinstance(outcome, Finding)
        severities[role] = outcome.items[0].severity
    assert severities == {"standalone": None, "source": Severity.WARNING, "replica": Severity.WARNING}


def test_a_bigint_near_its_end_is_no_matter_of_its_type() -> None:
    row = {
        "schema": "shop",
        "table": "orders",
        "column": "id",
        "type": "bigint(20)",
        "next_value": str(9 * 10**18),
        "maximum": str(2**63 - 1),
    }
    outcome = said("schema.auto-increment-near-end", inspected(auto_increments=[row]))
    assert isinstance(outcome, Finding)
    assert isinstance(outcome.items[0].proposal[0], Investigate)


@pytest.mark.parametrize("text", ["SELECT * FROM revisits WHERE a = ?", "SELECT visits_of FROM other WHERE a = ?"])
def test_a_table_whose_name_is_part_of_another_word_is_not_meant(text: str) -> None:
    digest = {"schema": "shop", "digest": "d", "text": text, "count": "36000", "total_seconds": "400"}
    digest |= {"seen_seconds": "4000", "idle_seconds": "1", "rows_examined": "36000"}
    rows = inspected(
        partitioned_tables=[{"schema": "shop", "name": "visits", "partitions": "90"}],
        digests=[digest],
    )
    assert isinstance(said("schema.many-partitions", rows), Passed)


def test_only_percona_server_is_told_of_its_own_variables() -> None:
    [example] = [one for one in rule_by_id("schema.many-partitions").examples if "Percona Server a trial" in one.title]
    told = {}
    for server in ("mysql 8.0.33", "mariadb 10.11.18"):
        outcome = said("schema.many-partitions", example.seen.inspection, server)
        assert isinstance(outcome, Finding)
        told[server] = str(outcome.items[0].proposal)
    outcome = judge(example.seen, [rule_by_id("schema.many-partitions")], strict=True).outcome("schema.many-partitions")
    assert isinstance(outcome, Finding)
    assert "innodb_records_in_range" in str(outcome.items[0].proposal)
    assert not any("innodb_records_in_range" in one for one in told.values())
