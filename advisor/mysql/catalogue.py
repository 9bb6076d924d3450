"""The system variables of each flavor and version: which exist, what they take, and when a change counts.

The facts come from real servers (``data/mysql.tsv``, ``data/mariadb.tsv``; made by ``scripts/make_catalogue``).
``data/between.tsv`` states what changed between two of those servers and since which version, by the manuals; where it
is silent, a version has the facts of the nearest asked server below it. Facts about a series in which no server was
asked are marked as not verified.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from importlib.resources import files
from typing import Literal

from advisor.mysql.values import BadValue, parse_boolean, parse_integer, parse_real
from advisor.mysql.version import Flavor, ServerVersion

Scope = Literal["global", "both", "session"]
Effect = Literal["at_once", "new_connections", "restart"]
Value = int | float | str | bool
Number = tuple[int, int, int]


class Kind(StrEnum):
    """What a variable holds."""

    INTEGER = "integer"
    BOOLEAN = "boolean"
    ENUM = "enum"
    SET = "set"
    STRING = "string"
    REAL = "real"


class UnknownVariable(LookupError):
    """This version has no such system variable, or the catalogue does not know it; the message says so."""


class ValueRefused(ValueError):
    """The server would refuse the value; the message says what it takes."""


@dataclass(frozen=True)
class VariableFacts:
    """One system variable on one version.

    ``minimum``, ``maximum`` and ``step`` are in ``unit`` (bytes, pages/s, percent, seconds, milliseconds, microseconds,
    pages, days; None for plain numbers); ``step`` is the block size that the server rounds down to. ``default`` is
    spelled as the server shows it, None where it depends on the machine or on other variables. ``read_only``: no
    option sets it either. ``replaced_by`` names its successor where there is one on this version. ``verified`` is
    False where no server of this series was asked. ``effect`` says when a change with SET GLOBAL (or, where there is
    no other way, a start) is felt.
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


@dataclass(frozen=True)
class _Point:
    """From this version on the variable has these facts (None: it does not exist).

    ``asked`` is the version of the server that said so, None where a manual did; ``stated`` tells that the version it
    begins with is a stated boundary.
    """

    since: Number
    facts: VariableFacts | None
    asked: Number | None
    stated: bool


@dataclass(frozen=True)
class _Successor:
    """``name`` and ``ignored_when`` are empty where there is none."""

    since: Number
    name: str
    ignored_when: str


class Catalogue:
    """What is known of system variables. Reads its files on first use."""

    def find(self, name: str, server: ServerVersion) -> VariableFacts | None:
        """The facts about a variable on this version; None if this version does not have it, or nobody ever asked."""
        points = self._points.get((server.flavor, name.lower()))
        if points is None:
            return None
        index = max(0, bisect_right([point.since for point in points], server.number) - 1)
        point = points[index]
        if point.facts is None:
            return None
        following = points[index + 1] if index + 1 < len(points) else None
        verified = server.number >= point.since and _answers_for(point, following, server.number)
        successor = self._successor_of(name.lower(), server)
        return replace(
            point.facts,
            verified=verified,
            replaced_by=successor.name or None if successor else None,
            ignored_when=successor.ignored_when or None if successor else None,
        )

    def successor(self, name: str, server: ServerVersion) -> str | None:
        """The variable that does on this version what ``name`` did or does; None if there is none."""
        successor = self._successor_of(name.lower(), server)
        return successor.name or None if successor else None

    def names(self, server: ServerVersion) -> tuple[str, ...]:
        """The variables the catalogue knows on this version, sorted."""
        found = (name for flavor, name in self._points if flavor is server.flavor)
        return tuple(sorted(name for name in found if self.find(name, server) is not None))

    def accepted(self, name: str, server: ServerVersion, value: Value) -> Value:
        """What the variable holds after it was given ``value``: numbers within the bounds, rounded down to the step.

        Words come back as the server spells them, booleans as bool. Limits that depend on other variables (the chunk
        size of the buffer pool, innodb_io_capacity_max above innodb_io_capacity) are not known here. Raises
        UnknownVariable if this version has no such variable, ValueRefused for a value of another kind.
        """
        facts = self.find(name, server)
        if facts is None:
            raise UnknownVariable(f"{server} has no system variable {name} that is known here.")
        if facts.read_only:
            raise ValueRefused(f"{name} only informs on {server}: nothing sets it.")
        return _accepted(facts, value)

    def _successor_of(self, name: str, server: ServerVersion) -> _Successor | None:
        found = self._successors.get((server.flavor, name))
        return found if found is not None and server.number >= found.since else None

    @cached_property
    def _successors(self) -> Mapping[tuple[Flavor, str], _Successor]:
        return {
            (Flavor(row["flavor"]), row["name"]): _Successor(
                _number(row["since"]),
                "" if row["successor"] == "-" else row["successor"],
                "" if row["ignored_when"] == "-" else row["ignored_when"],
            )
            for row in _table("successors.tsv")
        }

    @cached_property
    def _points(self) -> Mapping[tuple[Flavor, str], list[_Point]]:
        return dict(_timelines())


CATALOGUE = Catalogue()


def _answers_for(point: _Point, following: _Point | None, number: Number) -> bool:
    """Whether a server of this series was asked; between two of one series that disagree nothing is certain."""
    if point.asked is None or point.asked[:2] != number[:2]:
        return False
    if number == point.asked or following is None or following.asked is None or following.asked[:2] != number[:2]:
        return True
    return following.stated or following.facts == point.facts


# --- what a value becomes ----------------------------------------------------------------------------------------


