"""What changed between two pieces of advice for one server: for ``advise --save`` and ``--diff``."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from advisor.engine.advice import WIDTH
from advisor.mysql.values import same

FORMAT = "tidemark-advice"
FORMAT_NUMBER = 1


class NotAdvice(ValueError):
    """The file is not what ``--save`` wrote, or was written by a newer program; the message says which."""


def saved(document: Mapping[str, Any], variables: Mapping[str, str]) -> dict[str, Any]:
    """What ``--save`` writes: the advice, and the settings it was given for."""
    return {"format": FORMAT, "number": FORMAT_NUMBER, "advice": dict(document), "variables": dict(variables)}


@dataclass(frozen=True)
class Difference:
    """What is different now. Recommendations by key with their titles; settings with both values."""

    another_server: bool
    score: tuple[int | None, int | None]
    opened: Mapping[str, str] = field(default_factory=dict)
    gone: Mapping[str, str] = field(default_factory=dict)
    changed: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    outcomes: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    variables: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        return not (self.opened or self.gone or self.changed or self.outcomes or self.variables)


@dataclass(frozen=True)
class SavedAdvice:
    """What ``saved`` wrote, read back: recommendations by key, outcomes by rule, settings, who it was and the score."""

    recommendations: Mapping[str, Mapping[str, Any]]
    outcomes: Mapping[str, str]
    variables: Mapping[str, str]
    identity: str
    score: int | None


def read_saved(text: str) -> SavedAdvice:
    """Reads what ``saved`` wrote, as JSON. Raises NotAdvice, and ValueError for what is no JSON."""
    data = json.loads(text)
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise NotAdvice("The file was not written by advise --save.")
    if data.get("number") != FORMAT_NUMBER:
        raise NotAdvice(f"The file has format {data.get('number')}, this program knows {FORMAT_NUMBER}.")
    try:
        advice = data["advice"]
        return SavedAdvice(
            recommendations={one["key"]: one for one in advice["recommendations"]},
            outcomes={one["rule"]: one["outcome"] for one in advice["outcomes"]},
            variables=data["variables"],
            identity=advice["server"]["identity"],
            score=(advice.get("score") or {}).get("value"),
        )
    except (KeyError, TypeError) as error:
        raise NotAdvice(f"The file is damaged: {error} is missing.") from None


def compare(before: SavedAdvice, document: Mapping[str, Any], variables: Mapping[str, str]) -> Difference:
    """What changed since ``saved`` was written."""
    were, outcomes_were, old_variables = before.recommendations, before.outcomes, before.variables
    are = {one["key"]: one for one in document["recommendations"]}
    outcomes_are = {one["rule"]: one["outcome"] for one in document["outcomes"]}
    told = set(were) | set(are)
    return Difference(
        another_server=before.identity != document["server"]["identity"],
        score=(before.score, (document.get("score") or {}).get("value")),
        opened={key: are[key]["title"] for key in are if key not in were},
        gone={key: were[key]["title"] for key in were if key not in are},
        changed={
            key: (_gist(were[key]), _gist(are[key]))
            for key in are
            if key in were and _gist(were[key]) != _gist(are[key])
        },
        outcomes={
            rule: (outcomes_were[rule], outcome)
            for rule, outcome in outcomes_are.items()
            if rule in outcomes_were
            and outcomes_were[rule] != outcome
            and not any(key == rule or key.startswith(f"{rule}:") for key in told)
        },
        variables={
            name: (str(old_variables.get(name, "absent")), str(variables.get(name, "absent")))
            for name in sorted(set(old_variables) | set(variables))
            if not same(str(old_variables.get(name, "absent")), str(variables.get(name, "absent")))
        },
    )


def _gist(one: Mapping[str, Any]) -> str:
    """What of a recommendation counts as a change: how severe it is and what it proposes."""
    proposed = ", ".join(f"{each['name']} = {each['proposed']}" for each in one["changes"] if each.get("proposed"))
    return f"{one['severity']}: {proposed}" if proposed else str(one["severity"])


def difference_text(difference: Difference) -> str:
    """The difference for people."""
    if difference.is_empty and not difference.another_server:
        return "Nothing changed since.\n"
    lines = []
    if difference.another_server:
        lines.append("This is another server than the one whose advice was saved.")
    before, now = difference.score
    if before != now:
        lines.append(
            f"Health score {before if before is not None else 'unknown'} -> {now if now is not None else 'unknown'}"
        )
    for title, items in (
        ("New", difference.opened),
        ("Gone", difference.gone),
        ("Changed", {key: f"{was} -> {is_now}" for key, (was, is_now) in difference.changed.items()}),
        ("Outcomes", {rule: f"{was} -> {is_now}" for rule, (was, is_now) in difference.outcomes.items()}),
        ("Settings", {name: f"{was} -> {is_now}" for name, (was, is_now) in difference.variables.items()}),
    ):
        for index, (key, words) in enumerate(items.items()):
            lines += textwrap.wrap(
                f"{key}: {words}",
                WIDTH,
                initial_indent=f"{title if index == 0 else '':<10}",
                subsequent_indent=" " * 12,
                break_long_words=False,
                break_on_hyphens=False,
            )
    return "\n".join(lines) + "\n"


def difference_document(difference: Difference) -> dict[str, Any]:
    """The difference as a JSON-ready document."""
    before, now = difference.score
    return {
        "another_server": difference.another_server,
        "score": {"before": before, "now": now},
        "opened": dict(difference.opened),
        "gone": dict(difference.gone),
        **{
            name: {key: {"before": was, "now": is_now} for key, (was, is_now) in items.items()}
            for name, items in (
                ("changed", difference.changed),
                ("outcomes", difference.outcomes),
                ("variables", difference.variables),
            )
        },
    }
