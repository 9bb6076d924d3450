"""What holds for every rule, present and future."""

from __future__ import annotations

import re
from collections import Counter
from urllib.parse import urlsplit

import pytest

from advisor.engine.advice import prepare
from advisor.engine.evaluation import judge
from advisor.engine.outcome import Confidence, Finding, NotApplicable, NotEvaluated
from advisor.engine.recommendation import proposed_variables
from advisor.engine.rule import HEADINGS, Rule
from advisor.engine.scene import hours, scene, server_named
from advisor.engine.thresholds import Thresholds
from advisor.engine.units import GIB, MIB
from advisor.engine.wording import message_text
from advisor.mysql.catalogue import CATALOGUE
from advisor.rules import all_rules, rule_by_id

#: Where a reference may lead: the vendors' own sites, whose pages do not vanish with a blog.
VENDORS = {"dev.mysql.com", "www.mysql.com", "mariadb.com", "mariadb.org", "docs.percona.com", "www.percona.com"}

#: One server of each lineage that the rules distinguish.
SERVERS = (
    "mysql 5.7.22",
    "mysql 8.0.12",
    "mysql 8.0.33",
    "mysql 8.4.3",
    "mysql 9.7.4",
    "mysql 26.7.0",
    "percona 8.0.36",
    "mariadb 10.2.11",
    "mariadb 10.5.23",
    "mariadb 10.11.18",
    "mariadb 11.4.5",
    "mariadb 11.8.6",
    "mariadb 12.3.1",
)

each_rule = pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.id)


@each_rule
def test_headings_stand_in_order_and_say_something(rule: Rule) -> None:
    lines = rule.documentation.split("\n")
    places = [lines.index(heading) for heading in HEADINGS]
    assert places == sorted(places)
    assert all(len(rule.section(heading)) > 40 for heading in HEADINGS)
    assert rule.title
    assert len(rule.title) < 90


@each_rule
def test_an_id_is_a_topic_and_a_fault_with_hyphens(rule: Rule) -> None:
    assert re.fullmatch(r"[a-z]+\.[a-z]+(-[a-z]+)+", rule.id)


def test_ids_are_unique_and_found_by_id() -> None:
    assert [one for one, count in Counter(rule.id for rule in all_rules()).items() if count > 1] == []
    assert all(rule_by_id(rule.id) is rule for rule in all_rules())


@each_rule
def test_references_lead_to_the_vendors_over_https(rule: Rule) -> None:
    assert rule.references
    for reference in rule.references:
        parts = urlsplit(reference)
        assert parts.scheme == "https"
        assert parts.hostname in VENDORS


@each_rule
def test_thresholds_are_described(rule: Rule) -> None:
    if rule.parameters is None:
        return
    assert isinstance(rule.parameters, Thresholds)
    described = rule.parameters.described()
    assert described
    assert all(one.meaning for one in described)


@each_rule
def test_what_fires_strictly_fires_with_the_thresholds_of_an_open_finding_too(rule: Rule) -> None:
    if not isinstance(rule.parameters, Thresholds):
        return
    relaxed = {rule.id: rule.parameters.while_open()}
    for example in rule.examples:
        if example.outcome is Finding:
            outcome = judge(example.seen, [rule], thresholds=relaxed, strict=True).outcome(rule.id)
            assert isinstance(outcome, Finding), example.title


@each_rule
@pytest.mark.parametrize("server", SERVERS)
def test_no_rule_breaks_on_any_lineage(rule: Rule, server: str) -> None:
    for load in (0.0, 3_000_000.0):
        seen = scene(server, redo_per_second=load, pressure=[0.3, 1.0], deliberate=True)
        outcome = judge(seen, [rule], strict=True).outcome(rule.id)
        assert isinstance(outcome, NotApplicable) or rule.applies_to.contains(seen.server)


