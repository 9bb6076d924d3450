"""Advice as Markdown, for a ticket: what to do first, with the statements to paste and the undo."""

from __future__ import annotations

from advisor.engine.advice import Advice, Prepared
from advisor.engine.outcome import Finding, NotEvaluated, Passed
from advisor.engine.score import health_score
from advisor.engine.wording import measured_text, message_text, seconds_text


def markdown(advice: Advice) -> str:
    """The advice as Markdown that common trackers render: headings, lists and fenced blocks, no HTML."""
    snapshot, window = advice.seen.snapshot, advice.seen.window
    lines = [f"# Advice for {_plain(str(snapshot.identity.version))}", ""]
    observed = f"Up {seconds_text(snapshot.uptime_seconds)}"
    if window is not None:
        observed += f", observed for {seconds_text(window.seconds)} in {window.intervals} intervals"
    lines += [f"{observed}.", ""]
    if not advice.recommendations:
        lines += ["No recommendations.", ""]
    for number, prepared in enumerate(advice.recommendations, 1):
        lines += _recommendation(number, prepared)
    score = health_score(advice.judgement)
    if score.value is not None:
        lines += [f"Health score: **{score.value} of 100** ({_plain(score.arithmetic)}).", ""]
    outcomes = advice.judgement.outcomes
    passed = sum(isinstance(one.outcome, Passed) for one in outcomes)
    found = sum(isinstance(one.outcome, Finding) for one in outcomes)
    open_ones = [one for one in outcomes if isinstance(one.outcome, NotEvaluated)]
    lines += [
        f"Of {len(outcomes)} rules {found} found something, {passed} passed, {len(open_ones)} could not be judged.",
        "",
    ]
    if advice.judgement.missing:
        lines += ["## What would let more be judged", ""]
        lines += [f"- {_plain(one.what)}: `{_code(one.text)}`" for one in advice.judgement.missing]
        lines.append("")
    return "\n".join(lines)


def _recommendation(number: int, prepared: Prepared) -> list[str]:
    one, written = prepared.recommendation, prepared.rendered
    lines = [
        f"## {number}. {_plain(message_text(one.message))}",
        "",
        f"**{one.severity.value}**, confidence {one.confidence.value}; {', '.join(f'`{rule}`' for rule in one.rules)}",
        "",
    ]
    for change in written.changes:
        if change.advice:
            lines.append(f"- {_plain(change.advice)}")
        elif change.kind == "variable":
            lines.append(f"- `{change.name}`: {_plain(change.current)} → {_plain(change.proposed)}")
    lines += [f"- evidence: {_plain(measured_text(figure))}" for figure in one.evidence]
    lines += [f"- price: {_plain(message_text(price.message))}" for price in one.price]
    if one.expected:
        lines.append(f"- expected: {_plain(message_text(one.expected))}")
    lines.append("")
    for title, language, block in (
        ("Statements", "sql", [f"{line};" for line in written.sql]),
        ("Option file", "ini", ["[mysqld]", *written.option_file] if written.option_file else []),
        ("Undo", "sql", [f"{line};" for line in written.undo]),
    ):
        if block:
            lines += [f"{title}:", "", f"```{language}", *block, "```", ""]
    if written.needs_restart:
        lines += ["Takes effect after a restart with these lines.", ""]
    lines += [f"Note: {_plain(note)}" for note in [*written.notes, *([prepared.refused] if prepared.refused else [])]]
    return [*lines, ""] if lines[-1] else lines


def _plain(text: str) -> str:
    """Text in which nothing is taken for markup: what a server says may hold anything."""
    return "".join(f"\\{char}" if char in "\\`*_[]<>#|" else char for char in text.replace("\n", " "))


def _code(text: str) -> str:
    return text.replace("`", "'").replace("\n", " ")
