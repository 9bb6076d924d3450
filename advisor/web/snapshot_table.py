"""The rows of a snapshot as markup and as files: so many of them are written faster than a template does it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from urllib.parse import quote

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from advisor.web.snapshot_page import Row, meaning_words, origin_words

#: A cell that begins so is a formula to a spreadsheet.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
COLUMNS = ("kind", "name", "value", "default", "changed", "origin", "source", "off")


def markup(rows: Iterable[Row], propose: str = "") -> SafeString:
    """All of them as table rows; every word of a server is escaped.

    ``propose`` is the address where a change of a variable is written, which takes its name; empty where nobody may.
    """
    return mark_safe("".join(_row(row, propose) for row in rows))  # noqa: S308 -- escaped cell by cell


def _row(row: Row, propose: str) -> str:
    notes = []
    if row.changed:
        notes.append(f'<span class="badge watch">{escape(_("not the default"))}</span>')
    if row.off:
        notes.append(f'<span class="badge">{escape(_("off"))}</span>')
    words = meaning_words(row)
    if words:
        notes.append(f'<span class="meaning">{escape(words)}</span>')
    if row.default is not None and row.changed:
        default = escape(_("default: %(value)s") % {"value": row.default or _("empty")})
        notes.append(f'<span class="meaning">{default}</span>')
    origin = escape(origin_words(row.origin)) if row.origin and row.origin != "compiled" else ""
    if row.source:
        origin += f' <span title="{escape(row.source)}">{escape(row.source.rpartition("/")[2])}</span>'
    how = escape(row.change_class or row.subsystem) + (" ↻" if row.needs_restart else "")
    if propose and row.kind == "variable" and row.may_be_changed:
        title = escape(_("Propose a change of %(name)s") % {"name": row.name})
        how = f'<a href="{escape(propose)}{quote(row.name)}" aria-label="{title}">{how}</a>'
    human = f' <span class="muted">{escape(row.human)}</span>' if row.human else ""
    return (
        f'<tr><th scope="row"><code>{escape(row.name)}</code> {" ".join(notes)}</th>'
        f'<td class="value"><code>{escape(row.value)}</code>{human}</td>'
        f'<td class="small muted">{origin}</td><td class="small muted">{how}</td></tr>\n'
    )


def as_csv(rows: Iterable[Row]) -> str:
    """The same rows for a spreadsheet, in which no value of a server becomes a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for row in rows:
        cells = row.as_dict()
        writer.writerow([_cell(cells.get(name, "")) for name in COLUMNS])
    return text.getvalue()


def _cell(value: object) -> str:
    text = str(value)
    return f"'{text}" if text.startswith(_FORMULA) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
