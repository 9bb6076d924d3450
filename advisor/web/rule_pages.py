"""What the pages about rules show, read from the rules."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from advisor.engine.declared import reads_of
from advisor.engine.evaluation import judge
from advisor.engine.outcome import Finding, NotApplicable, NotEvaluated, Outcome, Passed, PriceKind
from advisor.engine.rule import HEADINGS, Example, Rule
from advisor.engine.thresholds import Thresholds
from advisor.recommendations.models import Recommendation, RuleSetting, State
from advisor.recommendations.states import PENDING
from advisor.rules import all_rules
from advisor.rules.outside import from_packages
from advisor.teams import access
from advisor.teams.models import Team
from advisor.teams.roles import Action
from advisor.ui import messages, quantities

# The headings of all rules' documentation, named here so that they are found for translation.
_NAMES = (gettext_noop("Why it matters"), gettext_noop("How it is computed"), gettext_noop("When to dismiss it"))
#: The topics, which are package names, in words.
TOPICS = {
    "binlog": gettext_noop("Binary log"),
    "caches": gettext_noop("Table caches and files"),
    "connections": gettext_noop("Connections and threads"),
    "durability": gettext_noop("Durability"),
    "engines": gettext_noop("Storage engines"),
    "flushing": gettext_noop("Flushing"),
    "galera": gettext_noop("Galera cluster"),
    "group": gettext_noop("Group Replication"),
    "locks": gettext_noop("Locks and transactions"),
    "logging": gettext_noop("Logs"),
    "memory": gettext_noop("Buffer pool and memory"),
    "observability": gettext_noop("Instruments"),
    "optimizer": gettext_noop("Optimizer"),
    "querycache": gettext_noop("Query cache"),
    "redo": gettext_noop("Redo log"),
    "replication": gettext_noop("Replication"),
    "schema": gettext_noop("Schema"),
    "security": gettext_noop("Security"),
    "statements": gettext_noop("Statements"),
    "temporary": gettext_noop("Temporary tables"),
    "version": gettext_noop("Version"),
}


#: What people come for stands first.
_FIRST = ("redo", "flushing", "memory", "durability", "replication")


@dataclass(frozen=True)
class Topic:
    """A topic's name and its rules, each with what the reader's teams made of it: "", "off" or "changed"."""

    name: str
    rules: list[tuple[Rule, str]]


def by_topic(changed: Mapping[str, str]) -> list[Topic]:
    """All rules by topic, what this product is about first, then by name; the rules in the order of their ids."""
    topics: dict[str, list[tuple[Rule, str]]] = {}
    for rule in all_rules():
        topics.setdefault(rule.topic, []).append((rule, changed.get(rule.id, "")))
    order = sorted(topics, key=lambda topic: (_FIRST.index(topic) if topic in _FIRST else len(_FIRST), topic))
    return [Topic(topic_name(topic), topics[topic]) for topic in order]


def topic_name(topic: str) -> str:
    known = TOPICS.get(topic)
    return _(known) if known else topic.replace("-", " ").replace("_", " ").capitalize()


@dataclass(frozen=True)
class Ran:
    """An example, executed now: what the rule says of it, and in which words."""

    title: str
    outcome: str
    words: list[str]


@dataclass(frozen=True)
class Document:
    """A rule's page."""

    topic: str
    sections: list[tuple[str, list[list[tuple[str, bool]]]]]
    applies_to: tuple[str, ...]
    reads: list[tuple[str, list[str]]]
    parameters: list[tuple[str, str, str]]
    proposes: list[str]
    prices: list[tuple[str, str]]
    examples: list[Ran]


def document(rule: Rule) -> Document:
    """Everything the rule says of itself. Its examples are executed now, so that it claims only what it does."""
    outcomes = [judge(example.seen, [rule]).outcome(rule.id) for example in rule.examples]
    return Document(
        topic=topic_name(rule.topic),
        sections=[(_(heading), _paragraphs(rule.section(heading))) for heading in HEADINGS],
        applies_to=rule.applies_to_text,
        reads=[(_first_line(fact), list(reads_of(fact))) for fact in rule.needs.values()],
        parameters=_parameters(rule.parameters),
        proposes=sorted({name for example in rule.examples for name in example.proposes}),
        prices=_prices(outcomes),
        examples=[_ran(example, outcome) for example, outcome in zip(rule.examples, outcomes, strict=True)],
    )


#: Kinds of prices in words.
_PRICES = {
    PriceKind.MEMORY: gettext_noop("memory"),
    PriceKind.DISK: gettext_noop("disk"),
    PriceKind.RECOVERY_TIME: gettext_noop("recovery time"),
    PriceKind.DURABILITY: gettext_noop("durability"),
    PriceKind.WRITE_LATENCY: gettext_noop("write latency"),
    PriceKind.READ_LATENCY: gettext_noop("read latency"),
    PriceKind.DISK_WRITES: gettext_noop("disk writes"),
    PriceKind.RESTART: gettext_noop("restart"),
    PriceKind.OVERHEAD: gettext_noop("overhead"),
}


