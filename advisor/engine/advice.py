"""Advice for one server as a document: the JSON of the advice schema, and a text that a DBA would paste into a ticket.

Nothing is decided here. Values stand as the server prints them, statements as ``advisor.mysql.statements`` writes them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from advisor.engine.evaluation import Judged, Judgement
from advisor.engine.observation import HostFact, Observation
from advisor.engine.outcome import (
    Finding,
    Measured,
    Message,
    NotApplicable,
    NotEvaluated,
    Passed,
    Price,
    Severity,
    Window,
)
from advisor.engine.recommendation import Recommendation
from advisor.engine.score import Score, health_score, score_document
from advisor.engine.wording import measured_text, message_text, quantity_text, seconds_text
from advisor.mysql.proposal import Change, SetVariable
from advisor.mysql.snapshot import Remedy
from advisor.mysql.statements import BadProposal, Rendered, RenderedChange, render

SCHEMA = 1
WIDTH = 96

_OUTCOMES = {Finding: "finding", Passed: "passed", NotApplicable: "not_applicable", NotEvaluated: "not_evaluated"}


@dataclass(frozen=True)
class Effort:
    """What the observation cost the server: connections opened, statements sent, snapshots taken."""

    connections: int = 1
    statements: int = 0
    snapshots: int = 1


@dataclass(frozen=True)
class Tool:
    """Which program and which catalogue judged."""

    version: str = ""
    catalogue: str = ""


@dataclass(frozen=True)
class Prepared:
    """A recommendation with its proposal written for this very server; ``refused`` says why it could not be."""

    recommendation: Recommendation
    rendered: Rendered
    refused: str = ""


@dataclass(frozen=True)
class Advice:
    """A judgement with everything written out, ready to be printed in any form."""

    seen: Observation
    judgement: Judgement
    recommendations: tuple[Prepared, ...]
    effort: Effort = field(default_factory=Effort)
    tool: Tool = field(default_factory=Tool)


def prepare(
    seen: Observation,
    judgement: Judgement,
    *,
    effort: Effort | None = None,
    tool: Tool | None = None,
    persisted: Mapping[str, str] | None = None,
) -> Advice:
    """Writes every recommendation's proposal for this server. ``persisted`` as in ``statements.render``,
    by default what the snapshot holds.

    A proposal that cannot be written for this server keeps its recommendation, with the reason in place of statements.
    """
    return Advice(
        seen,
        judgement,
        tuple(_prepared(one, seen, persisted) for one in judgement.recommendations),
        effort or Effort(),
        tool or Tool(),
    )


def advice_document(
    judgement: Judgement,
    seen: Observation,
    *,
    effort: Effort | None = None,
    tool: Tool | None = None,
    persisted: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """``prepare`` and ``document`` in one: a judgement as the JSON of the advice schema."""
    return document(prepare(seen, judgement, effort=effort, tool=tool, persisted=persisted))


def _prepared(one: Recommendation, seen: Observation, persisted: Mapping[str, str] | None) -> Prepared:
    try:
        return Prepared(one, rendered(one.proposal, seen, persisted))
    except BadProposal as reason:
        return Prepared(one, Rendered(changes=tuple(_told(change, seen) for change in one.proposal)), str(reason))


def rendered(proposal: Sequence[Change], seen: Observation, persisted: Mapping[str, str] | None = None) -> Rendered:
    """A proposal written for the server that was seen. Raises BadProposal."""
    snapshot = seen.snapshot
    return render(
        proposal,
        snapshot.identity.version,
        snapshot.variables,
        snapshot.origins,
        status=snapshot.status,
        persisted=snapshot.persisted if persisted is None else persisted,
        enabled_metrics={name for name, metric in snapshot.metrics.items() if metric.enabled},
    )


def _told(change: Change, seen: Observation) -> RenderedChange:
    """What was wanted, where it could not be written."""
    if isinstance(change, SetVariable):
        return RenderedChange(
            "investigate", change.name, seen.snapshot.variables.get(change.name, ""), str(change.value)
        )
    return RenderedChange("investigate", advice=str(change))


def worst(judgement: Judgement) -> Severity | None:
    """The severity of the first recommendation: they are ordered."""
    return judgement.recommendations[0].severity if judgement.recommendations else None


def document(advice: Advice, *, with_score: bool = True) -> dict[str, Any]:
    """The advice as a JSON-ready document of the advice schema. ``with_score`` False where only some rules judged."""
    snapshot, window = advice.seen.snapshot, advice.seen.window
    version = snapshot.identity.version
    started_at = window.started_at if window else snapshot.taken_at
    ended_at = window.ended_at if window else snapshot.taken_at
    return {
        "schema": SCHEMA,
        "tool": {"version": advice.tool.version, "catalogue": advice.tool.catalogue},
        "server": {
            "flavor": version.flavor.value,
            "version": version.number_text,
            "distribution": version.distribution.value,
            "identity": snapshot.identity.fingerprint,
            "uptime_seconds": snapshot.uptime_seconds,
            "role": snapshot.identity.role,
        },
        "host": {
            name: {"value": fact.value, "origin": fact.origin} if fact else {"value": None, "origin": "unknown"}
            for name, fact in _host(advice.seen).items()
        },
        "observed": {
            "started_at": instant(started_at),
            "ended_at": instant(ended_at),
            "seconds": round(ended_at - started_at, 3),
            "snapshots": advice.effort.snapshots,
            "connections": advice.effort.connections,
            "statements": advice.effort.statements,
            "missing": [remedy.as_dict() for remedy in advice.judgement.missing],
        },
        "outcomes": [_outcome(judged) for judged in advice.judgement.outcomes],
        "recommendations": [recommendation_document(one) for one in advice.recommendations],
        "score": score_document(health_score(advice.judgement)) if with_score else None,
    }


def _host(seen: Observation) -> dict[str, HostFact | None]:
    host = seen.host
    return {
        "memory_bytes": host.memory_bytes,
        "cpus": host.cpus,
        "storage": host.storage,
        "free_disk_bytes": host.free_disk_bytes,
    }


def instant(at: float) -> str:
    """A unix instant as an ISO 8601 text in UTC, to the second."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


