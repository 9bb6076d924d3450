"""What the pages about rules show, read from the rules."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from advisor.engine.evaluation import judge
from advisor.engine.outcome import Finding, NotApplicable, NotEvaluated, Passed
from advisor.engine.rule import HEADINGS, Example, Rule
from advisor.engine.thresholds import Thresholds
from advisor.recommendations.models import Recommendation
from advisor.recommendations.states import PENDING
from advisor.rules import all_rules
from advisor.teams.models import Team
from advisor.ui import messages, quantities

# The headings of all rules' documentation, named here so that they are found for translation.
_NAMES = (gettext_noop("Why it matters"), gettext_noop("How it is computed"), gettext_noop("When to dismiss it"))
#: The topics, which are package names, in words.
TOPICS = {
    "redo": gettext_noop("Redo log"),
    "flushing": gettext_noop("Flushing"),
    "buffer_pool": gettext_noop("Buffer pool"),
    "buffer-pool": gettext_noop("Buffer pool"),
    "durability": gettext_noop("Durability"),
    "instruments": gettext_noop("Instruments"),
    "observability": gettext_noop("Instruments"),
    "server": gettext_noop("Server"),
    "version": gettext_noop("Version"),
}


@dataclass(frozen=True)
class Topic:
    name: str
    rules: list[Rule]


def by_topic() -> list[Topic]:
    """All rules by topic, in the order of their ids."""
    topics: dict[str, list[Rule]] = {}
    for rule in all_rules():
        topics.setdefault(rule.topic, []).append(rule)
    return [Topic(topic_name(topic), rules) for topic, rules in topics.items()]


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
    examples: list[Ran]


def document(rule: Rule) -> Document:
    """Everything the rule says of itself."""
    return Document(
        topic=topic_name(rule.topic),
        sections=[(_(heading), _paragraphs(rule.section(heading))) for heading in HEADINGS],
        applies_to=rule.applies_to_text,
        reads=[(_first_line(fact), list(fact.reads)) for fact in rule.needs.values()],
        parameters=_parameters(rule.parameters),
        examples=[_run(rule, example) for example in rule.examples],
    )


def _paragraphs(text: str) -> list[list[tuple[str, bool]]]:
    """Paragraphs as runs of (text, emphasised): the documentation marks single words with asterisks."""
    return [_runs(" ".join(part.split())) for part in text.split("\n\n") if part.strip()]


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


def _run(rule: Rule, example: Example) -> Ran:
    """Executed at the moment it is shown, so that the page cannot claim what the rule does not do."""
    outcome = judge(example.seen, [rule]).outcome(rule.id)
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
