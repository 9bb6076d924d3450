"""The rules' documentation as Markdown: rendered from the rules, their examples judged while it is written.

A page says what the rule's docstring says, and beside it what follows from the rule itself: where it applies, what
it reads, its thresholds, and what it says of its examples. So no page can say what the rule does not do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from advisor.engine.declared import reads_of
from advisor.engine.evaluation import judge
from advisor.engine.outcome import Finding, Outcome, PriceKind
from advisor.engine.recommendation import proposed_metrics
from advisor.engine.rule import HEADINGS, Rule
from advisor.engine.scene import server_named
from advisor.engine.thresholds import Thresholds
from advisor.engine.units import Quantity, Unit
from advisor.engine.wording import message_text, quantity_text
from advisor.mysql.catalogue import CATALOGUE
from advisor.mysql.proposal import Investigate, Proposal, SchemaAdvice, SetVariable, UpgradeAdvice
from advisor.mysql.values import as_printed, human_size


def render_rule_pages(rules: Sequence[Rule]) -> dict[str, str]:
    """Path (from the checkout's root) to text: an index and a page for each rule."""
    pages = {f"docs/rules/{rule.id}.md": rule_page(rule) for rule in rules}
    pages["docs/rules/index.md"] = index_page(rules)
    return pages


def index_page(rules: Sequence[Rule]) -> str:
    """All rules in a table."""
    lines = [
        "# Rules",
        "",
        "Each rule says exactly one of four things of a server: a finding, passed, not applicable, or not evaluated",
        "with what is missing. Their pages are rendered from the rules; the examples on them are judged meanwhile.",
        "",
        "| rule | what it finds | severity | applies to | since |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| [{rule.id}]({rule.id}.md) | {rule.title} | {rule.severity.value} | {_versions(rule)} | {rule.since} |"
        for rule in rules
    ]
    return "\n".join(lines) + "\n"


def rule_page(rule: Rule) -> str:
    """One rule's page."""
    lines = [f"# {rule.title}", "", f"`{rule.id}` · {rule.severity.value} · {_versions(rule)} · since {rule.since}", ""]
    for heading in HEADINGS:
        lines += [f"## {heading}", "", rule.section(heading), ""]
    reads = sorted({source for fact in rule.needs.values() for source in reads_of(fact)})
    if reads:
        lines += ["## What it reads", "", *(f"- {source}" for source in reads), ""]
    lines += _proposes(rule)
    outcomes = [judge(example.seen, [rule], strict=True).outcome(rule.id) for example in rule.examples]
    prices = prices_of(outcomes)
    if prices:
        lines += [
            "## What it may cost",
            "",
            *(f"- {kind.value.replace('_', ' ')}: {words}" for kind, words in prices),
            "",
        ]
    if isinstance(rule.parameters, Thresholds):
        lines += ["## Thresholds", ""]
        lines += ["| name | value | an open finding is left at | meaning |", "|---|---|---|---|"]
        for one in rule.parameters.described():
            left = "" if one.leave_at == one.value else _figure(one.leave_at, one.unit)
            lines.append(f"| `{one.name}` | {_figure(one.value, one.unit)} | {left} | {one.meaning} |")
        lines.append("")
    lines += ["## Examples", ""]
    for example, outcome in zip(rule.examples, outcomes, strict=True):
        lines += [f"- {example.title} ({example.seen.server}): {_verdict(outcome)}"]
    lines += ["", "## References", "", *(f"- <{reference}>" for reference in rule.references)]
    return "\n".join(lines) + "\n"


#: The servers whose system variables the catalogue was asked of: for these the page says how a value is changed.
_ASKED = (
    "mysql 5.7.22",
    "mysql 8.0.12",
    "mysql 8.0.33",
    "mysql 9.7.4",
    "mariadb 10.2.11",
    "mariadb 10.5.23",
    "mariadb 10.11.18",
    "mariadb 11.4.5",
    "mariadb 11.8.6",
)


def _proposes(rule: Rule) -> list[str]:
    """Which variables the examples propose, and where changing them needs a restart, by the catalogue."""
    names = sorted({name for example in rule.examples for name in example.proposes})
    if not names:
        return []
    lines = ["## What it proposes", "", "| variable | dynamic on | needs a restart on |", "|---|---|---|"]
    servers = [server for server in map(server_named, _ASKED) if rule.applies_to.contains(server)]
    for name in names:
        # Where a variable has a successor, the successor is what is proposed.
        known = [(str(server), facts) for server in servers if (facts := CATALOGUE.find(name, server)) is not None]
        dynamic = [server for server, facts in known if facts.dynamic and facts.replaced_by is None]
        restart = [server for server, facts in known if not facts.dynamic and facts.replaced_by is None]
        lines.append(f"| `{name}` | {', '.join(dynamic)} | {', '.join(restart)} |")
    return [*lines, ""]


def prices_of(outcomes: Iterable[Outcome]) -> list[tuple[PriceKind, str]]:
    """What the proposals of the examples cost, each kind and sentence once."""
    found: dict[tuple[PriceKind, str], None] = {}
    for outcome in outcomes:
        for item in outcome.items if isinstance(outcome, Finding) else ():
            found.update({(price.kind, message_text(price.message)): None for price in item.price})
    return list(found)


def _versions(rule: Rule) -> str:
    return ", ".join(rule.applies_to_text)


def _figure(value: float, unit: Unit) -> str:
    return quantity_text(Quantity(value, unit))


def _verdict(outcome: Outcome) -> str:
    """What the rule says of its example, in a sentence."""
    if not isinstance(outcome, Finding):
        return "passed."
    return " ".join(f"**{message_text(item.message)}**; {proposal_text(item.proposal)}." for item in outcome.items)


def _in_bytes(variable: str) -> bool:
    """Whether any server counts this variable in bytes."""
    known = (CATALOGUE.find(variable, server_named(server)) for server in _ASKED)
    return any(facts is not None and facts.unit == "bytes" for facts in known)


def proposal_text(proposal: Proposal) -> str:
    """What a proposal suggests, without being written for one server."""
    parts = []
    for change in proposal:
        if isinstance(change, SetVariable):
            size = isinstance(change.value, int) and _in_bytes(change.name)
            value = human_size(float(change.value)) if size else as_printed(change.value)
            parts.append(f"`{change.name}` = {value}")
        elif isinstance(change, UpgradeAdvice):
            parts.append(f"upgrade to {change.to_version}")
        elif isinstance(change, Investigate | SchemaAdvice):
            parts.append("a person has to look")
    counters = sorted(proposed_metrics(proposal))
    if counters:
        parts.append("enable " + ", ".join(f"`{name}`" for name in counters))
    return "proposes " + ", ".join(parts)
