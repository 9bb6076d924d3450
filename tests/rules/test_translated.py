"""What rules say of themselves is there in Korean, too: titles, documentation, thresholds, facts and examples."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils import translation

from advisor.engine.rule import HEADINGS
from advisor.rules import all_rules
from advisor.ui import translations
from advisor.web import rule_pages

ROOT = Path(__file__).resolve().parents[2]
CATALOGUE = ROOT / "advisor/rules/locale/ko/LC_MESSAGES/django.po"
STRESSED = re.compile(r"(?<![\w*])\*([^*\s][^*]*)\*")
NAMES = re.compile(r"\b[A-Za-z]+(?:_[A-Za-z0-9]+)+\b")


def _said() -> Iterator[tuple[str, str]]:
    for rule in all_rules():
        yield rule.id, rule.title
        for heading in HEADINGS:
            for part in rule.section(heading).split("\n\n"):
                yield rule.id, " ".join(part.split())
        for fact in rule.needs.values():
            yield rule.id, (inspect.getdoc(fact) or fact.__name__).split("\n", 1)[0].rstrip(".")
        for threshold in rule.parameters.described() if rule.parameters is not None else ():
            yield rule.id, threshold.meaning
        for example in rule.examples:
            yield rule.id, example.title


def _entries() -> dict[str, str]:
    return translations.read(CATALOGUE.read_text(encoding="utf-8"), CATALOGUE.name)


def test_every_word_of_every_rule_is_translated() -> None:
    known = _entries() | translations.read((ROOT / "locale/ko/LC_MESSAGES/django.po").read_text(encoding="utf-8"))
    said = list(_said())
    assert len(said) > 3000
    assert sorted({f"{rule}: {text}" for rule, text in said if text and text not in known}) == []


def test_nothing_is_translated_that_no_rule_says() -> None:
    said = {text for _rule, text in _said()}
    assert sorted(key for key in _entries() if key and key not in said) == []


def test_translations_keep_names_and_emphasis() -> None:
    text = CATALOGUE.read_text(encoding="utf-8")
    assert "fuzzy" not in text
    for original, words in _entries().items():
        if original:
            assert len(STRESSED.findall(original)) == len(STRESSED.findall(words)), original
            assert [name for name in NAMES.findall(original) if name not in words] == [], original


@pytest.mark.parametrize("rule_id", ["redo.redo-log-undersized", "security.passwordless-accounts"])
def test_the_page_of_a_rule_speaks_korean(rule_id: str) -> None:
    rule = next(one for one in all_rules() if one.id == rule_id)
    with translation.override("ko"):
        shown = rule_pages.document(rule)
        for _heading, paragraphs in shown.sections:
            for runs in paragraphs:
                assert re.search("[가-힣]", "".join(piece for piece, _stressed in runs)), runs
        if rule_id == "redo.redo-log-undersized":
            assert any(stressed for _h, paragraphs in shown.sections for runs in paragraphs for _p, stressed in runs)
