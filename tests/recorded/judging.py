"""What a recording is judged to: a few lines of text."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from advisor.engine.advice import prepare
from advisor.engine.evaluation import Judged, judge
from advisor.engine.observation import HostFact, HostFacts, Observation
from advisor.engine.outcome import Finding, NotApplicable, NotEvaluated, Passed
from advisor.engine.wording import measured_text, message_text
from advisor.recommendations import observing
from advisor.rules import all_rules
from collector import recording

FOLDER = Path(__file__).parent
EXPECTED = "expected.txt"


def recordings() -> list[Path]:
    """All folders that hold a recording."""
    return sorted(path.parent for path in FOLDER.glob("*/manifest.json"))


def observation(path: Path) -> Observation:
    """The recording as the engine judges it: a window that a person chose, with what ``host.json`` states of the
    machine.
    """
    observed = recording.read(path)
    stated = json.loads((path / "host.json").read_text()) if (path / "host.json").exists() else {}
    host = HostFacts(**{name: HostFact(value, "stated") for name, value in stated.items()})
    # The day on which the first ones were recorded: support ends by dates, and a test must not.
    return replace(observing.observation(observed, host), today="2026-11-21")


def expected(path: Path) -> str:
    """The advice for a recording: an outcome a line in the order of the rules, then what each recommendation would
    do.
    """
    seen = observation(path)
    judgement = judge(seen, all_rules(), strict=True)
    lines = [str(seen.server), *(_line(judged) for judged in judgement.outcomes)]
    for prepared in prepare(seen, judgement).recommendations:
        lines.append("")
        lines.append(f"{' + '.join(prepared.recommendation.rules)}: {message_text(prepared.recommendation.message)}")
        lines += [f"  {statement};" for statement in prepared.rendered.sql]
        lines += [f"  [mysqld] {line}" for line in prepared.rendered.option_file]
        lines += [f"  undo {statement};" for statement in prepared.rendered.undo]
        lines += [
            f"  {change.kind} {change.proposed} {change.advice}".rstrip()
            for change in prepared.rendered.changes
            if change.advice
        ]
    return "\n".join(lines) + "\n"


def _line(judged: Judged) -> str:
    outcome = judged.outcome
    if isinstance(outcome, Finding):
        figures = "; ".join(measured_text(figure) for item in outcome.items for figure in item.evidence)
        return f"{judged.rule.id}: FINDING {judged.severity}, confidence {judged.confidence}: {figures}"
    if isinstance(outcome, Passed):
        return f"{judged.rule.id}: passed: {'; '.join(measured_text(figure) for figure in outcome.evidence)}"
    if isinstance(outcome, NotApplicable):
        return f"{judged.rule.id}: not applicable: {message_text(outcome.why)}"
    assert isinstance(outcome, NotEvaluated)
    return f"{judged.rule.id}: not evaluated: " + "; ".join(
        f"{remedy.kind.value}: {remedy.what}. {remedy.text}" for remedy in outcome.missing
    )
