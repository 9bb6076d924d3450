"""The fleet page reads indexes: as many queries for a thousand servers as for ten, and no list is ever sorted."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.db.models import Count

from advisor.recommendations.models import FleetRow
from advisor.web.fleet import listing
from advisor.web.fleet.filters import SORTS, Filters
from tests.web import many


@pytest.mark.parametrize("query", ["", "?state=all&sort=pressure", "?q=db&tag=prod", "?q=archive&group=archive"])
def test_the_page_asks_as_much_for_a_thousand_servers_as_for_ten(
    query: str, sign_in: Any, viewer: Any, team: Any, django_assert_max_num_queries: Any
) -> None:
    client = sign_in(viewer)
    many.fleet(team, 10)
    # Three of them are the rail's: what waits for the reader, what is unread, whether there is an audit to see.
    with django_assert_max_num_queries(19):
        client.get(f"/{query}")
    many.fleet(team, 1_000, seed=2, first=10)
    with django_assert_max_num_queries(19):
        client.get(f"/{query}")


def _plan(rows: Any) -> list[str]:
    sql, parameters = rows.query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}", parameters)
        return [line[3] for line in cursor.fetchall()]


@pytest.mark.skipif(connection.vendor != "sqlite", reason="the plan is SQLite's")
@pytest.mark.parametrize("sort", list(SORTS))
@pytest.mark.parametrize("narrowed", [{"state": "all"}, {"state": "critical", "flavor": "mysql", "group": "orders"}])
def test_each_order_comes_out_of_its_index_without_sorting(sort: str, narrowed: dict[str, str], team: Any) -> None:
    plan = _plan(listing.ids([team.pk], Filters(sort=sort, **narrowed)))
    assert plan == [f"SEARCH recommendations_fleetrow USING COVERING INDEX fleet_{sort} (team_id=?)"]


@pytest.mark.skipif(connection.vendor != "sqlite", reason="the plan is SQLite's")
def test_a_text_is_looked_for_in_the_index_of_texts(team: Any) -> None:
    plan = _plan(listing.ids([team.pk], Filters(search="db", sort="pressure")))
    assert "SEARCH recommendations_fleetrow USING COVERING INDEX fleet_pressure (team_id=?)" in plan
    assert "SEARCH U0 USING COVERING INDEX fleet_texts (team_id=?)" in plan
    many.fleet(team, listing.FEW + 60)
    found = listing.look([team.pk], Filters(search="db", sort="pressure"))
    assert _plan(found.soon) == ["SEARCH recommendations_fleetrow USING INDEX fleet_pressure (team_id=?)"]
    assert list(found.soon) == list(found.every)
    counted = FleetRow.objects.filter(team=team, words__contains="db").values_list("state", "flavor").order_by()
    assert _plan(counted.annotate(number=Count("pk"))) == [
        "SEARCH recommendations_fleetrow USING COVERING INDEX fleet_texts (team_id=?)"
    ]