def _outcome(judged: Judged) -> dict[str, Any]:
    outcome = judged.outcome
    result: dict[str, Any] = {"rule": judged.rule.id, "outcome": _OUTCOMES[type(outcome)]}
    if isinstance(outcome, Finding):
        result["evidence"] = [evidence_document(figure) for item in outcome.items for figure in item.evidence]
    elif isinstance(outcome, Passed):
        result["evidence"] = [evidence_document(figure) for figure in outcome.evidence]
    elif isinstance(outcome, NotApplicable):
        result["why"] = message_text(outcome.why)
    else:
        result["missing"] = [remedy.as_dict() for remedy in outcome.missing]
    return result


def evidence_document(figure: Measured) -> dict[str, Any]:
    """One figure as the schema has it; ``worse`` only where it gets worse by falling."""
    return {
        "name": figure.name,
        "value": figure.value,
        "unit": figure.unit.value,
        "window": _window(figure.window),
        "source": figure.source,
        **({"worse": "lower"} if figure.lower_is_worse else {}),
    }


def _window(window: Window | None) -> dict[str, str] | None:
    return None if window is None else {"started_at": instant(window.started_at), "ended_at": instant(window.ended_at)}


def recommendation_document(prepared: Prepared) -> dict[str, Any]:
    """One recommendation as the schema has it."""
    one, text = prepared.recommendation, prepared.rendered
    return {
        "rule": one.rule,
        "rules": list(one.rules),
        "severity": one.severity.value,
        "confidence": one.confidence.value,
        "confidence_why": message_text(one.confidence_why) if one.confidence_why else None,
        "title": message_text(one.message),
        "subject": one.subject,
        "evidence": [evidence_document(figure) for figure in one.evidence],
        "changes": [change_document(change) for change in text.changes],
        "sql": list(text.sql),
        "option_file": list(text.option_file),
        "undo": list(text.undo),
        "undo_option_file": list(text.undo_option_file),
        "parameters": list(text.parameters),
        "undo_parameters": list(text.undo_parameters),
        "needs_restart": text.needs_restart,
        "price": [price_document(price) for price in one.price],
        "expected": message_text(one.expected) if one.expected else None,
        "would_change_our_mind": message_text(one.would_change_our_mind) if one.would_change_our_mind else None,
        "notes": [*text.notes, *([prepared.refused] if prepared.refused else [])],
        "overruled": [{"rule": other.rule, "title": message_text(other.message)} for other in one.overruled],
        "references": list(one.references),
        "key": one.key,
        "words": {
            name: message_document(message)
            for name, message in (
                ("title", one.message),
                ("confidence_why", one.confidence_why),
                ("expected", one.expected),
                ("would_change_our_mind", one.would_change_our_mind),
            )
            if message is not None
        },
    }


