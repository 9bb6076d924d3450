"""The system variables of two to six servers side by side: which differ, and which server is out of line.

Values are compared by what they mean (``1G`` is 1073741824, ``ON`` is 1), a server's own names, paths and positions
apart. A variable that a version does not have differs in nothing: it says that it is not there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from advisor.mysql.catalogue import CATALOGUE, ChangeClass, Kind, VariableFacts
from advisor.mysql.own_variables import is_own
from advisor.mysql.values import same
from advisor.mysql.version import ServerVersion
from advisor.ui import quantities

#: Longer lists than this are shown by what is different in them.
_LONG = 48


class Standing(StrEnum):
    """How one server's value stands to those of the others."""

    SAME = "same"
    ODD = "odd"  # outside of what most of them have
    OTHER = "other"  # different, and no value is that of most
    ABSENT = "absent"  # this version does not have the variable
    UNKNOWN = "unknown"  # nothing was read of the server yet


@dataclass(frozen=True)
class Compared:
    """One server as it is compared: what a snapshot of it says; ``version`` is None where there is none yet.

    ``variables`` under lower-case names, as the server prints them.
    """

    id: str
    name: str
    version: ServerVersion | None
    variables: Mapping[str, str]


@dataclass(frozen=True)
class Cell:
    """One server's value: as a person reads it, exactly as the server prints it, and what takes its place elsewhere.

    ``expected``: the catalogue knows the variable in this version, and the server does not show it all the same.
    """

    standing: Standing
    shown: str = ""
    exact: str = ""
    instead: str = ""
    expected: bool = False


@dataclass(frozen=True)
class Row:
    """One variable on all servers. ``default`` is that of the first server whose version tells one."""

    name: str
    cells: tuple[Cell, ...]
    own: bool
    unit: str = ""
    default: str = ""
    dynamic: bool | None = None
    change_class: ChangeClass | None = None

    @property
    def differs(self) -> bool:
        return any(cell.standing in (Standing.ODD, Standing.OTHER) for cell in self.cells)

    @property
    def missing(self) -> bool:
        return any(cell.standing is Standing.ABSENT for cell in self.cells)

    @property
    def tuned(self) -> bool:
        """Whether people set it: for speed, or with care."""
        return self.change_class in (ChangeClass.TUNE, ChangeClass.CONFIRM)


@dataclass(frozen=True)
class OddOne:
    """The server that differs most from what most have: in so many of the variables that differ."""

    index: int
    count: int
    of: int
    next_count: int


def rows(servers: Sequence[Compared]) -> list[Row]:
    """Every variable that any of them has, by name."""
    names = sorted({name for server in servers for name in server.variables})
    return [_row(name, servers) for name in names]


def odd_one(found: Sequence[Row], servers: int) -> OddOne | None:
    """Who is out of line: of three or more, the one that alone differs most often from the majority. Else None."""
    if servers < 3:
        return None
    differing = [row for row in found if row.differs and not row.own]
    counts: Counter[int] = Counter()
    for row in differing:
        counts.update(index for index, cell in enumerate(row.cells) if cell.standing is Standing.ODD)
    ranked = counts.most_common(2)
    if not ranked or (len(ranked) > 1 and ranked[0][1] == ranked[1][1]):
        return None
    return OddOne(ranked[0][0], ranked[0][1], len(differing), ranked[1][1] if len(ranked) > 1 else 0)


def _row(name: str, servers: Sequence[Compared]) -> Row:
    facts = [CATALOGUE.find(name, server.version) if server.version else None for server in servers]
    known = next((one for one in facts if one is not None), None)
    values = [server.variables.get(name) for server in servers]
    standings = _standings(values, known)
    cells = tuple(
        _cell(name, value, standing, server)
        for standing, value, server in zip(standings, _shortened(name, values), servers, strict=True)
    )
    default = next((one.default for one in facts if one is not None and one.default is not None), None)
    return Row(
        name=name,
        cells=cells,
        own=is_own(name),
        unit=(known.unit or "") if known else "",
        default="" if default is None else quantities.setting(default, name),
        dynamic=known.dynamic if known else None,
        change_class=known.change_class if known else None,
    )


def _cell(name: str, value: tuple[str, str] | None, standing: Standing, server: Compared) -> Cell:
    if value is not None:
        shown, exact = value
        return Cell(standing, shown, exact)
    if server.version is None:
        return Cell(Standing.UNKNOWN)
    expected = CATALOGUE.find(name, server.version) is not None
    return Cell(standing, instead=CATALOGUE.successor(name, server.version) or "", expected=expected)


def _shortened(name: str, values: Sequence[str | None]) -> list[tuple[str, str] | None]:
    """Each value as it is shown, and whole. Of long lists (optimizer_switch) only what not all have is shown."""
    present = [value for value in values if value is not None]
    lists = [[part.strip() for part in value.split(",") if part.strip()] for value in present]
    common = set(lists[0]).intersection(*lists[1:]) if lists else set()
    if len(present) < 2 or not common or max(map(len, present)) <= _LONG:
        return [None if value is None else (quantities.setting(value, name), value) for value in values]
    shown: list[tuple[str, str] | None] = []
    for value in values:
        if value is None:
            shown.append(None)
            continue
        parts = [part.strip() for part in value.split(",")]
        shown.append((",".join(["…", *(part for part in parts if part not in common)]), value))
    return shown


def _standings(values: Sequence[str | None], facts: VariableFacts | None) -> list[Standing]:
    """Values are put into groups of one meaning; the group of more than half of those that have the variable is what
    most have.
    """
    exactly = facts is not None and facts.kind is Kind.STRING and not facts.choices
    groups: list[tuple[str, list[int]]] = []
    for index, value in enumerate(values):
        if value is None:
            continue
        for meaning, members in groups:
            if value == meaning or (not exactly and same(value, meaning)):
                members.append(index)
                break
        else:
            groups.append((value, [index]))
    present = sum(len(members) for _, members in groups)
    most = max(groups, key=lambda group: len(group[1]), default=("", []))[1]
    standings = []
    for index, value in enumerate(values):
        if value is None:
            standings.append(Standing.ABSENT)
        elif len(groups) == 1 or (index in most and 2 * len(most) > present):
            standings.append(Standing.SAME)
        else:
            standings.append(Standing.ODD if 2 * len(most) > present else Standing.OTHER)
    return standings
