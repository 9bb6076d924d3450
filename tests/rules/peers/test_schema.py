"""What other advisors say wrongly about tables, indexes and statements; what is said here of the same facts."""

from __future__ import annotations

import pytest

from advisor.engine.evaluation import judge
from advisor.engine.facts.digests import made_row
from advisor.engine.outcome import Finding, Passed
from advisor.engine.recommendation import proposed_variables
from advisor.engine.scene import inspected, scene
from advisor.engine.units import GIB, MIB
from advisor.mysql.inspection import Row
from advisor.rules import all_rules, rule_by_id


def table(engine: str = "InnoDB", data: float = 1.0, indexes: float = 0.2) -> Row:
    return {
        "schema": "shop",
        "name": "orders",
        "engine": engine,
        "rows": "90000",
        "data_bytes": str(int(data * GIB)),
        "index_bytes": str(int(indexes * GIB)),
        "free_bytes": "0",
        "row_format": "Dynamic",
        "collation": "utf8mb4_general_ci",
        "partitions": "0",
    }


@pytest.mark.parametrize("server", ["mysql 8.0.33", "mysql 9.7.4", "mariadb 10.11.18"])
def test_mysqltuner_takes_the_key_buffer_from_myisam_tables_and_we_name_the_tables(server: str) -> None:
    seen = scene(server, {"key_buffer_size": 64 * MIB}, inspection=inspected(tables=[table("MyISAM")]))
    judgement = judge(seen, all_rules(), strict=True)
    assert isinstance(judgement.outcome("schema.non-transactional-tables"), Finding)
    for one in judgement.recommendations:
        assert proposed_variables(one.proposal).get("key_buffer_size") != 0


@pytest.mark.parametrize("share", [0.0, 0.2, 0.7, 1.5])
def test_mysqltuner_calls_tables_under_and_over_indexed_by_their_bytes_and_we_do_not(share: float) -> None:
    seen = scene("mysql 8.0.33", inspection=inspected(tables=[table(data=8.0, indexes=8.0 * share)]))
    rule = rule_by_id("schema.indexes-outweigh-data")
    assert isinstance(judge(seen, [rule], strict=True).outcome(rule.id), Passed)


def test_mysqltuner_raises_the_join_buffer_for_joins_without_index_and_we_name_the_statement() -> None:
    row = made_row("SELECT * FROM a JOIN b USING (c)", total_seconds=900, full_joins=36_000, no_index_used=36_000)
    seen = scene("mariadb 10.11.18", {"join_buffer_size": 256 * 1024}, inspection=inspected(digests=[row]))
    judgement = judge(seen, all_rules(), strict=True)
    assert isinstance(judgement.outcome("optimizer.statements-join-without-index"), Finding)
    for one in judgement.recommendations:
        assert "join_buffer_size" not in proposed_variables(one.proposal)


def test_mysqltuner_calls_tables_of_a_shared_tablespace_fragmented_and_we_do_not() -> None:
    """DATA_FREE of a shared tablespace is told for each of its tables: advice to rebuild them would free nothing."""
    rows = [{**table(), "name": name, "free_bytes": str(5 * GIB)} for name in ("a", "b", "c")]
    rule = rule_by_id("schema.tables-fragmented")
    outcome = judge(scene("mysql 8.0.33", inspection=inspected(tables=rows)), [rule], strict=True).outcome(rule.id)
    assert isinstance(outcome, Passed)


def test_how_tables_and_columns_are_named_is_nobodys_business_but_their_owners() -> None:
    """MySQLTuner lists plural table names, keys not called id and columns without a suffix."""
    rows = [{**table(), "name": "Orders_Table_2"}]
    seen = scene("mysql 8.0.33", inspection=inspected(tables=rows, keyless_tables=[], auto_increments=[]))
    for rule in all_rules():
        if rule.topic == "schema":
            assert not isinstance(judge(seen, [rule], strict=True).outcome(rule.id), Finding), rule.id