@each_rule
def test_a_server_without_any_data_is_not_evaluated_and_never_passes_by_absence(rule: Rule) -> None:
    seen = scene("mysql 5.7.22", seconds=0, age_readable=False)
    empty = type(seen)(
        snapshot=type(seen.snapshot)(
            taken_at=0.0,
            server_clock=0.0,
            uptime_seconds=5,
            identity=seen.snapshot.identity,
            variables={},
            status={},
        )
    )
    outcome = judge(empty, [rule], strict=True).outcome(rule.id)
    assert isinstance(outcome, NotEvaluated | NotApplicable), outcome


@each_rule
def test_everything_a_rule_raises_is_something_it_proposes(rule: Rule) -> None:
    proposed: set[str] = set()
    for example in rule.examples:
        outcome = judge(example.seen, [rule], strict=True).outcome(rule.id)
        if isinstance(outcome, Finding):
            proposed |= {name for item in outcome.items for name in proposed_variables(item.proposal)}
    assert rule.raises <= proposed, f"no example shows {rule.raises - proposed}"


def test_no_rule_but_the_one_about_durability_ever_proposes_a_durability_setting() -> None:
    durability = {"innodb_flush_log_at_trx_commit", "sync_binlog", "innodb_doublewrite"}
    for rule in all_rules():
        for example in rule.examples:
            outcome = judge(example.seen, [rule], strict=True).outcome(rule.id)
            if isinstance(outcome, Finding) and rule.topic != "durability":
                for item in outcome.items:
                    assert not durability & set(proposed_variables(item.proposal))


def test_no_document_of_a_rule_names_a_variable_of_another_flavor_as_its_proposal() -> None:
    mariadb = [
        example
        for rule in all_rules()
        for example in rule.examples
        if example.seen.server.is_mariadb and example.outcome is Finding
    ]
    assert mariadb
    for example in mariadb:
        assert "innodb_redo_log_capacity" not in example.proposes


@each_rule
def test_every_proposal_can_be_written_for_the_server_of_its_example(rule: Rule) -> None:
    for example in rule.examples:
        judgement = judge(example.seen, [rule], strict=True)
        for prepared in prepare(example.seen, judgement).recommendations:
            assert prepared.refused == "", example.title
            assert prepared.rendered.changes, example.title


@each_rule
def test_what_is_proposed_is_known_of_every_version_that_the_rule_applies_to(rule: Rule) -> None:
    """Which of two spellings a version has is the fact's business, so one of the proposed names has to be there."""
    proposed = {name for example in rule.examples for name in example.proposes}
    for server in SERVERS:
        version = server_named(server)
        if proposed and rule.applies_to.contains(version):
            assert any(CATALOGUE.find(name, version) is not None for name in proposed), server


def test_all_nine_servers_that_were_asked_are_verified_and_a_calendar_version_is_not() -> None:
    rule = rule_by_id("redo.redo-log-undersized")

    def confidence(server: str, variable: str) -> Confidence:
        seen = scene(
            server,
            {variable: GIB},
            redo_per_second=2 * MIB,
            pressure=[1.0],
            digests=hours(24, redo_per_hour=10 * GIB, pressure=0.9, capacity_bytes=GIB, at_limit_ratio=0.1),
        )
        return judge(seen, [rule], strict=True).recommendations[0].confidence

    assert confidence("mysql 9.7.4", "innodb_redo_log_capacity") is Confidence.HIGH
    assert confidence("mariadb 11.8.6", "innodb_log_file_size") is Confidence.HIGH
    assert confidence("mysql 26.7.0", "innodb_redo_log_capacity") is Confidence.LOW
    assert confidence("percona 8.0.36", "innodb_redo_log_capacity") is Confidence.LOW


@each_rule
def test_titles_read_as_sentences(rule: Rule) -> None:
    """ "5 per second threads are created" is none: a rate in the middle of a sentence is "5 threads a second"."""
    for example in rule.examples:
        outcome = judge(example.seen, [rule], strict=True).outcome(rule.id)
        for item in outcome.items if isinstance(outcome, Finding) else ():
            told = message_text(item.message)
            assert not re.search(r"per second (?!by |of |to )[a-z]", told), told
            assert not re.search(r"[^.]\.$", told), told
