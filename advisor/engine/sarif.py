"""Advice as SARIF 2.1.0, which code-review and CI systems read: one result for each recommendation.

Source: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from advisor.engine.advice import Advice, Prepared
from advisor.engine.outcome import Severity
from advisor.engine.rule import Rule
from advisor.engine.wording import measured_text, message_text

SCHEMA_URI = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.CRITICAL: "error", Severity.WARNING: "warning", Severity.NOTICE: "note"}


def sarif(advice: Advice, rules: Iterable[Rule]) -> dict[str, Any]:
    """The advice as one run of a SARIF log. A server has no source file, so that locations are logical ones."""
    described = [
        {
            "id": rule.id,
            "shortDescription": {"text": rule.title},
            "fullDescription": {"text": " ".join(rule.section("Why it matters").split())},
            "help": {"text": " ".join(rule.section("When to dismiss it").split())},
            "helpUri": rule.references[0] if rule.references else None,
            "defaultConfiguration": {"level": _LEVELS[rule.severity]},
            "properties": {"tags": [rule.topic]},
        }
        for rule in rules
    ]
    for one in described:
        if one["helpUri"] is None:
            del one["helpUri"]
    index = {one["id"]: number for number, one in enumerate(described)}
    return {
        "$schema": SCHEMA_URI,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {"name": "Tidemark", "semanticVersion": advice.tool.version or "0", "rules": described}
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(prepared, advice, index) for prepared in advice.recommendations],
            }
        ],
    }


def _result(prepared: Prepared, advice: Advice, index: dict[Any, int]) -> dict[str, Any]:
    one, written = prepared.recommendation, prepared.rendered
    told = [message_text(one.message) + ".", *(f"{measured_text(figure)}." for figure in one.evidence)]
    if written.sql:
        told.append("Statements: " + "; ".join(written.sql))
    if written.option_file and written.needs_restart:
        told.append("Option file: " + "; ".join(written.option_file))
    told += [change.advice for change in written.changes if change.advice]
    identity = advice.seen.snapshot.identity
    result: dict[str, Any] = {
        "ruleId": one.rule,
        "level": _LEVELS[one.severity],
        "message": {"text": "\n".join(told)},
        "locations": [
            {
                "logicalLocations": [
                    {
                        "name": one.subject or str(identity.version),
                        "fullyQualifiedName": f"{identity.fingerprint}/{one.subject or 'server'}",
                        "kind": "resource",
                    }
                ]
            }
        ],
        "partialFingerprints": {"tidemarkKey/v1": one.key},
        "properties": {
            "confidence": one.confidence.value,
            "sql": list(written.sql),
            "undo": list(written.undo),
            "optionFile": list(written.option_file),
            "needsRestart": written.needs_restart,
        },
    }
    if one.rule in index:
        result["ruleIndex"] = index[one.rule]
    return result
