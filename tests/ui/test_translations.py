"""Korean is complete, keeps every placeholder, and is compiled as gettext itself reads it."""

from __future__ import annotations

import ast
import gettext
import io
import re
import string
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils import translation

from advisor.ui import translations

ROOT = Path(__file__).resolve().parents[2]
CATALOGUE = ROOT / "locale/ko/LC_MESSAGES/django.po"
#: Functions and types whose first text is for people, and where in the arguments it stands.
CALLS = {
    "_": 0, "gettext": 0, "gettext_lazy": 0, "gettext_noop": 0, "ngettext": 0, "pgettext": 1, "Message": 0,
    "Measured": 0, "_made": 0, "_fact": 0,
}  # fmt: skip
BLOCKS = re.compile(r"\{% blocktrans(.*?) %\}(.*?)\{% (?:plural|endblocktrans) %\}", re.DOTALL)
COUNTED = re.compile(r"\{% blocktrans[^%]* %\}([^%]*?)\{% plural %\}([^%]*?)\{% endblocktrans %\}")
HOLE = re.compile(r"\{\{ ?(\w+) ?\}\}")
HOLES = re.compile(r"%\((\w+)\)s|\{(\w+)\}|%%|%s")


def _entries() -> dict[str, str]:
    return translations.read(CATALOGUE.read_text(encoding="utf-8"), CATALOGUE.name)


def _said_in_python() -> Iterator[tuple[str, str]]:
    for path in [*ROOT.glob("advisor/**/*.py"), *ROOT.glob("collector/**/*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in CALLS:
                continue
            place = CALLS[node.func.id]
            if len(node.args) > place:
                said = node.args[place]
                if isinstance(said, ast.Constant) and isinstance(said.value, str) and said.value:
                    yield str(path.relative_to(ROOT)), said.value


def _said_in_templates() -> Iterator[tuple[str, str]]:
    for path in (ROOT / "templates").glob("**/*.html"):
        text = path.read_text(encoding="utf-8")
        for said in re.findall(r"""\{% trans (?:"([^"]+)"|'([^']+)')|_\("([^"]+)"\)""", text):
            yield str(path.relative_to(ROOT)), "".join(said)
        for options, said in BLOCKS.findall(text):
            lines = [line.strip() for line in said.split("\n")]
            words = " ".join(line for line in lines if line) if "trimmed" in options else said
            yield str(path.relative_to(ROOT)), HOLE.sub(r"%(\1)s", words)


def _counted() -> dict[str, str]:
    """What is said of one thing -> what is said of several."""
    found = {}
    for path in [*ROOT.glob("advisor/**/*.py"), *ROOT.glob("collector/**/*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "ngettext":
                one, several = node.args[:2]
                if isinstance(one, ast.Constant) and isinstance(several, ast.Constant):
                    found[str(one.value)] = str(several.value)
    for path in (ROOT / "templates").glob("**/*.html"):
        for one_text, several_text in COUNTED.findall(path.read_text(encoding="utf-8")):
            found[HOLE.sub(r"%(\1)s", one_text)] = HOLE.sub(r"%(\1)s", several_text)
    return found


def test_everything_that_is_said_has_korean_words() -> None:
    known = {key.split("\x04")[-1].split("\x00")[0].replace("%%", "%") for key in _entries()}
    said = [*_said_in_python(), *_said_in_templates()]
    assert len(said) > 350
    assert sorted({f"{where}: {text}" for where, text in said if text.replace("%%", "%") not in known}) == []


def test_what_is_counted_is_kept_as_counted() -> None:
    """gettext finds an entry without its plural only where nothing is counted: the others would stay English."""
    counted = _counted()
    assert len(counted) > 10
    kept = {key.split("\x00")[0] for key in _entries() if "\x00" in key}
    assert sorted(counted.keys() - kept) == []


def test_no_entry_is_empty_or_only_guessed() -> None:
    text = CATALOGUE.read_text(encoding="utf-8")
    assert "fuzzy" not in text
    assert 'msgstr ""\n\n' not in text
    assert 'msgstr[0] ""' not in text


def test_translations_have_the_holes_of_their_originals() -> None:
    for key, words in _entries().items():
        original = key.split("\x04")[-1].split("\x00")[0]
        if original:
            assert sorted(HOLES.findall(original)) == sorted(HOLES.findall(words)), original


def test_gettext_reads_what_was_compiled() -> None:
    entries = _entries()
    read = gettext.GNUTranslations(io.BytesIO(translations.compiled(entries)))
    assert read.gettext("Fleet") == "서버 목록"
    assert read.ngettext("%(n)s server", "%(n)s servers", 3) == "서버 %(n)s대"
    assert read.pgettext("duration", "%(n)s h") == "%(n)s시간"
    assert read.gettext("never said") == "never said"


def test_a_newer_catalogue_is_compiled_again_and_an_older_one_is_left(tmp_path: Path) -> None:
    folder = tmp_path / "xx/LC_MESSAGES"
    folder.mkdir(parents=True)
    source = folder / "django.po"
    source.write_text(
        'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\nmsgid "a"\nmsgstr "b"\n', "utf-8"
    )
    assert translations.compile_folder(tmp_path) == 1
    assert translations.compile_folder(tmp_path) == 0
    assert list(folder.iterdir()) != [source]


def test_a_broken_catalogue_names_its_line() -> None:
    with pytest.raises(translations.BadCatalogue, match=r"django\.po, line 2"):
        translations.read('msgid "a"\nmsgstr "b\n', "django.po")


def test_multi_line_and_fuzzy_entries() -> None:
    text = 'msgid ""\n"long "\n"text"\nmsgstr "kurz"\n\n#, fuzzy\nmsgid "x"\nmsgstr "guess"\n'
    assert translations.read(text) == {"long text": "kurz"}


@pytest.mark.django_db
def test_the_first_page_speaks_korean_where_the_browser_asks_for_it(client: object) -> None:
    answer = client.get("/login", headers={"Accept-Language": "ko"})  # type: ignore[attr-defined]
    assert "로그인" in answer.content.decode()
    assert 'lang="ko"' in answer.content.decode()


def test_every_condition_has_korean_words() -> None:
    from advisor.recommendations.headline import sentence
    from advisor.recommendations.vitals import Condition, Vitals
    from advisor.ui import messages

    with translation.override("ko"):
        for condition in Condition:
            for point in (True, False):
                vitals = Vitals(1e9, 0.5, 0.6, 0.9, 60.0, False, True, point, 10.0, 1e6, 5.0)
                words = messages.text_of(sentence(condition, vitals=vitals, since=1e9))
                assert not set(words) & set(string.ascii_letters), words
