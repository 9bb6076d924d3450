"""Reads the catalogue's files: for each flavor and variable, since which version it has which facts.

A file is read on first use and split by variable; a variable's lines are parsed when it is asked for, since most
programs ask for a few dozen of a thousand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Literal

from advisor.mysql.version import Flavor

Scope = Literal["global", "both", "session"]
Effect = Literal["at_once", "new_connections", "restart"]
Number = tuple[int, int, int]


class Kind(StrEnum):
    """What a variable holds."""

    INTEGER = "integer"
    BOOLEAN = "boolean"
    ENUM = "enum"
    SET = "set"
    STRING = "string"
    REAL = "real"


class ChangeClass(StrEnum):
    """How a variable may be changed from here.

    ``tune``: performance and sizes, reversible and safe; ``confirm``: changes durability, semantics, replication or
    security, so that a person has to say that it is meant; ``never``: would break the server, lock people out, load
    code, or is the server's identity.
    """

    TUNE = "tune"
    CONFIRM = "confirm"
    NEVER = "never"


@dataclass(frozen=True)
class VariableFacts:
    """One system variable on one version.

    ``minimum``, ``maximum`` and ``step`` are in ``unit`` (bytes, pages, pages/s, percent, seconds, milliseconds,
    microseconds, days; None for plain numbers); ``step`` is the block size that the server rounds down to. ``default``
    is what SHOW GLOBAL VARIABLES shows on a server that was started without options, None where it depends on the
    machine; ``computed`` says that the server makes it of other variables, so that it is another one where those are
    set. ``read_only``: no option sets it either. ``replaced_by`` names its successor where there is one on this
    version, ``ignored_when`` says where the server reads it and does nothing with it, ``deprecated`` that the manual
    announces its removal. ``verified`` is False where no server of this series was asked. ``effect`` says when a change
    with SET GLOBAL (or, where there is no other way, a start) is felt. ``change_class`` says how it may be changed.
    """

    name: str
    kind: Kind
    dynamic: bool
    read_only: bool
    scope: Scope
    unit: str | None
    minimum: int | float | None
    maximum: int | float | None
    step: int | None
    default: str | None
    choices: tuple[str, ...]
    replaced_by: str | None
    verified: bool
    effect: Effect
    ignored_when: str | None = None
    computed: bool = False
    deprecated: bool = False
    change_class: ChangeClass = ChangeClass.CONFIRM


@dataclass(frozen=True)
class Point:
    """From this version on the variable has these facts (None: it does not exist).

    ``asked`` is the version of the server that said so, None where a manual did; ``stated`` tells that the version it
    begins with is a stated boundary.
    """

    since: Number
    facts: VariableFacts | None
    asked: Number | None
    stated: bool


@dataclass(frozen=True)
class Successor:
    """``name`` and ``ignored_when`` are empty where there is none; ``renamed``: the same thing under another name."""

    since: Number
    name: str
    ignored_when: str
    renamed: bool = False


@dataclass(frozen=True)
class _Asked:
    """A server that was asked. ``since``: the first version that its answers stand for."""

    name: str
    flavor: Flavor
    number: Number
    since: Number


def variable_names(flavor: Flavor) -> Iterable[str]:
    """Every variable that some version of the flavor has or had."""
    return _lines(flavor).keys() | _stated(flavor).keys()


@cache
def timeline(flavor: Flavor, name: str) -> tuple[Point, ...]:
    """A variable's points, oldest first; empty for a name that nobody ever stated."""
    lines, stated = _lines(flavor).get(name, ()), _stated(flavor).get(name, ())
    if not lines and not stated:
        return ()
    asked = _asked(flavor)
    told: dict[str, VariableFacts] = {}
    for line in lines:
        row = dict(zip(_COLUMNS, line.split("\t"), strict=True))
        facts = _facts(row)
        for server in spelled_out(row["servers"], flavor):
            told[server] = facts
    return tuple(_points(name, told, asked, stated))


@cache
def successor(flavor: Flavor, name: str) -> Successor | None:
    """What took the variable's place, and since which version."""
    return _successors().get((flavor, name))


def is_renamed(flavor: Flavor, name: str) -> bool:
    """Whether the successor does the same with the same values, so that a line only needs the other name."""
    found = successor(flavor, name)
    return found is not None and found.renamed


@cache
def deprecated_since(flavor: Flavor, name: str) -> Number | None:
    """The version whose manual first calls the variable deprecated; None for one that it does not."""
    return _deprecations().get((flavor, name))


