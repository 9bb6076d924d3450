"""Lists of servers as people have them, pasted or uploaded, read into entries: a spreadsheet's table, or YAML.

Nothing here believes the text: it is bounded in size, lines and depth before it is read; YAML is read as a stream of
events, so that no type, no alias and no object is ever made of it; every value stays the text that was written.
"""

from __future__ import annotations

import re

from django.utils.translation import gettext as _

from collector.importing_entries import LONGEST_LINE, MOST_BYTES, BadList, ServerList, too_large
from collector.importing_table import read_table
from collector.importing_yaml import read_yaml

_YAML_START = re.compile(r"(---|servers\s*:|-\s|[\[{%])")
# Everything below space but tab and the ends of lines, and what only looks like one of those.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]")


def decode(data: bytes) -> str:
    """The text of an uploaded file, with or without a byte order mark. Raises BadList for what is not UTF-8."""
    if len(data) > MOST_BYTES:
        raise BadList(too_large())
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise BadList(
            _("Line %(line)s is not UTF-8 text. In a spreadsheet, choose “CSV UTF-8” when saving.") % {"line": line}
        ) from None


def read(text: str) -> ServerList:
    """The servers of a text, YAML or a table by how it begins. Raises BadList."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    _bound(text)
    beginning = next((line.strip() for line in text.split("\n") if line.strip() and not line.startswith("#")), "")
    if not beginning:
        raise BadList(_("There is nothing to read yet: paste one server a line, or choose a file."))
    found = read_yaml(text) if _YAML_START.match(beginning) else read_table(text)
    if not found.entries:
        raise BadList(_("The list names its columns, and no server."))
    return found


def _bound(text: str) -> None:
    if len(text.encode("utf-8", "replace")) > MOST_BYTES:
        raise BadList(too_large())
    control = _CONTROL.search(text)
    if control is not None:
        line = text.count("\n", 0, control.start()) + 1
        raise BadList(
            _("Line %(line)s has a control character (%(code)s): remove it, or export the list again as plain text.")
            % {"line": line, "code": f"U+{ord(control[0]):04X}"}
        )
    for number, line_text in enumerate(text.split("\n"), 1):
        if len(line_text) > LONGEST_LINE:
            raise BadList(
                _("Line %(line)s is longer than %(most)s characters: each server has a line of its own.")
                % {"line": number, "most": f"{LONGEST_LINE:,}"}
            )