def _prices(outcomes: Iterable[Outcome]) -> list[tuple[str, str]]:
    """What the proposals of the examples cost: the kind and its sentence, each once."""
    found: dict[tuple[str, str], None] = {}
    for outcome in outcomes:
        for item in outcome.items if isinstance(outcome, Finding) else ():
            found.update({(_(_PRICES[one.kind]), messages.text_of(one.message)): None for one in item.price})
    return list(found)


def _paragraphs(text: str) -> list[list[tuple[str, bool]]]:
    """Paragraphs as runs of (text, emphasised): the documentation marks single words with asterisks."""
    parts = (" ".join(part.split()) for part in text.split("\n\n"))
    return [_runs(messages.gettext_or_same(part)) for part in parts if part]


def _runs(text: str) -> list[tuple[str, bool]]:
    pieces = re.split(r"(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])", text)
    return [(piece, i % 2 == 1) for i, piece in enumerate(pieces) if piece]


def _first_line(kind: type) -> str:
    return (inspect.getdoc(kind) or kind.__name__).split("\n", 1)[0].rstrip(".")


def _parameters(parameters: Thresholds | None) -> list[tuple[str, str, str]]:
    """Name, value with unit, and meaning of each threshold."""
    if parameters is None:
        return []
    return [
        (one.name, quantities.quantity(getattr(parameters, one.name), one.unit), one.meaning)
        for one in parameters.described()
    ]


def _ran(example: Example, outcome: Outcome) -> Ran:
    """What an example led to, in words."""
    if isinstance(outcome, Finding):
        return Ran(example.title, "finding", [messages.text_of(item.message) for item in outcome.items])
    if isinstance(outcome, Passed):
        words = [f"{_(one.name)}: {quantities.quantity(one.value, one.unit)}" for one in outcome.evidence[:4]]
        return Ran(example.title, "passed", words)
    if isinstance(outcome, NotApplicable):
        return Ran(example.title, "not_applicable", [messages.text_of(outcome.why)])
    assert isinstance(outcome, NotEvaluated)
    return Ran(example.title, "not_evaluated", [one.what for one in outcome.missing])


def where_it_is_open(rule_id: str, teams: QuerySet[Team]) -> list[Recommendation]:
    """The reader's servers on which this rule has something open now."""
    rows = Recommendation.objects.filter(
        rule=rule_id, state__in=PENDING, server__team__in=teams.order_by().values("pk")
    ).select_related("server")
    return list(rows.order_by("-severity_rank", "opened_at")[:50])


@dataclass(frozen=True)
class History:
    """How often the rule fired on the reader's servers, and what became of it."""

    fired: int
    open: int
    resolved: int
    dismissed: int
    applied: int


def history(rule_id: str, teams: QuerySet[Team]) -> History:
    """Counted from the recommendations that this rule leads or was joined into; each return counts once."""
    counted = Counter(
        Recommendation.objects.filter(rule=rule_id, server__team__in=teams.order_by().values("pk"))
        .order_by()
        .values_list("state", flat=True)
    )
    return History(
        fired=sum(counted.values()),
        open=sum(counted[state] for state in PENDING),
        resolved=counted[State.RESOLVED],
        dismissed=counted[State.DISMISSED],
        applied=counted[State.APPLIED],
    )


@dataclass(frozen=True)
class SettingShown:
    """A team's setting of a rule, and whether the reader may take it back."""

    setting: RuleSetting
    thresholds: list[tuple[str, str]]
    may_clear: bool


def settings_of(rule_id: str, user: Any) -> list[SettingShown]:
    """What the reader's teams made of the rule."""
    rows = access.visible(user, RuleSetting.objects.filter(rule=rule_id)).select_related("team", "changed_by")
    may = {team.pk: access.access_to(user, team.pk) for team in access.teams_of(user)}
    rule = next((one for one in all_rules() if one.id == rule_id), None)
    units = {one.name: one.unit for one in rule.parameters.described()} if rule and rule.parameters else {}
    return [
        SettingShown(
            row,
            [
                (name, quantities.quantity(value, units[name]))
                for name, value in row.thresholds.items()
                if name in units
            ],
            bool((mine := may.get(row.team_id)) and mine.may(Action.SET_RULES)),
        )
        for row in rows
    ]


def settable_teams(user: Any) -> list[Team]:
    """The teams in which the reader may set rules."""
    return [
        team for team in access.teams_of(user) if (may := access.access_to(user, team.pk)) and may.may(Action.SET_RULES)
    ]


def changed_rules(teams: QuerySet[Team]) -> dict[str, str]:
    """Rules that some of the reader's teams set, by id: "off" where one of the settings switches it off."""
    found: dict[str, str] = {}
    for rule_id, off in RuleSetting.objects.filter(team__in=teams.order_by().values("pk")).values_list("rule", "off"):
        found[rule_id] = "off" if off or found.get(rule_id) == "off" else "changed"
    return found


def refused() -> dict[str, str]:
    """Rules of other installed packages that could not be used, and why."""
    return from_packages().refused
