"""Translations are kept as text and compiled where Tidemark runs: the compiled form is binary, and gettext's own
compiler is not on every machine. The format of the compiled file is that of the GNU gettext manual, "The Format of GNU
MO Files".
"""

from __future__ import annotations

import ast
import logging
import os
import struct
import tempfile
from collections.abc import Iterable
from pathlib import Path

log = logging.getLogger(__name__)

_MAGIC = 0x950412DE
_HEADER = struct.Struct("<7I")
#: Between context and text, and between the forms of a plural.
_CONTEXT, _FORMS = "\x04", "\x00"


class BadCatalogue(ValueError):
    """A catalogue of translations cannot be read; the message names file and line."""


def compile_folder(folder: Path) -> int:
    """Compiles every catalogue below ``folder`` that is newer than its compiled file; how many that were.

    A folder that cannot be written to is left as it is: pages then are in English.
    """
    done = 0
    for source in sorted(folder.glob("*/LC_MESSAGES/*.po")):
        target = source.with_suffix(".mo")
        try:
            if target.exists() and target.stat().st_mtime >= source.stat().st_mtime:
                continue
            _replace(target, compiled(read(source.read_text(encoding="utf-8"), str(source))))
            done += 1
        except OSError as error:
            log.warning("The translations in %s cannot be compiled, so pages are in English: %s", source, error)
    return done


def _replace(target: Path, content: bytes) -> None:
    """Whole or not at all: several processes may start at once."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".mo-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(name, 0o644)
        os.replace(name, target)
    except OSError:
        os.unlink(name)
        raise


def read(text: str, name: str = "catalogue") -> dict[str, str]:
    """The translated entries of a catalogue, by the key they are found under. Fuzzy and empty ones are left out.

    Raises BadCatalogue.
    """
    found: dict[str, str] = {}
    parts: dict[str, str] = {}
    current, fuzzy = "", False

    def finish() -> None:
        forms = [parts[key] for key in sorted(parts) if key.startswith("msgstr")]
        if "msgid" in parts and not fuzzy and any(forms):
            key = parts["msgid"]
            if "msgid_plural" in parts:
                key += _FORMS + parts["msgid_plural"]
            if "msgctxt" in parts:
                key = parts["msgctxt"] + _CONTEXT + key
            found[key] = _FORMS.join(forms)

    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            if parts and any(key.startswith("msgstr") for key in parts):
                finish()
                parts, fuzzy, current = {}, False, ""
            fuzzy = fuzzy or (line.startswith("#,") and "fuzzy" in line)
            continue
        keyword, _, quoted = ("", "", line) if line.startswith('"') else line.partition(" ")
        if keyword in ("msgid", "msgctxt") and any(key.startswith("msgstr") for key in parts):
            finish()
            parts, fuzzy = {}, False
        current = keyword or current
        if not current.startswith(("msgctxt", "msgid", "msgstr")):
            raise BadCatalogue(f"{name}, line {number}: {line[:40]!r} is nothing that a catalogue holds")
        try:
            piece = ast.literal_eval(quoted)
        except (ValueError, SyntaxError):
            raise BadCatalogue(f"{name}, line {number}: the text is not closed") from None
        parts[current] = parts.get(current, "") + str(piece)
    finish()
    return found


def compiled(entries: dict[str, str]) -> bytes:
    """The entries as a compiled catalogue: two tables of lengths and places, then the texts, sorted by key."""
    pairs = sorted((key.encode("utf-8"), value.encode("utf-8")) for key, value in entries.items())
    keys_at = _HEADER.size
    values_at = keys_at + 8 * len(pairs)
    place = values_at + 8 * len(pairs)
    tables: list[bytes] = []
    for texts in ([key for key, _ in pairs], [value for _, value in pairs]):
        for text in texts:
            tables.append(struct.pack("<2I", len(text), place))
            place += len(text) + 1
    header = _HEADER.pack(_MAGIC, 0, len(pairs), keys_at, values_at, 0, 0)
    return header + b"".join(tables) + _ended(key for key, _ in pairs) + _ended(value for _, value in pairs)


def _ended(texts: Iterable[bytes]) -> bytes:
    return b"".join(text + b"\x00" for text in texts)