def message_document(message: Message) -> dict[str, Any]:
    """A message with its typed values, for readers of other languages: the same words stand in English beside it."""
    return {
        "text": message.text,
        "values": {
            name: {"value": quantity.value, "unit": quantity.unit.value} for name, quantity in message.values.items()
        },
    }


def change_document(change: RenderedChange) -> dict[str, Any]:
    """One change as the schema has it; values as the server prints them."""
    if change.kind == "variable":
        return {
            "kind": change.kind,
            "name": change.name,
            "current": change.current,
            "proposed": change.proposed,
            "needs_restart": change.needs_restart,
            "effect": change.effect,
        }
    told = {"name": change.name, "current": change.current, "proposed": change.proposed, "advice": change.advice}
    return {"kind": change.kind, **{name: value for name, value in told.items() if value}}


def price_document(price: Price) -> dict[str, Any]:
    """One item of a price: kind, words, and both figures where both are known."""
    result: dict[str, Any] = {
        "kind": price.kind.value,
        "text": message_text(price.message),
        "words": message_document(price.message),
    }
    for name, quantity in (("before", price.before), ("after", price.after)):
        if quantity is not None:
            result[name] = {"value": quantity.value, "unit": quantity.unit.value}
    return result


_SYMBOLS = {Severity.CRITICAL: "CRITICAL", Severity.WARNING: "WARNING", Severity.NOTICE: "NOTICE"}


