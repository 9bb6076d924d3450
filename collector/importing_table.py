"""A table of servers as spreadsheets write it: with commas, semicolons, tabs or bars; or one address a line."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator

from django.utils.translation import gettext as _

from collector.importing_entries import MOST_SERVERS, PLACES, BadList, Entry, ServerList, column_of, too_many


def read_table(text: str) -> ServerList:
    rows = _rows(text)
    first = next(rows, None)
    assert first is not None  # The text is not empty: that was refused before.
    _line, header = first
    remarks: list[str] = []
    if header and header[0].strip().startswith(("mysql://", "mariadb://")):
        # Nothing but addresses, one a line: then the first line is a server already.
        columns = ["url", "name", "tags"][: max(1, min(len(header), 3))]
        given: Iterator[tuple[int, list[str]]] = iter([first, *rows])
    else:
        columns = [column_of(word) for word in header]
        _check_columns(columns)
        unread = [word.strip()[:40] for word, known in zip(header, columns, strict=True) if word.strip() and not known]
        if unread:
            remarks.append(_("Not read: %(columns)s.") % {"columns": ", ".join(unread)})
        given = rows
    entries: list[Entry] = []
    for line, row in given:
        if len(entries) == MOST_SERVERS:
            raise BadList(too_many())
        problems: tuple[str, ...] = ()
        if len(row) > len(columns) and any(cell.strip() for cell in row[len(columns) :]):
            problems = (
                _("The line has %(cells)s cells, the first line %(columns)s: quote what holds a separator.")
                % {"cells": len(row), "columns": len(columns)},
            )
        values = {
            column: cell if column == "password" else cell.strip()
            for column, cell in zip(columns, row, strict=False)
            if column
        }
        entries.append(Entry(line, values, problems))
    return ServerList(tuple(entries), tuple(remarks))


def _check_columns(columns: list[str]) -> None:
    if not set(columns) & set(PLACES):
        raise BadList(
            _("The first line has to name the columns, host or url among them: %(example)s")
            % {"example": "name,host,port,user,password,tags"}
        )
    twice = sorted({column for column in columns if column and columns.count(column) > 1})
    if twice:
        raise BadList(_("The column %(column)s is there twice.") % {"column": twice[0]})


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Lines with something on them, by their number. The separator is the one that makes most columns of the first."""
    lines = text.split("\n")
    # What Excel writes above a table to say which separator follows.
    skipped = 1 if re.fullmatch(r"sep=.", lines[0].strip()) else 0
    body = "\n".join(lines[skipped:])
    header = next(line for line in lines[skipped:] if line.strip() and not line.startswith("#"))
    delimiter = max(
        ",;\t|", key=lambda one: (sum(bool(column_of(word)) for word in header.split(one)), header.count(one))
    )
    reader = csv.reader(io.StringIO(body), delimiter=delimiter, strict=True)
    before = skipped
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error:
            raise BadList(
                _("From line %(line)s on the quotes do not match: each quoted cell ends with a quote on its line.")
                % {"line": before + 1}
            ) from None
        line, before = before + 1, skipped + reader.line_num
        if any(cell.strip() for cell in row) and not row[0].startswith("#"):
            if any("\n" in cell for cell in row):
                raise BadList(
                    _("From line %(line)s on the quotes do not match: each quoted cell ends with a quote on its line.")
                    % {"line": line}
                )
            yield line, row
