"""What other advisors say wrongly about the query cache, and what is said here of the same facts."""

from __future__ import annotations

import pytest

from advisor.engine.evaluation import judge
from advisor.engine.outcome import NotApplicable, Passed
from advisor.engine.recommendation import proposed_variables
from advisor.engine.scene import scene
from advisor.engine.units import MIB
from advisor.rules import all_rules

RULES = [rule for rule in all_rules() if rule.topic == "querycache"]
WITH_QUERY_CACHE = ("mysql 5.7.22", "mariadb 10.2.11", "mariadb 10.11.18", "mariadb 11.8.6", "mariadb 12.3.1")
PRUNED = {"Qcache_hits": 900, "Qcache_inserts": 900, "Qcache_not_cached": 100, "Qcache_lowmem_prunes": 700}
STATUS = {"Threads_running": 30, "Qcache_free_blocks": 900, "Qcache_total_blocks": 3000}


@pytest.mark.parametrize("server", WITH_QUERY_CACHE)
@pytest.mark.parametrize("size", [4 * MIB, 64 * MIB, 256 * MIB])
def test_mysqltuner_makes_the_query_cache_bigger_or_zero_by_branch_and_we_say_one_thing(server: str, size: int) -> None:
    """Fault 16, MT 25 and 26: pruned, contended, in pieces or too large, it is one recommendation with one value."""
    seen = scene(
        server,
        {"query_cache_type": "ON", "query_cache_size": size},
        counters=PRUNED,
        status=STATUS,
        deliberate=True,
    )
    said = judge(seen, RULES, strict=True).recommendations
    assert len(said) == 1
    assert proposed_variables(said[0].proposal) == {"query_cache_type": "OFF", "query_cache_size": 0}
    assert said[0].overruled == ()


@pytest.mark.parametrize("server", ["mysql 8.0.12", "mysql 9.7.4", "mysql 26.7.0"])
def test_mysqltuners_guard_ends_at_nine_nine_and_ours_knows_no_query_cache_from_eight_on(server: str) -> None:
    """Fault 16: MySQL 26.7 is no server with a query cache that is off by luck, but one without."""
    judgement = judge(scene(server, counters=PRUNED, status=STATUS, deliberate=True), RULES, strict=True)
    assert all(isinstance(judgement.outcome(rule.id), NotApplicable) for rule in RULES)


@pytest.mark.parametrize("server", WITH_QUERY_CACHE)
def test_phpmyadmin_tells_every_mariadb_to_enable_it_and_we_leave_the_default_alone(server: str) -> None:
    """Faults 18 and 20: a server above 100 statements a second with the cache off hears nothing about it."""
    seen = scene(
        server,
        counters={**dict.fromkeys(PRUNED, 0), "Questions": 5000},
        status={"Threads_running": 4, "Qcache_free_blocks": 1, "Qcache_total_blocks": 1},
        deliberate=True,
    )
    judgement = judge(seen, RULES, strict=True)
    assert all(isinstance(judgement.outcome(rule.id), Passed) for rule in RULES)