def _accepted(facts: VariableFacts, value: Value) -> Value:
    try:
        if facts.kind is Kind.BOOLEAN:
            return parse_boolean("1" if value is True else "0" if value is False else str(value))
        if facts.kind is Kind.INTEGER:
            return _whole(facts, _integer(facts, value))
        if facts.kind is Kind.REAL:
            if isinstance(value, bool):
                raise ValueRefused(f"{facts.name} takes a number, not {value}.")
            return _within(facts, parse_real(value) if isinstance(value, str) else float(value))
    except BadValue as refused:
        raise ValueRefused(f"{facts.name}: {refused}") from refused
    if facts.kind is Kind.ENUM and facts.choices:
        return _choice(facts, value)
    if isinstance(value, bool) or not isinstance(value, str):
        raise ValueRefused(f"{facts.name} takes a word, not {value}.")
    return value


def _integer(facts: VariableFacts, value: Value) -> int:
    if isinstance(value, bool) or (isinstance(value, float) and not value.is_integer()):
        raise ValueRefused(f"{facts.name} takes a whole number, not {value}.")
    return parse_integer(value) if isinstance(value, str) else int(value)


def _whole(facts: VariableFacts, value: int) -> int:
    within = int(_within(facts, value))
    return within - within % facts.step if facts.step else within


def _within(facts: VariableFacts, value: int | float) -> int | float:
    if facts.minimum is not None and value < facts.minimum:
        return facts.minimum
    if facts.maximum is not None and value > facts.maximum:
        return facts.maximum
    return value


def _choice(facts: VariableFacts, value: Value) -> str:
    # A server takes the number of a choice too, and with it 0 and 1 where the first two choices are OFF and ON.
    text = str(int(value)) if isinstance(value, bool | int) else str(value)
    if text.isdigit() and int(text) < len(facts.choices) and text not in facts.choices:
        return facts.choices[int(text)]
    for choice in facts.choices:
        if choice.lower() == text.lower():
            return choice
    raise ValueRefused(f"{facts.name} takes one of {', '.join(facts.choices)}, not {value}.")


# --- reading the files -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Asked:
    """A server that was asked. ``since``: the first version that its answers stand for."""

    name: str
    flavor: Flavor
    number: Number
    since: Number


def _timelines() -> Iterator[tuple[tuple[Flavor, str], list[_Point]]]:
    asked = _servers()
    stated: dict[tuple[str, str], list[Mapping[str, str]]] = {}
    for row in _table("between.tsv"):
        stated.setdefault((row["flavor"], row["name"]), []).append(row)
    for flavor in Flavor:
        told: dict[str, dict[str, VariableFacts]] = {}
        for row in _table(f"{flavor.value}.tsv"):
            facts = _facts(row)
            for server in row["servers"].split(","):
                told.setdefault(facts.name, {})[server] = facts
        for name, by_server in told.items():
            own = [one for one in asked if one.flavor is flavor]
            yield (flavor, name), _points_of(by_server, own, stated.get((flavor.value, name), []))


def _points_of(
    told: Mapping[str, VariableFacts], asked: Iterable[_Asked], stated: Iterable[Mapping[str, str]]
) -> list[_Point]:
    points: list[_Point] = []
    moved: dict[str, Number] = {}
    numbers = {one.name: one.number for one in asked}
    for row in stated:
        since, server, changes = _number(row["since"]), row["as_on"], row["changes"]
        if server == "absent":
            points.append(_Point(since, None, None, True))
        elif changes == "-" and since <= numbers[server]:
            moved[server] = since
        else:
            points.append(_Point(since, _changed(told[server], changes), None, True))
    for one in asked:
        since = moved.get(one.name, one.since)
        points.append(_Point(since, told.get(one.name), one.number, one.name in moved))
    return sorted(points, key=lambda point: point.since)


def _changed(facts: VariableFacts, changes: str) -> VariableFacts:
    """Facts with some of the columns of a line replaced: ``default=10000;maximum=64``."""
    for part in () if changes == "-" else changes.split(";"):
        column, text = part.split("=", 1)
        if column == "default":
            facts = replace(facts, default=_default(text))
        elif column == "maximum":
            facts = replace(facts, maximum=_bound(text))
        else:
            raise ValueError(f"between.tsv states a column that is not known: {part}")
    return facts


def _servers() -> list[_Asked]:
    servers: list[_Asked] = []
    for row in _table("measured.tsv"):
        flavor, number = Flavor(row["flavor"]), _number(row["version"])
        # The oldest server asked in a series stands for the series from its beginning.
        first = all(one.flavor is not flavor or one.number[:2] != number[:2] for one in servers)
        servers.append(_Asked(row["server"], flavor, number, (*number[:2], 0) if first else number))
    return servers


def _facts(row: Mapping[str, str]) -> VariableFacts:
    dynamic = row["change"] == "dynamic"
    scope: Scope = "both" if row["scope"] == "both" else "session" if row["scope"] == "session" else "global"
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
        default=_default(row["default"]),
        choices=() if row["choices"] == "-" else tuple(row["choices"].split(",")),
        replaced_by=None,
        verified=True,
        effect="restart" if not dynamic else "at_once" if scope == "global" else "new_connections",
    )


def _default(text: str) -> str | None:
    return None if text == "-" else "" if text == '""' else text


def _bound(text: str) -> int | float | None:
    if text == "-":
        return None
    return int(text) if text.lstrip("-").isdigit() else float(text)


def _number(text: str) -> Number:
    parts = [int(part) for part in text.split(".")]
    return parts[0], parts[1], parts[2] if len(parts) > 2 else 0


def _table(name: str) -> Iterator[Mapping[str, str]]:
    """The lines of a data file as columns by name; lines that begin with # are for readers."""
    text = (files("advisor.mysql") / "data" / name).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    header = lines[0].split("\t")
    for line in lines[1:]:
        yield dict(zip(header, line.split("\t"), strict=True))
