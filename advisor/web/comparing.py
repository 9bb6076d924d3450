"""Two to six servers side by side: who they are, how they are loaded, how they are set, and who is the odd one."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Q
from django.http import Http404, QueryDict
from django.utils.translation import gettext as _

from advisor.recommendations.models import FleetRow
from advisor.teams import access
from advisor.web.comparing_variables import Cell, Compared, OddOne, Row, Standing, odd_one, rows
from collector import snapshots
from collector.models import Server

FEWEST, MOST = 2, 6
SHOWS = ("differing", "tuned", "all")
_FOUND = 12
_NUMBER = re.compile(r"-?[0-9][0-9.,]*")


@dataclass(frozen=True)
class Asked:
    """What the address asks for: which servers, which rows (one of SHOWS), and words to look for."""

    ids: tuple[str, ...]
    show: str
    search: str
    find: str

    @classmethod
    def read(cls, parameters: QueryDict) -> Asked:
        """The ids are one list with commas in addresses that people send, and one each where boxes were ticked."""
        ids = [one.strip()[:64] for one in ",".join(parameters.getlist("ids")).split(",")[:100]]
        show = parameters.get("show", "")
        return cls(
            ids=tuple(dict.fromkeys(one for one in ids if one)),
            show=show if show in SHOWS else SHOWS[0],
            search=parameters.get("q", "").strip()[:100],
            find=parameters.get("find", "").strip()[:100],
        )

    def query(self, ids: Sequence[str] | None = None, show: str | None = None) -> str:
        """The query of the same page with other servers, or other rows. The ids' commas stay readable."""
        show = show or self.show
        pairs = [
            ("ids", ",".join(self.ids if ids is None else ids)),
            ("show", "" if show == SHOWS[0] else show),
            ("q", self.search),
        ]
        return urlencode([(name, value) for name, value in pairs if value], safe=",")


@dataclass(frozen=True)
class Choice:
    """A server that is chosen, or could be; ``query`` takes it out of the comparison, or into it."""

    server: Server
    query: str


@dataclass(frozen=True)
class Column:
    """One server of the comparison. ``odd`` marks the one that is out of line."""

    server: Server
    row: FleetRow
    read: bool
    odd: bool = False


@dataclass(frozen=True)
class Comparison:
    """``shown`` are the rows that were asked for; ``own`` and ``missing`` differ by nature and are folded apart."""

    columns: tuple[Column, ...]
    shown: tuple[Row, ...]
    own: tuple[Row, ...]
    missing: tuple[Row, ...]
    differing: int
    tuned: int
    all: int
    equal: int
    odd: OddOne | None

    @property
    def unread(self) -> list[str]:
        return [column.server.name for column in self.columns if not column.read]


def chosen(user: AbstractBaseUser | AnonymousUser, asked: Asked) -> list[Server]:
    """The servers in the order of the address. Raises Http404 where one of them is not the reader's to see."""
    found = {server.pk: server for server in access.servers_for(user).filter(pk__in=asked.ids)}
    if set(found) != set(asked.ids):
        raise Http404("There is no such server among those of your teams.")
    return [found[one] for one in asked.ids]


def candidates(user: AbstractBaseUser | AnonymousUser, asked: Asked) -> tuple[list[Choice], bool]:
    """Servers that could be taken in, by name, and whether there are more than these."""
    rows_ = access.servers_for(user).exclude(pk__in=asked.ids)
    if asked.find:
        rows_ = rows_.filter(Q(folded__contains=asked.find.casefold()) | Q(host__icontains=asked.find))
    found = list(rows_[: _FOUND + 1])
    return [Choice(one, asked.query([*asked.ids, one.pk])) for one in found[:_FOUND]], len(found) > _FOUND


def without(servers: Sequence[Server], asked: Asked) -> list[Choice]:
    """The chosen servers, each with the address that leaves it out."""
    return [Choice(one, asked.query([pk for pk in asked.ids if pk != one.pk])) for one in servers]


def compare(servers: Sequence[Server], asked: Asked) -> Comparison:
    """Everything about two to six servers, from their newest snapshots and fleet rows."""
    compared = [_compared(server) for server in servers]
    found = rows(compared)
    odd = odd_one(found, sum(one.version is not None for one in compared))
    loads = {row.pk: row for row in FleetRow.objects.filter(pk__in=[server.pk for server in servers])}
    columns = tuple(
        Column(
            server,
            loads.get(server.pk) or FleetRow(server=server, team_id=server.team_id),
            compared[index].version is not None,
            odd is not None and odd.index == index,
        )
        for index, server in enumerate(servers)
    )
    kept = [row for row in found if _matches(row, asked.search)]
    theirs = [row for row in kept if not row.own]
    differing = [row for row in theirs if row.differs]
    tuned = [row for row in differing if row.tuned]
    shown = {"differing": differing, "tuned": tuned, "all": theirs}[asked.show]
    return Comparison(
        columns=columns,
        shown=tuple(shown),
        own=tuple(row for row in kept if row.own and row.differs),
        missing=tuple(row for row in theirs if row.missing and not row.differs) if asked.show != "all" else (),
        differing=len(differing),
        tuned=len(tuned),
        all=len(theirs),
        equal=sum(not row.differs and not row.missing for row in theirs),
        odd=odd,
    )


def _compared(server: Server) -> Compared:
    snapshot = snapshots.latest(server.pk)
    if snapshot is None:
        return Compared(server.pk, server.name, None, {})
    variables = {name.lower(): value for name, value in snapshot.variables.items()}
    return Compared(server.pk, server.name, snapshot.identity.version, variables)


def _matches(row: Row, search: str) -> bool:
    words = search.casefold().replace("-", "_").split()
    text = " ".join([row.name, *(cell.exact for cell in row.cells)]).casefold()
    return all(word in text for word in words)


# --- taking it along --------------------------------------------------------------------------------------------------


def as_csv(comparison: Comparison) -> str:
    """The rows shown, values exactly as the servers print them; empty where a version lacks the variable."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(
        ["variable", *(_safe(one.server.name) for one in comparison.columns), "differs", "class", "default"]
    )
    for row in comparison.shown:
        kind = row.change_class.value if row.change_class else ""
        values = [_safe(cell.exact) for cell in row.cells]
        writer.writerow([row.name, *values, "yes" if row.differs else "no", kind, _safe(row.default)])
    return out.getvalue()


def _safe(text: str) -> str:
    """Spreadsheets take some beginnings for a formula: a server's value is never one."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") and not _NUMBER.fullmatch(text) else text


def as_text(comparison: Comparison) -> str:
    """The rows shown as a table of plain text, to paste into a ticket. Long values are cut."""
    table = [["", *(column.server.name for column in comparison.columns)]]
    for row in comparison.shown:
        table.append([row.name, *map(_words, row.cells)])
    cut = [[text if len(text) <= 40 else text[:39] + "…" for text in line] for line in table]
    widths = [max(len(line[index]) for line in cut) for index in range(len(cut[0]))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in cut
    )


def _words(cell: Cell) -> str:
    if cell.standing is Standing.ABSENT:
        return _("not shown") if cell.expected else _("not in this version")
    if cell.standing is Standing.UNKNOWN:
        return "?"
    return f"{cell.shown} *" if cell.standing is Standing.ODD else cell.shown