def newest_known(flavor: Flavor, series: tuple[int, int]) -> Number:
    """The newest release of a series of which a server or a manual told something; its first one if none did."""
    stated = [number(row["since"]) for rows in _stated(flavor).values() for row in rows]
    known = [one.number for one in _asked(flavor)] + stated
    return max([one for one in known if one[:2] == series], default=(*series, 0))


def asked_in(flavor: Flavor, series: tuple[int, int]) -> bool:
    """Whether a server of this series was asked."""
    return any(one.number[:2] == series for one in _asked(flavor))


@cache
def breaks_start(flavor: Flavor, name: str, version: Number) -> bool | None:
    """Whether a server of this version, which has no such variable, does not start with an option-file line for it.

    MySQL refuses each option it does not know. MariaDB lets most of its former ones stand and says so in its error log:
    by what the nearest asked server without the variable did, an older one if there is one; None where none was asked.
    """
    if flavor is Flavor.MYSQL:
        return True
    having = {server for line in _lines(flavor).get(name, ()) for server in spelled_out(line.split("\t")[1], flavor)}
    first = min((one.number for one in _asked(flavor) if one.name in having), default=version)
    lacking = [one for one in _asked(flavor) if one.number > first and one.name not in having]
    if not lacking:
        return None
    nearest = next((one for one in reversed(lacking) if one.number <= version), lacking[0])
    return nearest.name not in _tolerated().get((flavor, name), ())


@cache
def _tolerated() -> Mapping[tuple[Flavor, str], list[str]]:
    rows = list(table("tolerated.tsv"))
    return {(Flavor(row["flavor"]), row["name"]): spelled_out(row["servers"], Flavor(row["flavor"])) for row in rows}


# --- points ------------------------------------------------------------------------------------------------------


def _points(
    name: str, told: Mapping[str, VariableFacts], asked: Iterable[_Asked], stated: Iterable[Mapping[str, str]]
) -> list[Point]:
    points: list[Point] = []
    moved: dict[str, Number] = {}
    numbers = {one.name: one.number for one in asked}
    for row in stated:
        since, server, changes = number(row["since"]), row["as_on"], row["changes"]
        if server == "absent":
            points.append(Point(since, None, None, True))
        elif server == "manual":
            points.append(Point(since, _from_manual(name, changes), None, True))
        elif changes == "-" and since[:2] == numbers[server][:2] and since <= numbers[server]:
            moved[server] = since
        elif server not in told:
            raise ValueError(f"between.tsv has {name} as on {server}, which has no such variable")
        else:
            points.append(Point(since, _changed(told[server], changes), None, True))
    for one in asked:
        since = moved.get(one.name, one.since)
        points.append(Point(since, told.get(one.name), one.number, one.name in moved))
    return sorted(points, key=lambda point: point.since)


#: A variable that no asked server has: what a manual says of it stands in between.tsv, the rest is this.
_UNKNOWN = {
    "kind": "string", "scope": "global", "change": "dynamic", "unit": "-", "minimum": "-", "maximum": "-",
    "step": "-", "default": "-", "choices": "-",
}  # fmt: skip


def _from_manual(name: str, changes: str) -> VariableFacts:
    return _facts({**_UNKNOWN, "name": name, **_parts(changes)})


def _changed(facts: VariableFacts, changes: str) -> VariableFacts:
    """Facts with some of the columns of a line replaced: ``default=10000;maximum=64``."""
    parts = _parts(changes)
    return _facts({**_row(facts), **parts}) if parts else facts


def _parts(changes: str) -> dict[str, str]:
    parts = dict(part.split("=", 1) for part in changes.split(";")) if changes != "-" else {}
    unknown = sorted(parts.keys() - _UNKNOWN.keys())
    if unknown:
        raise ValueError(f"between.tsv states a column that is not known: {', '.join(unknown)}")
    return parts


def _row(facts: VariableFacts) -> dict[str, str]:
    """Facts as a line of the files has them."""
    default = "-" if facts.default is None else facts.default or '""'
    return {
        "name": facts.name,
        "kind": facts.kind.value,
        "scope": facts.scope,
        "change": "dynamic" if facts.dynamic else "read_only" if facts.read_only else "restart",
        "unit": facts.unit or "-",
        "minimum": "-" if facts.minimum is None else str(facts.minimum),
        "maximum": "-" if facts.maximum is None else str(facts.maximum),
        "step": "-" if facts.step is None else str(facts.step),
        "default": f"~{default}" if facts.computed else default,
        "choices": ",".join(facts.choices) or "-",
    }