def text(advice: Advice, *, with_score: bool = True) -> str:
    """The advice for people: what to do first, then what was fine, then what could not be told and why."""
    snapshot, window = advice.seen.snapshot, advice.seen.window
    lines = [
        f"{snapshot.identity.version}, up {seconds_text(snapshot.uptime_seconds)}"
        + (f", {snapshot.identity.role}" if snapshot.identity.role != "unknown" else ""),
    ]
    if window is not None:
        began = datetime.fromtimestamp(window.started_at, UTC)
        effort = advice.effort
        lines.append(
            f"Observed {began:%Y-%m-%d %H:%M:%S} UTC for {seconds_text(window.seconds)}: {window.intervals} intervals, "
            f"{effort.statements} statements, {effort.connections} connection{'s' if effort.connections != 1 else ''}"
        )
    if not advice.recommendations:
        lines += ["", "No recommendations."]
    for number, prepared in enumerate(advice.recommendations, 1):
        lines += ["", *_recommendation_lines(number, prepared)]
    if with_score:
        lines += _score_lines(health_score(advice.judgement))
    lines += _rest(advice.judgement)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _wrapped(label: str, words: str) -> list[str]:
    return textwrap.wrap(
        words,
        WIDTH,
        initial_indent=f"   {label:<12}",
        subsequent_indent=" " * 15,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _recommendation_lines(number: int, prepared: Prepared) -> list[str]:
    one, written = prepared.recommendation, prepared.rendered
    lines = textwrap.wrap(
        f"{number}. {_SYMBOLS[one.severity]}  {message_text(one.message)}", WIDTH, subsequent_indent="   "
    )
    lines += _wrapped("Rule", f"{', '.join(one.rules)} (confidence {one.confidence.value})")
    for line in _change_lines(written.changes):
        lines += _wrapped("Change", line)
    for other in one.overruled:
        lines += _wrapped("Instead of", f"{message_text(other.message)} ({other.rule})")
    for index, figure in enumerate(one.evidence):
        lines += _wrapped("Evidence" if index == 0 else "", measured_text(figure))
    for index, price in enumerate(one.price):
        lines += _wrapped("Price" if index == 0 else "", _price_text(price))
    if one.expected:
        lines += _wrapped("Expected", message_text(one.expected))
    if one.would_change_our_mind:
        lines += _wrapped("Unless", message_text(one.would_change_our_mind))
    for label, statements, end in (
        ("SQL", written.sql, ";"),
        ("Undo", written.undo, ";"),
        ("Option file", written.option_file, ""),
        ("Parameters", written.parameters, ""),
        ("Undo", written.undo_parameters, ""),
        ("Undo there", written.undo_option_file if not written.sql else (), ""),
    ):
        for index, statement in enumerate(statements):
            # Never wrapped: what is pasted has to be whole.
            lines.append(f"   {label if index == 0 else '':<12}{statement}{end}")
    if written.needs_restart:
        what = "these parameters" if written.parameters else "the option-file lines"
        lines += _wrapped("Note", f"Takes effect after a restart with {what}.")
    for note in [*written.notes, *([prepared.refused] if prepared.refused else [])]:
        lines += _wrapped("Note", note)
    return lines


_SWITCHES = {"metric": "innodb_metrics counters", "instrument": "instruments", "consumer": "consumers"}


def _change_lines(changes: Sequence[RenderedChange]) -> list[str]:
    """A line for each change; switches that go the same way share one."""
    lines: list[str] = []
    switched: dict[tuple[str, str], list[str]] = {}
    for change in changes:
        if change.kind in _SWITCHES:
            switched.setdefault((change.kind, change.proposed), []).append(change.name)
        elif change.kind == "variable":
            how = "needs a restart" if change.needs_restart else "dynamic"
            if change.effect == "new_connections":
                how += ", for new connections"
            lines.append(f"{change.name}: {change.current} -> {change.proposed} ({how})")
        elif change.kind == "upgrade":
            lines.append(f"upgrade to {change.proposed}: {change.advice}".removesuffix(": "))
        else:
            lines.append(change.advice or f"{change.name}: {change.current} -> {change.proposed}")
    for (kind, state), names in switched.items():
        word = {"true": "on", "false": "off"}.get(state, state)
        lines.append(f"switch {word} the {_SWITCHES[kind]} {', '.join(names)}")
    return lines


def _price_text(price: Price) -> str:
    words = message_text(price.message)
    if price.before is not None and price.after is not None:
        return f"{words} ({quantity_text(price.before)} -> {quantity_text(price.after)})"
    return words


def _score_lines(score: Score) -> list[str]:
    if score.value is None:
        return []
    lines = ["", f"Health score {score.value} of 100; {score.judged_ratio:.0%} of the rules that apply could be judged"]
    lines += textwrap.wrap(
        score.arithmetic, WIDTH, initial_indent="   ", subsequent_indent="   ", break_on_hyphens=False
    )
    return lines


def _rest(judgement: Judgement) -> list[str]:
    lines: list[str] = []
    passed = [judged.rule.id for judged in judgement.outcomes if isinstance(judged.outcome, Passed)]
    if passed:
        lines += ["", f"Passed ({len(passed)}; --explain RULE shows the figures)"]
        lines += textwrap.wrap(
            ", ".join(passed), WIDTH, initial_indent="   ", subsequent_indent="   ", break_on_hyphens=False
        )
    waiting: dict[Remedy, list[str]] = {}
    for judged in judgement.outcomes:
        if isinstance(judged.outcome, NotEvaluated):
            for remedy in judged.outcome.missing:
                waiting.setdefault(remedy, []).append(judged.rule.id)
    if waiting:
        lines += ["", f"Not evaluated ({sum(isinstance(one.outcome, NotEvaluated) for one in judgement.outcomes)})"]
        for remedy, rules in waiting.items():
            lines += textwrap.wrap(
                f"{', '.join(rules)}: {remedy.what}. {remedy.text}",
                WIDTH,
                initial_indent="   ",
                subsequent_indent="      ",
                break_on_hyphens=False,
            )
    others = [judged.rule.id for judged in judgement.outcomes if isinstance(judged.outcome, NotApplicable)]
    if others:
        lines += ["", f"Not applicable ({len(others)})"]
        lines += textwrap.wrap(
            ", ".join(others), WIDTH, initial_indent="   ", subsequent_indent="   ", break_on_hyphens=False
        )
    return lines
