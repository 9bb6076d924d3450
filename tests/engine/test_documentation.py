"""The rules' pages."""

from __future__ import annotations

import re

from advisor.engine.documentation import index_page, proposal_text, render_rule_pages
from advisor.engine.rule import HEADINGS
from advisor.engine.units import MIB
from advisor.mysql.proposal import Investigate, SetMetricCounters, SetVariable, UpgradeAdvice
from advisor.rules import all_rules


def test_every_rule_has_a_page_with_its_headings_thresholds_and_judged_examples() -> None:
    pages = render_rule_pages(all_rules())
    assert set(pages) == {f"docs/rules/{rule.id}.md" for rule in all_rules()} | {"docs/rules/index.md"}
    for rule in all_rules():
        page = pages[f"docs/rules/{rule.id}.md"]
        assert all(f"## {heading}\n" in page for heading in HEADINGS)
        assert page.count("): **") >= 1  # A finding in its own words.
        assert page.count("): passed.") >= 1
        if rule.parameters is not None:
            assert all(f"| `{one.name}` |" in page for one in rule.parameters.described())


def test_the_index_links_to_every_page() -> None:
    linked = re.findall(r"\]\(([a-z.-]+)\.md\)", index_page(all_rules()))
    assert linked == [rule.id for rule in all_rules()]


def test_a_proposal_is_said_with_sizes_as_people_write_them() -> None:
    assert (
        proposal_text((SetVariable("innodb_log_file_size", 256 * MIB),)) == "proposes `innodb_log_file_size` = 256 MiB"
    )
    assert proposal_text((SetVariable("innodb_io_capacity", 800),)) == "proposes `innodb_io_capacity` = 800"
    assert proposal_text((SetMetricCounters(("b", "a")),)) == "proposes enable `a`, `b`"
    assert (
        proposal_text((UpgradeAdvice("8.4", ""), Investigate("x"))) == "proposes upgrade to 8.4, a person has to look"
    )