def _facts(row: Mapping[str, str]) -> VariableFacts:
    dynamic = row["change"] == "dynamic"
    scope: Scope = "both" if row["scope"] == "both" else "session" if row["scope"] == "session" else "global"
    default = row["default"]
    return VariableFacts(
        name=row["name"],
        kind=Kind(row["kind"]),
        dynamic=dynamic,
        read_only=row["change"] == "read_only",
        scope=scope,
        unit=None if row["unit"] == "-" else row["unit"],
        minimum=_bound(row["minimum"]),
        maximum=_bound(row["maximum"]),
        step=None if row["step"] == "-" else int(row["step"]),
        default=None if default == "-" else "" if default == '""' else default.removeprefix("~"),
        choices=() if row["choices"] == "-" else tuple(row["choices"].split(",")),
        replaced_by=None,
        verified=True,
        effect="restart" if not dynamic else "at_once" if scope == "global" else "new_connections",
        computed=default.startswith("~"),
    )


def _bound(text: str) -> int | float | None:
    if text == "-":
        return None
    return int(text) if text.lstrip("-").isdigit() else float(text)


def number(text: str) -> Number:
    """``10.11.4`` or ``10.11`` as three numbers."""
    parts = [int(part) for part in text.split(".")]
    return parts[0], parts[1], parts[2] if len(parts) > 2 else 0


# --- files -------------------------------------------------------------------------------------------------------

_COLUMNS = (
    "name", "servers", "kind", "scope", "change", "unit", "minimum", "maximum", "step", "default", "choices",
)  # fmt: skip


@cache
def _lines(flavor: Flavor) -> Mapping[str, list[str]]:
    """The lines of a flavor's file by variable."""
    header, *lines = _text(f"{flavor.value}.tsv").splitlines()
    if tuple(header.split("\t")) != _COLUMNS:
        raise ValueError(f"{flavor.value}.tsv has other columns than this program: {header}")
    by_name: dict[str, list[str]] = {}
    for line in lines:
        by_name.setdefault(line[: line.index("\t")], []).append(line)
    return by_name


def spelled_out(servers: str, flavor: Flavor) -> list[str]:
    """``5.7.22,8.0.33..9.7`` as names of asked servers."""
    names = [one.name for one in _asked(flavor)]
    short = [one.split("-", 1)[1] for one in names]
    found: list[str] = []
    for part in servers.split(","):
        first, _, last = part.partition("..")
        found += names[short.index(first) : short.index(last or first) + 1]
    return found


@cache
def _asked(flavor: Flavor) -> tuple[_Asked, ...]:
    return tuple(one for one in _servers() if one.flavor is flavor)


@cache
def _servers() -> tuple[_Asked, ...]:
    servers: list[_Asked] = []
    for row in table("measured.tsv"):
        flavor, version = Flavor(row["flavor"]), number(row["version"])
        # The oldest server asked in a series stands for the series from its beginning.
        first = all(one.flavor is not flavor or one.number[:2] != version[:2] for one in servers)
        servers.append(_Asked(row["server"], flavor, version, (*version[:2], 0) if first else version))
    return tuple(servers)


@cache
def _stated(flavor: Flavor) -> Mapping[str, list[Mapping[str, str]]]:
    stated: dict[str, list[Mapping[str, str]]] = {}
    for row in table("between.tsv"):
        if row["flavor"] == flavor.value:
            stated.setdefault(row["name"], []).append(row)
    return stated


@cache
def _successors() -> Mapping[tuple[Flavor, str], Successor]:
    return {
        (Flavor(row["flavor"]), row["name"]): Successor(
            number(row["since"]),
            "" if row["successor"] == "-" else row["successor"],
            "" if row["ignored_when"] == "-" else row["ignored_when"],
            row["how"] == "renamed",
        )
        for row in table("successors.tsv")
    }


@cache
def _deprecations() -> Mapping[tuple[Flavor, str], Number]:
    return {(Flavor(row["flavor"]), row["name"]): number(row["since"]) for row in table("deprecated.tsv")}


def _text(name: str) -> str:
    return (files("advisor.mysql") / "data" / name).read_text(encoding="utf-8")


def table(name: str) -> Iterator[Mapping[str, str]]:
    """The lines of a data file as columns by name; lines that begin with # are for readers."""
    lines = [line for line in _text(name).splitlines() if line and not line.startswith("#")]
    header = lines[0].split("\t")
    for line in lines[1:]:
        yield dict(zip(header, line.split("\t"), strict=True))
